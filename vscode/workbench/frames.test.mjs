// The page that webviews stand in against the installed build, what it hears by the edited one, and builds that are refused.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import test from "node:test";
import vm from "node:vm";
import { fileURLToPath } from "node:url";
import { editFrames, inspectFrames } from "./frames.mjs";
import { EditError } from "./shapes.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const server = process.env.BULKHEAD_CODE_SERVER ?? path.join(here, "../node_modules/code-server/lib/vscode");
const published = path.join(server, "out/vs/workbench/contrib/webview/browser/pre");
const source = fs.readFileSync(path.join(published, "index.html"), "utf8");
const edited = editFrames(published);
const page = edited.get("index.html") ?? "";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "frames-"));
test.after(() => fs.rmSync(folder, { recursive: true }));

test("the edits fit the installed build, and the rest is served as it is", () => {
  for (const found of inspectFrames(published)) assert.equal(found.found, found.wanted, found.name);
  for (const name of ["fake.html", "service-worker.js"]) assert.equal(edited.get(name), fs.readFileSync(path.join(published, name), "utf8"));
});

test("the page's policy lets its script run, and no other", () => {
  const [, policy] = /http-equiv="Content-Security-Policy"\s*content="([^"]*)"/.exec(page) ?? [];
  const [, script] = /<script async type="module">([^]*)<\/script>/.exec(page) ?? ["", ""];
  assert.equal(policy.match(/script-src [^;]*/)?.[0], `script-src 'sha256-${createHash("sha256").update(script).digest("base64")}' 'self'`);
  new vm.Script(`(async () => {${script}})`);
});

test("a webview hears its own origin and what stands in it", () => {
  const [, listening] = /contentDocument\.open\(\);([^]*?)\s*contentDocument\.write\(newDocument\);/.exec(page) ?? ["", ""];
  const window = { origin: "http://own" };
  const top = /** @type {any} */ ({});
  top.parent = top;
  const framed = (/** @type {any} */ parent) => ({ parent });
  const document = /** @type {any} */ (framed(framed(top)));
  /** @type {((event: any) => void) | undefined} */
  let listener;
  document.addEventListener = (/** @type {string} */ type, /** @type {any} */ given, /** @type {boolean} */ capture) => {
    assert.deepEqual([type, capture], ["message", true]);
    listener = given;
  };
  const show = (/** @type {string} */ label) => {
    document.RTCPeerConnection = document.webkitRTCPeerConnection = () => {};
    vm.runInNewContext(listening, { window, location: { hostname: `0a${label}.bulkhead.localhost` }, contentDocument: { defaultView: document } });
    return "RTCPeerConnection" in document || "webkitRTCPeerConnection" in document;
  };
  assert.deepEqual(["", ".0f", ".open"].map(show), [false, false, true], "one that is kept off the network finds no WebRTC");
  const hears = (/** @type {string} */ origin, /** @type {any} */ from) => {
    let stopped = false;
    listener?.({ origin, source: from, stopImmediatePropagation: () => (stopped = true) });
    return !stopped;
  };
  assert.ok(hears("http://own", document.parent), "VS Code");
  assert.ok(hears("http://own", null));
  for (const origin of ["null", "https://example.com"]) {
    assert.ok(hears(origin, framed(document)), "its own frame");
    assert.ok(hears(origin, framed(framed(document))));
    const other = framed(framed(top));
    for (const from of [top, document.parent, other, other.parent, framed(other), framed(null), null]) assert.ok(!hears(origin, from));
  }
});

test("a build that does not fit is refused", () => {
  /** @type {[string, string][]} */
  const changes = [
    ["webview-messages", source.replace("contentDocument.open()", "contentDocument.clear()")],
    ["webview-policy", source.replace("const isSafari", "const  isSafari")],
    ["webview-messages", ""],
  ];
  for (const [name, text] of changes) {
    assert.notEqual(text, source);
    fs.writeFileSync(path.join(folder, "index.html"), text);
    assert.throws(() => editFrames(folder), (error) => error instanceof EditError && error.message.includes(`${name}: found 0 times`));
  }
  assert.throws(() => editFrames(path.join(folder, "none")), EditError, "no such folder");
});
