// What would happen by a call of the editor's API, in words: which setting, to what value; which
// command, with what. The host tells the call and its arguments as JSON; a long one is cut off, and
// then what is there of it is shown as it is.
"use strict";

const text = require("./text.js");

const MAX_VALUE = 80;
/** The longest name of a host, and its port. */
const MAX_HOST = 270;
const MAX_CUT = 160;

/** A text of an extension's as one: of a text its quotes would seem to end ours. @param {unknown} value */
const plainly = (value) => (typeof value === "string" ? value : JSON.stringify(value) ?? "nothing").replace(/[“”]/g, '"');
const shown = (/** @type {unknown} */ value, most = MAX_VALUE) => text.clipped(plainly(value), most);
const quoted = (/** @type {unknown} */ value, most = MAX_VALUE) => `“${text.clipped(plainly(value), most, "”")}`;

/** VS Code's ConfigurationTarget, as the host sends it. */
const TARGETS = /** @type {Record<number, string>} */ ({ 5: " of the workspace", 6: " of a workspace folder" });

/** @param {any} [value] */
const has = (value) => value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && value.length === 0);
const list = (/** @type {unknown} */ value) => (Array.isArray(value) ? value.map((one) => (typeof one === "string" ? one : JSON.stringify(one))).join(" ") : typeof value === "string" ? value : "");

/** What a task starts. Where it says so in several ways, all of it, for only one of them counts. @param {any} execution */
function started(execution) {
  const said = ["process", "commandLine", "command"].filter((each) => has(execution?.[each]));
  if (said.length !== 1) return execution;
  const word = (/** @type {any} */ one) => (typeof one === "string" ? one : one?.value ?? JSON.stringify(one));
  return [word(execution[said[0]]), ...(Array.isArray(execution.args) ? execution.args.map(word) : [])].join(" ");
}

/** Whether its options say more than what it starts: another shell, variables. @param {any} execution */
const altered = (execution) => Object.values(execution?.options ?? {}).some(has);

/** An address from its parts, which count, whatever else stands beside them. Whose it is is not cut for what stands behind. @param {any} uri */
function address({ scheme, authority, path, query, fragment }) {
  const place = `${scheme}:${authority ? `//${authority}` : ""}`;
  const rest = `${path ?? ""}${query ? `?${query}` : ""}${fragment ? `#${fragment}` : ""}`;
  return `“${text.clipped(plainly(place), MAX_HOST)}${text.clipped(plainly(rest), MAX_VALUE, "”")}`;
}

/** @type {Record<string, (args: any[], isAsked: boolean) => string | undefined>} by "$method"; undefined where its arguments do not fit */
const EFFECTS = {
  $updateConfigurationOption: ([target, key, value]) => `set ${quoted(key)}${TARGETS[target] ?? ""} to ${typeof value === "string" ? quoted(value) : shown(value)}`,
  $removeConfigurationOption: ([target, key]) => `take back what is set for ${quoted(key)}${TARGETS[target] ?? ""}`,
  $executeCommand: ([command, args]) => `run the command ${quoted(command)}${has(args) ? ` with ${shown(args)}` : ""}`,
  $createTerminal: ([, { shellPath, shellArgs, initialText, name, env, cwd, hideFromUser }]) => {
    const runs = [shellPath, list(shellArgs)].filter(has).join(" ");
    return `open a terminal${hideFromUser === true ? " that you do not see" : ""}${has(runs) ? ` that runs ${quoted(runs)}` : has(name) ? ` ${quoted(name, 40)}` : ""}${has(cwd) ? `, in ${quoted(cwd?.path ?? cwd)}` : ""}${has(env) ? `, with the variables ${shown(env)}` : ""}${has(initialText) ? `, with ${quoted(initialText)} in it` : ""}`;
  },
  // What ends a line there runs it, whatever else is said; so may any key that is no letter (Ctrl+O in a shell).
  // eslint-disable-next-line no-control-regex
  $sendText: ([, typed, runs]) => `type ${quoted(typed)} into a terminal${runs === false && !/[\x00-\x08\x0a-\x1f\x7f]/.test(plainly(typed)) ? "" : " and run it"}`,
  // With both of these VS Code takes it for a task that it knows, whatever else is said of it.
  $executeTask: ([task]) =>
    typeof task.id === "string" && has(task.workspaceFolder) ? `run the task ${quoted(task.id)} as it is defined`
    : has(task.execution) ? `run the task ${quoted(task.name, 40)}, which starts ${quoted(altered(task.execution) ? task.execution : started(task.execution), 200)}`
    : `run the task ${quoted(task.name ?? task.id, 40)}`,
  $provideTasks: () => "offer tasks, which run outside its compartment when you choose one",
  $resolveTask: ([, task]) => `complete the task ${quoted(task.name, 40)}, which runs outside its compartment`,
  $startDebugging: ([, config]) => `start debugging ${typeof config === "string" ? quoted(config) : shown(config, 160)}`,
  $provideDebugConfigurations: () => "offer ways to debug, which start programs outside its compartment when you choose one",
  $resolveDebugConfiguration: ([, , config]) => `debug what you start as ${quoted(config.type, 40)}, outside its compartment`,
  $openUri: ([uri]) => `open ${address(uri)} outside the editor`,
  $asExternalUri: ([uri]) => `make ${address(uri)} reachable from your browser`,
  $readText: () => "read the clipboard",
  $writeText: ([value]) => `put ${quoted(value)} on the clipboard`,
  $getSession: ([provider, scopes]) => `sign in as you at ${quoted(provider, 40)}${has(list(scopes)) ? ` for ${quoted(list(scopes))}` : ""}`,
  $getAccounts: ([provider]) => `be told your accounts at ${quoted(provider, 40)}`,
  $createWebviewPanel: ([, , type, init]) => `show the page ${quoted(init?.title ?? type, 40)}`,
  $updateWorkspaceFolders: ([, , , folders]) => `change the folders of your workspace${has(folders) ? `: ${shown(folders.map?.((/** @type {any} */ each) => each?.uri?.path ?? each))}` : ""}`,
  $dataToNotebook: () => "be given the notebook that is being opened",
  $invokeTool: ([call], isAsked) => (isAsked ? "run its tool for a chat" : `run the tool ${quoted(call.toolId, 40)}${has(call.parameters) ? ` with ${shown(call.parameters)}` : ""}`),
};

/**
 * What a question's call would do, or undefined where that is not known.
 * @param {{ kind: string, detail: string, about: string }} question
 */
function effect({ kind, detail, about }) {
  if (kind !== "vscode") return undefined;
  const method = /\.(\$\w+)/.exec(detail)?.[1] ?? "";
  if (!Object.hasOwn(EFFECTS, method)) return undefined;
  let args;
  try {
    args = JSON.parse(about);
  } catch {
    // Cut off by the host.
    return has(about) ? `${method === "$executeCommand" ? "run a command:" : `call ${method.slice(1)} with`} ${text.plain(text.escape(about.slice(0, MAX_CUT)))}…, which is too long to be shown` : undefined;
  }
  if (!Array.isArray(args)) return undefined;
  try {
    // Of an extension's host the window asks what it registered for.
    return EFFECTS[method](args, detail.startsWith("ExtHost"));
  } catch {
    return undefined; // in another shape than VS Code sends it
  }
}

module.exports = { effect };
