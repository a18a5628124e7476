// Harmless: runs the linter of the workspace by itself: of its virtual environment, as Python extensions do, or of its
// node_modules, loaded into its own process, as extensions for JavaScript do.
"use strict";
const { execFile } = require("node:child_process");
const path = require("node:path");
const vscode = require("vscode");

exports.activate = (context) => {
  const folder = vscode.workspace.workspaceFolders[0].uri.fsPath;
  const found = vscode.languages.createDiagnosticCollection();
  const tell = (document, output, source) => found.set(document.uri, [...output.matchAll(/^(\d+):(\d+): (.*)$/gm)].map(([, line, column, text]) => {
    const at = new vscode.Position(Number(line) - 1, Number(column));
    const problem = new vscode.Diagnostic(new vscode.Range(at, at.translate(0, 4)), text, vscode.DiagnosticSeverity.Warning);
    problem.source = source;
    return problem;
  }));
  const lint = async (document) => {
    if (document.languageId === "javascript") {
      const { lint } = require(require.resolve("proof-lint", { paths: [folder] }));
      tell(document, await lint(document.getText()), "proof-lint");
    }
    if (document.languageId !== "python") return;
    execFile(path.join(folder, ".venv/bin/pylint"), [document.uri.fsPath], { cwd: folder }, (error, output) => {
      if (error && !output) void vscode.window.showErrorMessage(`pylint: ${error.message}`);
      else tell(document, output, "pylint");
    });
  };
  context.subscriptions.push(found, vscode.workspace.onDidOpenTextDocument(lint), vscode.workspace.onDidSaveTextDocument(lint));
  vscode.workspace.textDocuments.forEach(lint);
};
