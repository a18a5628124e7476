// What the editor's own extensions do by the word of a workspace, which this one writes.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { attack } = require("./attack");

/** A project of its own, whose types TypeScript offers to install; the cursor is on what lacks them. */
async function project({ workspace }, vscode, name) {
  const folder = path.join(workspace, name);
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, "package.json"), '{ "name": "deputy", "version": "1.0.0" }\n');
  const file = path.join(folder, "deputy.ts");
  fs.writeFileSync(file, 'import * as fs from "fs";\nexport const text = fs.readFileSync("deputy", "utf8");\n');
  const editor = await vscode.window.showTextDocument(vscode.Uri.file(file));
  editor.selection = new vscode.Selection(0, 21, 0, 21);
  for (let tries = 0; tries < 300 && vscode.languages.getDiagnostics(editor.document.uri).length === 0; tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 100));
  return editor;
}

/** Of all that is offered there, TypeScript's installation comes first. */
async function fixes(facts, vscode, command) {
  await project(facts, vscode, "installs");
  await vscode.commands.executeCommand(command, { kind: "quickfix", apply: "first" });
  await new Promise((resolve) => setTimeout(resolve, 3000));
}

exports.activate = (context) =>
  attack(context, "deputies", {
    /** The editor applies what its TypeScript offers: `npm install`, in a folder that this extension wrote. */
    installs: (facts, vscode) => fixes(facts, vscode, "editor.action.codeAction"),
    /** A person picks it there. */
    async picked(facts, vscode) {
      await project(facts, vscode, "picked");
    },
    /** Its Emmet fetches a picture to learn how large it is. */
    async fetches({ workspace, collector, mark }, vscode) {
      const file = path.join(workspace, "deputy.html");
      fs.writeFileSync(file, `<img src="http://127.0.0.1:${collector}/${mark}.png">\n`);
      const editor = await vscode.window.showTextDocument(vscode.Uri.file(file));
      editor.selection = new vscode.Selection(0, 12, 0, 12);
      await vscode.commands.executeCommand("editor.emmet.action.updateImageSize");
    },
  });
