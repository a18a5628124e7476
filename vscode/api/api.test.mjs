// Run by ctest with the code-server that package.json pins; BULKHEAD_CODE_SERVER names another.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { extract } from "./extract.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const server = process.env.BULKHEAD_CODE_SERVER ?? path.join(here, "../node_modules/code-server/lib/vscode");
const read = (name) => JSON.parse(fs.readFileSync(path.join(here, name), "utf8"));
const { methods, told } = read("table.json");

test("every method of the installed version is classified", () => {
  const { actors } = extract(server);
  const missing = [];
  let known = 0;
  for (const actor of actors.filter((each) => each.side === "main")) {
    for (const method of actor.methods) {
      if (methods[actor.key]?.[method] === undefined) missing.push(`${actor.key}.${method}`);
      else known += 1;
    }
  }
  assert.deepEqual(missing, []);
  assert.ok(known > 500, `only ${known} methods found: the extraction is broken`);
});

test("every method that the workbench calls on a host is classified", () => {
  const { incoming } = extract(server);
  assert.deepEqual(incoming.filter((method) => told[method] === undefined), []);
  assert.ok(incoming.length > 400, `only ${incoming.length} methods found: the extraction is broken`);
  // Called, or handed on as functions.
  for (const method of ["$acceptModelChanged", "$onDidChangeWindowFocus", "$OnDidEndTask"]) assert.ok(incoming.includes(method), method);
});

test("what names a person's files, servers and accounts does not come in as it is", () => {
  for (const method of [
    ...["$acceptDocumentsAndEditorsDelta", "$acceptModelChanged", "$acceptModelSaved", "$acceptMarkersChange", "$acceptEditorTabModel", "$onFileEvent"],
    ...["$onDidChangeMcpServerDefinitions", "$startMcp", "$onDidChangeDynamicAuthProviderTokens", "$registerDynamicAuthProvider"],
    ...["$onDidChangePassword", "$updateRemoteConnectionData", "$acceptTerminalOpened", "$initEnvironmentVariableCollections"],
    ...["$initializeConfiguration", "$acceptConfigurationChanged", "$acceptStaticEntries", "$onDidOpenBrowserTab"],
  ])
    assert.notEqual(told[method], "free", method);
});

test("the extraction finds actors that are known to exist, under the numbers seen on the wire", () => {
  const { actors } = extract(server);
  const byKey = new Map(actors.map((actor) => [actor.key, actor]));
  assert.equal(byKey.get("MainThreadCommands").number, 10);
  assert.ok(byKey.get("MainThreadCommands").methods.includes("$executeCommand"));
  assert.ok(byKey.get("MainThreadDocuments").methods.includes("$tryOpenDocument"));
  assert.ok(byKey.get("MainThreadFileSystem").methods.includes("$readFile"));
  assert.ok(byKey.get("MainThreadTask").methods.includes("$executeTask"));
});

test("what takes over from the main host is quiet", () => {
  assert.equal(methods.MainThreadSearch.$registerFileSearchProvider, "quiet");
  assert.equal(methods.MainThreadSearch.$registerTextSearchProvider, "quiet");
  assert.equal(methods.MainThreadTask.$registerTaskSystem, "quiet");
  assert.equal(methods.MainThreadTerminalService.$registerProcessSupport, "quiet");
  assert.equal(methods.MainThreadTunnelService.$setRemoteTunnelService, "quiet");
});

test("no method that names a file is free of checks", () => {
  for (const [actor, names] of [
    ["MainThreadFileSystem", ["$readFile", "$writeFile", "$delete", "$rename", "$copy", "$mkdir", "$readdir", "$stat"]],
    ["MainThreadDocuments", ["$tryOpenDocument", "$trySaveDocument"]],
    ["MainThreadBulkEdits", ["$tryApplyWorkspaceEdit"]],
    ["MainThreadNotebookDocuments", ["$tryOpenNotebook", "$trySaveNotebook"]],
    // An extension's name as whose formatter it is, a document of another's scheme, names in any folder.
    ["MainThreadLanguageFeatures", ["$registerDocumentFormattingSupport", "$registerRangeFormattingSupport", "$registerCodeActionSupport"]],
    ["MainThreadDocumentContentProviders", ["$onVirtualDocumentChange"]],
    ["MainThreadWorkspace", ["$checkExists"]],
  ])
    for (const name of names) assert.ok(methods[actor][name].check?.length > 0, `${actor}.${name}`);
});

test("commands have rules that exist", () => {
  const permissions = new Set(["free", "refuse"]);
  for (const rules of Object.values(methods))
    for (const rule of Object.values(rules)) permissions.add(typeof rule === "string" ? rule : rule.needs);
  for (const [command, needs] of Object.entries(read("commands.json").commands))
    assert.ok(permissions.has(needs) || ["commands-foreign", "open-external"].includes(needs), `${command}: ${needs}`);
});
