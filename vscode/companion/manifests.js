// Mistakes in bulkhead.json, as `bulkhead check` finds them, where they stand. On opening and saving:
// the program reads the file, not the editor's unsaved text.
"use strict";

const vscode = require("vscode");
const { run } = require("./program.js");
const { findings } = require("./findings.js");

const SEVERITY = /** @type {Record<string, vscode.DiagnosticSeverity>} */ ({
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
  note: vscode.DiagnosticSeverity.Information,
});

class Manifests {
  #diagnostics = vscode.languages.createDiagnosticCollection("bulkhead");
  /** @type {vscode.Disposable[]} */
  #listeners = [];

  /**
   * @param {string | undefined} program
   * @param {(words: string) => void} log
   */
  constructor(program, log) {
    this.program = program;
    this.log = log;
    if (!program) return;
    this.#listeners = [
      vscode.workspace.onDidOpenTextDocument((document) => this.#check(document)),
      vscode.workspace.onDidSaveTextDocument((document) => this.#check(document)),
      vscode.workspace.onDidCloseTextDocument((document) => this.#diagnostics.delete(document.uri)),
    ];
    for (const document of vscode.workspace.textDocuments) void this.#check(document);
  }

  dispose() {
    for (const listener of this.#listeners) listener.dispose();
    this.#diagnostics.dispose();
  }

  /** @param {vscode.TextDocument} document */
  async #check(document) {
    if (!this.program || document.uri.scheme !== "file" || !/\/(.*\.)?bulkhead\.json$/.test(document.uri.path)) return;
    const { version } = document;
    const workspace = (vscode.workspace.workspaceFolders ?? [])
      .filter((folder) => folder.uri.scheme === "file")
      .flatMap((folder) => ["--workspace", folder.uri.fsPath]);
    try {
      // Its exit code is 2 where it found errors.
      const output = await run(this.program, ["check", "--json", ...workspace, "--", document.uri.fsPath], { allow: [0, 1, 2] });
      if (document.isClosed || document.version !== version) return;
      this.#diagnostics.set(
        document.uri,
        findings(output, document.getText()).map((one) => {
          const range = new vscode.Range(document.positionAt(one.start), document.positionAt(one.end));
          const diagnostic = new vscode.Diagnostic(range, one.message, SEVERITY[one.severity] ?? vscode.DiagnosticSeverity.Error);
          diagnostic.source = "bulkhead";
          if (one.field) diagnostic.code = one.field;
          return diagnostic;
        }),
      );
    } catch (error) {
      this.log(`bulkhead check ${document.uri.fsPath}: ${/** @type {Error} */ (error).message}`);
    }
  }
}

module.exports = { Manifests };
