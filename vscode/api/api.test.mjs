// Run by ctest with the code-server that package.json pins; BULKHEAD_CODE_SERVER names another.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { needsOf } from "./commands.mjs";
import { extract } from "./extract.mjs";
import { mismatches, numbered, TOLD } from "./parameters.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const server = process.env.BULKHEAD_CODE_SERVER ?? path.join(here, "../node_modules/code-server/lib/vscode");
const read = (name) => JSON.parse(fs.readFileSync(path.join(here, name), "utf8"));
const { methods, told } = read("table.json");
const recorded = read("parameters.json");
const extracted = extract(server);

test("every method of the installed version is classified", () => {
  const { actors } = extracted;
  const missing = [];
  let known = 0;
  for (const actor of actors.filter((each) => each.side === "main")) {
    for (const method of actor.methods) {
      if (methods[actor.key]?.[method] === undefined) missing.push(`${actor.key}.${method}`);
      else known += 1;
    }
  }
  assert.deepEqual(missing, []);
  assert.ok(known > 500, `only ${known} methods found: the extraction is broken`);
});

test("every method that the workbench calls on a host is classified", () => {
  const { incoming } = extracted;
  assert.deepEqual(incoming.filter((method) => told[method] === undefined), []);
  assert.ok(incoming.length > 400, `only ${incoming.length} methods found: the extraction is broken`);
  // Called, or handed on as functions.
  for (const method of ["$acceptModelChanged", "$onDidChangeWindowFocus", "$OnDidEndTask"]) assert.ok(incoming.includes(method), method);
});

test("what names a person's files, servers and accounts does not come in as it is", () => {
  for (const method of [
    ...["$acceptDocumentsAndEditorsDelta", "$acceptModelChanged", "$acceptModelSaved", "$acceptMarkersChange", "$acceptEditorTabModel", "$onFileEvent"],
    ...["$onDidChangeMcpServerDefinitions", "$startMcp", "$onDidChangeDynamicAuthProviderTokens", "$registerDynamicAuthProvider"],
    ...["$onDidChangePassword", "$updateRemoteConnectionData", "$acceptTerminalOpened", "$initEnvironmentVariableCollections"],
    ...["$initializeConfiguration", "$acceptConfigurationChanged", "$acceptStaticEntries", "$onDidOpenBrowserTab", "$substituteVariables"],
  ])
    assert.notEqual(told[method], "free", method);
});

// The window deletes and writes where the answers say, whole folders too, after a question that names them by their last part.
test("no host says which of a person's files are a chat's customizations", () => {
  for (const method of ["$provideChatSessionCustomizations", "$provideSourceFolders"]) assert.equal(told[method], "quiet", method);
});

test("the extraction finds actors that are known to exist, under the numbers seen on the wire", () => {
  const { actors } = extracted;
  const byKey = new Map(actors.map((actor) => [actor.key, actor]));
  assert.equal(byKey.get("MainThreadCommands").number, 10);
  assert.ok(byKey.get("MainThreadCommands").methods.includes("$executeCommand"));
  assert.ok(byKey.get("MainThreadDocuments").methods.includes("$tryOpenDocument"));
  assert.ok(byKey.get("MainThreadFileSystem").methods.includes("$readFile"));
  assert.ok(byKey.get("MainThreadTask").methods.includes("$executeTask"));
});

test("every method of which arguments are named by number has as many as when it was classified", () => {
  assert.deepEqual(mismatches(extracted), []);
  const last = numbered({ methods, told });
  for (const side of ["methods", "told"])
    assert.deepEqual(Object.keys(recorded[side]), Object.keys(last[side]).sort(), "run node vscode/api/parameters.mjs");
});

test("no number is beyond what a method has", () => {
  for (const [side, names] of Object.entries(numbered({ methods, told })))
    for (const [name, number] of Object.entries(names))
      for (const count of [recorded[side][name]].flat()) assert.ok(String(count).endsWith("+") || number < count, `${name}: ${number} of ${count}`);
  // Of these it is known whether they look at one argument or at all.
  const whole = /^(free|quiet|\[\]|refuse|git|edits|search|tabs|resources|resources or \[\]|needs .*|asks .*)$/;
  for (const [method, rule] of Object.entries(told)) assert.ok(rule in TOLD || whole.test(rule), `${method}: ${rule}`);
});

test("a method with one argument more is told, and one that is gone", () => {
  const insets = (/** @type {object} */ parameters) => ({ actors: [{ ...extracted.actors[0], key: "MainThreadEditorInsets", parameters }], given: { $provideDecorations: [3, 4] } });
  const table = { methods: { MainThreadEditorInsets: { $createEditorInset: { needs: "webview", check: ["6 extension", "5 webview-options"] } } }, told: { $provideDecorations: "decorations" } };
  assert.equal(numbered(table).methods["MainThreadEditorInsets.$createEditorInset"], 6);
  const about = (/** @type {any} */ found, known = { methods: { "MainThreadEditorInsets.$createEditorInset": 7 }, told: { $provideDecorations: 3 } }) =>
    mismatches(found, table, known).filter((one) => /EditorInset|Decorations/.test(one));
  assert.deepEqual(about(insets({ $createEditorInset: 8 })), [
    "MainThreadEditorInsets.$createEditorInset: found with 8 arguments, expected 7",
    "$provideDecorations: found with 3 and 4 arguments, expected 3",
  ]);
  assert.match(about(insets({}))[0], /found with no arguments, expected 7/);
  assert.deepEqual(about(insets({ $createEditorInset: 8 }), { methods: { "MainThreadEditorInsets.$createEditorInset": [7, 8] }, told: { $provideDecorations: [3, 4] } }), []);
  assert.match(about(insets({ $createEditorInset: 8 }), { methods: {}, told: {} })[0], /parameters\.json has no such method/);
});

/** Every node of a syntax tree. */
function* nodes(/** @type {any} */ tree) {
  if (typeof tree?.type === "string") yield tree;
  if (typeof tree === "object" && tree !== null) for (const each of Object.values(tree)) yield* nodes(each);
}

test("what a method makes a resource of is judged as one, and no other argument", () => {
  /** @type {Record<string, string>} */
  const unchecked = {};
  const misplaced = [];
  for (const [actor, found] of extracted.functions)
    for (const [method, { params, body }] of found) {
      const rule = methods[actor]?.[method] ?? "refuse";
      if (rule === "refuse" || rule === "quiet") continue;
      const made = new Set();  // "1", or "1.uri" of something in it
      for (const { type, callee, arguments: [first] = [] } of nodes(body)) {
        if (type !== "CallExpression" || callee.object?.type !== "Identifier" || !["revive", "from"].includes(callee.property.name)) continue;
        let [argument, inside] = [first, ""];
        for (; argument?.type === "MemberExpression"; argument = argument.object) inside = `.${argument.property.name}${inside}`;
        const index = params.findIndex((/** @type {any} */ each) => argument?.type === "Identifier" && (each.left ?? each).name === argument.name);
        if (index >= 0) made.add(`${index}${inside}`);
      }
      const judged = (rule.check ?? []).filter((/** @type {string} */ each) => /^\d+ (uri|log|external|scm-input|nested-write)/.test(each)).map((/** @type {string} */ each) => parseInt(each, 10));
      const rest = [...made].filter((each) => !judged.includes(parseInt(each, 10)));
      if (rest.length > 0) unchecked[`${actor}.${method}`] = rest.join(" ");
      if (judged.some((/** @type {number} */ number) => ![...made].some((each) => parseInt(each, 10) === number))) misplaced.push(`${actor}.${method}`);
    }
  // These hand it on whole.
  assert.deepEqual(misplaced, ["MainThreadComments.$createCommentThread", "MainThreadCustomEditors.$onDidEdit", "MainThreadCustomEditors.$onContentChange", "MainThreadWorkspace.$checkExists"]);
  assert.deepEqual(unchecked, UNCHECKED);
});

// What is not judged, though the workbench makes a resource of it.
const UNCHECKED = {
  // Names what it is about, and nothing of it is read, written or shown.
  "MainThreadConfiguration.$updateConfigurationOption": "3.resource",
  "MainThreadConfiguration.$removeConfigurationOption": "2.resource",
  "MainThreadDebugService.$startDebugging": "0",
  "MainThreadLanguageModelTools.$registerToolWithDefinition": "1.icon",
  "MainThreadNotebookKernels.$updateNotebookPriority": "1",
  "MainThreadNotebookKernels.$variablesUpdated": "0",
  "MainThreadQuickDiff.$registerQuickDiffProvider": "4",
  "MainThreadSCM.$registerSourceControl": "4",
  "MainThreadTerminalService.$createTerminal": "1.cwd",
  "MainThreadTesting.$appendOutputToRun": "3.uri",
  "MainThreadWorkspace.$isResourceTrusted": "0",
  "MainThreadWorkspace.$requestResourceTrust": "0.uri",
  // Of chats.
  "MainThreadChatDebug.$acceptChatDebugEvent": "1.sessionResource",
  "MainThreadChatSessions.$handleProgressChunk": "1",
  "MainThreadChatSessions.$handleProgressComplete": "1",
  // Its own folder.
  "MainThreadChatOutputRenderer.$registerChatOutputRenderer": "2",
};

// The window starts what they answer.
test("whoever may register without a permission is decided on when the window asks it", () => {
  for (const [method, permission] of Object.entries({ $provideTasks: "tasks", $resolveTask: "tasks", $provideDebugAdapter: "debug", $provideDebugConfigurations: "debug", $resolveDebugConfiguration: "debug", $substituteVariables: "configuration" }))
    assert.match(told[method], new RegExp(`^(asks )?${permission}`), method);
  for (const [actor, names] of Object.entries({ MainThreadTask: ["$executeTask", "$fetchTasks"], MainThreadDebugService: ["$acceptDAMessage", "$startDebugging"], MainThreadTerminalService: ["$createTerminal", "$sendText"], MainThreadWebviews: ["$setHtml", "$postMessage"] }))
    for (const name of names) assert.ok(!["free", "quiet"].includes(methods[actor][name].needs ?? methods[actor][name]), `${actor}.${name}`);
});

test("what takes over from the main host is quiet", () => {
  assert.equal(methods.MainThreadSearch.$registerFileSearchProvider, "quiet");
  assert.equal(methods.MainThreadSearch.$registerTextSearchProvider, "quiet");
  assert.equal(methods.MainThreadTask.$registerTaskSystem, "quiet");
  assert.equal(methods.MainThreadTerminalService.$registerProcessSupport, "quiet");
  assert.equal(methods.MainThreadTunnelService.$setRemoteTunnelService, "quiet");
});

test("no method that names a file is free of checks", () => {
  for (const [actor, names] of [
    ["MainThreadFileSystem", ["$readFile", "$writeFile", "$delete", "$rename", "$copy", "$mkdir", "$readdir", "$stat"]],
    ["MainThreadDocuments", ["$tryOpenDocument", "$trySaveDocument"]],
    ["MainThreadBulkEdits", ["$tryApplyWorkspaceEdit"]],
    ["MainThreadNotebookDocuments", ["$tryOpenNotebook", "$trySaveNotebook"]],
    // An extension's name as whose formatter it is, a document of another's scheme, names in any folder.
    ["MainThreadLanguageFeatures", ["$registerDocumentFormattingSupport", "$registerRangeFormattingSupport", "$registerCodeActionSupport"]],
    ["MainThreadDocumentContentProviders", ["$onVirtualDocumentChange"]],
    ["MainThreadWorkspace", ["$checkExists"]],
  ])
    for (const name of names) assert.ok(methods[actor][name].check?.length > 0, `${actor}.${name}`);
});

/** What it takes to run a command of the editor's. */
const needs = needsOf();
const { refused } = read("commands.json");
function needed(/** @type {string} */ command) {
  return needs[command] ?? (refused.some((/** @type {string} */ one) => command.startsWith(one.slice(0, -1))) ? "refuse" : "commands-foreign");
}

test("what a kernel holds is not a language's", () => {
  for (const command of ["_executeNotebookVariableProvider", "_executeDataToNotebook", "_executeNotebookToData", "_executeHoverProvider"])
    assert.equal(needed(command), command.includes("Notebook") ? "notebooks" : "languages", command);
});

test("what runs cells runs whatever has the kernel", () => {
  const workbench = fs.readFileSync(path.join(server, "out/vs/code/browser/workbench/workbench.js"), "utf8");
  const running = new Set([...workbench.matchAll(/"(notebook\.(?:\w+\.)?(?:execute|run|acceptChangesAndRun)(?![a-z])\w*)"/g)].map(([, command]) => command));
  assert.ok(running.size >= 10, [...running].join());
  for (const command of running) assert.equal(needed(command), "commands-foreign", command);
  assert.equal(needed("notebook.cell.edit"), "notebooks");
});

test("what runs tests runs those of others too", () => {
  const workbench = fs.readFileSync(path.join(server, "out/vs/code/browser/workbench/workbench.js"), "utf8");
  const running = new Set([...workbench.matchAll(/"(testing\.(?:\w+\.)?(?:run|reRun|debug|coverage|startContinuousRun)(?![a-z])\w*)"/g)].map(([, command]) => command));
  assert.ok(running.size >= 20, [...running].join());
  for (const command of running) assert.equal(needed(command), "commands-foreign", command);
  assert.equal(needed("testing.showMostRecentOutput"), "testing");
});

// With what is named there as the window names rows of a view (`$treeViewId`): lines of files, an answer in a chat.
test("what writes the clipboard, or reads it, is no part of another permission", () => {
  const workbench = fs.readFileSync(path.join(server, "out/vs/code/browser/workbench/workbench.js"), "utf8");
  const builtins = fs.globSync(path.join(server, "extensions/*/package.json")).flatMap((file) => JSON.parse(fs.readFileSync(file, "utf8")).contributes?.commands ?? []);
  const named = [...workbench.matchAll(/"([a-z][\w-]*(?:\.[\w-]+)+)"/g)].map(([, command]) => command).concat(builtins.map(({ command }) => command));
  const copying = new Set(named.filter((command) => /\.(?:copy|cut|paste|clipboard)(?!(?:Lines)?(?:Up|Down))[\w]*$/i.test(command)));
  for (const command of ["references-view.copyAll", "notebook.cellOutput.copy", "notebook.cell.paste", "workbench.action.chat.copyCodeBlock"]) assert.ok(copying.has(command), command);
  // What runs programs outside has it without.
  const allowed = ["commands-foreign", "refuse", "clipboard", "terminal", "debug"];
  assert.deepEqual([...copying].filter((command) => !allowed.includes(needed(command))), []);
  assert.equal(needed("notebook.cell.copyDown"), "notebooks");
  assert.equal(needed("references-view.findReferences"), "commands");
});

test("what a person says in a chat nobody says for them", () => {
  const workbench = fs.readFileSync(path.join(server, "out/vs/code/browser/workbench/workbench.js"), "utf8");
  for (const command of [
    // "Run this command in a terminal?", answered; questions of others' agents; a file written where it is told.
    ...["acceptTool", "acceptToolPostExecution", "acceptElicitation", "skipTool", "editToolApproval", "runInTerminal", "export"].map((one) => `workbench.action.chat.${one}`),
    "_chat.notifyQuestionCarouselAnswer",
    "_chat.voice.acceptInput",
  ]) {
    assert.ok(workbench.includes(`"${command}"`), command);
    assert.equal(needed(command), "refuse", command);
  }
  assert.equal(needed("workbench.action.chat.open"), "language-models");
  // What they are given stands for what the chat itself shows: edits, of any file.
  for (const command of ["applyCompareEdits", "insertIntoNotebook", "run.prompt.current", "submit"]) assert.equal(needed(`workbench.action.chat.${command}`), "commands-foreign", command);
});

test("what runs any command that it is given is run by no host", () => {
  const workbench = fs.readFileSync(path.join(server, "out/vs/code/browser/workbench/workbench.js"), "utf8");
  // A chat in a file has buttons, of whoever wrote the file.
  for (const command of ["runCommands", "workbench.action.chat.addDynamicVariable", "workbench.action.chat.import"]) {
    assert.ok(workbench.includes(`"${command}"`), command);
    assert.equal(needed(command), "refuse", command);
  }
});

test("a command's other name needs what the command needs", () => {
  const workbench = fs.readFileSync(path.join(server, "out/vs/code/browser/workbench/workbench.js"), "utf8");
  const aliases = [...workbench.matchAll(/registerCommandAlias\("([^"]+)","([^"]+)"\)/g)];
  assert.ok(aliases.some(([, alias]) => alias === "editor.action.showSnippets"));
  // Whose other name needs more.
  const stricter = aliases.filter(([, alias, command]) => needed(alias) !== needed(command) && needed(alias) !== "commands-foreign");
  assert.deepEqual(stricter.map(([, alias]) => alias), []);
});

test("commands have rules that exist", () => {
  const permissions = new Set(["free", "refuse"]);
  for (const rules of Object.values(methods))
    for (const rule of Object.values(rules)) permissions.add(typeof rule === "string" ? rule : rule.needs);
  for (const [command, rule] of Object.entries(needs)) assert.ok(permissions.has(rule) || ["commands-foreign", "open-external", "settings-write-foreign"].includes(rule), `${command}: ${rule}`);
  const { commands, arguments: rules } = read("commands.json");
  assert.equal(Object.values(commands).flat().length, Object.keys(needs).length, "none stands there twice");
  assert.deepEqual(Object.keys(needs).filter((command) => command.includes("*")), [], "each by its own name");
  for (const [command, each] of Object.entries(rules)) {
    assert.ok(needs[command], command);
    for (const one of each) assert.match(one, /^(?:\*|\d+(?:\.\w+)*) (?:read|write|refused)$/, command);
  }
});
