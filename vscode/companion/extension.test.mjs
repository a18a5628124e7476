import assert from "node:assert/strict";
import test from "node:test";
import { withVscode } from "./fake_vscode.mjs";

/** The companion in a window that bulkhead did not start, so that it has no compartments. */
function companion() {
  const commands = new Map();
  const told = [];
  const disposable = { dispose() {} };
  class Emitter {
    event = () => disposable;
    fire() {}
    dispose() {}
  }
  const show = (...words) => (told.push(words[0]), Promise.resolve(undefined));
  const vscode = {
    EventEmitter: Emitter, TreeItem: class {}, ThemeIcon: class {}, ThemeColor: class {}, MarkdownString: class {}, DiagnosticSeverity: {},
    TreeItemCollapsibleState: { None: 0, Collapsed: 1 }, StatusBarAlignment: { Left: 1 }, ViewColumn: { Active: -1 }, Uri: { joinPath: () => ({}) },
    window: {
      createOutputChannel: () => ({ info() {}, error() {}, warn() {}, ...disposable }),
      createTreeView: () => ({ onDidChangeVisibility: () => disposable, reveal: async () => {}, ...disposable }),
      createStatusBarItem: () => ({ show() {}, ...disposable }),
      showWarningMessage: show, showInformationMessage: show, showErrorMessage: show, showQuickPick: async () => undefined,
    },
    workspace: { getConfiguration: () => ({ get: (_key, otherwise) => otherwise }), textDocuments: [], onDidOpenTextDocument: () => disposable, onDidSaveTextDocument: () => disposable, onDidCloseTextDocument: () => disposable },
    commands: { registerCommand: (name, run) => (commands.set(name, run), disposable), executeCommand: async () => {} },
    languages: { createDiagnosticCollection: () => ({ ...disposable }) },
    extensions: { getExtension: () => undefined },
    env: { clipboard: { writeText: async () => {} } },
  };
  const { activate } = withVscode("./extension.js", vscode);
  activate({ subscriptions: [], extensionUri: {}, globalStorageUri: { fsPath: "/nowhere/globalStorage/companion" }, globalState: { get() {}, update() {} }, extension: { packageJSON: {} } });
  return { commands, told };
}

for (const name of ["BULKHEAD_RUNTIME", "BULKHEAD_WINDOW", "BULKHEAD_PROGRAM"]) delete process.env[name];

test("what decides takes a row of the list that is there: of another one nothing is done, and a person is told", async () => {
  const { commands, told } = companion();
  for (const name of ["bulkhead.answer", "bulkhead.grant", "bulkhead.revoke"])
    for (const row of [undefined, {}, { type: "question", compartment: {}, value: { id: 1 } }]) {
      told.length = 0;
      await commands.get(name)(row);
      assert.deepEqual(told, ["The list was changing, so nothing was done. Choose it again."], name);
    }
  // Nor is anything done where nothing was to be decided.
  told.length = 0;
  for (const name of ["bulkhead.showJournalOf", "bulkhead.copy"]) await commands.get(name)({ type: "compartment", compartment: {} });
  assert.deepEqual(told, []);
});
