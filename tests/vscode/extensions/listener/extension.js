// It opens nothing: the user looks at a key, and every extension is told its text and what others say of it.
"use strict";
const { attack } = require("./attack");

const diagnostics = (_facts, vscode) => vscode.languages.getDiagnostics().map(([uri, found]) => [String(uri), ...found.map(({ message }) => message)]);

exports.activate = (context) =>
  attack(context, "listener", {
    documents: (_facts, vscode) => vscode.workspace.textDocuments.map((document) => `${document.uri} ${document.getText()}`),
    active: (_facts, vscode) => vscode.window.activeTextEditor?.document.getText(),
    visible: (_facts, vscode) => vscode.window.visibleTextEditors.map((editor) => editor.document.getText()),
    symbols: ({ other }, vscode) => vscode.commands.executeCommand("vscode.executeDocumentSymbolProvider", vscode.Uri.file(`${other}/far.css`)),
    own: diagnostics,
    diagnostics,
  });
