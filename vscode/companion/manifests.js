// Mistakes in bulkhead.json, as `bulkhead check` finds them, where they stand. On opening and saving:
// the program reads the file, not the editor's unsaved text. One after the other, the last one first:
// an extension can open thousands of that name, and each is a program outside of its compartment.
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
  /** @type {Set<vscode.TextDocument>} the last one last */
  #waiting = new Set();
  #works = false;

  /**
   * @param {string | undefined} program
   * @param {(words: string) => void} log
   */
  constructor(program, log) {
    this.program = program;
    this.log = log;
    if (!program) return;
    this.#listeners = [
      vscode.workspace.onDidOpenTextDocument((document) => this.#ask(document)),
      vscode.workspace.onDidSaveTextDocument((document) => this.#ask(document)),
      vscode.workspace.onDidCloseTextDocument((document) => this.#diagnostics.delete(document.uri)),
    ];
    for (const document of vscode.workspace.textDocuments) this.#ask(document);
  }

  dispose() {
    for (const listener of this.#listeners) listener.dispose();
    this.#diagnostics.dispose();
  }

  /** @param {vscode.TextDocument} document */
  #ask(document) {
    if (document.uri.scheme !== "file" || !/\/(.*\.)?bulkhead\.json$/.test(document.uri.path)) return;
    this.#waiting.delete(document);
    this.#waiting.add(document);
    if (!this.#works) void this.#work();
  }

  async #work() {
    this.#works = true;
    for (let next; (next = [...this.#waiting].at(-1)); ) {
      this.#waiting.delete(next);
      if (!next.isClosed) await this.#check(next);
    }
    this.#works = false;
  }

  /** @param {vscode.TextDocument} document */
  async #check(document) {
    if (!this.program) return;
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
