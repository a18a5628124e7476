// What a window is told of the extensions that are installed, before it has read any.
import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import test from "node:test";

const { attribute, installed } = createRequire(import.meta.url)("./installed.cjs");
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "installed-"));
test.after(() => fs.rmSync(folder, { recursive: true }));

/** @param {string} name @param {unknown} content a package, or the text that stands for one */
function add(name, content) {
  fs.mkdirSync(path.join(folder, name), { recursive: true });
  fs.writeFileSync(path.join(folder, name, "package.json"), typeof content === "string" ? content : JSON.stringify(content));
}
const list = (/** @type {unknown[]} */ names) => fs.writeFileSync(path.join(folder, "extensions.json"), JSON.stringify(names.map((relativeLocation) => ({ relativeLocation }))));
const code = (/** @type {string} */ name, rest = {}) => ({ publisher: "Me", name, main: "./main.js", ...rest });

test("those with code and a host of their own, what begins with the window first", async () => {
  add("me.late-1", code("late", { activationEvents: ["onLanguage:css"] }));
  add("me.early-1", code("Early", { activationEvents: ["onStartupFinished"] }));
  add("me.theme-1", code("theme", { main: undefined }));
  add("me.user-1", code("user", { extensionDependencies: ["me.late"] }));
  add("me.removed-1", code("removed"));
  list(["me.late-1", "me.early-1", "me.theme-1", "me.user-1"]);
  assert.deepEqual(await installed(folder), [{ id: "Me.Early", path: path.join(folder, "me.early-1") }, { id: "Me.late", path: path.join(folder, "me.late-1") }]);
});

test("what cannot be read is left out, and nothing outside of the folder is looked at", async () => {
  add("me.broken-1", "{");
  add("me.null-1", "null");
  add("me.long-1", code("long", { description: "x".repeat(1 << 20) }));
  add("me.good-1", code("good", { activationEvents: "*" }));
  add("../installed-outside", code("outside"));
  list(["me.broken-1", "me.null-1", "me.long-1", "me.gone-1", 7, null, "..", "../installed-outside", "me.good-1"].filter((one) => one !== null));
  assert.deepEqual((await installed(folder)).map(({ id }) => id), ["Me.good"]);
  fs.rmSync(path.join(folder, "../installed-outside"), { recursive: true });
  for (const text of ["", "{}", "[null]"]) {
    fs.writeFileSync(path.join(folder, "extensions.json"), text);
    assert.deepEqual(await installed(folder), [], text);
  }
  assert.deepEqual(await installed(path.join(folder, "nowhere")), []);
});

test("a page's attribute ends where it ends", () => {
  const value = [{ id: "a.b", path: `/x"><script>&amp;'$&` }];
  const text = attribute(value);
  assert.doesNotMatch(text, /["<>]|&(?!#\d+;)/);
  assert.deepEqual(JSON.parse(text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code))), value);
});
