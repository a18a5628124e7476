// The companion: what people see of bulkhead in the editor. Trusted; runs in the main extension host.
// Its commands are not for other extensions: those that change something take rows of our own tree.
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");
const { notStarted } = require("./not_started.js");
const { Hosts } = require("./connection.js");
const { Journal } = require("./journal.js");
const { Manifests } = require("./manifests.js");
const { Missing } = require("./missing.js");
const { Model } = require("./model.js");
const { Notices } = require("./notices.js");
const { run } = require("./program.js");
const { Prompts } = require("./prompts.js");
const { Reviews } = require("./review.js");
const { Status } = require("./status.js");
const text = require("./text.js");
const { Row, Tree } = require("./view.js");
const wording = require("./wording.js");

/** @typedef {import("./model.js").Compartment} Compartment */

/** @param {NodeJS.ProcessEnv} env */
function places(env) {
  const { BULKHEAD_RUNTIME: runtime, BULKHEAD_WINDOW: window, BULKHEAD_PROGRAM: program } = env;
  const whole = runtime && path.isAbsolute(runtime) && window && /^[A-Za-z0-9_-]{1,128}$/.test(window);
  return {
    folder: whole ? path.join(runtime, "code", window) : undefined,
    program: program && path.isAbsolute(program) ? program : undefined,
  };
}

/** Of all extensions, as the journal names it. @param {vscode.ExtensionContext} context */
function storageFolder({ globalStorageUri }) {
  const folder = path.resolve(globalStorageUri.fsPath, "../..");
  try {
    return fs.realpathSync(folder);
  } catch {
    return folder; // nothing is stored yet
  }
}

/** @param {vscode.ExtensionContext} context */
function activate(context) {
  const keep = (/** @type {{ dispose(): any }[]} */ ...what) => context.subscriptions.push(...what);
  const { folder, program } = places(process.env);
  const home = process.env.HOME;
  const media = vscode.Uri.joinPath(context.extensionUri, "media");
  const log = vscode.window.createOutputChannel("Bulkhead", { log: true });
  const settings = () => vscode.workspace.getConfiguration("bulkhead");
  const { window } = vscode;

  const model = new Model();
  const prompts = new Prompts(model, window, { home });
  const reviews = new Reviews(model, media);
  const journal = new Journal({ program, media, limit: () => settings().get("journal.entries", 2000), home });
  const tree = new Tree(model, program, storageFolder(context));
  const view = window.createTreeView("bulkhead.compartments", { treeDataProvider: tree, showCollapseAll: true });
  const status = new Status(model, { started: folder !== undefined });
  const manifests = new Manifests(program, (words) => log.warn(words));
  keep(log, reviews, journal, tree, view, status, manifests);

  const badge = () => {
    const value = model.questions.length + model.reviews.length;
    view.badge = value > 0 ? { value, tooltip: text.counted(value, "decision waits for you", "decisions wait for you") } : undefined;
  };
  const setContext = (/** @type {string} */ state) => vscode.commands.executeCommand("setContext", "bulkhead.state", state);
  void setContext(folder ? "none" : "off");
  for (const event of ["added", "removed", "changed"]) model.on(event, badge);
  // Who has the list before them has seen what is new in it.
  view.onDidChangeVisibility(({ visible }) => visible && model.look());

  /**
   * A list that is shown for the first time takes no focus by itself, a row has to, and it knows of no row for a moment.
   * @param {Compartment | undefined} compartment
   * @param {number} expand how many levels of it
   */
  const reveal = async (compartment, expand = 2) => {
    await vscode.commands.executeCommand("bulkhead.compartments.focus");
    for (let tries = 0; compartment && model.has(compartment) && tries < 30; tries += 1)
      try {
        return await view.reveal(tree.row(compartment), { expand: expand || false, focus: true, select: false });
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
  };
  const journalOf = (/** @type {Compartment} */ compartment) =>
    // Of several in one compartment the journal has one name.
    journal.show({ extension: text.escape(compartment.extensions.map(({ id }) => id.toLowerCase()).sort().join("+")) });
  new Notices(model, window, {
    refusals: () => settings().get("notifyRefusals", "firstOfExtension"),
    ends: () => settings().get("notifyEnds", true),
    show: (compartment) => void reveal(compartment),
    journal: journalOf,
    home,
  });

  const pick = async (/** @type {string} */ title) => {
    const rows = model.compartments.filter((one) => one.connected && one.state !== "ended").map((compartment) => ({
      label: wording.shortName(compartment.extensions),
      description: compartment.extensions.map((one) => text.name(one.id)).join(", "),
      compartment,
    }));
    if (rows.length === 0) void window.showInformationMessage("There is no compartment in this window.");
    return rows.length === 0 ? undefined : (await window.showQuickPick(rows, { title }))?.compartment;
  };
  /** The row that a command was given by our own tree; nothing that others made up. */
  const own = (/** @type {unknown} */ row, /** @type {string} */ type) =>
    row instanceof Row && (row.type === type || type === "") && model.has(row.compartment) ? row : undefined;
  // While the tree is drawn anew the workbench may know a row no more that a person has just chosen.
  const gone = () => void window.showWarningMessage("The list was changing, so nothing was done. Choose it again.");
  const told = (/** @type {boolean} */ sent, /** @type {Compartment} */ compartment) => {
    if (!sent) void window.showWarningMessage(`${wording.named(compartment.extensions)} is not connected; nothing was changed.`);
  };

  /** @type {Record<string, (row?: unknown) => unknown>} */
  const commands = {
    "bulkhead.showCompartments": () => reveal(model.compartments[0], 0),
    "bulkhead.showJournal": () => journal.show(),
    "bulkhead.showRefusals": () => journal.show({ verdict: "deny" }),
    "bulkhead.answerQuestions": () => prompts.list(),
    "bulkhead.review": (row) => {
      const found = own(row, "review");
      if (found) model.reconsider(found.compartment);
      reviews.show();
    },
    "bulkhead.look": () => {
      if (model.questions.length > 0) return prompts.list();
      if (model.reviews.length > 0) return reviews.show();
      const latest = model.compartments.filter((one) => one.unseen > 0).sort((a, b) => b.unseen - a.unseen)[0];
      const stuck = model.compartments.find((one) => one.stuck);
      model.look();
      return reveal(latest ?? stuck ?? model.compartments[0], latest ? 2 : 0);
    },
    "bulkhead.restart": async (row) => {
      const compartment = own(row, "compartment")?.compartment ?? (row === undefined ? await pick("Restart which compartment?") : undefined);
      if (!compartment) return;
      told(model.end(compartment), compartment);
    },
    "bulkhead.showJournalOf": (row) => {
      const found = own(row, "");
      if (found) journalOf(found.compartment);
    },
    "bulkhead.answer": (row) => {
      const found = own(row, "question");
      if (!found) return gone();
      void prompts.details(found.compartment, [found.value]);
    },
    "bulkhead.grant": async (row) => {
      const found = own(row, "refusal");
      if (!found) return gone();
      if (!wording.grantable(found.value)) return;
      const { compartment, value } = found;
      const what = wording.act(value.kind, value.resource, { home, most: 200 });
      const detail = [
        text.plain(text.escape(value.resource)),
        "",
        `It was refused by: ${text.plain(text.escape(value.rule))}`,
        "Remembered until you take it back. It counts from now on; what the extension tried only at its start may need a restart of the compartment.",
      ].join("\n");
      const grant = { title: "Always Allow" };
      // The first button has the focus.
      const chosen = await window.showWarningMessage(`Allow ${wording.who(compartment.extensions)} to ${what}?`, { modal: true, detail }, { title: "No" }, grant);
      if (chosen === grant) told(model.has(compartment) && compartment.send({ type: "grant", kind: value.kind, resource: value.resource }), compartment);
    },
    "bulkhead.revoke": async (row) => {
      const found = own(row, "grant");
      if (!found) return gone();
      const { compartment, value } = found;
      const sent = compartment.send({ type: "revoke", kind: value.kind, resource: value.resource });
      told(sent, compartment);
      if (!sent) return;
      const name = wording.named(compartment.extensions);
      const chosen = await window.showInformationMessage(`Taken back. It counts from the next start of ${name}.`, "Restart Now");
      if (chosen === "Restart Now" && model.has(compartment)) told(model.end(compartment), compartment);
    },
    "bulkhead.copy": (row) => {
      const found = own(row, "");
      const value = found?.value?.resource ?? found?.item.tooltip ?? "";
      if (found) void vscode.env.clipboard.writeText(String(value));
    },
  };
  for (const [name, action] of Object.entries(commands)) keep(vscode.commands.registerCommand(name, action));

  if (!folder) {
    log.info("this window was not started by bulkhead code; nothing to connect to");
    return;
  }
  const hosts = new Hosts(folder);
  keep(hosts);
  const missing = new Missing(model, window, {
    ask: () => vscode.commands.executeCommand("_bulkhead.missing"),
    start: () => vscode.commands.executeCommand("_bulkhead.startMissing"),
    record: async ({ id, why }) => {
      log.error(`${id} has not started: ${why}`);
      const [workspace] = vscode.workspace.workspaceFolders ?? [];
      const words = ["host", "--missing", id, "--why", why, ...(workspace ? ["--workspace", workspace.uri.fsPath] : [])];
      if (program) await run(program, words).catch((error) => log.error(`the journal was not told: ${error.message}`));
    },
    changed: () => {
      status.missing = missing.found.length;
      status.update();
    },
  });
  keep(missing, vscode.extensions.onDidChange(() => missing.soon()));
  view.message = notStarted(context.extension.packageJSON.bulkheadNotStarted ?? [], context.globalState, window);
  hosts.on("fault", (words) => log.error(words));
  hosts.on("gone", (pid) => model.gone(pid));
  hosts.on("host", (connection) => {
    connection.on("hello", (/** @type {import("./protocol.js").Hello} */ hello) => {
      model.hello(hello, (message) => connection.send(message));
    });
    connection.on("message", (/** @type {import("./protocol.js").FromHost} */ message) => model.message(connection.pid, message));
    connection.on("lost", () => model.lost(connection.pid));
  });
  hosts.start();
}

module.exports = { activate };
