import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import test from "node:test";
import { withVscode } from "./fake_vscode.mjs";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "bulkhead-manifests-"));
test.after(() => fs.rmSync(folder, { recursive: true }));

test("manifests are looked at one after the other, the last one first, and no other file is", async () => {
  const log = path.join(folder, "log");
  const program = path.join(folder, "program");
  // Two at once would both begin before either of them ends.
  fs.writeFileSync(program, `#!/bin/sh\nfor file; do :; done\necho "begin $file" >> ${log}\nsleep 0.1\necho "end $file" >> ${log}\necho '[]'\n`, { mode: 0o700 });
  const documentOf = (name) => ({ uri: { scheme: "file", path: name, fsPath: name }, version: 1, isClosed: false, getText: () => "{}" });
  let open = (_document) => {};
  const found = [];
  let whole = () => {};
  const done = new Promise((resolve) => (whole = resolve));
  const { Manifests } = withVscode("./manifests.js", {
    DiagnosticSeverity: {},
    languages: { createDiagnosticCollection: () => ({ set: ({ path: name }) => found.push(name) === 4 && whole(), delete() {}, dispose() {} }) },
    workspace: {
      onDidOpenTextDocument: (listener) => ((open = listener), { dispose() {} }),
      onDidSaveTextDocument: () => ({ dispose() {} }), onDidCloseTextDocument: () => ({ dispose() {} }),
      textDocuments: [documentOf("/w/first.bulkhead.json")],
    },
  });
  const manifests = new Manifests(program, (words) => assert.fail(words));
  for (const name of ["/w/a.bulkhead.json", "/w/other.json", "/w/b.bulkhead.json", "/w/bulkhead.json"]) open(documentOf(name));
  await done;
  manifests.dispose();
  const order = ["/w/first.bulkhead.json", "/w/bulkhead.json", "/w/b.bulkhead.json", "/w/a.bulkhead.json"];
  assert.deepEqual(found, order);
  assert.deepEqual(fs.readFileSync(log, "utf8").trim().split("\n"), order.flatMap((name) => [`begin ${name}`, `end ${name}`]));
});
