// `bulkhead code`: starts VS Code's server with every third-party extension in a compartment.
//
//   node start.mjs --bulkhead PROGRAM --state FOLDER --sockets FOLDER [--diagnose] [--server FOLDER]
//                  [--builtin ID]… [--port N] [--trace] [--json] [--workspace FOLDER] [--no-project REASON]
//                  [FOLDER] [options of the server]
//
// Loopback and a connection token, always. Ends with the server, and ends it.
import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import { createRequire } from "node:module";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { makeFolder } from "./folders.mjs";
import { diagnose } from "./prepare.mjs";
import { saidBy } from "./said.mjs";
import { builtinSettings, reviewSetting } from "./settings.mjs";

const { EDITOR, isNowhere } = createRequire(import.meta.url)("./origins.cjs");
const here = path.dirname(fileURLToPath(import.meta.url));
const OPTIONS = /** @type {const} */ ({
  bulkhead: { type: "string" },
  state: { type: "string" },
  sockets: { type: "string" },
  server: { type: "string" },
  builtin: { type: "string", multiple: true },
  port: { type: "string" },
  extensions: { type: "string" },
  data: { type: "string" },
  workspace: { type: "string" },
  "no-project": { type: "string" },
  diagnose: { type: "boolean" },
  json: { type: "boolean" },
  trace: { type: "boolean" },
});

function fail(message, code = 125) {
  process.stderr.write(`bulkhead code: ${message}\n`);
  process.exit(code);
}

/** Our options, wherever they stand; the rest in its order: perhaps a folder, and the server's options. */
function read(words) {
  const { tokens } = parseArgs({ args: words, options: OPTIONS, strict: false, tokens: true });
  const values = { builtin: /** @type {string[]} */ ([]) };
  const rest = [];
  let ended = false;
  for (const token of tokens) {
    if (token.kind === "option-terminator") ended = true;
    else if (token.kind === "option" && !ended && token.name in OPTIONS) {
      const { type, multiple } = OPTIONS[token.name];
      if (type === "string" && token.value === undefined) fail(`--${token.name} needs a value`);
      if (multiple) values[token.name].push(token.value);
      else values[token.name] = type === "boolean" ? true : token.value;
    } else if (token.kind === "option") {
      rest.push(token.inlineValue ? `${token.rawName}=${token.value}` : token.rawName);
    } else rest.push(token.value);
  }
  return { values, rest };
}

// A folder that is gone, full or not ours: the error names it. Node would add where in here that was.
process.on("uncaughtException", (error) => fail(error.message));
process.stdout.on("error", (error) => fail(`cannot write the output: ${error.message}`));
process.stderr.on("error", () => {}); // nobody listens there any more: no reason to end the editor

const { values, rest } = read(process.argv.slice(2));
const named = path.resolve(values.server ?? path.join(here, "../node_modules/code-server/lib/vscode"));
if (values.server !== undefined && !fs.existsSync(named)) fail(`--server ${named}: there is no such folder`, values.diagnose ? 1 : 125);
if (!fs.existsSync(named)) fail(`${named} is missing: run \`make code\` once, which installs code-server`, values.diagnose ? 1 : 125);
// The preload compares the paths that the server uses, which have no links in them.
const server = fs.realpathSync(named);

if (values.diagnose) {
  try {
    const found = diagnose(server);
    const fits = found.edits.every((edit) => edit.found === edit.wanted) && found.reads.every((read) => !read.problem);
    if (values.json) console.log(JSON.stringify({ ...found, fits }));
    else {
      console.log(`${found.called} in ${server}\n`);
      for (const edit of found.edits)
        console.log(`  ${edit.found === edit.wanted ? "fits   " : "MISSING"}  ${edit.name}: ${edit.what}`);
      for (const read of found.reads) console.log(`  ${read.problem ? "UNKNOWN" : "fits   "}  ${read.name}: ${read.problem ?? read.what}`);
      console.log(fits ? "\n`bulkhead code` can use this version." : "\n`bulkhead code` refuses this version.");
    }
    process.exit(fits ? 0 : 1);
  } catch (error) {
    fail(error.message, 1);
  }
}

// What would let others in, or take what this launcher sets.
const REFUSED = {
  "--host": "bulkhead listens on 127.0.0.1 and ::1 only",
  "--socket-path": "bulkhead listens on 127.0.0.1 and ::1 only",
  "--without-connection-token": "a compartment that reached the server could read any file",
  "--connection-token": "bulkhead makes a new token each time",
  "--connection-token-file": "bulkhead makes a new token each time",
  "--server-data-dir": "say --data",
  "--extensions-dir": "say --extensions",
  "--builtin-extensions-dir": "bulkhead's own companion is among them",
  "--server-base-path": "bulkhead gives each server a path of its own",
  "--inspect-extensions": "a debugger reaches into every compartment",
  "--inspect-brk-extensions": "a debugger reaches into every compartment",
  "--agent-host-port": "agents would run outside of every compartment",
  "--agent-host-path": "agents would run outside of every compartment",
  "--agent-host-bridge-port": "agents would run outside of every compartment",
  "--agent-host-bridge-path": "agents would run outside of every compartment",
};
const folder = rest.length > 0 && !rest[0].startsWith("-") ? rest.shift() : undefined;
for (const word of rest) {
  const reason = REFUSED[word.split("=")[0]];
  if (reason) fail(`${word.split("=")[0]} is not possible: ${reason}`);
}
// Of an option that it does not know, a server that starts tells its log.
if (rest.some((word) => word.startsWith("-"))) {
  const { stderr } = spawnSync(process.execPath, [path.join(server, "out/server-main.js"), "--version", ...rest], { encoding: "utf8" });
  const [, unknown] = /^Ignoring option '(.*)': not supported for server\.$/m.exec(stderr) ?? [];
  if (unknown !== undefined) fail(`--${unknown} is an option of neither bulkhead nor VS Code's server`);
}
const isPort = (word) => /^\d{1,5}$/.test(word) && Number(word) <= 65535;
if (values.port !== undefined && !isPort(values.port)) fail(`--port ${values.port}: not a port`);

/** The port that was free there, or why it cannot be used. */
const tryPort = (port, host) =>
  new Promise((resolve) => {
    const probe = net.createServer();
    probe.once("error", (error) => resolve({ error }));
    probe.listen(port, host, () => {
      const { port: taken } = /** @type {net.AddressInfo} */ (probe.address());
      probe.close(() => resolve({ port: taken }));
    });
  });

/** Two that start at once find the same port free: it is whose name this is, for as long as that process lives. */
const claim = (port) =>
  new Promise((resolve) => {
    const name = net.createServer((socket) => socket.destroy());
    name.once("error", (error) => resolve({ error }));
    name.listen(`\0bulkhead-code-${port}`, () => resolve({ port })).unref();
  });

/** Free on both addresses that browsers may take the editor's name for. The server would tell its log and go on. */
async function freePort(wanted) {
  const first = await tryPort(wanted, "127.0.0.1");
  if (first.error) return first;
  const second = await tryPort(first.port, "::1");
  return second.error && !isNowhere(second.error) ? second : claim(first.port);
}

const data = path.resolve(values.data ?? path.join(values.state, "code/data"));
const portsFile = path.join(data, "ports");
/** The ports of earlier starts: what a browser keeps (open tabs, trust, secrets) it keeps for an address. */
function keptPorts() {
  try {
    return fs.readFileSync(portsFile, "utf8").split("\n").filter((word) => isPort(word) && word !== "0").map(Number);
  } catch {
    return [];
  }
}

const kept = keptPorts();
async function choosePort() {
  if (values.port !== undefined) {
    const { port, error } = await freePort(Number(values.port));
    if (error) fail(`port ${values.port} cannot be used (${error.code === "EADDRINUSE" ? "another program listens there" : error.message}): say another --port, or none`);
    return port;
  }
  // Any port: one that is free on one address may be taken on the other.
  for (const wanted of [...kept, ...Array(20).fill(0)]) {
    const { port } = await freePort(wanted);
    if (port) return port;
  }
  fail("no port is free");
}
const port = await choosePort();
if (values.workspace !== undefined && folder !== undefined) fail(`--workspace ${values.workspace} and ${folder}: name one of them`);
const opened = path.resolve(values.workspace ?? folder ?? ".");
const kind = fs.statSync(opened, { throwIfNoEntry: false });
if (!kind) fail(`${opened} does not exist`);
if (values.workspace !== undefined && !kind.isDirectory()) fail(`--workspace ${opened}: not a folder`);
const query = kind.isDirectory() ? "folder" : "workspace";
if (query === "workspace" && !opened.endsWith(".code-workspace")) fail(`${opened} is neither a folder nor a .code-workspace file`);
// The whole of somebody's home is granted to who says so (src/vscode/workspace_folders), and not opened by chance.
const noProject = values.workspace === undefined ? values["no-project"] : undefined;
const place = noProject && folder === undefined ? "ew=true" : `${query}=${encodeURIComponent(opened).replaceAll("%2F", "/")}`;

const extensions = path.resolve(values.extensions ?? path.join(values.state, "code/extensions"));
for (const [option, each] of [["--data", data], ["--extensions", extensions]])
  try {
    makeFolder(each);
  } catch (error) {
    const why = { EEXIST: "not a folder", ENOTDIR: "not a folder", ENOENT: "no folder can be made there" }[error.code] ?? error.message;
    fail(`${option} ${each}: ${why}: name a folder that is there, or can be made`);
  }
/** In a process of its own, whose memory goes with it; ours stays for as long as the editor does. */
function prepared(builtin, outside) {
  const options = { server, state: values.state, sockets: values.sockets, bulkhead: values.bulkhead, builtin, outside };
  const made = spawnSync(process.execPath, [path.join(here, "prepare.mjs"), JSON.stringify(options)], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  if (made.error) fail(`cannot prepare the server: ${made.error.message}`);
  // Ctrl-C meets the whole group: who ended it there wanted all of it to end.
  if (made.signal) process.kill(process.pid, made.signal);
  if (made.status !== 0) fail(made.stderr.trim() || `preparing the server ended with ${made.status}`);
  return made.stdout;
}

let launch;
let launchFile;
try {
  const { builtin, outside } = builtinSettings(data);
  launchFile = prepared([...values.builtin, ...builtin], outside);
  launch = JSON.parse(fs.readFileSync(launchFile, "utf8"));
} catch (error) {
  fail(error.message);
}

const token = randomBytes(24).toString("base64url");
const tokenFile = path.join(data, `token-${process.pid}`);
fs.writeFileSync(tokenFile, token, { mode: 0o600 });
process.on("exit", () => fs.rmSync(tokenFile, { force: true }));

// The token's cookie holds for a host and a path, not for a port: below "/", each server that starts
// would take away the others' cookie, and with it their pages and reloads.
const base = `/code-${port}`;

const environment = { ...process.env, BULKHEAD_LAUNCH: launchFile };
delete environment.BULKHEAD_TRACE;
delete environment.BULKHEAD_WHOLE;
delete environment.BULKHEAD_REVIEW_ALL;
if (reviewSetting(data)) environment.BULKHEAD_REVIEW_ALL = "1";
if (values.workspace !== undefined) environment.BULKHEAD_WHOLE = fs.realpathSync(opened);
if (values.trace) environment.BULKHEAD_TRACE = "1";
const mark = randomBytes(16).toString("hex");
environment.BULKHEAD_MARK = mark;
// Before there is a server: what comes in between is for it.
let ended; // by which signal somebody ended us
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]))
  process.on(signal, () => {
    ended = signal;
    child.kill(signal);
  });
const child = spawn(
  process.execPath,
  [
    "--require", path.join(here, "preload.cjs"),
    path.join(server, "out/server-main.js"),
    "--host", "127.0.0.1", "--port", String(port),
    "--server-base-path", base,
    "--connection-token-file", tokenFile,
    "--accept-server-license-terms",
    "--disable-websocket-compression",
    "--server-data-dir", data, "--extensions-dir", extensions,
    "--builtin-extensions-dir", launch.extensions,
    "--reconnection-grace-time", "300",
    // The words of a language are a package's, also those that a person trusts: only who asks for them has them.
    ...(rest.some((word) => /^--locale(?:=|$)/.test(word)) ? [] : ["--locale", "en"]),
    ...rest,
  ],
  { env: environment, stdio: ["ignore", "pipe", "pipe"] },
);
process.on("exit", () => child.kill());

let told = false;
let text = "";
let line = "";
child.stdout.on("data", (part) => {
  // What a host's supervisor has to say, out of what the server logs of it.
  const lines = (line + part).split("\n");
  line = (lines.pop() ?? "").slice(-65536);
  for (const each of lines) {
    const said = saidBy(mark, each);
    if (said) process.stderr.write(`${said}\n`);
  }
  if (told) return;
  text += part;
  if (!/Web UI available at http:|Extension host agent listening on/.test(text)) return;
  told = true;
  if (values.port === undefined && !kept.includes(port)) fs.appendFileSync(portsFile, `${port}\n`);
  if (values.port === undefined && kept.length > 0 && port !== kept[0])
    process.stderr.write(`bulkhead code: port ${kept[0]} is taken, so this is port ${port}, for which the browser keeps tabs, trust and secrets of their own\n`);
  const address = `http://${EDITOR}:${port}${base}/?tkn=${token}&${place}`;
  if (noProject)
    process.stderr.write(folder === undefined
      ? `bulkhead code: the working folder ${opened} ${noProject}, so no folder is opened: open the project's, or say which with \`bulkhead code FOLDER\`\n`
      : `bulkhead code: ${opened} ${noProject}, and would be granted to extensions whole, so those in compartments do not run in it: open the project's folder, or start \`bulkhead code --workspace ${opened}\`\n`);
  const trace = Boolean(values.trace);
  const words = values.json
    ? JSON.stringify({ address, pid: child.pid, version: launch.version, trace })
    : `VS Code ${launch.version}, each extension in a compartment of its own${trace ? " (recording: the policy refuses nothing)" : ""}\n\n` +
      `  ${address}\n\nCtrl-C ends it. \`bulkhead log\` shows what extensions did.`;
  process.stdout.write(`${words}\n`);
});
let errors = "";
child.stderr.on("data", (part) => {
  errors = (errors + part).slice(-20_000);
});
child.on("error", (error) => fail(`cannot start the server: ${error.message}`));
/**
 * What it says before it ends, without where in its code that was.
 * @param {string} output
 */
const inWords = (output) =>
  output
    .replace(/^Error: Could not locate the bindings file\.[^]*?\n\}\n/gm, "") // a logger that it does without
    .replace(/ \{\n(?: {2}.*\n)*\}$/gm, "")
    .replace(/^ +at .*\n?/gm, "")
    .trim();
child.on("exit", (code, signal) => {
  if (told) process.exit(signal ? 0 : (code ?? 0));
});
child.on("close", (code, signal) => {
  if (ended) process.exit(128 + os.constants.signals[ended]);
  if (code !== 0) fail(`the server ended before it was ready (${signal ?? code}):\n${inWords(errors || text)}`);
  process.stdout.write(text); // a command of its own, such as --install-extension
});
