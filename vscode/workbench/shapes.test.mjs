// That looking for a shape's text first finds what the shape alone would.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { allEdits } from "./edits.mjs";
import { anchorOf, apply, EditError, find, shape } from "./shapes.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const server = process.env.BULKHEAD_CODE_SERVER ?? path.join(here, "../node_modules/code-server/lib/vscode");

test("a text is in whatever its pattern matches", () => {
  for (const [pattern, anchor] of /** @type {[RegExp, string][]} */ ([
    [/longer|text/, ""],
    [/a(b|longer)c/, "a"],
    [/a(?:longer)?bc/, "bc"],
    [/a(longer)bc/, "longer"],
    [/a(?!longer)bc/, "bc"],
    [/a(?<=longer)bc/, "bc"],
    [/a(long(er)*)bc/, "long"],
    [/a((longer))?bc/, "bc"],
    [/abc*d/, "ab"],
    [/abc{2}d/, "ab"],
    [/ab[longer]d[^\]{]{1,9}/, "ab"],
    [/\x60\(\d\)\{\w+longer\b\.$/, "longer"],
    [/a\\\/b\]$/, "a\\/b]"],
    [/[\w$]+/, ""],
  ]))
    assert.equal(anchorOf(pattern), anchor, String(pattern));
});

test("each edit is found where its shape alone finds it", () => {
  const workbench = fs.readFileSync(path.join(server, "out/vs/code/browser/workbench/workbench.js"), "utf8");
  const edits = allEdits(workbench);
  assert.ok(edits.length > 70);
  // Around what is found, for the whole takes a minute.
  const parts = edits.flatMap((edit) => find(workbench, edit.shape)).map(({ index }) => workbench.slice(Math.max(0, index - 9000), index + 12_000));
  const text = parts.join("\n");
  const places = (/** @type {Iterable<RegExpExecArray>} */ found) => [...found].map((match) => [match.index, ...match]);
  for (const edit of edits) {
    assert.ok(anchorOf(edit.shape).length >= 6, `${edit.name} has no text to look for`);
    assert.deepEqual(places(find(text, edit.shape)), places(text.matchAll(edit.shape)), edit.name);
  }
});

test("names are captured whole, and what meets is found once", () => {
  const named = shape(String.raw`NAME=class\{kind=3\}`);
  const long = `$${"a".repeat(20_000)}`;
  assert.deepEqual(find(`;${long}=class{kind=3}`, named).map(([, name]) => name), [long]);
  assert.equal(find("xyxyx", /xyx/g).length, 1);
  assert.equal(find("x,x,x", /x/g).length, 3);
});

test("two edits of one place are refused", () => {
  const edits = ["ab", "bc"].map((text) => ({ name: text, what: text, times: 1, shape: new RegExp(text, "g"), text: () => "" }));
  assert.throws(() => apply("abc", edits), /the edit bc is about what another one has changed/);
  assert.throws(() => apply("ab", edits), EditError);
  assert.equal(apply("ab-bc!", edits), "-!");
});
