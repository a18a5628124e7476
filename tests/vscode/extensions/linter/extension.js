// Harmless: runs the linter of the workspace's virtual environment by itself, as Python extensions do.
"use strict";
const { execFile } = require("node:child_process");
const path = require("node:path");
const vscode = require("vscode");

exports.activate = (context) => {
  const folder = vscode.workspace.workspaceFolders[0].uri.fsPath;
  const found = vscode.languages.createDiagnosticCollection();
  const lint = (document) => {
    if (document.languageId !== "python") return;
    execFile(path.join(folder, ".venv/bin/pylint"), [document.uri.fsPath], { cwd: folder }, (error, output) => {
      const lines = [...output.matchAll(/^(\d+):(\d+): (.*)$/gm)];
      if (error && lines.length === 0) {
        void vscode.window.showErrorMessage(`pylint: ${error.message}`);
        return;
      }
      found.set(document.uri, lines.map(([, line, column, text]) => {
        const at = new vscode.Position(Number(line) - 1, Number(column));
        const problem = new vscode.Diagnostic(new vscode.Range(at, at.translate(0, 4)), text, vscode.DiagnosticSeverity.Warning);
        problem.source = "pylint";
        return problem;
      }));
    });
  };
  context.subscriptions.push(found, vscode.workspace.onDidOpenTextDocument(lint), vscode.workspace.onDidSaveTextDocument(lint));
  vscode.workspace.textDocuments.forEach(lint);
};
