// What the commands of the served version reach is what somebody has read, command by command.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { commandsOf, declarableOf, digestOf, needsOf, reasonFor, unreadIn } from "./commands.mjs";
import { reachOf, workbenchOf } from "./reach.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const server = process.env.BULKHEAD_CODE_SERVER ?? path.join(here, "../node_modules/code-server/lib/vscode");
const read = (/** @type {string} */ name) => JSON.parse(fs.readFileSync(path.join(here, name), "utf8"));
const recorded = read("reach.json");
const needs = needsOf();
const source = workbenchOf(server);
const found = reachOf(source);

test("the served workbench is one that was read, or all that reaches something else in it is asked about", () => {
  const unread = unreadIn(found);
  if (Object.hasOwn(recorded.workbenches, digestOf(source))) assert.deepEqual(unread, []);
  else console.log(`asked about in this version: ${unread.join(" ")}`);
  assert.ok(unread.length < 100, unread.join(" "));
});

test("every command of the workbench stands in the table by its own name", () => {
  const missing = Object.keys(found.commands).filter((command) => !command.includes("*") && !Object.hasOwn(needs, command));
  if (Object.hasOwn(recorded.workbenches, digestOf(source))) assert.deepEqual(missing, []);
  assert.ok(Object.keys(found.commands).length > 2400, "commands are found");
});

test("what a command reaches that extensions may run has a reason", () => {
  const without = Object.entries(recorded.commands).flatMap(([command, reach]) => reach.flat().filter((/** @type {string} */ one) => !reasonFor(needs[command], one)).map((/** @type {string} */ one) => `${command}: ${one}`));
  assert.deepEqual(without, []);
});

test("what writes settings, files or the clipboard is found, and is no part of another permission", () => {
  const reaches = (/** @type {string} */ command) => found.commands[command]?.join() ?? "";
  assert.match(reaches("editor.action.inlineSuggest.dev.extractRepro"), /writeText/);
  assert.match(reaches("editor.action.toggleScreenReaderAccessibilityMode"), /updateValue\(editor\.accessibilitySupport\)/);
  assert.match(reaches("editor.action.debugEditorGpuRenderer"), /writeFile/);
  for (const [command, reach] of Object.entries(found.commands)) {
    const rule = needs[command] ?? "commands-foreign";
    if (["commands-foreign", "refuse", "tasks", "terminal", "debug"].includes(rule)) continue;
    const wild = reach.filter((one) => (/updateValue/.test(one) && rule !== "settings-write-foreign" && command !== "notebook.cell.delete" && !command.startsWith("_execute")) ||
      (/writeText|writeResources/.test(one) && rule !== "clipboard") || /fileService\.(?:write|create|del|move|copy)/.test(one) || /sendText/.test(one));
    assert.deepEqual(wild, [], command);
  }
});

test("a command that reaches something else in another version is asked about there, and so is one that is new", () => {
  const changed = structuredClone(found);
  assert.deepEqual(unreadIn(changed, { ...recorded, workbenches: {} }), unreadIn(found));
  const before = unreadIn(found).length;
  changed.commands["editor.action.rename"] = ["clipboardService.writeText"];
  changed.commands.cursorMove = ["configurationService.updateValue(editor.fontSize)"];
  changed.commands["editor.action.commentLine"] = [];
  const unread = unreadIn(changed);
  for (const command of ["editor.action.rename", "cursorMove", "editor.action.commentLine"]) assert.ok(unread.includes(command), command);
  assert.equal(unread.length, before + 3);
  delete changed.commands["editor.fold"];
  assert.ok(unreadIn(changed).includes("editor.fold"), "one that cannot be found any more");
});

test("a version that nobody has read is read as it is prepared", () => {
  assert.deepEqual(commandsOf("x", { ...recorded, workbenches: { [digestOf("x")]: "1" } }), { unread: [], contexts: recorded.contexts });
  const small = 'class A{constructor(o){this.desc=o}}class B extends A{constructor(){super({id:"cursorMove"})}run(a){a.x.writeText("y")}}var C=class{bindTo(){}toNegated(){}};var D=new C("freshlyMade",!1);';
  const { unread, contexts } = commandsOf(small);
  assert.ok(unread.includes("cursorMove"), "it writes the clipboard there");
  assert.ok(unread.includes("editor.action.rename"), "it is not to be found");
  assert.ok(contexts.includes("freshlyMade"));
  assert.ok(contexts.includes("accessibilityModeEnabled"));
});

/** Places that run a command of whoever offers something, by the method; and what leads there without a person's click. */
const OFFERED = {
  _createHoverContent: 1, _getActionBarActions: 1, // hovers of problems and inline suggestions: clicked
  _insertSuggestion: 1, // acceptSelectedSuggestion and its kin
  _invokeCommand: 1, // a snippet's choice
  _onModelChange: 1, // a lens, clicked
  accept: 2, // editor.action.inlineSuggest.commit and its kin
  constructor: 2, createTree: 1, open: 1, renderBody: 1, renderButton: 1, registerActions: 1, setButton: 2, // buttons and rows of views and chats: clicked
  reportInlineEditShown: 1, // the command of an inline edit that is shown: its own extension's
  run: 5, // editor.action.codeAction and its kin; lenses, hints and rows that are picked from a list
};

test("what runs a command of whoever offers something is foreign to code, and no other place of the workbench does", () => {
  const names = ["autoFix", "codeAction", "fixAll", "inlineSuggest.acceptNextLine", "inlineSuggest.acceptNextWord", "inlineSuggest.commit", "inlineSuggest.jump", "organizeImports", "quickFix", "refactor", "sourceAction"];
  for (const command of ["acceptSelectedSuggestion", ...names.map((name) => `editor.action.${name}`)]) assert.equal(needs[command], "commands-foreign", command);
  const declarable = declarableOf();
  for (const command of ["editor.action.quickFix", "editor.action.organizeImports", "acceptSelectedSuggestion"]) assert.equal(declarable[command], "workspace-edit", command);
  for (const command of ["editor.action.codeAction", "editor.action.autoFix"]) assert.equal(declarable[command], "commands-foreign", command);
  if (recorded.workbenches[digestOf(source)] !== "4.139.1") return;
  const counted = Object.fromEntries(Object.keys(OFFERED).map((name) => [name, found.offered.filter((one) => one === name).length]));
  assert.deepEqual(counted, OFFERED);
  assert.deepEqual(found.offered.filter((one) => !(one in OFFERED)), []);
});

test("the workbench's contexts are found, also those that conditions only read", () => {
  for (const key of ["accessibilityModeEnabled", "notificationFocus", "notificationToastsVisible", "inQuickOpen", "listFocus", "editorTextFocus", "inputFocus", "config.*", "isLinux"])
    assert.ok(recorded.contexts.includes(key), key);
  assert.deepEqual(found.contexts.filter((key) => !recorded.contexts.includes(key)).slice(0, 300).filter(() => Object.hasOwn(recorded.workbenches, digestOf(source))), []);
});
