// What is said to people, in words. Pure functions over the model's data; what they return has been
// through text.js and can be shown in messages, labels and quick picks.
"use strict";

const path = require("node:path");
const { effect } = require("./effect.js");
const text = require("./text.js");

/** @typedef {import("./protocol.js").Extension} Extension */
/** @typedef {import("./protocol.js").Question} Question */

/** "wants to …", "tried to …": the verb before a resource, by kind. */
const VERBS = /** @type {Record<string, string>} */ ({
  read: "read",
  write: "write",
  status: "look at (whether it exists, its size and times)",
  "read-status": "look at (whether it exists, its size and times)",
  "write-status": "change the mode, owner or times of",
  run: "run the program",
  connect: "connect to",
  lookup: "connect to",
  listen: "be reached by your browser, and by other programs of this machine, at port",
  environment: "see the environment variable",
  system: "use the kernel interface",
});

/** Permissions of the manifest's `vscode` list. What is not here is named as it is. */
const PERMISSIONS = /** @type {Record<string, string>} */ ({
  authentication: "use your accounts' sign-ins",
  clipboard: "read or change the clipboard",
  commands: "run commands of the editor",
  "commands-foreign": "run commands and tools of other extensions",
  comments: "show comments",
  debug: "start programs in the debugger, outside its compartment",
  diagnostics: "report problems",
  documents: "read open documents of files that it may read",
  extensions: "see which extensions are installed and use their exports",
  "language-models": "use language models",
  languages: "offer language features",
  "machine-id": "be told this machine's ids",
  notebooks: "use notebooks",
  "open-external": "open addresses in the browser and files in other programs",
  scm: "be a source control provider",
  secrets: "keep secrets of its own",
  "settings-read": "read settings",
  "settings-shared": "use settings that other extensions declare too",
  "settings-write": "change its own settings",
  "settings-write-foreign": "change settings of the editor or of other extensions",
  storage: "keep data of its own",
  tasks: "run tasks, outside its compartment",
  terminal: "open terminals and type into them, outside its compartment",
  "terminal-read": "read what terminals show",
  testing: "run tests",
  tunnels: "forward ports of this machine",
  typing: "be given every key that you type in editors",
  webview: "show web pages in the editor",
  "webview-network": "show web pages, which your browser cannot keep off the network",
  window: "show messages and views",
  "workspace-edit": "change documents through the editor",
  "workspace-files": "read and change files through the editor",
  "workspace-folders": "open folders as your workspace, where every extension may do what you allowed it in a workspace",
});

/** How an access of each kind is named in a list. */
const KIND_NAMES = /** @type {Record<string, string>} */ ({
  read: "read",
  write: "write",
  status: "status",
  "read-status": "status",
  "write-status": "mode, owner, times",
  run: "run",
  connect: "connect",
  lookup: "look up",
  listen: "listen",
  environment: "environment",
  vscode: "VS Code",
  system: "kernel",
});

/** What the system call makes of a file that it changes, where that is more than writing into it. @type {Record<string, string>} */
const CHANGES = {
  unlink: "remove", unlinkat: "remove", rmdir: "remove the folder", mkdir: "make the folder", mkdirat: "make the folder",
  rename: "rename or replace", renameat: "rename or replace", renameat2: "rename or replace",
  symlink: "make the link", symlinkat: "make the link", mknod: "make the special file", mknodat: "make the special file",
  truncate: "cut off", ftruncate: "cut off",
};

/** Reasons by which a compartment found its own home folder in place of the real one, is_own_home() in src/policy/judge.h. */
const OWN_HOME = /^yours (?:was not shown|is blocked, and was not shown|is as it was): it has a home folder of its own$/;
/** The one of them that a grant changes. */
const UNSEEN = "yours was not shown: it has a home folder of its own";

const PATHS = new Set(["read", "write", "status", "read-status", "write-status", "run"]);

/** Questions that a dialog can list. */
const MAX_LISTED = 20;

/** @param {string} kind */
const isPath = (kind) => PATHS.has(kind);

/** @param {string} kind */
const kindName = (kind) => KIND_NAMES[kind] ?? text.name(kind);

/**
 * A resource, ready to be shown.
 * @param {string} kind
 * @param {string} resource canonical, as the host sent it
 * @param {{ home?: string, most?: number }} [options]
 */
function resource(kind, resource, { home, most = 80 } = {}) {
  if (!PATHS.has(kind)) return text.plain(text.shorten(text.escape(resource), most));
  return text.plain(text.shortenPath(text.escape(text.tilde(resource, home)), most));
}

/**
 * "read ~/.ssh/id_rsa"
 * @param {string} kind
 * @param {string} what
 * @param {{ home?: string, most?: number }} [options]
 */
function act(kind, what, options) {
  if (kind === "vscode" && Object.hasOwn(PERMISSIONS, what)) return PERMISSIONS[what];
  const shown = resource(kind, what, options);
  if (kind === "vscode") return `use ${shown} of VS Code`;
  return `${Object.hasOwn(VERBS, kind) ? VERBS[kind] : "use"} ${shown}`;
}

/**
 * "Never: read ~/.npmrc": what tells answers apart comes first, since rows are cut off at their end.
 * @param {import("./protocol.js").Grant} grant
 * @param {{ home?: string }} [options]
 */
function remembered({ kind, resource: what, remembered: lasts, allowed }, options) {
  const word = !lasts ? "This session" : allowed === false ? "Never" : "Always";
  // An entry "folder/." is the list of its names alone.
  if (kind === "read" && what.endsWith("/.")) return `${word}: list the names in ${resource(kind, what.slice(0, -2) || "/", options)}`;
  return `${word}: ${act(kind, what, options)}`;
}

/** "Prettier (esbenp.prettier-vscode)": a name alone could be anybody's. */
const byId = (/** @type {Extension} */ one) => `${text.name(one.name || one.id)} (${text.name(one.id)})`;

/**
 * Those that VS Code came with and that share a compartment. No other extension has a manifest of bulkhead's and such an id: one
 * that takes a built-in extension's id does not run.
 * @param {Extension[]} extensions
 */
const areEditors = (extensions) => extensions.length > 2 && extensions.every(({ id, manifest }) => manifest === "shipped" && /^vscode\./i.test(id));
const EDITORS = "VS Code's own extensions (Git, TypeScript, npm, …)";

/**
 * "Prettier (esbenp.prettier-vscode)"; several share a host only where one depends on the other.
 * @param {Extension[]} extensions
 */
function who(extensions) {
  if (extensions.length === 0) return "An extension";
  if (areEditors(extensions)) return `One of ${EDITORS}`;
  const one = byId(extensions[0]);
  return extensions.length === 1 ? one : `${one} or ${text.counted(extensions.length - 1, "extension")} with it`;
}

/**
 * "Prettier", "Astro and 1 more"
 * @param {Extension[]} extensions
 */
function shortName(extensions) {
  if (extensions.length === 0) return "New compartment";
  if (areEditors(extensions)) return EDITORS;
  const one = text.name(extensions[0].name || extensions[0].id);
  return extensions.length === 1 ? one : `${one} and ${extensions.length - 1} more`;
}

/**
 * "Prettier (esbenp.prettier-vscode)", "Astro (astro-build.astro-vscode) and 1 more": in messages.
 * @param {Extension[]} extensions
 */
function named(extensions) {
  if (extensions.length === 0) return shortName(extensions);
  if (areEditors(extensions)) return `One of ${EDITORS}`;
  const one = byId(extensions[0]);
  return extensions.length === 1 ? one : `${one} and ${extensions.length - 1} more`;
}

/**
 * The extensions that a question can come from. Hosts know the extension for calls of the editor's
 * API only; an id that the host did not announce says nothing.
 * @param {Extension[]} extensions of the host
 * @param {string} [id]
 */
function asker(extensions, id) {
  const found = extensions.filter((one) => one.id.toLowerCase() === (id ?? "").toLowerCase());
  return found.length === 1 ? found : extensions;
}

/**
 * The program by its file name, where it is another one than the extension host's own.
 * @param {string} program
 * @param {string} [host] the extension host's executable
 */
function through(program, host = process.execPath) {
  if (!program || program === host) return "";
  return text.plain(text.shorten(text.escape(path.basename(program)), 24));
}

/**
 * What a question is about: what would happen, where the call tells, and which permission it takes.
 * @param {Question} question
 * @param {{ home?: string, most?: number }} [options]
 */
function wish(question, options) {
  const { kind, detail, resource: what } = question;
  if (kind === "write" && Object.hasOwn(CHANGES, detail)) return `${CHANGES[detail]} ${resource(kind, what, options)} (Always lets it write there)`;
  const would = effect(question);
  const permission = act(question.kind, question.resource, options);
  return would === undefined ? permission : `${would} (Always lets it ${permission})`;
}

/** Of several questions of one cause a message names so many. */
const SHOWN = 4;

/** What they are about, each once. A yes to a host's name is one to its web ports. @param {Question[]} questions */
function subjects(questions) {
  const resources = [...new Set(questions.map((one) => one.resource))];
  if (PATHS.has(questions[0].kind)) return resources;
  return resources.filter((one) => !/:(?:443|80)$/.test(one) || !resources.includes(one.replace(/:\d+$/, "")));
}

/** Whether a message names all that an answer to it is for. @param {Question[]} questions of one cause */
const namesAll = (questions) => subjects(questions).length <= SHOWN;

/**
 * Several questions of one cause: the first ones by their names, the others counted.
 * @param {Question[]} questions
 * @param {{ home?: string, most?: number }} [options]
 */
function wishes(questions, options) {
  const [first] = questions;
  const all = subjects(questions);
  const verbs = [...new Set(questions.map((one) => one.kind))].map((kind) => (Object.hasOwn(VERBS, kind) ? VERBS[kind] : "use"));
  const doing = [...new Set(verbs)].join(" and ");
  const more = all.length > SHOWN ? ` and ${all.length - SHOWN} more` : "";
  if (all.length === 1) return `${doing} ${resource(first.kind, all[0], options)}`;
  if (!PATHS.has(first.kind)) return `${doing} ${all.slice(0, SHOWN).map((one) => resource(first.kind, one, options)).join(", ")}${more}`;
  const folder = shortest(questions);
  // From that folder on: of a name alone nobody knows how deep it lies.
  const nameOf = (/** @type {string} */ one) => (first.kind === "run" || one === folder ? path.basename(one) : path.relative(folder, one));
  const names = all.slice(0, SHOWN).map((one) => text.plain(text.shortenPath(text.escape(nameOf(one)), 48)));
  const place = first.kind === "run" ? "" : ` in ${resource(first.kind, folder, options)}`;
  return `${doing} ${text.counted(all.length, first.kind === "run" ? "program" : "file")}${place}: ${names.join(", ")}${more}`;
}

/** The folder of all of them. @param {Question[]} questions */
function shortest(questions) {
  let folder = questions[0].resource;
  for (const { resource: one } of questions)
    while (folder !== "/" && one !== folder && !one.startsWith(`${folder}/`)) folder = path.dirname(folder);
  return folder;
}

/**
 * @param {Extension[]} extensions
 * @param {Question | Question[]} asked of one cause
 * @param {{ home?: string, more?: number, most?: number }} [options] more: of other causes
 */
function ask(extensions, asked, { home, more = 0, most } = {}) {
  const questions = [asked].flat();
  const [question] = questions;
  const child = through(question.program);
  const rest = more > 0 ? ` (and ${text.counted(more, "more question")})` : "";
  const by = child ? `, by running ${child}` : "";
  const what = questions.length === 1 ? wish(question, { home, most }) : wishes(questions, { home, most });
  const later = questions.every((one) => one.later) ? " It went on without an answer." : "";
  return `${who(asker(extensions, question.extension))} wants to ${what}${by}.${later}${rest}`;
}

/**
 * What "Details…" shows.
 * @param {Extension[]} extensions
 * @param {Question | Question[]} asked of one cause
 */
function details(extensions, asked) {
  const questions = [asked].flat();
  const [question] = questions;
  const lines = [
    ...questions.slice(0, MAX_LISTED).map((one) => text.plain(text.escape(questions.length > 1 ? `${kindName(one.kind)}: ${one.resource}` : one.resource))),
    ...(questions.length > MAX_LISTED ? [`and ${questions.length - MAX_LISTED} more, which this does not answer`] : []),
    "",
    `Extension: ${asker(extensions, question.extension).map((one) => `${text.name(one.name)} (${text.name(one.id)} ${text.name(one.version)})`).join(", ")}`,
  ];
  if (question.program)
    lines.push(`Program: ${text.plain(text.escape(question.program))}, process ${question.process}`);
  if (question.detail) lines.push(`Call: ${text.plain(text.escape(question.detail))}`);
  if (question.about) lines.push(`With: ${text.clipped(question.about, 2000)}`);
  if (question.kind === "vscode") lines.push("", `This Session and Always count for all that this permission is for: ${act(question.kind, question.resource)}.`);
  if (questions.some((one) => one.kind === "lookup")) lines.push("", "A yes counts for its address and for its ports 80 and 443.");
  lines.push(
    "",
    question.later && question.kind === "vscode"
      ? "It has gone on without an answer. With a yes it happens now. Once: this alone. This Session: until the window ends. Always and Never: remembered. No, Enter and closing this: refused until its compartment ends."
    : question.later
      ? "It has gone on without an answer, as if you had said no: what it tries from now on counts, and it can be restarted to try again. Once: for the next time. This Session: until the window ends. Always and Never: remembered. No, Enter and closing this: refused until its compartment ends."
      : "Once: for the programs that are waiting now. This Session: until its compartment ends. Always and Never: remembered. No, Enter and closing this: refused until its compartment ends.",
  );
  return lines.join("\n");
}

/**
 * @param {Extension[]} extensions
 * @param {{ kind: string, resource: string, program?: string, rule?: string, enforced?: boolean }} refusal
 * @param {{ home?: string }} [options]
 */
function refused(extensions, refusal, options) {
  const child = through(refusal.program ?? "");
  const by = child ? `, by running ${child}` : "";
  if (isInOwnHome(refusal))
    return `${named(extensions)} tried to ${act(refusal.kind, refusal.resource, options)}${by}, and found the home folder that it has for itself. Yours is as it was.`;
  const end = refusal.enforced === false ? "Recorded, not refused." : "Refused.";
  return `${named(extensions)} tried to ${act(refusal.kind, refusal.resource, options)}${by}. ${end}`;
}

/**
 * What no extension gets was tried.
 * @param {Extension[]} extensions
 * @param {{ kind: string, resource: string, program?: string }} refusal
 * @param {{ home?: string }} [options]
 */
function blocked(extensions, refusal, options) {
  return `${refused(extensions, { ...refusal, enforced: true }, options)} No extension may do this, and few have a reason to try.`;
}

/**
 * Refusals that were not told one by one.
 * @param {Extension[]} extensions
 * @param {number} count with this one
 * @param {{ kind: string, resource: string, program?: string }} last
 * @param {{ home?: string }} [options]
 */
function further(extensions, count, last, options) {
  if (count === 1) return refused(extensions, last, options);
  return `${named(extensions)} was refused ${count.toLocaleString("en")} more things. The last: to ${act(last.kind, last.resource, options)}.`;
}

/** Nothing of the person's was touched or read: what it met there is its own. @param {{ rule?: string }} refusal */
const isInOwnHome = ({ rule }) => rule !== undefined && OWN_HOME.test(rule);

/**
 * Whether a remembered answer could lift a refusal: where nothing granted it, or an answer of before denies it. Blocks
 * win over every grant, no manifest grants kernel interfaces, and what is refused for another reason than the policy's
 * stays refused. Rules begin with their source, label() in src/policy/policy.cc.
 * @param {{ kind: string, rule: string }} refusal
 */
const grantable = ({ kind, rule }) => kind !== "system" && (/^(?:(?:otherwise|remembered answer|known telemetry): |found by its name,)/.test(rule) || rule === UNSEEN);

/** What an extension does with the editor day by day: @editor and @commands of manifests. */
const EVERYDAY = new Set([
  "commands", "diagnostics", "documents", "languages", "settings-read", "settings-write", "storage", "window", "workspace-edit", "workspace-files",
]);

/** Groups of which the most frequent say enough. */
const ORDINARY = new Set(["read", "changed-workspace", "read-workspace", "kept", "everyday"]);

/**
 * What a compartment did, in groups: what few do first. Of a path the kind decides, and where it lies.
 * @type {[name: string, title: string, icon: string][]}
 */
const DEEDS = [
  ["powers", "Used powers of the editor", "unlock"],
  ["hosts", "Connected to", "globe"],
  ["changed-code", "Changed its own code", "edit"],
  ["changed", "Changed outside of the workspace", "edit"],
  ["ran", "Ran", "terminal"],
  ["other", "Also", "circle-outline"],
  ["read", "Read outside of the workspace", "eye"],
  ["changed-workspace", "Changed in the workspace", "edit"],
  ["read-workspace", "Read in the workspace", "eye"],
  ["kept", "Kept for itself", "database"],
  ["everyday", "Used the editor", "check"],
];

/**
 * Which call of the editor a row is of: "executeCommand git.push"; "" where it is of none.
 * @param {{ kind: string, detail?: string }} row
 */
function callOf({ kind, detail = "" }) {
  if (kind !== "vscode") return "";
  return detail.slice(detail.indexOf("$") + 1);
}

/** @param {string} path @param {string[]} folders */
const isBelow = (path, folders) => folders.some((folder) => path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`));

/**
 * @param {{ kind: string, resource: string }} row of the journal
 * @param {{ extensions: Extension[], workspace: string[], storage?: string }} compartment storage: where VS Code keeps what extensions store
 * @returns {string} a name of DEEDS; "" for reading its own code
 */
function deedOf({ kind, resource: what }, { extensions, workspace, storage }) {
  if (kind === "vscode") return EVERYDAY.has(what) ? "everyday" : "powers";
  if (kind === "connect" || kind === "lookup") return "hosts";
  if (kind === "listen") return "powers";
  if (kind === "run") return "ran";
  if (!PATHS.has(kind)) return "other";
  const changes = kind.startsWith("write");
  if (isBelow(what, extensions.map(({ folder }) => folder).filter(Boolean))) return changes ? "changed-code" : "";
  if (isBelow(what, workspace)) return changes ? "changed-workspace" : "read-workspace";
  const stored = storage && what.startsWith(`${storage}/`) ? what.slice(storage.length + 1) : "";
  const [, owner] = /^(?:globalStorage|workspaceStorage\/[^/]+)\/([^/]+)/.exec(stored) ?? [];
  if (owner && extensions.some(({ id }) => id.toLowerCase() === owner.toLowerCase())) return "kept";
  return changes ? "changed" : "read";
}

/**
 * @param {{ kind: string, resource: string, verdict: string, count: number, program: string, rule: string, groundwork?: boolean }[]} rows
 *   of `bulkhead log --json`
 * @param {{ extensions: Extension[], workspace: string[], storage?: string }} compartment
 * @returns {{ name: string, title: string, icon: string, count: number, rows: any[] }[]} each resource once, most frequent first
 */
function deeds(rows, compartment) {
  /** @type {Map<string, Map<string, any>>} */
  const found = new Map();
  for (const row of rows) {
    if (row.verdict !== "allow" || row.groundwork) continue;
    const name = deedOf(row, compartment);
    if (name === "") continue;
    const group = found.get(name) ?? new Map();
    found.set(name, group);
    // One power is many calls; of what it does day by day nobody reads which.
    const key = `${row.kind}\0${row.resource}\0${name === "powers" ? callOf(row) : ""}`;
    const before = group.get(key);
    group.set(key, { ...row, count: Number(row.count) + (before?.count ?? 0) });
  }
  return DEEDS.flatMap(([name, title, icon]) => {
    const all = [...(found.get(name)?.values() ?? [])].sort((a, b) => b.count - a.count);
    return all.length > 0 ? [{ name, title, icon, count: all.reduce((sum, row) => sum + row.count, 0), rows: all }] : [];
  });
}

/** "read", "look at": where room is short. @type {Record<string, string>} */
const SHORT_VERBS = {
  read: "read", write: "write", status: "look at", "read-status": "look at", "write-status": "change", run: "run", connect: "connect to",
  lookup: "look up", environment: "see", system: "use",
};

/**
 * "read id_rsa"
 * @param {string} kind
 * @param {string} name of placed()
 */
const deed = (kind, name) => (Object.hasOwn(SHORT_VERBS, kind) ? `${SHORT_VERBS[kind]} ${name}` : name);

/**
 * A row of a list: what tells rows apart comes first, since they are cut off at their end.
 * @param {{ kind: string, resource: string }} row
 * @param {{ home?: string, workspace?: string[] }} [options]
 * @returns {{ name: string, place: string }} "id_rsa", "~/.ssh"; below a folder of the workspace "src/a"
 */
function placed({ kind, resource: what }, { home, workspace = [] } = {}) {
  if (!PATHS.has(kind) || what === "/") return { name: kind === "vscode" && Object.hasOwn(PERMISSIONS, what) ? PERMISSIONS[what] : resource(kind, what), place: "" };
  const top = workspace.find((folder) => what.startsWith(`${folder}/`));
  const shown = text.escape(top === undefined ? text.tilde(what, home) : `./${what.slice(top.length + 1)}`);
  const at = shown.lastIndexOf("/");
  if (at < 0) return { name: text.plain(shown), place: "" };
  return { name: text.plain(text.shorten(shown.slice(at + 1), 60)), place: text.plain(text.shortenPath(shown.slice(0, at) || "/", 60)) };
}

const REVIEW_REASONS = /** @type {Record<string, string>} */ ({
  new: "wants to run for the first time",
  changed: "has changed since you allowed it",
  widened: "asks for more than you allowed",
  unsigned: "is not signed by its publisher, and its files are new",
});

/** @param {string} reason */
const reviewReason = (reason) =>
  Object.hasOwn(REVIEW_REASONS, reason) ? REVIEW_REASONS[reason] : "needs your review";

/** @param {string} what */
const usedUp = (what) =>
  /** @type {Record<string, (limit: string) => string>} */ ({
    memory: (limit) => `used more than ${limit} of memory`,
    written: (limit) => `wrote more than ${limit}`,
    "CPU time": (limit) => `used more than ${limit} of processor time`,
    "wall time": (limit) => `ran for longer than ${limit}`,
  })[what];

/**
 * What a host says of its end (describe() in src/sandbox/limits/outcome.cc), as a predicate:
 * "used more than 512 MiB of memory and was ended".
 * @param {string} outcome
 */
function ended(outcome) {
  const limit = /^ended by a limit: (memory|written|CPU time|wall time): (?:.{1,80}, )?([^,]{1,40}) allowed/.exec(outcome);
  if (limit) return `${usedUp(limit[1])(text.plain(text.escape(limit[2])))} and was ended`;
  if (outcome === "") return "ended";
  const words = text.plain(text.shorten(text.escape(outcome), 200));
  return outcome.startsWith("ended") || outcome.startsWith("could not") ? words : `ended: ${words}`;
}

/**
 * Whether people should be told of an end.
 * @param {string} outcome
 */
const unexpected = (outcome) => outcome !== "" && outcome !== "ended" && !/\bexit code 0\b/.test(outcome);

/**
 * @param {Extension[]} extensions
 * @param {string} outcome
 * @param {number} times within the last five minutes, this one included
 */
function endMessage(extensions, outcome, times) {
  const first = `${named(extensions)} ${ended(outcome)}.`;
  if (times <= 1) return `${first} Its compartment starts again.`;
  return `${first} That is ${times} times in 5 minutes, so each start waits longer. Other extensions are not affected.`;
}

/** @param {Extension[]} extensions */
const stuck = (extensions) =>
  `${named(extensions)} did not respond for 10 seconds, as in an endless loop or at a breakpoint. Other extensions are not affected.`;

/**
 * @param {Extension[]} extensions
 * @param {number} port
 */
const serves = (extensions, port) =>
  `${named(extensions)} started a server at port ${port}, which nothing outside of its compartment reaches, your browser neither. Start it in a terminal where you want to use it.`;

/** Compartments that started without a review. @param {{ extensions: Extension[] }[]} compartments */
function unasked(compartments) {
  const all = compartments.flatMap((one) => one.extensions);
  const [first] = all;
  const who = !first ? "An extension" : all.length === 1 ? byId(first) : `${byId(first)} and ${all.length - 1} more`;
  return `${who} ${all.length === 1 ? "runs in a compartment of its own, with what extensions usually get" : "run in compartments of their own, with what extensions usually get"}.`;
}

/** @param {{ extensions: Extension[], unasked?: string }[]} compartments */
const usual = (compartments) =>
  compartments.slice(0, MAX_LISTED).map((one) => `${named(one.extensions)}: ${text.plain(text.shorten(text.escape(one.unasked ?? ""), 600))}`).join("\n\n")
  + (compartments.length > MAX_LISTED ? `\n\nand ${compartments.length - MAX_LISTED} more` : "");

/** @param {Extension[]} extensions */
const allowedLate = (extensions) =>
  `${named(extensions)} had gone on without your answer. What you allowed counts from now on; restarted, it tries all of it again.`;

/** @param {Extension[]} extensions */
const unstuck = (extensions) => `${named(extensions)} responds again, or has ended. It was not restarted.`;

/**
 * @param {Extension[]} extensions
 * @param {string} message of the host
 */
const complaint = (extensions, message) =>
  `${named(extensions)}: ${text.plain(text.shorten(text.escape(message), 300))}`;

module.exports = {
  MAX_LISTED, ORDINARY, act, allowedLate, ask, asker, blocked, callOf, complaint, deed, deeds, details, ended, endMessage, further, grantable, isInOwnHome, isPath, kindName, named, namesAll, placed, refused, remembered, resource,
  reviewReason, serves, shortName, stuck, through, unasked, unexpected, unstuck, usual, who, wish,
};
