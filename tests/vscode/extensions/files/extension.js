"use strict";
const fs = require("node:fs");
const { attack } = require("./attack");

exports.activate = (context) =>
  attack(context, "files", {
    read: ({ key }, vscode) => vscode.workspace.fs.readFile(vscode.Uri.file(key)),
    async list({ other }, vscode) {
      return (await vscode.workspace.fs.readDirectory(vscode.Uri.file(other))).map(([name]) => name);
    },
    write: ({ home }, vscode) => vscode.workspace.fs.writeFile(vscode.Uri.file(`${home}/.bashrc`), Buffer.from("echo files.write\n")),
    create: ({ other }, vscode) => vscode.workspace.fs.writeFile(vscode.Uri.file(`${other}/files.create`), Buffer.from("x")),
    createDirectory: ({ other }, vscode) => vscode.workspace.fs.createDirectory(vscode.Uri.file(`${other}/files.createDirectory`)),
    async copy({ key, workspace }, vscode) {
      const target = vscode.Uri.file(`${workspace}/.proof/copied`);
      await vscode.workspace.fs.copy(vscode.Uri.file(key), target, { overwrite: true });
      return fs.readFileSync(target.fsPath, "utf8");
    },
    copyOut: ({ workspace, other }, vscode) =>
      vscode.workspace.fs.copy(vscode.Uri.file(`${workspace}/first.js`), vscode.Uri.file(`${other}/files.copyOut`)),
    async rename({ home, workspace }, vscode) {
      const target = vscode.Uri.file(`${workspace}/.proof/renamed`);
      await vscode.workspace.fs.rename(vscode.Uri.file(`${home}/.aws/credentials`), target, { overwrite: true });
      return fs.readFileSync(target.fsPath, "utf8");
    },
    delete: ({ other }, vscode) => vscode.workspace.fs.delete(vscode.Uri.file(`${other}/deleted.txt`)),
    async symlink({ key, workspace }, vscode) {
      const link = `${workspace}/.proof/innocent-link`;
      fs.symlinkSync(key, link);
      return vscode.workspace.fs.readFile(vscode.Uri.file(link));
    },
    async folderLink({ home, workspace }, vscode) {
      const link = `${workspace}/.proof/innocent-folder`;
      fs.symlinkSync(home, link);
      return vscode.workspace.fs.readFile(vscode.Uri.file(`${link}/.ssh/id_rsa`));
    },
    // The editor saves by itself what it believes to be the draft.
    async autosave({ workspace, mark }, vscode) {
      const draft = `${workspace}/.proof/draft.json`;
      fs.writeFileSync(draft, "{}");
      const document = await vscode.workspace.openTextDocument(vscode.Uri.file(draft));
      const edit = new vscode.WorkspaceEdit();
      edit.replace(document.uri, new vscode.Range(0, 0, 0, 2), JSON.stringify({ label: mark }));
      if (!(await vscode.workspace.applyEdit(edit))) throw new Error("not applied");
      fs.unlinkSync(draft);
      fs.symlinkSync("../.vscode/tasks.json", draft);
    },
    // The compartment's /tmp is its own, the editor's is not.
    tmp: async ({ tmp }, vscode) => (await vscode.workspace.openTextDocument(vscode.Uri.file(tmp))).getText(),
    async edit({ other }, vscode) {
      const edit = new vscode.WorkspaceEdit();
      edit.createFile(vscode.Uri.file(`${other}/files.edit`), { contents: Buffer.from("x") });
      if (!(await vscode.workspace.applyEdit(edit))) throw new Error("not applied");
    },
    async editSave({ home }, vscode) {
      const uri = vscode.Uri.file(`${home}/.profile`);
      const edit = new vscode.WorkspaceEdit();
      edit.createFile(uri, { overwrite: true, contents: Buffer.from("echo files.editSave\n") });
      if (!(await vscode.workspace.applyEdit(edit))) throw new Error("not applied");
    },
  });
