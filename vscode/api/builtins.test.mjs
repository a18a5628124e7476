// Where each built-in extension of the served version runs, and what it can do there, is what somebody has read.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { FILE, OUTSIDE, builtinsOf, reachOfModule, versionOf } from "./builtins.mjs";
import { needsOf } from "./commands.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const server = process.env.BULKHEAD_CODE_SERVER ?? path.join(here, "../node_modules/code-server/lib/vscode");
const recorded = JSON.parse(fs.readFileSync(FILE, "utf8"));
const found = builtinsOf(server);
/** Starts programs, or speaks to somebody. */
const REACHING = /^(?:child_process|cluster|dgram|dns|http|http2|https|inspector|net|tls|vm|worker_threads|fetch|globalThis\.fetch|openExternal|createTerminal|executeTask|startDebugging)$/;

test("what each built-in extension loads and calls is what was read", (t) => {
  if (versionOf(server) !== recorded.version) return t.diagnostic(`read of ${recorded.version}`);
  assert.deepEqual(found, recorded.extensions, "read what is new, say where it runs, and run `node vscode/api/builtins.mjs`");
});

test("one that starts programs or speaks to somebody is in a compartment, or there is a reason", () => {
  const without = Object.entries(found).filter(([id, { runs, reaches }]) => runs !== "compartment" && !(id in OUTSIDE) && reaches.some((one) => REACHING.test(one)));
  assert.deepEqual(without, []);
  assert.deepEqual(Object.keys(OUTSIDE).filter((id) => found[id]?.runs !== "main host"), [], "in OUTSIDE, and not there");
  for (const id of ["vscode.git", "vscode.npm", "vscode.typescript-language-features", "vscode.php-language-features", "vscode.grunt"]) assert.equal(found[id].runs, "compartment", id);
});

test("modules are found however they are loaded", () => {
  const reaches = (/** @type {string} */ text) => [...reachOfModule(text)].sort();
  assert.deepEqual(reaches('var a=require("node:child_process"),b=require("http")'), ["child_process", "http"]);
  assert.deepEqual(reaches('import*as a from"fs/promises";export{b}from"net";await import("node:https")'), ["fs", "https", "net"]);
  assert.deepEqual(reaches('x.env.openExternal(1);v.workspace.fs.readFile(2);fetch(3);this.fetch(4);globalThis.fetch(5)'), ["fetch", "fs.readFile", "globalThis.fetch", "openExternal"]);
  assert.deepEqual(reaches('require(name);x["openExternal"];"child_process"'), []);
});

// "unknown" in reach.json is no reach: such a handler is one of an extension, which was read, or of the workbench's own.
test("commands of a built-in extension that fetches or starts something are foreign, but for those whose handler was read", () => {
  /** Their handlers edit, fold or show something; updateImageSize alone fetches, and is foreign. Those of notebooks' outputs are the workbench's. */
  const READ = /^(?:editor\.emmet\.action\.(?!updateImageSize)\w+|emmet\.expandAbbreviation|markdown\.api\.(?:render|reloadPlugins)|simpleBrowser\.(?:api\.open|show)|notebook\.cellOutput\.\w+|json\.(?:sort|validate|clearCache)|git\.api\.\w+)$/;
  const needs = needsOf();
  const folder = path.join(server, "extensions");
  const free = fs.readdirSync(folder).filter((name) => fs.existsSync(path.join(folder, name, "package.json"))).flatMap((name) => {
    const { publisher, name: own, contributes, activationEvents = [] } = JSON.parse(fs.readFileSync(path.join(folder, name, "package.json"), "utf8"));
    const reaches = found[`${publisher}.${own}`.toLowerCase()]?.reaches ?? [];
    if (!reaches.some((/** @type {string} */ one) => REACHING.test(one))) return [];
    const named = [...(contributes?.commands ?? []).map((/** @type {{command: string}} */ { command }) => command), ...activationEvents.flatMap((/** @type {string} */ event) => (event.startsWith("onCommand:") ? [event.slice(10)] : []))];
    return named.filter((command) => !["commands-foreign", "refuse", undefined].includes(needs[command]) && !READ.test(command));
  });
  assert.deepEqual([...new Set(free)], []);
  assert.equal(needs["editor.emmet.action.updateImageSize"], "commands-foreign");
});
