// What VS Code's built-in extensions can do by themselves, and where each of them runs: which modules for programs, files and the
// network their code loads, and what of the API it calls that runs, writes or fetches something.
//
//   node builtins.mjs [VSCODE_FOLDER]    writes builtins.json anew, of the installed version
//
// One that is not in the compartment of the others must be in OUTSIDE, with the reason.
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { confinedIds, shippedIds } from "../launcher/extensions.mjs";
import { children } from "./bundle.mjs";

const { parse } = createRequire(import.meta.url)("acorn");
const here = path.dirname(fileURLToPath(import.meta.url));
export const FILE = path.join(here, "builtins.json");

const MODULES = new Set(["child_process", "cluster", "dgram", "dns", "fs", "fs/promises", "http", "http2", "https", "inspector", "net", "tls", "vm", "worker_threads"]);
/** Of the API, by the last words of what is called. */
const CALLS = /^(?:openExternal|createTerminal|executeTask|startDebugging|updateWorkspaceFolders|asExternalUri)$|^fs\.(?:readFile|writeFile|delete|rename|copy|createDirectory|readDirectory|stat)$|^(?:globalThis\.)?fetch$/;
/** Packages' own copies, for browsers, and what runs in a page. */
const LEFT_OUT = /^(?:node_modules|browser|media|notebook-out|markdown-editor-out|markdown-preview-out|chat-webview-out|preview-styles|renderer-out|ui)$|\.web\.js$/;

/** @typedef {import("./bundle.mjs").Node} Node */

/** What stands before the last call's bracket: "fs.readFile" of `workspace.fs.readFile(…)`. @param {Node} callee */
const called = (callee) => {
  if (callee.type === "Identifier") return callee.name;
  if (callee.type !== "MemberExpression" || callee.computed) return "";
  const { object, property } = callee;
  const of = object.type === "MemberExpression" && !object.computed ? object.property.name : object.type === "Identifier" ? object.name : "";
  return of === "fs" || (property.name === "fetch" && of === "globalThis") ? `${of}.${property.name}` : property.name === "fetch" ? "" : property.name;
};

/**
 * @param {string} text of a module
 * @returns {Set<string>}
 */
export function reachOfModule(text) {
  const found = new Set();
  const load = (/** @type {Node | undefined} */ name) => {
    const module = typeof name?.value === "string" ? name.value.replace(/^node:/, "") : "";
    if (MODULES.has(module)) found.add(module.replace("fs/promises", "fs"));
  };
  const walk = (/** @type {Node} */ node) => {
    if (node.type === "ImportDeclaration" || node.type === "ImportExpression" || node.type === "ExportNamedDeclaration" || node.type === "ExportAllDeclaration") load(node.source);
    if (node.type === "CallExpression") {
      if (node.callee.type === "Identifier" && /^(?:require|__require)/.test(node.callee.name)) load(node.arguments[0]);
      const name = called(node.callee);
      if (CALLS.test(name)) found.add(name);
    }
    children(node, walk);
  };
  const options = { ecmaVersion: "latest", allowHashBang: true, allowReturnOutsideFunction: true };
  let tree;
  try {
    tree = parse(text, { ...options, sourceType: "script" });
  } catch {
    tree = parse(text, { ...options, sourceType: "module" });
  }
  walk(tree);
  return found;
}

/** Scripts of a package, those that run in pages left out. @param {string} folder @returns {string[]} */
function scripts(folder) {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const name = path.join(folder, entry.name);
    if (LEFT_OUT.test(entry.name)) return [];
    return entry.isDirectory() ? scripts(name) : /\.[cm]?js$/.test(entry.name) ? [name] : [];
  });
}

/**
 * @param {string} server code-server's lib/vscode
 * @returns {Record<string, { runs: "compartment" | "main host", reaches: string[] }>} by id
 */
export function builtinsOf(server) {
  const confined = new Set(confinedIds(shippedIds(server)));
  const folder = path.join(server, "extensions");
  /** @type {Record<string, { runs: "compartment" | "main host", reaches: string[] }>} */
  const found = {};
  for (const name of fs.readdirSync(folder)) {
    const file = path.join(folder, name, "package.json");
    if (!fs.existsSync(file)) continue;
    const packaged = JSON.parse(fs.readFileSync(file, "utf8"));
    if (!packaged.main) continue;
    const reaches = new Set(scripts(path.join(folder, name)).flatMap((one) => [...reachOfModule(fs.readFileSync(one, "utf8"))]));
    const id = `${packaged.publisher}.${packaged.name}`.toLowerCase();
    found[id] = { runs: confined.has(id) ? "compartment" : "main host", reaches: [...reaches].sort() };
  }
  return Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)));
}

export const versionOf = (/** @type {string} */ server) => JSON.parse(fs.readFileSync(path.join(server, "package.json"), "utf8")).version;

/** Why those that load what starts programs, or speaks to the network, are in no compartment (docs/security-editor.md). */
export const OUTSIDE = {
  "github.copilot-chat": "the person's agent, with their account and their tools",
  "ms-vscode.js-debug": "debugging runs a program as the person, who starts it",
  "ms-vscode.js-debug-companion": "the browser that is debugged",
  "ms-vscode.vscode-js-profile-table": "profiles that a person opens, read in a worker",
  "vscode.configuration-editing": "profiles that lie at GitHub, when a person opens one",
  "vscode.debug-server-ready": "an address that a debugged program says, where a person's launch.json asks for it",
  "vscode.debug-auto-launch": "a socket for programs that a person debugs",
  "vscode.github-authentication": "holds the person's account",
  "vscode.ipynb": "a worker that writes notebooks",
  "vscode.json-language-features": "schemas, from servers that the person trusts",
  "vscode.markdown-language-features": "a worker; pictures of its preview",
  "vscode.merge-conflict": "what tells of its use",
  "vscode.microsoft-authentication": "holds the person's account",
  "vscode.simple-browser": "opens what a person asks for",
  "vscode.terminal-suggest": "the person's own shell; its edited copy starts nothing else",
  "vscode.tunnel-forwarding": "a port that a person forwards",
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = process.argv[2] ?? path.join(here, "../node_modules/code-server/lib/vscode");
  const found = builtinsOf(server);
  fs.writeFileSync(FILE, `${JSON.stringify({ version: versionOf(server), extensions: found }, null, 1)}\n`);
}
