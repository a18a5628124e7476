// What links of the workbench run, against the installed build.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { edit } from "./edits.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const server = process.env.BULKHEAD_CODE_SERVER ?? path.join(here, "../node_modules/code-server/lib/vscode");
const source = fs.readFileSync(path.join(server, "out/vs/code/browser/workbench/workbench.js"), "utf8");
const edited = edit(source, "");
const anyCommand = Symbol("any command");
/** @type {any} */ (globalThis).bulkhead = { anyCommand, isLookedThrough: (/** @type {string} */ id) => id === "me.mine" };

/** Calls a piece of the edited workbench, in which the given names mean something. */
const piece = (/** @type {string} */ text, /** @type {Record<string, unknown>} */ names) => new Function(...Object.keys(names), `return ${text}`)(...Object.values(names));

/** What the workbench's opener of links runs. @param {string} text the workbench's @returns {(link: object, allowCommands: unknown) => Promise<unknown[][]>} */
function openerOf(text) {
  const [, link, options, body] = /async open\((\w+),(\w+)\)(\{if\(!\w+\(\w+,\w+\.command\)\)return!1;.*?executeCommand\([^)]*\),!0\})/.exec(text) ?? [];
  const [, is, schemes] = /if\(!(\w+)\(\w+,(\w+)\.command\)\)/.exec(body ?? "") ?? [];
  const [, parse] = /=(\w+)\(decodeURIComponent/.exec(body ?? "") ?? [];
  const open = new Function(link, options, is, schemes, parse, `return (async function()${body}).call(this)`);
  return async (link, allowCommands) => {
    /** @type {unknown[][]} */
    const calls = [];
    await open.call({ _commandService: { executeCommand: async (/** @type {unknown[]} */ ...call) => calls.push(call) } }, link, { allowCommands }, () => true, {}, JSON.parse);
    return calls;
  };
}

test("a link is allowed by its command, or by that with its arguments", async () => {
  const open = openerOf(edited);
  const ran = (/** @type {string} */ query, /** @type {unknown} */ allowed) => open({ path: "a.b", query }, allowed);
  assert.deepEqual(await ran("[1]", ["a.b"]), [["a.b", 1]]);
  const allowed = [{ command: "a.b", arguments: "[1]" }];
  assert.deepEqual(await ran("[1]", allowed), [["a.b", 1]]);
  for (const query of ["", "[2]", "[1] ", "%5B1%5D"]) assert.deepEqual(await ran(query, allowed), [], query);
  for (const other of [[], ["a.b?[1]"], ["a"], [{ command: "a", arguments: "[1]" }]]) assert.deepEqual(await ran("[1]", other), []);
});

test("where the workbench allows commands as a whole, a link runs what starts nothing", async () => {
  const path = "runCommands";
  assert.deepEqual(await openerOf(source)({ path, query: "[1]" }, true), [[path, 1]]);
  const open = openerOf(edited);
  // What else stands for yes is no more than that: "any" is no word that a host could send.
  for (const whole of [true, 1, "any", {}, Symbol("any command")]) {
    for (const id of [path, "vscode.open", "vscode.openFolder", "npm.runScriptFromHover", "git.clone", "workbench.mcp.editStoredInput"]) assert.deepEqual(await open({ path: id, query: "" }, whole), [], id);
    assert.deepEqual(await open({ path: "workbench.action.openSettings", query: "" }, whole), [["workbench.action.openSettings"]]);
  }
  assert.deepEqual(await open({ path, query: "[1]" }, anyCommand), [[path, 1]]);
  const [, listed] = /\.allowCommands:(\["editor\.action[^\]]*\])\)\.some/.exec(edited) ?? [];
  for (const id of JSON.parse(listed)) {
    assert.ok(source.includes(`"${id}"`), `${id} is known`);
    assert.doesNotMatch(id, /terminal|task|debug|install|reload/i);
  }
});

test("links run any command where this is said, and nowhere else", () => {
  const anywhere = /(?:allowCommands|bulkheadCommands):[^,}]*globalThis\.bulkhead\.anyCommand/g;
  // Messages, pages, buttons of views, of empty views, links there, banners of a window and of an editor, hints, the playground, documents.
  assert.equal([...edited.matchAll(anywhere)].length, 10);
  assert.deepEqual([...source.matchAll(anywhere)], []);
  // "Save As" says the name of a file that is there: it is the window's own text.
  assert.match(edited, /linkOpenerDelegate:[\w$]+=>\{this\.instantiationService\.invokeFunction\([\w$]+=>\{[\w$]+\.get\([\w$]+\)\.open\([\w$]+,\{allowCommands:!0,/);
});

test("the hover of a stored input runs its own links, which nothing else in the window may", async () => {
  const [, trusted] = /workbench\.mcp\.removeStoredInput[^{}]*\}\)\]\.join\(" \| "\),\{isTrusted:([^}]*\})/.exec(edited) ?? [];
  const { enabledCommands } = piece(`(${trusted})`, {});
  // What an input is said to be is evaluated: "${command:…}" in an address that calls itself "toString" would run.
  const query = JSON.stringify([{ $mid: 1, scheme: "x", path: "${command:a.b}", external: "toString" }]);
  const open = openerOf(edited);
  for (const path of ["workbench.mcp.editStoredInput", "workbench.mcp.removeStoredInput"]) {
    assert.equal((await open({ path, query: "[]" }, enabledCommands)).length, 1, path);
    assert.deepEqual(await open({ path, query }, true), [], path);
  }
  assert.deepEqual(await open({ path: "runCommands", query: "" }, enabledCommands), []);
});

test("links of a message run a compartment's commands where it is a compartment's, and what is harmless otherwise", () => {
  const opened = (/** @type {string} */ text) => {
    const [, name, rendered] = /renderMessage\(([\w$]+),[\w$]+\)\{[^]{0,200}?\.render\(\1\.message,\{callback:([\w$]+=>this\.openerService\.open\(.*?\)),toDispose/.exec(text) ?? [];
    const [, uri] = /open\(([\w$]+)\.parse/.exec(rendered ?? "") ?? [];
    return (/** @type {object} */ notice) => {
      const allowed = [];
      new Function(name, uri, `return (${rendered})`)
        .call({ openerService: { open: (_link, { allowCommands }) => allowed.push(allowCommands) } }, notice, { parse: String })("command:runCommands");
      return allowed[0];
    };
  };
  assert.equal(opened(source)({ sourceId: undefined }), true);
  assert.equal(opened(edited)({ sourceId: "me.mine" }), anyCommand);
  for (const sourceId of [undefined, "vscode.git"]) {
    assert.equal(opened(edited)({ sourceId }), true);
  }
});

test("nothing that a package wrote runs commands of its choice", () => {
  for (const text of [source, edited]) {
    // A walkthrough's page is Markdown of a package, in which boxes say what a click is.
    const opened = [.../\bif\([\w$]+\.startsWith\("command:"\)\)this\.openerService\.open\([\w$]+,\{allowCommands:([^}]*)\}/g[Symbol.matchAll](text)].map(([, allowed]) => allowed);
    assert.equal(opened.length, 1);
    assert.equal(opened[0] === "!0", text === source);
  }
});

/** The workbench's own Markdown, as it stands in the build, and what it calls. */
function markdownOf(/** @type {string} */ edited) {
  const [text, name] = /\b([\w$]+)=(class [\w$]+\{static lift\(.*?appendLink\(.*?\}_escape\(.*?\}\})/s.exec(edited)?.slice(1, 3).reverse() ?? [];
  const [, escapes] = /new RegExp\(([\w$]+)\(/.exec(text ?? "") ?? [];
  return { name, Markdown: piece(text, { [escapes]: (/** @type {string} */ sign) => sign.replace(/[\]\\)]/g, "\\$&") }) };
}

test("the hover of an inlay hint runs the hint's command alone, whatever its title says", () => {
  const [hover, markdown, words, uri, item] = /new ([\w$]+)\(`\[\$\{([\w$]+)\(\d+,null\)\}\]\(\$\{([\w$]+)\(([\w$]+)\.part\.command\)\} ".*?enabledCommands:.*?\}\]\}\}\)/.exec(edited) ?? [];
  const [, keys] = /\(\$\{([\w$]+)\}\)`,\{isTrusted/.exec(hover) ?? [];
  for (const [args, encoded] of [[["x"], "%5B%22x%22%5D"], [undefined, ""], [[], ""]]) {
    const command = { id: "me.mine", title: 't") [Show](command:runCommands?%5B%5D "z<\n', arguments: args };
    const { value, isTrusted } = piece(hover, {
      [markdown]: function (value, trust) { Object.assign(this, { value, ...trust }); },
      [words]: () => "Execute", [uri]: () => "command:me.mine", [item]: { part: { command } }, [keys]: "ctrl",
    });
    assert.equal(value, '[Execute](command:me.mine "t )  Show (command:runCommands?%5B%5D  z  ") (ctrl)');
    assert.deepEqual(isTrusted, { enabledCommands: [{ command: "me.mine", arguments: encoded }] });
  }
});

test("the hover of a link in a document runs what the link runs, and nothing that its address or tooltip hold", () => {
  const { name, Markdown } = markdownOf(edited);
  const body = /function [\w$]+\(([\w$]+),([\w$]+)\)\{(let [\w$]+=\1\.url&&\/\^command:\/i\.test.*?return new [\w$]+\("",\{isTrusted:.*?\)`\))\}else/.exec(edited) ?? [];
  const [, link, , text] = body;
  const words = Object.fromEntries([...text.matchAll(/\b([\w$]+)\((?:\d+),null/g)].map(([, one]) => [one, () => "Follow link"]));
  const mac = /\?([\w$]+)\?/.exec(text)?.[1] ?? "mac";
  const shown = (url, tooltip) => piece(`(function(${link}){${text}}})`, { ...words, [name]: Markdown, [mac]: false, [body[2]]: false })({ url, tooltip });
  const uri = (text, scheme = "https", rest = {}) => ({ scheme, ...rest, toString: () => text });
  const evil = "[Show](command:runCommands?%7B%7D";
  // The signs of Markdown that could end the label or the target are all behind one backslash.
  const target = /^\[[^\\[\]<]*\]\((?:[^\\()<\s]|\(|\\\))*(?: "[^"\\[\]<]*")?\) \(/;
  for (const one of [shown(uri(`https://e.org/(\\\\)\\\\)${evil}#\\\\)`)), shown(uri("https://e.org"), `x\\\\](command:runCommands) [`), shown(uri("https://e.org/\n\n<x>"), "a\\"), shown(`command:a.b?${evil}`)]) {
    assert.ok(!one.isTrusted, one.value);
    assert.match(one.value, target);
  }
  assert.deepEqual(shown(uri("command:a.b?[1]", "command", { path: "a.b", query: "[1]" })).isTrusted, { enabledCommands: [{ command: "a.b", arguments: "[1]" }] });
});
