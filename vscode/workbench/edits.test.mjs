// The edits against the installed build, and against builds that they must refuse.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import test from "node:test";
import vm from "node:vm";
import { fileURLToPath } from "node:url";
import { editBuiltins, inspectBuiltins } from "./builtins.mjs";
import { edit, inspect } from "./edits.mjs";
import { EditError } from "./shapes.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const server = process.env.BULKHEAD_CODE_SERVER ?? path.join(here, "../node_modules/code-server/lib/vscode");
const source = fs.readFileSync(path.join(server, "out/vs/code/browser/workbench/workbench.js"), "utf8");
const placement = ["placement.js", "foreseen.js"].map((name) => fs.readFileSync(path.join(here, name), "utf8")).join("\n");
/** @type {string | undefined} */
let whole;
const edited = () => (whole ??= edit(source, ""));

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "edits-"));
test.after(() => fs.rmSync(folder, { recursive: true }));

test("every edit fits the installed build, once", () => {
  for (const found of inspect(source)) assert.equal(found.found, found.wanted, found.name);
  assert.ok(inspect(edited()).every((found) => found.found === 0), "nothing is left to edit");
  fs.writeFileSync(path.join(folder, "edited.mjs"), edited());
  execFileSync(process.execPath, ["--check", path.join(folder, "edited.mjs")]);
});

test("what has code for Node runs in a compartment, whichever kind it calls itself", () => {
  const [, method] = /(getExtensionKind\([\w$]+\)\{.{1,600}?\})getUserConfiguredExtensionKind\(/.exec(edited()) ?? [];
  const [, web] = /\.push\("workspace"\)\),([\w$]+)&&/.exec(method ?? "") ?? [];
  const kinds = (/** @type {object} */ manifest, /** @type {string[]} */ said) =>
    [...vm.runInNewContext(`const ${web}=true;({${method},deduceExtensionKind:()=>["workspace","web"],getConfiguredExtensionKind:()=>said})`, { said }).getExtensionKind(manifest)];
  for (const said of [["ui"], ["ui", "workspace"], ["web"], []])
    assert.deepEqual(kinds({ main: "./a", browser: "./b" }, said), ["workspace"]);
  assert.deepEqual(kinds({ browser: "./b" }, ["ui"]), ["ui", "web"]);
});

test("no text of a package ends its quotes in a style sheet", () => {
  const raw = /content: '\$\{(?!globalThis)|\x60'\$\{[\w$]+\.replaceAll\(\/'\/g,"\\\\000027"\)/g;
  assert.equal([...source.matchAll(raw)].length, 2);
  assert.deepEqual([...edit(source, "").matchAll(raw)], []);
});

test("no declared tool is the editor's own by a proposal that code-server gives to everybody", () => {
  const everybody = /chatExtensionId\?[^?:]{1,90}:[\w$]+\([\w$]+\.description,"chatParticipantPrivate"\)/g;
  assert.equal([...source.matchAll(everybody)].length, 2);
  assert.deepEqual([...edit(source, "").matchAll(everybody)], []);
});

test("what is quoted of a package that cannot be read is text", () => {
  // {icon, message: new MarkdownString(texts.join(" ").trim())}, which the Extensions view puts into a trusted one.
  const quoted = (/** @type {string} */ text) => /validations\.filter\([^;]{1,90};this\.updateStatus\(\{icon:[\w$]+,message:new [\w$]+\((.{12})/.exec(text)?.[1] ?? "";
  assert.match(quoted(source), /^[\w$]+\.join/);
  assert.equal(quoted(edit(source, "")), ").appendText");
});

test("what a setting or a command gives for a variable names no command to run", () => {
  const [, expression, parser] = /=(class ([\w$]+)?\{constructor\([\w$]+\)\{this\.locations=new Map;[^]{0,6000}?toObject\(\)\{[^}]*\}\})/.exec(edited())?.slice(0, 2).concat(
    /function [\w$]+\([\w$]+,[\w$]+\)\{if\([\w$]+\[[\w$]+\]!=="\$"[^]{0,600}?end:[\w$]+\}\}/.exec(edited())?.[0] ?? "") ?? [];
  const Expression = vm.runInNewContext(`${parser};(${expression})`, { structuredClone });
  for (const outer of ["${config:own.path}", "${command:own.path}"]) {
    const configuration = new Expression({ program: outer, stop: "${command:stop}" });
    configuration.parseObject(configuration.root);
    configuration.resolve({ id: outer }, "${workspaceFolder}/${command:run}");
    assert.deepEqual([...configuration.locations.keys()], [outer, "${command:stop}", "${workspaceFolder}"]);
    configuration.resolve({ id: "${workspaceFolder}" }, "/work");
    assert.equal(configuration.toObject().program, "/work/${command:run}");
  }
});

test("nor does it where a host puts it into a task or a configuration", async () => {
  const given = { "${config:own.path}": "${command:run}", "${command:asked}": "${command:asked}" };
  const [, variables] = /resolveVariables:(\([\w$]+,[\w$]+,[\w$]+\)=>\{let [\w$]+=\[\];[^]{0,900}?\}),findExecutable:/.exec(edited()) ?? [];
  const looked = [];
  const resolver = { resolveWithInteraction: async (_folder, texts) => (looked.push(...texts), new Map([["command:asked", "1"]])) };
  const system = { _proxy: { $resolveVariables: async () => ({ variables: given }) }, _configurationResolverService: resolver };
  const isText = /([\w$]+)\([\w$]+\.process\)&&/.exec(variables)?.[1];
  const task = await vm.runInNewContext(`(function(){return ${variables}})`, { [isText]: (text) => typeof text === "string" }).call(system)({}, { variables: new Set(Object.keys(given)) });
  assert.deepEqual(looked, ["${command:asked}"]);
  assert.deepEqual(Object.fromEntries(task.variables), { "config:own.path": "${command:run}", "command:asked": "1" });

  const [, substitute] = /\}async (substituteVariables\([\w$]+,[\w$]+\)\{[^{}]+this\.adapterManager[^{}]+\})/.exec(edited()) ?? [];
  const context = vm.createContext({ crypto, setTimeout, URLSearchParams, location: { search: "" } });
  vm.runInContext(placement, context);
  const debug = (answer) => vm.runInContext(`({async ${substitute}})`, context).substituteVariables.call(
    { adapterManager: { substituteVariables: async () => answer }, configurationResolverService: { resolveWithInteractionReplace: async (_folder, start) => start } },
    undefined, { program: "${config:own.path}", pid: "${command:asked}" });
  const start = await debug({ program: "$${command:${command:run}}", pid: "${command:asked}", "${command:run}": '"${command:run' });
  assert.deepEqual({ ...start }, { program: "$$ {command:$ {command:run}}", pid: "${command:asked}", "$ {command:run}": '"$ {command:run' });
});

test("a name that is typed into a terminal runs nothing there", async () => {
  const evil = "/work/a\u0003\r'\ntouch evil\r\u007f";
  const [, prepare, , quote] = /async (preparePathForShell\(([\w$]+)\)\{return await this\.processReady,[(]*(?:await )?([\w$]+)\(\2,this\.shellLaunchConfig\.[^{}]*\})/.exec(edited()) ?? [];
  const instance = { shellLaunchConfig: { executable: "bash" }, _processManager: {} };
  const typed = vm.runInNewContext(`({async ${prepare}})`, { [quote]: async (path) => `'${path}'` }).preparePathForShell.call(instance, evil);
  assert.equal(await typed, "'/work/a'touch evil'");
  const [, label, isText] = /inputData;if\([\w$]+===void 0\)\{let [\w$]+=([^;]*?([\w$]+)\([\w$]+\.label\)[^;]*);/.exec(edited()) ?? [];
  const [, item] = /\(([\w$]+)\.label\)/.exec(label);
  for (const said of [evil, { label: evil }])
    assert.equal(vm.runInNewContext(label, { [isText]: (text) => typeof text === "string", [item]: { label: said } }), "/work/a'touch evil");
});

test("a document of the web is none: the window would fetch it from wherever a row or a list says", async () => {
  const [, documents] = /=(class\{constructor\(\)\{this\.capabilities=\d+;[^]{0,200}?async readFile\([\w$]+\)\{try\{let [\w$]+=await fetch\([^]{0,1200}?throw new [\w$]+\}\})/.exec(edited()) ?? [];
  const fetched = [];
  const context = vm.createContext({
    crypto, setTimeout, URL, URLSearchParams, Uint8Array, location: { search: "", origin: "http://bulkhead.localhost:1" },
    _VSCODE_FILE_ROOT: "http://bulkhead.localhost:1/stable/static/out/",
    fetch: async (/** @type {string} */ address) => (fetched.push(address), { status: 200, arrayBuffer: async () => new ArrayBuffer(1) }),
    [/\.onDidChangeFile=([\w$]+)\.None/.exec(documents)[1]]: {}, [/catch\([\w$]+\)\{throw ([\w$]+)\(/.exec(documents)[1]]: (error, code) => Object.assign(error, { code }),
  });
  vm.runInContext(placement, context);
  const system = vm.runInContext(`new (${documents})`, context);
  const own = 'http://bulkhead.localhost:1/stable/static/out/vs/a.svg?{"moduleId":"vs/a.svg"}';
  for (const address of ["https://evil.example/static/a?secret", "http://bulkhead.localhost:2/static/a", "http://bulkhead.localhost:1/stable/vscode-remote-resource?path=/home/me/.ssh/static/id", "http://bulkhead.localhost:1/static/../vscode-remote-resource", "http://bulkhead.localhost:1/stable/web-extension-resource/evil.example/static/secret"]) {
    await assert.rejects(system.readFile(address), { code: "Unknown" }, address);
    await assert.rejects(system.stat(address), { code: "EntryNotFound" }, address);
  }
  assert.equal((await system.readFile(own)).length, 1);
  assert.equal((await system.stat(own)).type, 1);
  assert.deepEqual(fetched, [own]);
});

test("a branch's name that a terminal offers to push is no command", () => {
  const [, pattern] = /=\/(git push --set-upstream origin .*?)\/,/.exec(edited()) ?? [];
  const offered = (/** @type {string} */ name) => new RegExp(pattern).exec(`    git push --set-upstream origin ${name}\n`)?.groups?.branchName;
  for (const name of ["feature/a-1.x", "fix#7", "größe"]) assert.equal(offered(name), name);
  for (const name of ["a;touch${IFS}b", "a|b", "a&b", "$(b)", "`b`", "a'b", "a!b", "--mirror"]) assert.equal(offered(name), undefined, name);
});

test("a host that ended is told of, also where a busy server does not say in time how it ended", async () => {
  const [, crashed] = /async _onRemoteExtensionHostCrashed(\([\w$]+,[\w$]+\)\{try\{.*?\}catch\{\}\})/.exec(edited()) ?? [];
  for (const [info, answer] of [[{ code: 3 }, () => Promise.resolve({ code: 3 })], [null, () => Promise.reject(new Error("timed out"))]]) {
    const told = [];
    const bulkhead = { afterEnd: (...words) => told.push(words.slice(0, 2)) };
    const service = { _getExtensionHostExitInfoWithTimeout: answer, _logService: { error() {} }, _logExtensionHostCrash() {} };
    await vm.runInNewContext(`(async function${crashed})`, { bulkhead }).call(service, "host", "token");
    assert.deepEqual(told, [["host", info]]);
  }
});

test("a host that cannot be connected to has ended", async () => {
  const [, start] = /this\._proxy=(this\._extensionHost\.start\(\)\.then\([^]{0,1500}?,null\}\)),this\._proxy\.then/.exec(edited()) ?? [];
  const [, lost] = /\}(_onExtHostConnectionLost\(.*?\})async _createExtHostInitData/.exec(edited()) ?? [];
  for (const _terminating of [false, true]) {
    const told = [], failures = [];
    const host = Object.assign(vm.runInNewContext(`({${lost}})`), { start: () => Promise.reject(new Error("took longer than 60s")), _onExit: { fire: (words) => told.push(words) }, _terminating });
    await vm.runInNewContext(`(function(){return ${start}})`, { bulkhead: { failed: (_manager, error) => failures.push(error.message) }, [/\$\{([\w$]+)\(this\.kind/.exec(start)?.[1]]: String }).call({ _extensionHost: host, _logService: { error() {} }, _telemetryService: { publicLog2() {} } });
    assert.deepEqual(told.map(([code, token]) => [code, Boolean(token)]), _terminating ? [] : [[0, true]], "without a token nobody starts it");
    assert.deepEqual(failures, ["took longer than 60s"]);
  }
});

/** The workbench's own judgement of a folder, begun before the user's settings are there. @param {string} build */
function judgeOf(build) {
  const [, calculate] = /\}(calculateWorkspaceTrust\(\)\{.*?\})async updateWorkspaceTrust\(/.exec(build) ?? [];
  const [, update] = /async (updateWorkspaceTrust\([\w$]+\)\{this\..*?\}|updateWorkspaceTrust\([\w$]+\)\{\(this\..*?\})getUrisTrust\(/.exec(build) ?? [];
  let isOn = true;
  const judge = Object.assign(vm.runInNewContext(`({${calculate},async ${update}})`), {
    workspaceTrustEnablementService: { isWorkspaceTrustEnabled: () => isOn }, environmentService: {}, isWorkspaceTrusted() { return this.isTrusted; }, isEmptyWorkspace: () => false,
    getUrisTrust: () => false, getWorkspaceUris: () => [], resolveCanonicalUris: async () => {}, _canonicalUrisResolved: false, _trustTransitionManager: { participate: async () => {} }, _onDidChangeTrust: { fire() {} },
  });
  judge.isTrusted = judge.calculateWorkspaceTrust();
  return { judge, settingsCome: () => (isOn = false) };
}

test("a folder is trusted where trust is switched off, also if the settings came after the first judgement", async () => {
  const trusted = async (/** @type {string} */ build, /** @type {boolean} */ come) => {
    const { judge, settingsCome } = judgeOf(build);
    judge._canonicalUrisResolved = true;
    if (come) settingsCome();
    await judge.updateWorkspaceTrust();
    return judge.isTrusted;
  };
  assert.equal(await trusted(source, true), false, "VS Code's own leaves it so for good, without a word");
  assert.equal(await trusted(edited(), true), true);
  assert.equal(await trusted(edited(), false), false, "a person decides where trust is on");
});

test("which extensions run is decided after whether the folder is trusted", async () => {
  const [, resolve] = /async (_resolveExtensionsDefault\([\w$]+\)\{.*?\})_resolveExtensions\(/.exec(edited()) ?? [];
  const { bulkhead } = placed(() => {});
  let known = () => {};
  const told = [];
  class Found { constructor(all) { this.all = all; } }
  const names = Object.fromEntries([...resolve.matchAll(/new ([\w$]+)\(/g)].map(([, name]) => [name, Found]));
  const service = Object.assign(vm.runInNewContext(`({async ${resolve}})`, { bulkhead, ...names }), {
    _scanWebExtensions: async () => [], _remoteExtensionsScannerService: { scanExtensions: async () => ["a.one"] },
    _workspaceTrustManagementService: { workspaceTrustInitialized: new Promise((done) => (known = done)) },
  });
  const done = service._resolveExtensionsDefault({ emitOne: (one) => told.push(one.all.length) });
  await new Promise((wait) => setTimeout(wait, 20));
  assert.deepEqual(told, []);
  known();
  await done;
  assert.deepEqual(told, [1, 0]);
});

/** Methods of the workbench's extension service as they are in the edited build, which ask hosts for what `hosts` answer. */
function serviceOf(bulkhead, hosts, more = {}) {
  const [, byId] = /async (_activateById\([\w$]+,[\w$]+\)\{.*?\})_onWillActivateExtension\(/.exec(edited()) ?? [];
  const [, deferred] = /async (_activateDeferredRemoteEvents\(\)\{.*?\})async _resolveAndProcessExtensions\(/.exec(edited()) ?? [];
  const [, byEvent] = /\}(_activateByEvent\([\w$]+,[\w$]+\)\{let [\w$]+;.*?\})activateById\(/.exec(edited()) ?? [];
  return Object.assign(vm.runInNewContext(`({async ${byId},async ${deferred},${byEvent}})`, { bulkhead }), {
    _extensionHostManagers: hosts,
    _getExtensionHostManagers: () => hosts,
    _onWillActivateByEvent: { fire() {} },
    _pendingRemoteActivationEvents: new Set(["onEarly"]),
    _registry: { getAllExtensionDescriptions: () => hosts.flatMap(({ own }) => own) },
    _runningLocations: { filterByExtensionHostManager: (_all, { own }) => own, getRunningLocation: (id) => hosts.find(({ own }) => own.some((one) => one.id === id))?._extensionHost.runningLocation ?? null },
    _activationEventReader: { readActivationEvents: ({ events = [] }) => events },
    ...more,
  });
}

test("an extension is begun by its own host, whatever the others do", async () => {
  const silent = () => new Promise(() => {});
  const hosts = ["a.one", "b.two"].map((id, i) => ({ ...manager(i + 1), own: [{ id }], activate: i === 0 ? silent : async (asked) => asked === "b.two", representsRunningLocation: ({ affinity }) => affinity === i + 1 }));
  const service = serviceOf({}, hosts);
  await service._activateById("b.two", {});
  await assert.rejects(service._activateById("c.none", {}), /Unknown extension/);
});

test("an event is not held by a compartment that has nothing to begin, or takes too long", async () => {
  const pauses = [];
  const { bulkhead } = placed((run, pause) => void (pauses.push(pause), run()));
  bulkhead.commandRegistry = { getCommand: (id) => (["save", "two.declared"].includes(id) ? {} : undefined) };
  const silent = () => new Promise(() => {});
  const two = { events: ["onCommand:save", "onCommand:two.late", "onCommand:two.declared", "onView:two"], contributes: { commands: [{ command: "two.declared" }] } };
  const answers = new Map();
  const hosts = [
    { ...manager(0), own: [], ready: async () => {}, activateByEvent: async () => {} },
    { ...manager(1), own: [{ events: ["onView:one"] }], ready: silent, activateByEvent: silent },
    { ...manager(2), own: [two], ready: silent, activateByEvent: (event) => answers.get(event) ?? answers.set(event, silent()).get(event) },
  ];
  const service = serviceOf(bulkhead, hosts);
  /** How long each compartment is waited for. */
  const waits = async (event) => {
    pauses.length = 0;
    await service._activateByEvent(event, 0);
    return pauses;
  };
  assert.deepEqual(await waits("onElse"), [0, 0]);
  assert.deepEqual(await waits("onCommand:save"), [0, 0], "the editor's own command");
  assert.deepEqual(await waits("onCommand:two.declared"), [0, 30000]);
  assert.deepEqual(await waits("onCommand:two.declared"), [0], "once");
  assert.deepEqual(await waits("onCommand:two.late"), [0, 2000], "it took too long before");
  pauses.length = 0;
  await service._activateDeferredRemoteEvents();
  assert.deepEqual(pauses.slice(0, 2), [2000, 2000]);
  hosts[0].activateByEvent = () => Promise.reject(new Error("canceled"));
  await assert.rejects(service._activateByEvent("onElse", 0), /canceled/, "the main host is waited for");
});

/** Calls a piece of the edited workbench, in which the given names mean something. */
const piece = (/** @type {string} */ text, /** @type {Record<string, unknown>} */ names) => new Function(...Object.keys(names), `return ${text}`)(...Object.values(names));

test("no style sheet can ask for the token", () => {
  const [, read, page, cookie, key] = /=(([\w$]+)\.options\.connectionToken\|\|.*?bulkhead-token"\]'\)\)\|\|([\w$]+)\(([\w$]+)\))/.exec(edited()) ?? [];
  let there = true;
  const document = { querySelector: () => (there ? { content: "t", remove: () => (there = false) } : null) };
  const token = () => piece(read, { document, [page]: { options: {} }, [cookie]: () => "cookie", [key]: "" });
  assert.deepEqual([token(), there, token()], ["t", false, "cookie"]);
});

test("what a language's status says is trusted with nothing", () => {
  assert.match(edited(), /tooltip:[\w$]+\.command\?\.tooltip\|\|new [\w$]+\([\w$]+\.detail,\{supportThemeIcons:!0\}\)/);
});

test("the JSON extension trusts this machine's servers no more than others", () => {
  for (const found of inspectBuiltins(server)) assert.equal(found.found, found.wanted, found.name);
  const file = "client/dist/node/jsonClientMain.js";
  const text = editBuiltins(server).get("json-language-features")?.get(file) ?? "";
  fs.writeFileSync(path.join(folder, "client.js"), text);
  execFileSync(process.execPath, ["--check", path.join(folder, "client.js")]);
  // What asks it, as it stands in the build.
  const trust = (/** @type {string} */ source) => {
    const [, name] = /function ([\w$]+)\([\w$]+\)\{return(?:!1|[ \w$.|()]*\.test\([\w$]+\))\}/.exec(source.slice(source.search(/localhost\(:/))) ?? [];
    const from = source.lastIndexOf("/^(.+\\.)?localhost");
    const patterns = source.slice(source.lastIndexOf("var ", from), source.indexOf("}", from) + 1);
    return vm.runInNewContext(`${patterns};${name}`);
  };
  const published = fs.readFileSync(path.join(server, "extensions/json-language-features", file), "utf8");
  for (const authority of ["localhost:3000", "127.0.0.1:80", "[::1]:9", "a.localhost"]) {
    assert.equal(trust(published)(authority), true);
    assert.equal(trust(text)(authority), false);
  }
  const other = path.join(folder, "server/extensions/json-language-features/client/dist/node");
  fs.mkdirSync(other, { recursive: true });
  fs.writeFileSync(path.join(other, "jsonClientMain.js"), published.replace("localhost(:", "localhost (:"));
  assert.throws(() => editBuiltins(path.join(folder, "server")), (error) => error instanceof EditError && error.message.includes("json-loopback"));
  assert.throws(() => editBuiltins(path.join(folder, "none")), EditError, "no such file");
});

test("the JSON extension reads a schema where the user works, or what the user's settings name", async () => {
  const text = editBuiltins(server).get("json-language-features")?.get("client/dist/node/jsonClientMain.js") ?? "";
  assert.match(text, /handledSchemaProtocols:\[\]/);
  const [, asked, body, vscode, protocol] = /onRequest\([\w$]+\.type,async ([\w$]+)=>\{(let [\w$]+=([\w$]+)\.Uri\.parse[^]*?)if\([\w$]+\.scheme==="untitled"\)throw new ([\w$]+)\.ResponseError/.exec(text) ?? [];
  assert.ok(body);
  const parse = (/** @type {string} */ uri) => {
    const [, scheme, rest] = /^([\w-]+):\/\/(.*)$/.exec(uri) ?? [];
    return { scheme, path: decodeURIComponent(rest), toString: () => uri };
  };
  const api = {
    Uri: { parse, joinPath: ({ scheme, path: place }, more) => parse(`${scheme}://${path.posix.join(place, more)}`) },
    workspace: {
      getWorkspaceFolder: ({ path: place }) => place.startsWith("/project/") || undefined,
      getConfiguration: () => ({ inspect: () => ({ globalValue: [{ url: "file:///user/named.json" }], workspaceValue: [{ url: "file:///user/key.json" }] }) }),
      fs: { readFile: async ({ path: place }) => Buffer.from(`read ${place}`) },
    },
    extensions: { allAcrossExtensionHosts: [{ extensionUri: parse("file:///ext/a.b") }] },
  };
  const AsyncFunction = /** @type {FunctionConstructor} */ ((async () => {}).constructor);
  const read = new AsyncFunction(asked, vscode, protocol, `${body} return "goes on"`);
  const ask = (/** @type {string} */ uri) => read(uri, api, { ResponseError: class extends Error { constructor(code, message) { super(message); } } });
  for (const place of ["/project/s.json", "/ext/a.b/s.json", "/user/named.json"]) assert.equal(await ask(`file://${place}`), `read ${place}`);
  for (const uri of ["https://a.test/s.json", "vscode://schemas/x", "untitled://x", "memory:///project/s.json"]) assert.equal(await ask(uri), "goes on", uri);
  for (const uri of ["file:///user/key.json", "file:///project/../user/key.json", "file:///project/%2e%2e/user/key.json", "file:///ext/a.bc/s.json", "file:///ext/a.b/../s.json", "vscode-remote:///user/key.json", "FILE:///user/key.json"])
    await assert.rejects(ask(uri), /no file of the workspace/, uri);
});

test("what documents name is read where the user works, whichever way it is named", async () => {
  const world = fs.realpathSync(fs.mkdtempSync(path.join(folder, "named-")));
  for (const place of ["project/in", "ext/a.b", "user", "settings", "projects"]) fs.mkdirSync(path.join(world, place), { recursive: true });
  for (const [link, to] of [["out", "../user"], ["inner", "in"], ["file", "../user/key"]]) fs.symlinkSync(to, path.join(world, "project", link));
  for (const file of ["project/in/f", "user/key", "ext/a.b/data", "settings/data"]) fs.writeFileSync(path.join(world, file), "");
  fs.symlinkSync(path.join(world, "project"), path.join(world, "linked"));
  const uriOf = (scheme, authority, place) => ({
    scheme, authority, path: place, fsPath: place,
    with: (more) => uriOf(scheme, authority, more.path ?? place),
    toString: () => `${scheme}://${authority}${place}`,
  });
  const parse = (/** @type {string} */ text) => {
    const [, scheme, authority, place] = /^([\w-]+):\/\/([^/]*)(.*)$/.exec(text) ?? [];
    return uriOf(scheme.toLowerCase(), authority, decodeURIComponent(place));
  };
  const at = (/** @type {string} */ place) => `file://${world}/${place}`;
  const reads = (/** @type {string} */ how) => async (/** @type {any} */ uri) => [[`${how} ${uri.toString().replace(world, "")}`, 2]];
  const api = (/** @type {string} */ top) => ({
    Uri: { parse, joinPath: (uri, more) => uri.with({ path: path.posix.join(uri.path, more) }) },
    workspace: {
      workspaceFolders: [{ uri: parse(at(top)) }, { uri: parse("memory://x/project") }],
      getConfiguration: () => ({ inspect: () => ({ globalValue: ["../settings/data"], workspaceValue: ["../user/key"] }) }),
      fs: { readDirectory: reads("list"), stat: reads("stat"), readFile: async (uri) => Buffer.from((await reads("read")(uri))[0][0]) },
    },
    extensions: { all: [{ extensionUri: parse(at("ext/a.b")) }] },
    FileType: { Directory: 2 },
  });
  const own = { readDirectory: reads("list"), stat: reads("stat"), getContent: reads("read") };
  const inside = ["project/in", "project", "project/in/", "project/inner/f", "project/x/../in"];
  const outside = ["user", "user/key", "projects", "ext", "project/../user/", "project/%2e%2e/user", "project/out", "project/out/key", "project/file", "project/none", ""];
  const files = editBuiltins(server);
  /** The handlers of an edited client, in their order. @param {string} extension @param {string} file @param {RegExp} shape */
  const handlers = (extension, file, shape) => [...(files.get(extension)?.get(file) ?? "").matchAll(shape)].map(([, handler]) => handler);
  const NAMED = /\.onRequest\([\w$]+\.type,(async [\w$]+=>\{let [\w$]+=await\(async asked=>[^]*?(?:\.fs\.\w+\([\w$]+\)\}|decode\([\w$]+\)\)\}))\)/g;
  const LINKED = /\.onRequest\([\w$]+,(async [\w$]+=>\{let [\w$]+=[\w$]+\.Uri\.parse\([\w$]+\.uri\);(?:try|return)[^]*?await\(async asked=>[^]*?)\)(?=,[\w$]+\.onRequest)/g;
  for (const [extension, file, shape, count] of /** @type {[string, string, RegExp, number][]} */ ([
    ["html-language-features", "client/dist/node/htmlClientMain.js", NAMED, 2],
    ["css-language-features", "client/dist/node/cssClientMain.js", NAMED, 3],
    ["markdown-language-features", "dist/extension.js", LINKED, 3],
  ])) {
    const found = handlers(extension, file, shape);
    assert.equal(found.length, count, extension);
    if (count < 3 || extension.startsWith("css")) assert.match(files.get(extension)?.get(file) ?? "", /handledSchemas:\[\]/);
    for (const handler of found) {
      const [, vscode] = /([\w$]+)\.Uri\.parse/.exec(handler) ?? [];
      const [, service = "unused"] = /"file"&&([\w$]+)\./.exec(handler) ?? [];
      const whole = !/=await\(async asked/.test(handler) || /getContent/.test(handler);
      const read = new Function(vscode, service, "require", `return ${handler}`);
      for (const services of [{ fs: own, fileFs: own, TextDecoder }, { TextDecoder }])
        for (const top of ["project", "linked"]) {
          const ask = async (/** @type {string} */ text) => {
            const said = await read(api(top), services, () => ({ ...path, promises: fs.promises }))(whole ? { uri: text, encoding: "utf8" } : text);
            // Markdown's server is told of what is not there by nothing.
            if (said === undefined) throw new Error("no file of the workspace");
            return said;
          };
          for (const place of inside) await ask(at(place.replace("project", top)));
          await ask("memory://x/project/in");
          for (const place of outside) await assert.rejects(ask(at(place.replace(/^project(?=\/)/, top))), /no file of the workspace|ENOENT/, `${extension} ${place}`);
          for (const other of ["memory://x/user", "memory://y/project/in", `vscode-remote://x${world}/project`]) await assert.rejects(ask(other), /no file of the workspace/);
          const named = ["ext/a.b/data", "settings/data"].map((place) => ask(at(place)));
          if (/getContent/.test(handler)) await Promise.all(named);
          else for (const one of named) await assert.rejects(one, /no file of the workspace/);
        }
    }
  }
});

test("the npm extension asks npm outside of the package's folder", () => {
  const text = editBuiltins(server).get("npm")?.get("dist/npmMain.js") ?? "";
  assert.match(text, /\.isTrusted=\{enabledCommands:\["npm\.runScriptFromHover","npm\.debugScriptFromHover"\]\},/);
  assert.match(text, /runNpmCommand\(\w+,\w+,\w+\)\{[^}]*=process\.env\.HOME\?\?"\/",/);
  fs.writeFileSync(path.join(folder, "npm.cjs"), text);
  execFileSync(process.execPath, ["--check", path.join(folder, "npm.cjs")]);
});

test("the hover of a commit runs what git gives it, and nothing that the commit's message names", () => {
  const text = editBuiltins(server).get("git")?.get("dist/main.js") ?? "";
  const [, hover, words, markdown, parts] = /function [\w$]+(\(([\w$,]+)\)\{let [\w$]+=new (([\w$]+)\.MarkdownString)\("",!0\);return [\w$]+\.isTrusted=.*?\?\?\[\]\},)/.exec(text) ?? [];
  assert.ok(markdown);
  const commands = [[{ title: "x", command: "git.viewCommit", arguments: ["a b", 1] }], [{ title: "y", command: "git.copyContentToClipboard", arguments: ["c"] }]];
  const shown = (/** @type {any} */ given) => piece(`(function(${words}){const made=new ${markdown}("",!0);${hover.slice(hover.indexOf("return") + 7).replace(/^[\w$]+/, "made").replace(/,$/, "")};return made})`, { [parts]: { MarkdownString: class {} } })(...words.split(",").map((_one, i) => (i === 6 ? given : undefined)));
  assert.deepEqual(shown(commands).isTrusted, { enabledCommands: [{ command: "git.viewCommit", arguments: '["a b",1]' }, { command: "git.copyContentToClipboard", arguments: '["c"]' }] });
  assert.deepEqual(shown(undefined).isTrusted, { enabledCommands: [] });
  fs.writeFileSync(path.join(folder, "git.cjs"), text);
  execFileSync(process.execPath, ["--check", path.join(folder, "git.cjs")]);
});

test("conditions of menu items are of the class that makes them", () => {
  const [, conditions] = /\.when=globalThis\.bulkhead\.menuCondition\([\w$]+\.description,[\w$]+\.key,([\w$]+)\.deserialize\([\w$]+\.when\),\1\)/.exec(edited()) ?? [];
  const [made] = edited().slice(edited().search(`[,;]${conditions.replaceAll("$", "\\$")}=class\\{static false`)).split("static deserialize");
  for (const method of ["regex", "and"]) assert.match(made.slice(0, 2000), new RegExp(`static ${method}\\(`));
});

test("whoever reads the clipboard for a snippet asks whose it is", () => {
  // Besides these two, snippets of the snippet service, which are looked through as they are read.
  const given = (/** @type {string} */ text) => [...text.matchAll(/[{,]clipboardText:(?!this\.|void 0)([\w$.]+)/g)].map(([, value]) => value);
  assert.equal(given(source).length, 5, "who else puts it into a snippet, and of whom?");
  assert.deepEqual(given(edited()).filter((value) => value.includes(".")), ["globalThis.bulkhead.clipboardFor"]);
  const [, insert] = /\}(\$tryInsertSnippet\(.*?\})\$registerTextEditorDecorationType/.exec(edited()) ?? [];
  const [reject] = /Promise\.reject\(([\w$]+)\(/.exec(insert).slice(1);
  for (const isCompartment of [false, true]) {
    const inserted = [];
    const service = Object.assign(vm.runInNewContext(`({${insert}})`, { bulkhead: { withoutClipboard: () => "WITHHELD" }, [reject]: String }), {
      bulkheadIsCompartment: isCompartment, _editorLocator: { getEditor: () => ({ insertSnippet: (...words) => inserted.push(words) }) },
    });
    service.$tryInsertSnippet("editor", 1, "$CLIPBOARD", [], {});
    assert.deepEqual(inserted, [[1, isCompartment ? "$CLIPBOARD" : "WITHHELD", [], {}]]);
  }
});

test("a window that starts asks compartments for their tasks without a person; a person's list of them does not", async () => {
  const [, register] = /(\$registerTaskProvider\(.*?\})\$unregisterTaskProvider/.exec(edited()) ?? [];
  const [, listed] = /[;}](async tasks\([\w$]+\)\{.*?\})taskTypes\(\)/.exec(edited()) ?? [];
  const [, grouped] = /async _getGroupedTasks\(([^]*?\})_getLegacyTaskConfigurations\([\w$]+\)\{/.exec(edited()) ?? [];
  assert.equal([...grouped.matchAll(/of this\._providers\)/g)].length, 2, "who else is asked for tasks there?");
  assert.match(edited(), /this\.bulkheadIsCompartment=[\w$]+\.isCompartment,this\._proxy=[\w$]+\.getProxy\([\w$]+\.ExtHostTask\)/);
  const context = vm.createContext({ crypto, setTimeout, URLSearchParams, location: { search: "" } });
  vm.runInContext(placement, context);
  const service = Object.assign(vm.runInContext(`new class{${listed}}`, context), {
    _providers: new Map(), _trust: async () => true, _versionAndEngineCompatible: () => true, applyFilterToTaskMap: (_filter, tasks) => tasks,
    async _getGroupedTasks() {
      asked = [];
      return Promise.all([...this._providers].map(([name, provider]) => (provider.provideTasks({ shell: true }).catch(() => {}), name)));
    },
  });
  let asked = [];
  for (const [name, bulkheadIsCompartment] of [["npm", false], ["markdownlint", true]])
    vm.runInContext(`({${register}})`, context).$registerTaskProvider.call(
      { bulkheadIsCompartment, _providers: new Map(), _taskService: { registerTaskProvider: (provider) => service._providers.set(name, provider) },
        _proxy: { $provideTasks: async (...words) => (asked.push([name, ...words]), { tasks: [], extension: {} }) } }, 1, name);
  assert.deepEqual([...(await service.getKnownTasks())], ["npm", "markdownlint"]);
  assert.deepEqual(asked, [["npm", 1, { shell: true }], ["markdownlint", 1, { shell: true }, true]]);
  assert.deepEqual(await service.tasks(), ["npm", "markdownlint"]);
  assert.deepEqual(asked, [["npm", 1, { shell: true }], ["markdownlint", 1, { shell: true }]]);
});

test("a build without one of the shapes is refused, and the shape is named", () => {
  for (const [shape, name] of [
    ['asString(){return"Remote"}', "remote-location"],
    [".filterByExtensionHostKind(t.extensions,3)", "provider-filter"],
    ["_createRemoteExtensionHostDataProvider(", "provider-"],
    ["?.extensionHostEnv}},", "host-environment"],
    ["get parentId(){", "source-control"],
  ]) {
    assert.ok(source.includes(shape), shape);
    const changed = source.replaceAll(shape, shape.replace(/[a-z]/, "_"));
    assert.throws(() => edit(changed, ""), (error) => error instanceof EditError && error.message.includes(name));
  }
});

test("a shape that stands twice is refused", () => {
  const shape = /[\w$]+=class\{constructor\(\)\{this\.kind=3;this\.affinity=0\}.*?return"Remote"\}\}/.exec(source)?.[0];
  assert.ok(shape);
  assert.throws(() => edit(`${source};var ${shape}`, ""), EditError);
});

function placed(setTimeout = () => {}, now = Date.now, localStorage = undefined, document = undefined, confined = []) {
  const reloads = [];
  const context = vm.createContext({ localStorage, document, Date: { now }, bulkheadSettings: { builtin: ["vscode.git"], confined, shipped: ["acme.shipped", "bulkhead.companion"], companion: "/opt/companion" }, crypto, URLSearchParams, setTimeout, location: { search: "?folder=/a%20b", host: "bulkhead.localhost:1", reload: () => reloads.push(1) } });
  vm.runInContext(placement, context);
  const extension = (id, rest = {}) => ({ identifier: { value: id }, main: "./main.js", isBuiltin: false, extensionLocation: { scheme: "vscode-remote", path: `${rest.isBuiltin ? "/opt" : "/ext"}/${id}` }, ...rest });
  return { bulkhead: context.bulkhead, extension, reloads };
}

/** A host of the workbench's, as far as placement looks at it. */
const host = (affinity, data, state = 2) => ({
  runningLocation: { kind: 3, affinity },
  remoteAuthority: "127.0.0.1:1",
  _initDataProvider: { getInitData: async () => data },
  _contextService: { getWorkbenchState: () => state, getWorkspace: () => ({ id: "-7a" }) },
});

test("every third-party extension gets a host of its own, built-ins stay", async () => {
  const { bulkhead, extension } = placed();
  const all = [extension("A.one"), extension("b.two"), extension("vscode.npm", { isBuiltin: true }), extension("vscode.git", { isBuiltin: true })];
  const [one, two, npm, git] = all.map((each) => bulkhead.place(each, all));
  assert.equal(npm, 0);
  assert.notEqual(one, 0);
  assert.notEqual(two, 0);
  assert.notEqual(git, 0);
  assert.equal(new Set([one, two, git]).size, 3);
  assert.deepEqual([...bulkhead.affinities()].sort(), [0, one, two, git].sort());
  const [main, own] = [await bulkhead.environment(host(0)), await bulkhead.environment(host(one))];
  assert.equal(own.BULKHEAD_HOST, "a.one");
  assert.equal(main.BULKHEAD_HOST, "main");
  assert.match(main.BULKHEAD_WINDOW, /^[0-9a-f]{16}$/);
  assert.equal(own.BULKHEAD_WINDOW, main.BULKHEAD_WINDOW);
  assert.equal(own.BULKHEAD_FOLDER, "/a b");
  assert.equal(bulkhead.place(all[0], all), one, "stable");
});

test("built-in extensions that start programs share a host, in which nobody else is", () => {
  const { bulkhead, extension } = placed(undefined, undefined, undefined, undefined, ["vscode.npm", "vscode.git-base", "vscode.typescript-language-features"]);
  const builtin = (id, rest) => extension(id, { isBuiltin: true, ...rest });
  const all = [
    builtin("vscode.npm"), extension("a.needs", { extensionDependencies: ["vscode.npm"] }), builtin("vscode.typescript-language-features"), builtin("vscode.markdown"),
    builtin("vscode.git", { extensionDependencies: ["vscode.git-base"] }), builtin("vscode.git-base"), extension("b.git", { extensionDependencies: ["vscode.git"] }),
  ];
  const [npm, needs, typescript, markdown, git, base, friend] = all.map((each) => bulkhead.place(each, all));
  assert.equal(npm, typescript);
  assert.ok(npm !== 0 && needs !== 0 && needs !== npm, "who depends on one is not let in");
  assert.deepEqual(all[1].extensionDependencies, [], "and begins without it");
  assert.equal(markdown, 0);
  assert.ok(git === base && git === friend && git !== npm, "one that a person named shares with who depends on it, and takes along what it depends on");
  // A plug-in that comes while the window lives would run in TypeScript's servers, beside Git and npm.
  const plugin = extension("c.plugin", { contributes: { typescriptServerPlugins: [{ name: "x" }] } });
  const late = bulkhead.place(plugin, [...all, plugin]);
  assert.ok(late !== 0 && late !== npm);
  assert.equal(bulkhead.place(all[2], [...all, plugin]), npm, "it stays where it is until the window is loaded again");
  const again = placed(undefined, undefined, undefined, undefined, ["vscode.npm", "vscode.typescript-language-features"]);
  const both = [builtin("vscode.npm"), builtin("vscode.typescript-language-features"), plugin];
  const [other, first, second] = both.map((each) => again.bulkhead.place(each, both));
  assert.ok(first === second && first !== other);
  // Who only says that it is built in is somebody's.
  const fake = placed(undefined, undefined, undefined, undefined, ["vscode.npm"]);
  const impostor = fake.extension("vscode.npm", { isBuiltin: true, extensionLocation: { scheme: "vscode-remote", path: "/ext/vscode.npm-9" } });
  const real = [impostor, extension("a.one")];
  assert.notEqual(fake.bulkhead.place(impostor, real), fake.bulkhead.place(real[1], real));
});

test("a host is asked for with what its first message will say of it", async () => {
  const { bulkhead, extension } = placed();
  const at = (path) => ({ $mid: 1, path, scheme: "vscode-remote", authority: "127.0.0.1:1" });
  const all = ["A.one", "b.two"].map((id) => extension(id, { extensionLocation: at(`/ext/${id}`), description: "…" }));
  const [one] = all.map((each) => bulkhead.place(each, all));
  const data = (count = 1) => ({
    pid: 5,
    extensionHostLogsPath: at("/logs"),
    globalStorageHome: at("/global"),
    workspaceStorageHome: at("/workspaces"),
    connectionData: { connectionToken: "t0ken" },
    extensions: { toSnapshot: () => ({ versionId: 1, activationEvents: {}, allExtensions: all, myExtensions: Array(count).fill({ value: "A.one" }) }) },
  });
  assert.deepEqual(JSON.parse((await bulkhead.environment(host(one, data()))).BULKHEAD_IDENTITY), {
    remote: { authority: "127.0.0.1:1" },
    logsLocation: at("/logs"),
    environment: { globalStorageHome: at("/global"), workspaceStorageHome: at("/workspaces") },
    workspace: { id: "-7a" },
    extensions: { allExtensions: [{ identifier: { value: "A.one" }, extensionLocation: at("/ext/A.one") }], myExtensions: [{ value: "A.one" }] },
  });
  assert.equal(JSON.parse((await bulkhead.environment(host(one, data(), 1))).BULKHEAD_IDENTITY).workspace, null, "an empty window");
  assert.equal((await bulkhead.environment(host(one, data(10000)))).BULKHEAD_IDENTITY, "", "too long for a variable");
  assert.equal("BULKHEAD_IDENTITY" in (await bulkhead.environment(host(0, data()))), false, "the main host is no compartment");
});

test("a window asks at once for the hosts that its folder had the last time, each for the same one extension", async () => {
  const kept = new Map();
  const localStorage = { getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => kept.set(key, value) };
  const at = (path) => ({ $mid: 1, path, scheme: "vscode-remote", authority: "127.0.0.1:1", with: ({ path }) => at(path) });
  const remote = { extensionHostLogsPath: at("/logs"), globalStorageHome: at("/global"), workspaceStorageHome: at("/workspaces") };
  /** A window with these extensions: the affinities that it asks for at once, what it says of the first, whom it stops, where they are placed. */
  const opened = async (describe) => {
    const { bulkhead, extension } = placed(undefined, undefined, localStorage);
    Object.assign(bulkhead, { logsOf: (folder, { affinity }) => folder.with({ path: `${folder.path}-${affinity}` }) });
    const stopped = [];
    const managers = [];
    const service = { _remoteAgentService: { getEnvironment: async () => remote }, _extensionHostManagers: Object.assign(managers, { stopOne: (one) => stopped.push(one._extensionHost.runningLocation.affinity) }) };
    const early = bulkhead.affinities(service, () => {});
    managers.push(...early.map((affinity) => manager(affinity)));
    const environment = early.length > 1 ? await bulkhead.environment(host(early[1])) : undefined;
    const all = describe(extension);
    const places = all.map((one) => bulkhead.place(one, all));
    return { early: [...early], environment, places, later: [...bulkhead.affinities(service)], stopped };
  };
  const one = (extension) => extension("A.one", { extensionLocation: at("/ext/a.one-1") });
  const first = await opened((extension) => [one(extension)]);
  assert.deepEqual([first.early, first.places, first.stopped], [[0], [1], []], "nothing is known of a new home");

  const again = await opened((extension) => [extension("b.two"), one(extension)]);
  assert.deepEqual([again.early, again.places, again.later.sort(), again.stopped], [[0, 1], [2, 1], [0, 1, 2], []]);
  assert.equal(again.environment.BULKHEAD_HOST, "a.one");
  assert.deepEqual(JSON.parse(again.environment.BULKHEAD_IDENTITY), JSON.parse(JSON.stringify({
    remote: { authority: "127.0.0.1:1" },
    logsLocation: at("/logs-1"),
    environment: { globalStorageHome: at("/global"), workspaceStorageHome: at("/workspaces") },
    workspace: { id: "-7a" },
    extensions: { allExtensions: [{ identifier: { value: "A.one" }, extensionLocation: at("/ext/a.one-1") }], myExtensions: [{ value: "A.one" }] },
  })));

  kept.set(kept.keys().next().value, JSON.stringify([{ identifier: { value: "A.one" }, extensionLocation: at("/ext/a.one-1") }]));
  const others = {
    "another version": (extension) => [extension("A.one", { extensionLocation: at("/ext/a.one-2") })],
    "it is not alone any more": (extension) => [one(extension), extension("b.two", { extensionDependencies: ["a.one"] })],
    "it is the window's own now": () => [],
  };
  for (const [why, describe] of Object.entries(others)) {
    const before = new Map(kept);
    const { early, places, stopped, later } = await opened(describe);
    assert.deepEqual([early, stopped], [[0, 1], [1]], why);
    assert.ok(!places.includes(1) && !later.includes(1), why);
    for (const [key, value] of before) kept.set(key, value);
  }
  for (const broken of ["{", "7", "[null]", '[{"identifier":{"value":1},"extensionLocation":{"path":"/"}}]', '[{"identifier":{}}]']) {
    for (const key of kept.keys()) kept.set(key, broken);
    assert.deepEqual((await opened((extension) => [one(extension)])).early, [0], broken);
  }
});

test("in a folder that had none yet it asks for what the server says is installed", () => {
  const document = { querySelector: (name) => (name === 'meta[name="bulkhead-installed"]' ? { content: '[{"id":"A.one","path":"/ext/a.one-1"},{"id":"b.two","path":"/ext/b.two-1"}]' } : null) };
  const opened = (kept) => placed(undefined, undefined, { getItem: () => kept, setItem: () => {} }, document);
  const { bulkhead, extension } = opened(null);
  assert.deepEqual([...bulkhead.affinities({}, () => {})], [0, 1], "as many as the page can spare");
  assert.deepEqual({ ...bulkhead.foreseen.whoWaits(1).extensionLocation }, { $mid: 1, scheme: "vscode-remote", authority: "bulkhead.localhost:1", path: "/ext/a.one-1" });
  const one = extension("A.one", { extensionLocation: { path: "/ext/a.one-1" } });
  assert.equal(bulkhead.place(one, [one]), 1);
  assert.deepEqual([...opened("[]").bulkhead.affinities({}, () => {})], [0], "here it had none");
  const unreadable = { getItem: () => { throw new Error("private"); } };
  assert.deepEqual([...placed(undefined, undefined, unreadable, document).bulkhead.affinities({}, () => {})], [0, 1], "a browser that keeps nothing");
});

test("a compartment's first message says what its browser keeps; it starts before that is known", () => {
  const [message] = /parentPid:([\w$]+)\.pid,bulkheadKeepsPages:await globalThis\.bulkhead\.keepsPages\(this\),/.exec(edited()) ?? [];
  assert.ok(message);
});

test("dependent extensions share a host, in both directions, and only they", async () => {
  const { bulkhead, extension } = placed();
  const all = [extension("p.base"), extension("p.user", { extensionDependencies: ["P.Base"] }), extension("p.other"), extension("p.needs-git", { extensionDependencies: ["vscode.npm"] })];
  const [base, user, other, needs] = all.map((each) => bulkhead.place(each, all));
  assert.equal(base, user);
  assert.notEqual(base, other);
  assert.notEqual(needs, 0, "a dependency on a trusted built-in does not lift an extension out");
  assert.equal((await bulkhead.environment(host(base))).BULKHEAD_HOST, "p.base,p.user");
  assert.deepEqual(all[1].extensionDependencies, ["P.Base"]);
  assert.deepEqual(all[3].extensionDependencies, ["vscode.npm"], "which is not there");
  const npm = extension("vscode.npm", { isBuiltin: true });
  const late = extension("p.late", { extensionDependencies: ["VSCode.npm", "p.base"] });
  assert.equal(bulkhead.place(late, [...all, npm, late]), base);
  assert.deepEqual(late.extensionDependencies, ["p.base"], "a host starts nobody whose dependency is elsewhere");
});

test("what has code only for debugging is code too: the main host would start it", () => {
  const { bulkhead, extension } = placed();
  const [theme, adapter] = [extension("p.theme", { main: undefined, contributes: { themes: [{}] } }), extension("p.adapter", { main: undefined, contributes: { debuggers: [{ type: "p", program: "./a.js" }] } })];
  assert.equal(bulkhead.place(theme, [theme]), 0);
  assert.notEqual(bulkhead.place(adapter, [adapter]), 0);
});

test("an extension cannot claim to be built in, nor to be the companion, by its name", () => {
  const { bulkhead, extension } = placed();
  const fake = extension("vscode.typescript-language-features", { isBuiltin: false });
  assert.notEqual(bulkhead.place(fake, [fake]), 0);
  const impostor = extension("bulkhead.companion", { extensionLocation: { path: "/somewhere/else" } });
  assert.notEqual(bulkhead.place(impostor, [impostor]), 0);
  const real = extension("bulkhead.companion", { extensionLocation: { path: "/opt/companion" } });
  assert.equal(bulkhead.place(real, [real]), 0);
});

test("what is installed with a built-in extension's id is not built in, whatever VS Code says of it", () => {
  for (const path of ["/ext/vscode.npm-99.0.0", "/opt/../ext/vscode.npm", "/opt2/vscode.npm", ""]) {
    const { bulkhead, extension } = placed();
    const impostor = extension("vscode.npm", { isBuiltin: true, extensionLocation: { scheme: "vscode-remote", path } });
    const [other, builtin] = [extension("a.one"), extension("vscode.emmet", { isBuiltin: true })];
    assert.equal(bulkhead.place(builtin, [other, impostor, builtin]), 0);
    assert.notEqual(bulkhead.place(impostor, [other, impostor, builtin]), 0, path);
    assert.equal(impostor.isBuiltin, false, "for all who ask");
    assert.equal(builtin.isBuiltin, true);
  }
  const { bulkhead, extension } = placed();
  const web = (authority) => extension("vscode.emmet", { isBuiltin: true, extensionLocation: { scheme: "http", authority, path: "/static/extensions/emmet" } });
  assert.equal(bulkhead.mayRunInBrowser(web("bulkhead.localhost:1")), true);
  assert.equal(bulkhead.mayRunInBrowser(web("evil.example")), false);
});

test("who depends on a built-in extension does not wait with what took its place, which no compartment is made for", () => {
  const { bulkhead, extension } = placed();
  const impostor = extension("Acme.Shipped", { isBuiltin: true, extensionLocation: { scheme: "vscode-remote", path: "/ext/acme.shipped" }, extensionDependencies: ["c.three"] });
  const all = [impostor, extension("a.one", { extensionDependencies: ["acme.shipped"] }), extension("b.two", { extensionDependencies: ["acme.shipped"] }), extension("c.three")];
  const places = all.map((one) => bulkhead.place(one, all));
  assert.equal(new Set([0, ...places]).size, 5);
  assert.deepEqual(all.map((one) => bulkhead.isImpostor(one)), [true, false, false, false]);
  assert.equal(bulkhead.isImpostor(extension("acme.shipped", { isBuiltin: true })), false);
  assert.equal(bulkhead.isImpostor(extension("bulkhead.companion", { extensionLocation: { path: "/opt/companion" } })), false);
  assert.equal(bulkhead.isImpostor(extension("bulkhead.companion", { extensionLocation: { path: "/ext/companion" } })), true);
});

test("browser-only extensions of others do not run", () => {
  const { bulkhead, extension } = placed();
  assert.equal(bulkhead.mayRunInBrowser(extension("x.web", { main: undefined, browser: "./web.js" })), false);
  assert.equal(bulkhead.mayRunInBrowser(extension("vscode.emmet", { isBuiltin: true })), true);
});

/** A manager of the workbench, as far as placement looks at it. */
const manager = (affinity, kind = 3) => ({ _extensionHost: { runningLocation: { kind, affinity } } });

test("who should run in a compartment and has none is named, with the reason, and is started anew", async () => {
  const { bulkhead, extension } = placed();
  const commands = new Map();
  bulkhead.commandRegistry = { registerCommand: (id, run) => commands.set(id, run), getCommand: () => undefined };
  const all = ["a.ready", "b.asked", "c.slow", "d.unasked", "e.ended", "j.restarts", "acme.shipped"].map((id) => extension(id));
  const affinities = all.map((one) => bulkhead.place(one, all));
  const hosts = [manager(0), { ...manager(affinities[0]), isReady: true }, { ...manager(affinities[1]), isReady: false }, { ...manager(affinities[2]), isReady: false }];
  const local = (id, more = {}) => ({ identifier: { id }, manifest: { name: id, main: "x.js", ...more.manifest }, location: { scheme: "vscode-remote", path: `/ext/${id}` }, ...more });
  const installed = [local("a.ready"), local("f.lost"), local("g.off", { off: true }), local("h.theme", { manifest: { main: undefined } }), local("i.broken", { isValid: false }), local("acme.shipped")];
  const stopped = [], added = [];
  let starts = 0;
  const service = {
    _registry: { getSnapshot: () => ({ extensions: [...all, extension("vscode.git", { isBuiltin: true })] }), getExtensionDescription: (id) => all.find((one) => one.identifier.value === id) },
    _extensionManagementService: { getInstalled: async (type) => (assert.equal(type, 1), installed) },
    _safeInvokeIsEnabled: (one) => !one.off,
    _extensionHostManagers: Object.assign(hosts, { stopOne: (one) => stopped.push(one._extensionHost.runningLocation.affinity) }),
    _handleDeltaExtensions: async ({ toAdd }) => void added.push(...toAdd.map((one) => one.identifier.id)),
  };
  bulkhead.affinities(service, () => (starts += 1));
  for (const affinity of [affinities[1], affinities[2]]) await bulkhead.environment(host(affinity, { extensions: { toSnapshot: () => ({ allExtensions: [], myExtensions: [] }) } }));
  for (const [affinity, isReady] of [[affinities[4], false], [affinities[5], true]]) bulkhead.afterEnd({ ...manager(affinity), isReady }, { code: 1 }, () => {});
  const told = async () => Object.fromEntries((await commands.get("_bulkhead.missing")()).map(({ id, why }) => [id, why]));
  assert.deepEqual(await told(), {
    "d.unasked": "no compartment was asked for",
    "e.ended": "its compartment ended as it started, and starts again after a pause",
    "f.lost": "the window was not told of it when it was loaded",
  }, "who was asked for or was there just now is waited for");
  await commands.get("_bulkhead.startMissing")();
  assert.deepEqual([starts, stopped, added], [1, [], ["f.lost"]]);
  assert.ok(bulkhead.affinities().includes(affinities[4]), "nobody waits for a pause any more");
});

test("extensions that wait for a trust which is switched off are named, and the window is loaded anew", async () => {
  const { bulkhead, extension, reloads } = placed();
  const commands = new Map();
  bulkhead.commandRegistry = { registerCommand: (id, run) => commands.set(id, run) };
  const settings = new Map([["security.workspace.trust.enabled", false]]);
  const local = (id, state) => ({ identifier: { id }, manifest: { name: id, main: "x.js" }, location: { scheme: "vscode-remote", path: `/ext/${id}` }, state });
  const service = {
    _registry: { getSnapshot: () => ({ extensions: [extension("vscode.git", { isBuiltin: true })] }), getExtensionDescription: () => undefined },
    _extensionManagementService: { getInstalled: async () => [local("a.one", 0), local("b.off", 6)] }, _safeInvokeIsEnabled: () => false,
    _extensionEnablementService: { getEnablementState: ({ state }) => state }, _configurationService: { getValue: (key) => settings.get(key) },
    _workspaceTrustManagementService: { isWorkspaceTrusted: () => false }, _extensionHostManagers: [],
  };
  bulkhead.affinities(service, () => {});
  const told = async () => [...(await commands.get("_bulkhead.missing")())].map(({ id, why }) => `${id}: ${why}`);
  assert.deepEqual(await told(), ["a.one: the window judged whether the folder is trusted before it had your settings"]);
  await commands.get("_bulkhead.startMissing")();
  assert.deepEqual(reloads, [1]);
  settings.set("security.workspace.trust.enabled", true);
  assert.deepEqual(await told(), [], "there VS Code tells a person of it");
});

test("a host that does not answer is named after a while, with what went wrong, and made anew", async () => {
  let time = 1_000_000;
  const { bulkhead, extension } = placed(undefined, () => time);
  const commands = new Map();
  bulkhead.commandRegistry = { registerCommand: (id, run) => commands.set(id, run) };
  const one = extension("a.one");
  const affinity = bulkhead.place(one, [one]);
  const stopped = [];
  const hosts = [{ ...manager(affinity), isReady: false }];
  const service = {
    _registry: { getSnapshot: () => ({ extensions: [one] }), getExtensionDescription: () => one }, _extensionManagementService: { getInstalled: async () => [] },
    _extensionHostManagers: Object.assign(hosts, { stopOne: (each) => (stopped.push(each), hosts.splice(0)) }),
  };
  bulkhead.affinities(service, () => {});
  await bulkhead.environment(host(affinity, { extensions: { toSnapshot: () => ({ allExtensions: [], myExtensions: [] }) } }));
  time += 19_000;
  assert.deepEqual([...await commands.get("_bulkhead.missing")()], []);
  time += 2_000;
  const [found] = await commands.get("_bulkhead.missing")();
  assert.equal(found.why, "its compartment was asked for 21 seconds ago and has not answered");
  bulkhead.failed(hosts[0], new Error("the server is gone"));
  await commands.get("_bulkhead.startMissing")();
  assert.equal(stopped.length, 1);
  const [again] = await commands.get("_bulkhead.missing")();
  assert.equal(again.why, "no compartment was asked for: the server is gone");
  await bulkhead.environment(host(affinity, { extensions: { toSnapshot: () => ({ allExtensions: [], myExtensions: [] }) } }));
  hosts.push({ ...manager(affinity), isReady: false });
  assert.match((await commands.get("_bulkhead.missing")())[0].why, /^its compartment was asked for 0 seconds ago/, "each start that comes to nothing is not waited for anew");
});

test("a compartment that ended is back at once where that was wanted, and later each time otherwise", () => {
  const pauses = [];
  const { bulkhead, extension } = placed((_run, pause) => pauses.push(pause));
  const one = bulkhead.place(extension("a.one"), []);
  assert.equal(bulkhead.afterEnd(manager(0), { code: 1 }, () => {}), false, "the main host is the workbench's business");
  assert.equal(bulkhead.afterEnd(manager(0, 2), { code: 1 }, () => {}), false);
  for (const code of [0, 1, 1, 1]) assert.equal(bulkhead.afterEnd(manager(one), { code }, () => {}), true);
  assert.deepEqual(pauses, [0, 1000, 2000, 4000]);
  for (let i = 0; i < 20; i += 1) bulkhead.afterEnd(manager(one), null, () => {});
  assert.equal(pauses.at(-1), 300000);
});

test("a change of extensions waits for the main host, not for a compartment that keeps silent or ends", async () => {
  const pauses = [];
  const { bulkhead, extension } = placed((run, pause) => pauses.push([run, pause]));
  const one = bulkhead.place(extension("a.one"), []);
  await bulkhead.patiently(manager(one), Promise.resolve());
  await bulkhead.patiently(manager(one), Promise.reject(new Error("canceled")));
  await assert.rejects(bulkhead.patiently(manager(0), Promise.reject(new Error("canceled"))));
  const silent = bulkhead.patiently(manager(one), new Promise(() => {}));
  const [run, pause] = pauses.at(-1);
  assert.equal(pause, 2000);
  run();
  await silent;
});

test("a host that pauses is not started with another", () => {
  const timers = [];
  const { bulkhead, extension } = placed((run) => timers.push(run));
  const [one, two] = ["a.one", "b.two"].map((id) => bulkhead.place(extension(id), []));
  const started = [];
  for (const [affinity, code] of [[one, 1], [two, 0]]) bulkhead.afterEnd(manager(affinity), { code }, () => started.push([...bulkhead.affinities()]));
  timers[1]();
  bulkhead.afterEnd(manager(two), { code: 1 }, () => {});
  timers[0]();
  assert.deepEqual(started, [[0, two], [0, one]]);
});

test("the host of the last extension ends with it, and one for a new extension starts", () => {
  const { bulkhead, extension } = placed();
  const [one, two] = ["a.one", "b.two"].map((id) => bulkhead.place(extension(id), []));
  const managers = [manager(0), manager(one), manager(two)];
  const stopped = [];
  let started = 0;
  const service = {
    _registry: { getSnapshot: () => ({ extensions: ["b.two"] }) },
    _runningLocations: { filterByExtensionHostManager: (all, host) => (host === managers[2] ? all : []) },
    _extensionHostManagers: Object.assign(managers, { stopOne: (host) => stopped.push(host) }),
  };
  bulkhead.afterChange(service, () => (started += 1));
  assert.deepEqual(stopped, [managers[1]], "never the main host, though it holds none of these");
  assert.equal(started, 1);
  assert.deepEqual([...bulkhead.affinities()], [0, two]);
  assert.notEqual(bulkhead.place(extension("a.one"), []), one, "enabled again, it gets a new host");
  assert.equal(bulkhead.afterEnd(manager(one), { code: 1 }, () => assert.fail("nothing is left to start")), true);
});

test("a built-in extension that goes in takes those along that it needs, and that need it", () => {
  const { bulkhead, extension } = placed();
  const all = [
    extension("vscode.git-base", { isBuiltin: true }),
    extension("vscode.git", { isBuiltin: true, extensionDependencies: ["vscode.git-base"] }),
    extension("vscode.github", { isBuiltin: true, extensionDependencies: ["vscode.git-base"] }),
    extension("vscode.npm", { isBuiltin: true }),
    extension("a.lens", { extensionDependencies: ["vscode.npm"] }),
  ];
  const [base, git, github, npm, lens] = all.map((each) => bulkhead.place(each, all));
  assert.notEqual(git, 0);
  assert.equal(base, git);
  assert.equal(github, git);
  assert.equal(npm, 0, "what a foreign extension needs stays where it is trusted");
  assert.ok(lens !== 0 && lens !== git);
});

test("TypeScript's servers share a compartment with the plug-ins that run in them", () => {
  const { bulkhead, extension } = placed();
  const typescript = extension("vscode.typescript-language-features", { isBuiltin: true });
  const plugin = extension("a.plugin", { contributes: { typescriptServerPlugins: [{ name: "p" }] } });
  const other = extension("b.other");
  assert.equal(bulkhead.place(typescript, [typescript, other]), 0);
  const second = placed();
  const all = [typescript, plugin, other];
  const [ts, own, none] = all.map((each) => second.bulkhead.place(each, all));
  assert.notEqual(ts, 0);
  assert.equal(own, ts);
  assert.ok(none !== 0 && none !== ts);
});

test("plug-ins without an extension's own code take TypeScript in with them", () => {
  const { bulkhead, extension } = placed();
  const typescript = extension("vscode.typescript-language-features", { isBuiltin: true });
  const plugin = extension("a.plugin", { main: undefined, contributes: { typescriptServerPlugins: [{ name: "p" }] } });
  const theme = extension("b.theme", { main: undefined, contributes: { themes: [{}] } });
  const [ts, own, none] = [typescript, plugin, theme].map((each) => bulkhead.place(each, [typescript, plugin, theme]));
  assert.notEqual(ts, 0);
  assert.equal(own, ts);
  assert.equal(none, 0, "nothing of it runs");
});

test("what a command changes is the document that it was judged for", async () => {
  const context = vm.createContext({ crypto, URLSearchParams, setTimeout, console, location: { search: "" } });
  vm.runInContext(placement, context);
  const { bulkhead } = context;
  bulkhead.commandRegistry = { getCommand: (id) => (id === "type" ? {} : undefined) };
  const editor = (name, isSimpleWidget = false) => name && { isSimpleWidget, getModel: () => ({ uri: { scheme: "file", authority: "", path: name, query: "", fragment: "" } }) };
  /** What ran of a command that was judged for /a. */
  const ran = async (focused, active, judged = { $mid: 1, scheme: "file", path: "/a" }) => {
    const calls = [];
    bulkhead.codeEditors = { getFocusedCodeEditor: () => focused, getActiveCodeEditor: () => active };
    const service = { executeCommand: async (id) => calls.push(`${id}, later`), _tryExecuteCommand: async (id) => calls.push(id) };
    await bulkhead.execute(service, "type", [], judged).catch((error) => calls.push(error.message));
    return calls.join();
  };
  assert.equal(await ran(editor("/a"), editor("/a")), "type");
  assert.equal(await ran(null, editor("/a")), "type");
  assert.equal(await ran(editor("/a"), null), "type");
  const refused = "bulkhead: type was allowed for /a, and another document has the focus";
  for (const [focused, active] of [[editor("/b"), editor("/a")], [editor("/a"), editor("/b")], [null, editor("/b")], [null, null], [editor("/a", true), editor("/a")], [{ isSimpleWidget: false, getModel: () => null }, editor("/a")]])
    assert.equal(await ran(focused, active), refused);
  assert.equal(await ran(editor("/a"), editor("/a"), { scheme: "file", path: "/a", query: "x" }), refused);
  assert.equal(await ran(editor("/b"), editor("/b"), null), "type, later", "the window's own host is nobody's");
});
