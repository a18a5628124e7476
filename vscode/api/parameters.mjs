// With how many arguments the methods are called of whose arguments somebody says what they are by number. Where a
// version of VS Code puts one more among them, a check would look at another one, and pass.
//
//   node parameters.mjs [VSCODE_FOLDER…]    writes parameters.json anew, of these versions; of the installed one
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { extract } from "./extract.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const FILE = path.join(here, "parameters.json");
const read = (/** @type {string} */ file) => JSON.parse(fs.readFileSync(file, "utf8"));

/**
 * @typedef {number | string} Count "2+": two or more
 * @typedef {{methods: Record<string, Record<string, any>>, told: Record<string, string>}} Table
 * @typedef {Record<"methods" | "told", Record<string, Count | Count[]>>} Recorded
 */

/** The last argument that the broker itself names in what a host says (src/vscode: broker.cc, broker_sign.cc). */
const NAMED = {
  "MainThreadAuthentication.$getSession": 3,
  "MainThreadAuthentication.$registerAuthenticationProvider": 0,
  "MainThreadChatStatus.$disposeEntry": 0,
  "MainThreadChatStatus.$setEntry": 1,
  "MainThreadChatAgents2.$registerAgent": 4,
  "MainThreadChatAgents2.$unregisterAgent": 0,
  "MainThreadCommands.$executeCommand": 1,
  "MainThreadCommands.$unregisterCommand": 0,
  "MainThreadDebugService.$registerDebugTypes": 0,
  "MainThreadDiagnostics.$changeMany": 0,
  "MainThreadDiagnostics.$clear": 0,
  "MainThreadDialogs.$showOpenDialog": 0,
  "MainThreadDialogs.$showSaveDialog": 0,
  "MainThreadExtensionService.$onExtensionActivationError": 2,
  "MainThreadLanguageFeatures.$registerInlineCompletionsSupport": 9,
  "MainThreadLanguageModelTools.$invokeTool": 0,
  "MainThreadLanguageModelTools.$registerToolWithDefinition": 1,
  "MainThreadMessageService.$showMessage": 2,
  "MainThreadLanguageModels.$registerLanguageModelProvider": 0,
  "MainThreadNotebookEditors.$tryShowNotebookDocument": 2,
  "MainThreadProgress.$startProgress": 2,
  "MainThreadQuickOpen.$createOrUpdate": 0,
  "MainThreadQuickOpen.$dispose": 0,
  "MainThreadQuickOpen.$input": 0,
  "MainThreadQuickOpen.$show": 1,
  "MainThreadSCM.$registerSourceControl": 3,
  "MainThreadStatusBar.$disposeEntry": 0,
  "MainThreadStatusBar.$setEntry": 12,
  "MainThreadTerminalService.$createTerminal": 1,
  "MainThreadTesting.$registerTestController": 0,
  "MainThreadUrls.$registerUriHandler": 2,
  "MainThreadWebviewPanels.$createWebviewPanel": 2,
  "MainThreadWorkspace.$requestResourceTrust": 0,
  "MainThreadWorkspace.$requestWorkspaceTrust": 0,
  "MainThreadWorkspace.$startTextSearch": 2,
};

/** The same in what a host is told, by the rule (broker_told.cc). */
export const TOLD = {
  configuration: 1,
  decorations: 1,
  documents: 0,
  editor: 0,
  editors: 0,
  environment: 0,
  files: 0,
  "heard-terminal": 0,
  markers: 0,
  notebooks: 0,
  "opened-terminal": 3,
  "own-chat": 1,
  "own-terminal": 0,
  question: 1,
  renderer: 1,
  secret: 0,
  settings: 0,
  "start-terminal": 0,
  "status-item": 0,
  "status-items": 0,
  task: 1,
  "terminal-profile": 1,
  "touched-terminal": 0,
};

/**
 * The methods with arguments that are named by number, and the last such number.
 * @param {Table} table
 */
export function numbered({ methods, told }) {
  const last = { methods: /** @type {Record<string, number>} */ ({ ...NAMED }), told: /** @type {Record<string, number>} */ ({}) };
  for (const [actor, rules] of Object.entries(methods))
    for (const [method, { check = [] }] of Object.entries(rules)) {
      const name = `${actor}.${method}`;
      if (check.length > 0) last.methods[name] = Math.max(last.methods[name] ?? 0, ...check.map((/** @type {string} */ each) => parseInt(each, 10)));
    }
  for (const [name, rule] of Object.entries(told)) {
    const method = name.slice(name.indexOf("$"));
    if (rule in TOLD) last.told[method] = Math.max(last.told[method] ?? 0, TOLD[rule]);
  }
  return last;
}

/** @typedef {Pick<ReturnType<typeof extract>, "actors" | "given">} Found */

/**
 * @param {Found} found
 * @param {"methods" | "told"} side
 * @param {string} name
 * @returns {Count[]} nothing where there is no such method
 */
function countsOf({ actors, given }, side, name) {
  if (side === "told") return given[name] ?? [];
  const [actor, method] = name.split(".");
  return [actors.find(({ key }) => key === actor)?.parameters[method] ?? []].flat();
}

/**
 * What a version counts otherwise than the table was made for; nothing where it fits.
 * @param {Found} found
 * @param {Table} table
 * @param {Recorded} recorded
 */
export function mismatches(found, table = read(path.join(here, "table.json")), recorded = read(FILE)) {
  return Object.entries(numbered(table)).flatMap(([side, names]) =>
    Object.keys(names).flatMap((name) => {
      const counts = countsOf(found, side, name);
      const expected = [recorded[side][name] ?? []].flat();
      if (counts.length > 0 && counts.every((count) => expected.includes(count))) return [];
      return [`${name}: found with ${counts.join(" and ") || "no"} arguments, expected ${expected.join(" or ") || "nothing: parameters.json has no such method"}`];
    }),
  );
}

/** @param {string[]} folders code-server's lib/vscode of each version */
function record(folders) {
  const each = folders.map((folder) => extract(folder));
  const sides = Object.entries(numbered(read(path.join(here, "table.json")))).map(([side, names]) => {
    const counts = Object.keys(names)
      .sort()
      .map((name) => [name, [...new Set(each.flatMap((found) => countsOf(found, side, name)))].sort()]);
    return [side, Object.fromEntries(counts.map(([name, all]) => [name, all.length === 1 ? all[0] : all]))];
  });
  return { about: "How many arguments each method has of which some are named by number: see parameters.mjs", ...Object.fromEntries(sides) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folders = process.argv.slice(2);
  if (folders.length === 0) folders.push(path.join(here, "../node_modules/code-server/lib/vscode"));
  fs.writeFileSync(FILE, `${JSON.stringify(record(folders), null, 2)}\n`);
}
