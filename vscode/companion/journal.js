// The journal as a page that follows it. Rows come from `bulkhead log --json --follow`; an access that
// happens again comes again with a higher count, and replaces its row.
"use strict";

const vscode = require("vscode");
const { html } = require("./page.js");
const { follow } = require("./program.js");
const text = require("./text.js");
const wording = require("./wording.js");

const BATCH = 150;
/** Rows that the page gets at once: the reader of the journal is faster than a page. */
const MAX_BATCH = 20_000;

const callOf = (/** @type {Record<string, any>} */ { kind, detail }) => wording.callOf({ kind: String(kind), detail: String(detail ?? "") });

/** @param {Record<string, any>} row of `bulkhead log --json` */
function verdictOf({ verdict, enforced, asked, rule }) {
  if (verdict !== "deny") return asked === true ? "yours" : "allow";
  if (wording.isInOwnHome({ rule: String(rule ?? "") })) return "own";
  return enforced === false ? "passed" : "deny";
}

/**
 * A row as the page shows it; all text escaped.
 * @param {Record<string, any>} row of `bulkhead log --json`
 * @param {string | undefined} home
 */
function shown(row, home) {
  const own = (/** @type {string} */ name) => text.escape(String(row[name] ?? ""));
  return {
    key: [row.run, row.kind, row.resource, row.verdict, row.asked, row.enforced, row.rule, row.program, callOf(row)].join("\0"),
    isPath: wording.isPath(String(row.kind)),
    revision: Number(row.revision) || 0,
    time: own("time"),
    run: own("run"),
    subject: own("subject"),
    verdict: verdictOf(row),
    asked: row.asked === true,
    kind: own("kind"),
    kindName: wording.kindName(String(row.kind)),
    resource: own("resource"),
    short: text.escape(wording.isPath(String(row.kind)) ? text.tilde(String(row.resource ?? ""), home) : String(row.resource ?? "")),
    count: Number(row.count) || 1,
    program: own("program"),
    pid: Number(row.pid) || 0,
    detail: own("detail"),
    call: text.escape(callOf(row)),
    rule: own("rule"),
    workspace: own("workspace"),
  };
}

class Journal {
  /** @type {vscode.WebviewPanel | undefined} */
  #panel;
  /** @type {{ dispose(): void } | undefined} */
  #reader;
  /** @type {Map<string, ReturnType<typeof shown>>} */
  #batch = new Map();
  /** @type {NodeJS.Timeout | undefined} */
  #timer;
  /** @type {{ extension?: string, verdict?: string } | undefined} */
  #filter;

  /**
   * @param {{ program: string | undefined, media: vscode.Uri, limit: () => number, home?: string }} options
   */
  constructor({ program, media, limit, home }) {
    this.program = program;
    this.home = home;
    this.media = media;
    this.limit = limit;
  }

  dispose() {
    this.#stop();
    this.#panel?.dispose();
  }

  /** @param {{ extension?: string, verdict?: string }} [filter] */
  show(filter) {
    if (!this.program) {
      void vscode.window.showWarningMessage("The journal is shown in windows that `bulkhead code` started.");
      return;
    }
    this.#filter = filter;
    if (this.#panel) {
      this.#panel.reveal();
      if (filter) void this.#panel.webview.postMessage({ type: "filter", filter });
      return;
    }
    const panel = vscode.window.createWebviewPanel("bulkhead.journal", "Bulkhead Journal", vscode.ViewColumn.Active, {
      enableScripts: true,
      enableFindWidget: true,
      localResourceRoots: [this.media],
    });
    this.#panel = panel;
    panel.iconPath = new vscode.ThemeIcon("list-flat");
    panel.onDidDispose(() => {
      this.#panel = undefined;
      this.#stop();
    });
    // A page that was hidden begins anew, and says so.
    panel.webview.onDidReceiveMessage((message) => {
      if (message?.type === "ready") this.#start(message.all === true);
    });
    panel.onDidChangeViewState(() => {
      if (!panel.visible) this.#stop();
    });
    panel.webview.html = html(panel.webview, this.media, {
      title: "Bulkhead journal",
      script: "journal.page.js",
      body: `<form class="filters" role="search" aria-label="Filters">
<input id="text" type="search" aria-label="Text in resource, program or rule" placeholder="Resource, program or rule">
<label>Extension <select id="extension"><option value="">All</option></select></label>
<label>Verdict <select id="verdict"><option value="">All</option><option value="deny">Refused</option><option value="allow">Allowed</option><option value="yours">You allowed</option><option value="own">Own home</option><option value="passed">Let pass</option></select></label>
<label>Kind <select id="kind"><option value="">All</option></select></label>
<label title="Node, VS Code's own files, system libraries, variables of the environment: nineteen of twenty entries of an extension's start"><input type="checkbox" id="all"> What every host needs</label>
<span id="state" class="state" role="status"></span>
</form>
<div class="rows" id="scroll">
<table role="treegrid" aria-label="Journal">
<thead><tr><th scope="col">Resource</th><th scope="col" class="verdict">Verdict</th><th scope="col" class="kind">Kind</th><th scope="col" class="extension">Extension</th><th scope="col" class="count">Count</th><th scope="col" class="program">Program</th><th scope="col" class="time">Time</th></tr></thead>
<tbody id="rows"></tbody>
</table>
<p id="note" class="note" hidden></p>
</div>
<section id="detail" class="detail" aria-label="Selected entry" hidden></section>`,
    });
  }

  /** @param {boolean} all what every extension host needs for itself, too */
  #start(all) {
    this.#stop();
    if (!this.program) return;
    const filter = this.#filter;
    this.#filter = undefined;
    void this.#panel?.webview.postMessage({ type: "start", limit: this.limit(), filter });
    this.#reader = follow(this.program, ["log", "--json", all ? "--all" : "--brief", "--follow", "--limit", String(this.limit())], {
      line: (row) => {
        const one = shown(row, this.home);
        this.#batch.delete(one.key);
        this.#batch.set(one.key, one);
        if (this.#batch.size > MAX_BATCH) this.#batch.delete(/** @type {string} */ (this.#batch.keys().next().value));
        this.#timer ??= setTimeout(() => this.#flush(), BATCH);
      },
      end: (reason) => {
        this.#flush();
        void this.#panel?.webview.postMessage({ type: "end", reason: text.escape(reason) });
      },
    });
  }

  #stop() {
    this.#reader?.dispose();
    this.#reader = undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#batch.clear();
  }

  #flush() {
    this.#timer = undefined;
    void this.#panel?.webview.postMessage({ type: "rows", rows: [...this.#batch.values()] });
    this.#batch.clear();
  }
}

module.exports = { Journal };
