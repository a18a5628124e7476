// The tree of compartments: what each is, may do, did, was refused, asks and remembers.
"use strict";

const vscode = require("vscode");
const { read } = require("./program.js");
const text = require("./text.js");
const wording = require("./wording.js");

/** @typedef {import("./model.js").Compartment} Compartment */

const MAX_ROWS = 100;
const MAX_DONE = 20;
const REFRESH = 300;

/** @typedef {"compartment" | "review" | "questions" | "question" | "refusals" | "unseen" | "refusal" | "permits" | "cannot" | "withheld" |
 *   "done" | "deeds" | "access" | "grants" | "grant" | "text"} Type */

/** A row. Commands accept rows of this class only: another extension's arguments are copies. */
class Row {
  /**
   * @param {Type} type
   * @param {Compartment} compartment
   * @param {Row | undefined} parent
   * @param {vscode.TreeItem} item
   * @param {any} [value] refusal, question, grant
   */
  constructor(type, compartment, parent, item, value) {
    this.type = type;
    this.compartment = compartment;
    this.parent = parent;
    this.item = item;
    this.value = value;
  }
}

const { None, Collapsed } = vscode.TreeItemCollapsibleState;
const icon = (/** @type {string} */ name, /** @type {string} */ colour = "") =>
  new vscode.ThemeIcon(name, colour ? new vscode.ThemeColor(colour) : undefined);

/** @type {Record<string, [icon: string, colour: string, words: string]>} */
const STATES = {
  review: ["checklist", "notificationsWarningIcon.foreground", "waits for your review"],
  starting: ["loading~spin", "", "starting"],
  running: ["shield", "testing.iconPassed", "running"],
  stuck: ["warning", "notificationsWarningIcon.foreground", "not responding"],
  ended: ["error", "notificationsErrorIcon.foreground", "ended"],
};

/** What was refused, least recent first. @param {Compartment} compartment */
const refusalsOf = ({ refusals }) => [...refusals.values()].filter((one) => !wording.isInOwnHome(one));
/** @param {Compartment} compartment */
const inOwnHome = ({ refusals }) => [...refusals.values()].filter(wording.isInOwnHome);

/** @param {Compartment} compartment */
const stateIn = (compartment) => STATES[compartment.stuck ? "stuck" : compartment.state];

/** @param {Compartment} compartment */
function stateOf(compartment) {
  if (!compartment.connected && compartment.state !== "ended") return "not connected";
  if (compartment.rejected) return "does not run";
  return stateIn(compartment)[2];
}

/** @param {Compartment} compartment */
function load(compartment) {
  if (compartment.state !== "running" || !compartment.usage) return "";
  const cpu = compartment.cpuPercent;
  const percent = cpu === undefined ? "" : `${cpu < 10 && cpu >= 0.05 ? cpu.toFixed(1) : Math.round(cpu)}% · `;
  return `${percent}${text.size(compartment.usage.memory)}`;
}

/**
 * What the workbench left out of what its packages declare (workbench/declarations.js), as sentences.
 * @param {Compartment} compartment
 * @returns {string[]}
 */
const withheld = (compartment) =>
  compartment.extensions.flatMap(({ id }) => {
    // @ts-expect-error true: of every host, a proposed API (extensionsAny)
    const told = vscode.extensions.getExtension(id, true)?.packageJSON?.bulkheadWithheld;
    return Array.isArray(told) ? told.filter((one) => typeof one === "string").slice(0, MAX_ROWS).map(sentence) : [];
  });

/** @implements {vscode.TreeDataProvider<Row>} */
class Tree {
  #changed = new vscode.EventEmitter();
  onDidChangeTreeData = this.#changed.event;
  /** @type {Map<Compartment, Row>} */
  #roots = new Map();
  /** @type {Map<Compartment, string>} what was drawn of it last */
  #drawn = new Map();
  /** @type {NodeJS.Timeout | undefined} */
  #timer;
  #all = false;
  /** @type {Set<Compartment>} */
  #dirty = new Set();
  #home = process.env.HOME;

  /**
   * @param {import("./model.js").Model} model
   * @param {string | undefined} program
   * @param {string} storage where VS Code keeps what extensions store
   */
  constructor(model, program, storage) {
    this.model = model;
    this.program = program;
    this.storage = storage;
    for (const event of ["added", "removed"]) model.on(event, () => this.#later());
    model.on("changed", (compartment) => this.#later(compartment));
  }

  dispose() {
    clearTimeout(this.#timer);
    this.#changed.dispose();
  }

  /** @param {Compartment} [compartment] */
  #later(compartment) {
    if (compartment) this.#dirty.add(compartment);
    else this.#all = true;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (this.#all) {
        for (const one of this.#roots.keys()) if (!this.model.has(one)) this.#roots.delete(one);
        for (const one of this.#drawn.keys()) if (!this.model.has(one)) this.#drawn.delete(one);
        this.#changed.fire(undefined);
      } else {
        for (const one of this.#dirty) {
          const row = this.#roots.get(one);
          // Usage comes every two seconds: rows that read the same are left alone.
          if (row && this.#drawn.get(one) !== this.#signature(one)) this.#changed.fire(row);
        }
      }
      this.#all = false;
      this.#dirty.clear();
    }, REFRESH);
  }

  /** @param {Compartment} one */
  #signature(one) {
    return JSON.stringify([
      one.state, one.connected, one.responds, one.outcome, one.extensions, load(one), one.allowed, one.refused, one.trace,
      [...one.questions.values()].map(({ id, later }) => [id, later]), one.usage?.listens, one.review?.digest, one.rejected, one.permits, one.cannot, one.grants,
      [...one.refusals.values()].map((refusal) => refusal.count), one.further,
    ]);
  }

  /** @param {Row} row */
  getTreeItem(row) {
    return row.type === "compartment" ? this.#draw(row) : row.item;
  }

  /** @param {Row} row */
  getParent(row) {
    return row.parent;
  }

  /** @param {Compartment} compartment */
  row(compartment) {
    let row = this.#roots.get(compartment);
    if (!row) {
      row = new Row("compartment", compartment, undefined, new vscode.TreeItem(""));
      this.#roots.set(compartment, row);
    }
    return row;
  }

  /** @param {Row} row */
  #draw(row) {
    const { compartment } = row;
    this.#drawn.set(compartment, this.#signature(compartment));
    const label = wording.shortName(compartment.extensions);
    const item = new vscode.TreeItem(label, Collapsed);
    let [name, colour] = stateIn(compartment);
    if (compartment.rejected) [name, colour] = ["circle-slash", ""];
    if (!compartment.connected && compartment.state !== "ended") [name, colour] = ["debug-disconnect", ""];
    const state = stateOf(compartment);
    item.id = `${compartment.pid}.${compartment.run}`;
    item.iconPath = compartment.trace && name === "shield" ? icon("record") : icon(name, colour);
    item.description = [compartment.stuck && state, load(compartment)].filter(Boolean).join(" · ") || state;
    if (compartment.state === "ended" && compartment.outcome) item.description = wording.ended(compartment.outcome);
    item.contextValue = compartment.state === "ended" ? "compartment.ended" : "compartment";
    item.accessibilityInformation = {
      label: `${label}, ${state}, ${load(compartment)}, ${compartment.refused} refused, ${compartment.questions.size} questions`,
    };
    item.tooltip = this.#tooltip(compartment);
    row.item = item;
    return item;
  }

  /** @param {Compartment} compartment */
  #tooltip(compartment) {
    const safe = (/** @type {string} */ raw) => text.markdown(text.escape(raw));
    const lines = compartment.extensions.map((one) => `**${safe(text.shorten(one.name, 60))}** ${safe(one.id)} ${safe(one.version)}`);
    lines.push(`State: ${stateOf(compartment)}${compartment.trace ? " (recording, the policy refuses nothing)" : ""}`);
    if (compartment.outcome) lines.push(`Outcome: ${safe(compartment.outcome)}`);
    if (compartment.usage) {
      const peak = Math.round(Math.max(0, ...compartment.load));
      const minutes = Math.round((compartment.load.length * 2) / 60);
      lines.push(
        `Memory: ${text.size(compartment.usage.memory)} · processes: ${compartment.usage.processes}`,
        `Processor: ${compartment.usage.cpu.toFixed(1)} s in all, at most ${peak}% in the last ${minutes > 1 ? `${minutes} minutes` : "minute"}`,
      );
      if (compartment.usage.home) lines.push(`In its own home folder: ${text.size(compartment.usage.home)}`);
    }
    const allowed = compartment.allowed === undefined ? "" : `Allowed: ${compartment.allowed.toLocaleString("en")} · `;
    lines.push(`${allowed}${allowed ? "refused" : "Refused"}: ${compartment.refused.toLocaleString("en")}`);
    lines.push(`Supervisor: process ${compartment.pid} · run ${safe(compartment.run)}`);
    return new vscode.MarkdownString(lines.join("  \n"));
  }

  /**
   * @param {Row} [row]
   * @returns {Row[] | Promise<Row[]>}
   */
  getChildren(row) {
    if (!row) return this.model.compartments.map((one) => this.row(one));
    const { compartment } = row;
    switch (row.type) {
      case "compartment":
        return this.#groups(row);
      case "questions":
        return [...compartment.questions.values()].slice(0, MAX_ROWS).map((question) => this.#question(row, question));
      case "refusals":
        return this.#refusals(row, refusalsOf(compartment));
      case "unseen":
        return this.#refusals(row, inOwnHome(compartment));
      case "permits":
        return this.#sentences(row, compartment.permits, "check");
      case "cannot":
        return this.#sentences(row, compartment.cannot, "dash");
      case "withheld":
        return this.#sentences(row, withheld(compartment), "dash");
      case "grants":
        return compartment.grants.map((grant, i) => this.#grant(row, grant, i));
      case "done":
        return this.#done(row);
      case "deeds":
        return this.#deeds(row);
      default:
        return [];
    }
  }

  /**
   * @param {Type} type
   * @param {Row} parent
   * @param {string} label
   * @param {{ id: string, icon?: vscode.ThemeIcon, description?: string, tooltip?: string, context?: string, open?: boolean,
   *   value?: any, command?: { command: string, title: string } }} what
   */
  #make(type, parent, label, { id, icon, description, tooltip, context, open = false, value, command }) {
    const item = new vscode.TreeItem(label, open ? Collapsed : None);
    item.id = `${parent.compartment.pid}.${parent.compartment.run}/${id}`;
    item.iconPath = icon;
    item.description = description;
    item.tooltip = tooltip;
    item.contextValue = context;
    const row = new Row(type, parent.compartment, parent, item, value);
    if (command) item.command = { ...command, arguments: [row] };
    return row;
  }

  /** @param {Row} root */
  #groups(root) {
    const { compartment } = root;
    const rows = [];
    if (compartment.review)
      rows.push(this.#make("review", root, compartment.rejected ? "You did not allow it: review again" : "Review before it runs", {
        id: "review", icon: icon("checklist", "notificationsWarningIcon.foreground"),
        command: { command: "bulkhead.review", title: "Review" },
      }));
    if (compartment.questions.size > 0)
      rows.push(this.#make("questions", root, "Asks", {
        id: "questions", icon: icon("question", "notificationsWarningIcon.foreground"),
        description: text.counted(compartment.questions.size, "question"), open: true, context: "questions",
      }));
    const refusals = refusalsOf(compartment);
    if (refusals.length + compartment.further > 0)
      rows.push(this.#make("refusals", root, compartment.trace ? "Would be refused" : "Was refused", {
        id: "refusals", icon: icon("circle-slash"), open: true, context: "refusals",
        description: text.counted(Math.max(compartment.refused, refusals.reduce((sum, one) => sum + one.count, compartment.further)), "time"),
      }));
    const unseen = inOwnHome(compartment);
    if (unseen.length > 0)
      rows.push(this.#make("unseen", root, "Found its own home folder", {
        id: "unseen", icon: icon("home"), open: true, context: "refusals", description: text.counted(unseen.length, "name"),
        tooltip: "It looked for these, or wrote them, in your home folder, and has one of its own. Nothing of yours was read or changed.",
      }));
    if (compartment.state !== "review")
      rows.push(this.#make("done", root, "Did", {
        id: "done", icon: icon("history"), open: true, context: "done",
        tooltip: "Beyond running its own code and what every extension host needs",
      }));
    rows.push(
      this.#make("permits", root, compartment.state === "review" ? "Could do" : "May do", { id: "permits", icon: icon("pass"), open: compartment.permits.length > 0, description: compartment.permits.length > 0 ? undefined : "nothing" }),
      this.#make("cannot", root, "Cannot", { id: "cannot", icon: icon("lock"), open: compartment.cannot.length > 0 }),
    );
    const left = withheld(compartment);
    if (left.length > 0)
      rows.push(this.#make("withheld", root, "Left out of its package", {
        id: "withheld", icon: icon("filter"), open: true, description: String(left.length),
        tooltip: "Key bindings, menu items, links and default settings that would act outside of its compartment. You can bind such keys yourself, in keybindings.json.",
      }));
    if (compartment.grants.length > 0)
      rows.push(this.#make("grants", root, "Your answers", {
        id: "grants", icon: icon("key"), open: true, description: String(compartment.grants.length),
      }));
    return rows;
  }

  /**
   * @param {Row} parent
   * @param {import("./protocol.js").Question} question
   */
  #question(parent, question) {
    return this.#make("question", parent, sentence(wording.wish(question, { home: this.#home })), {
      id: `question/${question.id}`, icon: icon("question"), context: "question", value: question,
      description: [wording.through(question.program), question.later && "went on without"].filter(Boolean).join(" · "), tooltip: wording.details(parent.compartment.extensions, question),
      command: { command: "bulkhead.answer", title: "Answer" },
    });
  }

  /**
   * @param {Row} parent
   * @param {import("./model.js").Refusal[]} refusals
   */
  #refusals(parent, refusals) {
    const { compartment } = parent;
    const all = refusals.reverse();
    const rows = all.slice(0, MAX_ROWS).map((refusal) => {
      const { name, place } = wording.placed(refusal, { home: this.#home });
      return this.#make("refusal", parent, sentence(wording.deed(refusal.kind, name)), {
        id: `refusal/${refusal.kind}/${refusal.resource}`, value: refusal, icon: icon(parent.type === "unseen" ? "home" : "circle-slash"),
        description: [refusal.count > 1 ? `×${refusal.count.toLocaleString("en")}` : "", place, wording.through(refusal.program)].filter(Boolean).join(" · "),
        tooltip: [text.escape(refusal.resource), `Rule: ${text.escape(refusal.rule)}`, refusal.program && `Program: ${text.escape(refusal.program)}`,
          `First: ${new Date(refusal.time).toLocaleString()}`].filter(Boolean).join("\n"),
        context: wording.grantable(refusal) ? "refusal" : "refusal.final",
      });
    });
    if (all.length - rows.length + (parent.type === "unseen" ? 0 : compartment.further) > 0)
      rows.push(this.#make("text", parent, "Older ones are in the journal", {
        id: `${parent.type}-more`, icon: icon("list-flat"), command: { command: "bulkhead.showJournalOf", title: "Show Journal" },
      }));
    return rows;
  }

  /**
   * @param {Row} parent
   * @param {string[]} sentences
   * @param {string} mark
   */
  #sentences(parent, sentences, mark) {
    return sentences.slice(0, MAX_ROWS).map((one, i) =>
      this.#make("text", parent, text.plain(text.escape(one)), { id: `${parent.type}/${i}`, icon: icon(mark), tooltip: text.escape(one), context: "sentence" }));
  }

  /**
   * @param {Row} parent
   * @param {import("./protocol.js").Grant} grant
   * @param {number} i
   */
  #grant(parent, grant, i) {
    const allowed = grant.allowed !== false;
    return this.#make("grant", parent, wording.remembered(grant, { home: this.#home }), {
      id: `grant/${i}`, icon: icon(allowed ? "check" : "circle-slash"), value: grant,
      tooltip: `${text.escape(grant.resource)}\n${allowed ? "Allowed" : "Refused"}`,
      context: grant.remembered ? "grant" : "grant.session",
    });
  }

  /** @param {Row} parent */
  async #done(parent) {
    const { compartment } = parent;
    const journal = this.#make("text", parent, "Show all in the journal", {
      id: "done-all", icon: icon("list-flat"), command: { command: "bulkhead.showJournalOf", title: "Show Journal" },
    });
    if (!this.program) return [journal];
    try {
      // All of it: who does much afterwards hides nothing by that.
      /** @type {any[]} */
      const did = [];
      await read(this.program, ["log", "--json", "--brief", "--run", compartment.run], (row) => {
        if (row.verdict === "allow") did.push({ kind: row.kind, resource: row.resource, verdict: row.verdict, count: row.count, program: row.program, rule: row.rule, detail: row.detail, groundwork: row.groundwork });
      });
      const groups = wording.deeds(did, { extensions: compartment.extensions, workspace: compartment.workspace, storage: this.storage });
      const last = [...this.#kept(parent), journal];
      if (groups.length === 0) return [this.#make("text", parent, "Nothing but run its own code", { id: "done-none", icon: icon("check") }), ...last];
      return [
        ...groups.map((group) =>
          this.#make("deeds", parent, group.title, {
            id: `done/${group.name}`, icon: icon(group.icon), open: true, value: group,
            description: group.rows.length === 1 ? wording.placed(group.rows[0], { home: this.#home }).name : text.counted(group.rows.length, ENTRY[group.name] ?? "file"),
            tooltip: `${group.title}: ${text.counted(group.count, "time")}`,
          })),
        ...last,
      ];
    } catch (error) {
      // It is written in the background: a run may not be there yet.
      if (/no such run/.test(/** @type {Error} */ (error).message)) return [journal];
      const words = text.plain(text.shorten(text.escape(/** @type {Error} */ (error).message), 200));
      return [this.#make("text", parent, `The journal cannot be read: ${words}`, { id: "done-error", icon: icon("warning") })];
    }
  }

  /** What is there for it alone, and so not recorded access by access. @param {Row} parent */
  #kept(parent) {
    const { home = 0, listens = [] } = parent.compartment.usage ?? {};
    const rows = listens.slice(0, MAX_DONE).map((/** @type {number} */ port) =>
      this.#make("text", parent, `Serves port ${port}, for itself`, {
        id: `done-serves/${port}`, icon: icon("server"), tooltip: "Its compartment has a network of its own: nothing outside reaches this port, your browser neither.",
      }));
    if (home > 0)
      rows.push(this.#make("text", parent, `Keeps ${text.size(home)} for itself`, {
        id: "done-home", icon: icon("home"), tooltip: "What it makes in your home folder (~/.cache, ~/.config) exists for it alone, and goes with the extension.",
      }));
    return rows;
  }

  /** @param {Row} parent */
  #deeds(parent) {
    const { name, rows } = parent.value;
    const most = wording.ORDINARY.has(name) ? MAX_DONE : MAX_ROWS;
    return [
      ...rows.slice(0, most).map((/** @type {any} */ row, /** @type {number} */ i) => {
        const { name: label, place } = wording.placed(row, { home: this.#home, workspace: parent.compartment.workspace });
        const call = name === "powers" ? text.escape(wording.callOf(row)) : "";
        return this.#make("access", parent, row.kind === "vscode" ? sentence(label) : label, {
          id: `done/${name}/${i}`, value: row, icon: icon("circle-small"),
          description: [text.plain(text.shorten(call, 60)), row.count > 1 ? `×${row.count.toLocaleString("en")}` : "", place, wording.through(row.program)].filter(Boolean).join(" · "),
          tooltip: [text.escape(row.resource), call, text.counted(row.count, "time"), `Rule: ${text.escape(row.rule)}`].filter(Boolean).join("\n"), context: "access",
        });
      }),
      ...(rows.length > most
        ? [this.#make("text", parent, `${(rows.length - most).toLocaleString("en")} more in the journal`, {
            id: `done/${name}-more`, icon: icon("list-flat"), command: { command: "bulkhead.showJournalOf", title: "Show Journal" },
          })]
        : []),
    ];
  }
}

/** What a group of deeds counts, where that is no file. @type {Record<string, string>} */
const ENTRY = { powers: "power", hosts: "host", ran: "program", other: "thing", everyday: "kind" };

/** @param {string} words */
const sentence = (words) => words.charAt(0).toUpperCase() + words.slice(1);

module.exports = { Row, Tree };
