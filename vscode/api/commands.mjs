// What each command that an extension may run reaches, in the versions that somebody has read; and what is otherwise in
// another one.
//
//   node commands.mjs [VSCODE_FOLDER…]    writes reach.json anew, of these versions; of the installed one
//
// A command stands in commands.json by its own name. Who adds one there reads what reach.mjs finds of it, and what it finds
// must be something that REASONS has for that permission. "unknown" is what nobody can follow, so whoever adds such a command
// has read its handler in VS Code's sources.
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { reachOf, workbenchOf } from "./reach.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const FILE = path.join(here, "reach.json");
const read = (/** @type {string} */ file) => JSON.parse(fs.readFileSync(file, "utf8"));

/** @typedef {{ about: string, workbenches: Record<string, string>, commands: Record<string, string[] | string[][]>, contexts: string[] }} Recorded */
/** @typedef {ReturnType<typeof reachOf>} Found */

/** What an extension needs for each command of commands.json. @returns {Record<string, string>} */
export const needsOf = (/** @type {{ commands: Record<string, string[]> }} */ table = read(path.join(here, "commands.json"))) =>
  Object.fromEntries(Object.entries(table.commands).flatMap(([needs, names]) => names.map((name) => [name, needs])));

/**
 * What a package needs to name them, for a key or a link: the same, but for those that run a command of whoever offers something
 * and that a person runs by a key of theirs. What a package may say for them is what it may say for one that edits: nothing.
 * @returns {Record<string, string>}
 */
export const declarableOf = (/** @type {{ commands: Record<string, string[]>, declared: string[] }} */ table = read(path.join(here, "commands.json"))) => ({
  ...needsOf(table), ...Object.fromEntries(table.declared.map((name) => [name, "workspace-edit"])),
});

/** Asked about by themselves, or nobody's: what these reach changes nothing. */
const ASKED = new Set(["commands-foreign", "refuse"]);

/** Why commands with a permission may reach something. @type {[permissions: string, reach: RegExp, why: string][]} */
const REASONS = [
  ["tasks terminal debug tunnels", /^/, "what has the permission runs programs outside, or connects to them, by its API"],
  ["settings-write-foreign", /updateValue|\(notebook\.toggle\w+\)$/, "it writes a setting of the editor's"],
  ["settings-write-foreign", /^IWorkspaceEditService\.apply$/, "and indents a notebook"],
  ["clipboard", /^clipboardService\.|^\?\.(?:execCommand\(copy\)|writeText|insert|trigger\(keyboard\))$|\(editor\.action\.clipboardPasteAction\)$/, "it copies or pastes in the document that is judged"],
  ["workspace-edit", /^\?\.(?:apply|applyEdits|executeCommands?|executeEdits(?:\(formatEditsCommand\))?|pushEditOperations|trigger(?:\(keyboard\))?|undo|redo|runCommand)$|^undoRedoService\.|^IWorkspaceEditService\.apply$/, "it edits the document that is judged"],
  ["workspace-edit", /^commandService\.executeCommand\((?:editor\.action\.format\w+|emmet\.expandAbbreviation)\)$|^aiEditTelemetryService\.handleCodeAccepted$/, "it edits the document that is judged"],
  ["workspace-edit", /^textFileService\.save$|\(saveAll\)$/, "it saves what a person sees"],
  ["workspace-edit commands", /^clipboardService\.readFindText$/, "a search begins with what was searched for last, where the system remembers that"],
  ["commands", /^clipboardService\.readText$/, "a snippet that a person picks may hold the clipboard; the broker takes that out of an extension's"],
  ["commands testing", /^\?\.apply$/, "a peek that is closed keeps what was edited in it by hand"],
  ["commands", /^commandService\.executeCommand\((?:_workbench\.(?:open|diff|changes)|editor\.action\.goToLocations|revealInExplorer|search\.action\.openEditor|walkthroughs\.selectStep|workbench\.action\.(?:compareEditor\.\w+|openAgentSessionsWelcome))\)$/, "it is another name for one that is read here, or shows a page of the editor's"],
  ["commands", /^commandService\.executeCommand$/, "moveActiveEditor, or splitEditor with a direction"],
  ["commands", /^\?\.executeCommand\(workbench\.action\.openGlobalKeybindings\)$|^preferencesService\.open/, "it opens the editor of settings or keys, where a person writes; what would write there is refused as an argument"],
  ["commands", /^openerService\.open$/, "it opens the resource that is judged"],
  ["commands", /^extension(?:ResourceLoader|sWorkbench)Service\.(?:supports|openSearch)/, "a person may look for more themes"],
  ["free", /setContext$|createKey$/, "contexts of the extension's own (broker_context.cc)"],
  ["language-models", /^/, "a chat is asked and shown; what it is given of answers is text, and nothing of it is said for a person"],
  ["notebooks", /^\?\.(?:apply|applyEdits|executeEdits(?:\(\w+\))?|pushEditOperations|runCommand|trigger)$|^IWorkspaceEditService\.apply$|^configurationService\.updateValue\(notebook\.confirmDeleteRunningCell\)$/, "it changes the notebook; a person may say that they are not to be asked again"],
  ["notebooks", /^(?:\?\.(?:installVSIX|updateValue)|more than can be followed|requestService\.request|(?:IGlobalExtensionEnablement|command|configuration|extension\w*|opener|preferences|workbenchIssue|extensionsWorkbench|textResourceConfiguration)Service\..+)$/, "for a type that nobody reads VS Code offers to look for an extension"],
  ["testing", /^commandService\.executeCommand\(vscode\.revealTest\)$|^test(?:CoverageService\.openCoverage|ResultService\.clear|ingContinuousRunService\.stop|ingPeekOpener\.open\w*)$|^\?\.trigger$|^more than can be followed$/, "it shows results, or ends what runs"],
  ["workspace-folders", /^commandService\.executeCommand\(_files\.(?:newWindow|pickFolderAndOpen|windowOpen)\)$/, "it opens the folder that is judged"],
  ["commands languages workspace-edit clipboard notebooks language-models open-external free", /^unknown$/, "of a built-in extension, of the extension host's, or made in a loop: read one by one"],
];

/** Why a command may reach this; undefined where nobody has said. */
export const reasonFor = (/** @type {string} */ needs, /** @type {string} */ reach) => REASONS.find(([permissions, shape]) => permissions.split(" ").includes(needs) && shape.test(reach))?.[2];

const quoted = (/** @type {string} */ text) => text.replace(/[.+?^${}()|[\]\\]/g, "\\$&");

/** What a command reaches in a version: by its name, or by the shape of names that it is one of. */
function reachIn(/** @type {Found} */ found, /** @type {string} */ command) {
  if (Object.hasOwn(found.commands, command)) return found.commands[command];
  const shape = Object.keys(found.commands).find((each) => each.includes("*") && new RegExp(`^${quoted(each).replaceAll("*", ".+")}$`).test(command));
  return shape === undefined ? ["unknown"] : found.commands[shape];
}

/** The commands that an extension may run without a question of their own, and what they reach. */
const reachesIn = (/** @type {Found} */ found, needs = needsOf()) => Object.keys(needs).filter((command) => !ASKED.has(needs[command])).sort().map((command) => /** @type {const} */ ([command, reachIn(found, command)]));

const same = (/** @type {string[]} */ a, /** @type {string[]} */ b) => a.length === b.length && a.every((one, i) => one === b[i]);
/** Each version that was read has one; where they are alike there is one for all. */
const versionsOf = (/** @type {string[] | string[][] | undefined} */ known) => (known === undefined ? [[]] : known.every((one) => Array.isArray(one)) && known.length > 0 ? /** @type {string[][]} */ (known) : [/** @type {string[]} */ (known)]);

/**
 * The commands that reach something in a version that nobody has read there.
 * @param {Found} found
 * @param {Recorded} recorded
 */
export const unreadIn = (found, recorded = read(FILE), needs = needsOf()) =>
  reachesIn(found, needs).filter(([command, reach]) => !versionsOf(recorded.commands[command]).some((known) => same(known, reach))).map(([command]) => command);

export const digestOf = (/** @type {string} */ source) => createHash("sha256").update(source).digest("hex");

/**
 * What the broker is told of a version: the commands that are asked about in it, and its contexts. Those that were read are
 * not read again.
 * @param {string} source its workbench
 * @param {Recorded} recorded
 */
export function commandsOf(source, recorded = read(FILE)) {
  if (Object.hasOwn(recorded.workbenches, digestOf(source))) return { unread: [], contexts: recorded.contexts };
  const found = reachOf(source);
  return { unread: unreadIn(found, recorded), contexts: [...new Set([...recorded.contexts, ...found.contexts])].sort() };
}

/** @param {string[]} folders code-server's lib/vscode of each version */
function record(folders) {
  const sources = folders.map((folder) => workbenchOf(folder));
  const each = sources.map((source) => reachOf(source));
  const version = (/** @type {string} */ folder) => read(path.join(folder, "product.json")).codeServerVersion ?? read(path.join(folder, "package.json")).version;
  /** @type {Record<string, string[] | string[][]>} */
  const commands = {};
  for (const [command] of reachesIn(each[0])) {
    const all = each.map((found) => reachIn(found, command)).filter((one, i, list) => list.findIndex((other) => same(one, other)) === i);
    if (all.length > 1) commands[command] = all;
    else if (all[0].length > 0) commands[command] = all[0];
  }
  return {
    about: "What the commands reach that an extension may run, in the versions that were read; those that reach nothing are left out. The contexts that the workbench sets or reads. Written by commands.mjs.",
    workbenches: Object.fromEntries(folders.map((folder, i) => [digestOf(sources[i]), version(folder)])),
    commands,
    contexts: [...new Set(each.flatMap(({ contexts }) => contexts))].sort(),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folders = process.argv.slice(2);
  if (folders.length === 0) folders.push(path.join(here, "../node_modules/code-server/lib/vscode"));
  const recorded = record(folders);
  fs.writeFileSync(FILE, `${JSON.stringify(recorded, null, 1)}\n`);
  const needs = needsOf();
  for (const [command, reach] of Object.entries(recorded.commands))
    for (const one of reach.flat()) if (!reasonFor(needs[command], one)) console.error(`${command} (${needs[command]}) reaches ${one}, of which REASONS says nothing`);
}
