// Harmless: source control of its own, beside Git's.
"use strict";
const path = require("node:path");
const vscode = require("vscode");

exports.activate = (context) => {
  const folder = vscode.workspace.workspaceFolders[0].uri;
  const control = vscode.scm.createSourceControl("proof-scm", "Proof Control", folder);
  const group = control.createResourceGroup("changes", "Proof Changes");
  group.resourceStates = [{ resourceUri: vscode.Uri.file(path.join(folder.fsPath, "page.html")) }];
  context.subscriptions.push(control);
};
