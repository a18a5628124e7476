// Harmless: source control of its own, beside Git's, and a problem, beside the linter's.
"use strict";
const path = require("node:path");
const vscode = require("vscode");

exports.activate = (context) => {
  const folder = vscode.workspace.workspaceFolders[0].uri;
  const control = vscode.scm.createSourceControl("proof-scm", "Proof Control", folder);
  const group = control.createResourceGroup("changes", "Proof Changes");
  group.resourceStates = [{ resourceUri: vscode.Uri.file(path.join(folder.fsPath, "page.html")) }];
  // Without a name, as the linter's.
  const problems = vscode.languages.createDiagnosticCollection();
  problems.set(vscode.Uri.file(path.join(folder.fsPath, "script.py")), [new vscode.Diagnostic(new vscode.Range(0, 0, 0, 1), "Proof problem")]);
  context.subscriptions.push(control, problems);
};
