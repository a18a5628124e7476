// Loaded into VS Code's server before its own code (node --require). Trusted; changes no file.
//
// Five things are redirected:
//   workbench.js    is read from our edited copy, under an address of its own (static files are cached
//                   for a year)
//   workbench.html  names that address, and which extensions are installed (installed.cjs)
//   fork            of an extension host that holds untrusted extensions starts `bulkhead host`, which
//                   owns the compartment and stands between the server and the host; a package's own script, as one is
//                   installed or removed, does not start; nor does a host of another version than the editor's
//   renaming        a package stays in the folder of extensions (extensions_folder.cjs)
//   requests        pass origins.cjs, which keeps webviews apart from the workbench and off the network, and answers what code-server's own
//                   front would (half_key.cjs)
//
// BULKHEAD_LAUNCH holds the path of a JSON file: { bulkhead, sockets, workbench, html, script, tag,
// compiled, frames }.
"use strict";

const childProcess = require("node:child_process");
const fs = require("node:fs");
const http = require("node:http");
const path = require("node:path");
const { syncBuiltinESMExports } = require("node:module");
const compileCache = require("./compile_cache.cjs");
const extensionsFolder = require("./extensions_folder.cjs");
const { halfKey } = require("./half_key.cjs");
const { attribute, installed } = require("./installed.cjs");
const origins = require("./origins.cjs");

const launch = JSON.parse(fs.readFileSync(process.env.BULKHEAD_LAUNCH, "utf8"));
compileCache.keep(launch.compiled);

// What seals a supervisor's lines (said.mjs): not for the terminals and hosts that the server starts.
const mark = process.env.BULKHEAD_MARK;
delete process.env.BULKHEAD_MARK;

/** The edited copy where the server asks for the published workbench. */
const redirected = (file) => (file === launch.script ? launch.workbench : file);

const { createReadStream } = fs;
fs.createReadStream = (file, ...rest) => createReadStream(redirected(file), ...rest);

const { stat, readFile } = fs.promises;
fs.promises.stat = (file, ...rest) => stat(redirected(file), ...rest);
fs.promises.readFile = async (file, ...rest) => {
  const content = await readFile(file, ...rest);
  if (file !== launch.html) return content;
  const text = content.toString();
  const name = "out/vs/code/browser/workbench/workbench.js";
  const parts = text.split(name);
  if (parts.length !== 2)
    throw new Error(`bulkhead: ${launch.html} names ${name} ${parts.length - 1} times, expected once`);
  if (!text.includes("<head>") || !/^[\w-]+$/.test(token)) throw new Error(`bulkhead: ${launch.html} has no head, or the token signs`);
  const foreseen = attribute(await installed(said("--extensions-dir")));
  const edited = parts.join(`${name}?bulkhead=${launch.tag}`).replace("<head>", () => `<head><meta name="bulkhead-token" content="${token}"><meta name="bulkhead-installed" content="${foreseen}">`);
  return Buffer.isBuffer(content) ? Buffer.from(edited) : edited;
};

const said = (option) => process.argv[process.argv.indexOf(option) + 1];
const token = fs.readFileSync(said("--connection-token-file"), "utf8");
const half = () => halfKey(path.join(said("--server-data-dir"), "secrets-key"));
const { createServer } = http;
http.createServer = (...rest) => origins.guard(createServer(...rest), launch.frames, token, half, path.join(launch.sockets, process.env.BULKHEAD_TRACE ? "pages-trace" : "pages"));

extensionsFolder.guard(fs, said("--extensions-dir"));

const own = new Set(["--require", "-r"]);
/** Node's options less the one that loads this file, which must not reach an extension host. */
function withoutPreload(options) {
  const kept = [];
  for (let i = 0; i < options.length; i += 1) {
    if (own.has(options[i]) && path.resolve(options[i + 1] ?? "") === __filename) i += 1;
    else if (options[i] !== `--require=${__filename}`) kept.push(options[i]);
  }
  return kept;
}

const requiring = (name) => ["--require", path.join(__dirname, name)];

/**
 * Git takes a folder with the files of a bare repository for one, whatever its name, and runs what the settings
 * there say (git-config(1), safe.bareRepository; git 2.38). The editor's own is not to.
 * @param {NodeJS.ProcessEnv} env changed in place
 */
function distrustBareRepositories(env) {
  const count = Number(env.GIT_CONFIG_COUNT) || 0;
  env[`GIT_CONFIG_KEY_${count}`] = "safe.bareRepository";
  env[`GIT_CONFIG_VALUE_${count}`] = "explicit";
  env.GIT_CONFIG_COUNT = String(count + 1);
}

/** Which program it is, as a package's upgrade changes it. */
const programNow = () => {
  const stat = fs.statSync(launch.bulkhead, { throwIfNoEntry: false });
  return stat && `${stat.size} ${stat.mtimeMs}`;
};
const programThen = programNow();

/** What the server forks of its own. All else is a script that a package names (`vscode:uninstall`), which nobody reviewed. */
const OWN = ["--type=fileWatcher", "--type=ptyHost", "--type=agentHost"];

const { fork } = childProcess;
childProcess.fork = (modulePath, args, options = {}) => {
  if (!Array.isArray(args) || !args.includes("--type=extensionHost")) {
    if (!OWN.includes(args?.[0]))
      throw new Error(`bulkhead: ${modulePath} does not run: it would be in no compartment (a package's script for when it is installed or removed)`);
    return fork(modulePath, args, { ...options, execArgv: withoutPreload(options.execArgv ?? process.execArgv) });
  }
  const execArgv = withoutPreload(options.execArgv ?? process.execArgv);
  const env = { ...(options.env ?? process.env) };
  const host = env.BULKHEAD_HOST;
  delete env.BULKHEAD_HOST;
  delete env.BULKHEAD_LAUNCH;
  if (host === "main") {
    // For the companion.
    env.BULKHEAD_RUNTIME = launch.sockets;
    env.BULKHEAD_PROGRAM = launch.bulkhead;
    env.BULKHEAD_COMPILE_CACHE = launch.compiled;
    distrustBareRepositories(env);
    return fork(modulePath, args, { ...options, env, execArgv: [...requiring("compile_cache.cjs"), ...execArgv] });
  }
  if (mark !== undefined) env.BULKHEAD_MARK = mark;
  if (programNow() !== programThen) return fork(path.join(__dirname, "outdated.cjs"), [], { ...options, env, execArgv: [] });
  // Fail closed: a host that nobody placed holds whatever the page asked for. The lock is a file
  // beside the workspace's storage, which several hosts of a window would fight over.
  return fork(modulePath, [...args, "--skipWorkspaceStorageLock"], {
    ...options,
    env,
    execPath: launch.bulkhead,
    // A program in the compartment could make the host listen for a debugger, and so speak to the editor in its name: what
    // a workspace has started beside the built-in extensions.
    execArgv: ["host", "--launch", process.env.BULKHEAD_LAUNCH, "--", process.execPath, "--disable-sigusr1", ...requiring("compile_cache.cjs"), ...requiring("host.cjs"), ...execArgv],
  });
};

syncBuiltinESMExports();
