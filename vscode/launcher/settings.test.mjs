import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import test from "node:test";
import { builtinSettings, reviewSetting } from "./settings.mjs";

function read(t, text, setting = builtinSettings) {
  const data = fs.mkdtempSync(path.join(os.tmpdir(), "settings-"));
  t.after(() => fs.rmSync(data, { recursive: true }));
  if (text !== undefined) {
    fs.mkdirSync(path.join(data, "data/Machine"), { recursive: true });
    fs.writeFileSync(path.join(data, "data/Machine/settings.json"), text);
  }
  return setting(data);
}

test("the ids, out of JSON with comments and spare commas", (t) => {
  const text = `\ufeff{ // not "this"
  "url": "https://x/*no comment*/,]", /* "bulkhead.compartments.builtin": [] */
  "bulkhead.compartments.builtin": ["vscode.git", "vscode.npm", /* last */ ],
  "bulkhead.compartments.outside": ["vscode.php-language-features",],
}`;
  assert.deepEqual(read(t, text), { builtin: ["vscode.git", "vscode.npm"], outside: ["vscode.php-language-features"] });
});

test("nothing where nothing is said", (t) => {
  const nothing = { builtin: [], outside: [] };
  assert.deepEqual(read(t, undefined), nothing);
  assert.deepEqual(read(t, "  // empty\n"), nothing);
  assert.deepEqual(read(t, '{"a":1}'), nothing);
});

test("what cannot be read is an error, since less would be confined", (t) => {
  assert.throws(() => read(t, "{"), /settings\.json cannot be read/);
  assert.throws(() => read(t, '{"bulkhead.compartments.builtin": "vscode.git"}'), /list of extension ids/);
  assert.throws(() => read(t, '{"bulkhead.compartments.builtin": ["git"]}'), /list of extension ids/);
  assert.throws(() => read(t, '{"bulkhead.compartments.outside": {}}'), /outside must be a list of extension ids/);
});

test("whether each extension is reviewed, which nobody means by a word that is none", (t) => {
  assert.equal(read(t, undefined, reviewSetting), false);
  assert.equal(read(t, '{"bulkhead.reviewAll": true}', reviewSetting), true);
  assert.throws(() => read(t, '{"bulkhead.reviewAll": "yes"}', reviewSetting), /true or false/);
});
