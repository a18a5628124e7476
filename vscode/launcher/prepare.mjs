// Prepares an installed code-server for compartments, without changing a file of it: an edited copy
// of the workbench, the folder of built-in extensions with our companion, the list of actors that the
// broker needs, and the launch file that the preload and `bulkhead host` read. Copies are kept by the
// hash of what they were made of.
//
// Run as a program, it prepares what the JSON of its only argument names, and prints the launch file's
// path: the launcher lives as long as the editor, and shall not keep what reading a server took.
import { createHash } from "node:crypto";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { commandsOf, declarableOf } from "../api/commands.mjs";
import { extract } from "../api/extract.mjs";
import { mismatches } from "../api/parameters.mjs";
import { editBuiltins, inspectBuiltins } from "../workbench/builtins.mjs";
import { edit, inspect } from "../workbench/edits.mjs";
import { editFrames, inspectFrames } from "../workbench/frames.mjs";
import { companion, confinedIds, linkExtensions, linkPackages, requireBuiltin, shippedIds } from "./extensions.mjs";
import { makeFolder } from "./folders.mjs";

const { FRAMES, FRAME_SOURCES } = createRequire(import.meta.url)("./origins.cjs");
const here = path.dirname(fileURLToPath(import.meta.url));
const SCRIPT = "out/vs/code/browser/workbench/workbench.js";
const HTML = "out/vs/code/browser/workbench/workbench.html";
const HOST = "out/vs/workbench/api/node/extensionHostProcess.js";

/** Throws an error for people where the folder holds no server that we know. */
function published(server) {
  for (const file of ["out/server-main.js", "product.json", "package.json", SCRIPT, HTML, HOST]) {
    if (!fs.existsSync(path.join(server, file)))
      throw new Error(`${server} holds no VS Code server: ${file} is missing`);
  }
  const [product, packaged] = ["product.json", "package.json"].map((file) => {
    try {
      return JSON.parse(fs.readFileSync(path.join(server, file), "utf8"));
    } catch (error) {
      throw new Error(`${path.join(server, file)}: ${error.message}`, { cause: error });
    }
  });
  if (typeof packaged?.version !== "string") throw new Error(`${server} holds no VS Code server: package.json names no version`);
  const called = product.codeServerVersion ? `code-server ${product.codeServerVersion} (VS Code ${packaged.version})` : `VS Code ${packaged.version}`;
  return { version: packaged.version, commit: product.commit, called };
}

/**
 * What does not fit names the version that it does not fit.
 * @template T
 * @param {string} called
 * @param {() => T} read
 */
function of(called, read) {
  try {
    return read();
  } catch (error) {
    error.message = `${called}: ${error.message}`;
    throw error;
  }
}

/**
 * The first names of the editor's own settings, "terminal" of "terminal.integrated.cwd": nobody else has
 * settings of such a family.
 * @param {string} source workbench.js
 */
export function settingFamilies(source) {
  const declared = /"([a-zA-Z]\w*)\.[\w.]+":\{(?:restricted|type|description|markdownDescription|default|scope|tags|order|enum|included|anyOf|oneOf|\$ref)\b/g;
  const families = new Set([...source.matchAll(declared)].map(([, family]) => family));
  const missing = ["terminal", "task", "debug", "security", "http", "workbench", "remote"].filter((family) => !families.has(family));
  if (missing.length > 0) throw new Error(`this version of the workbench declares its settings in a way that is not known: none of ${missing.join(", ")} found`);
  return [...families].sort();
}

/**
 * What the workbench reads of packages: "commands" of contributes.commands.
 * @param {string} source workbench.js
 */
export function extensionPoints(source) {
  // Some are registered by a function that gets the name.
  const named = [...source.matchAll(/registerExtensionPoint\(\{extensionPoint:([\w$]+),/g)].flatMap(([, parameter]) => {
    const [, register] = new RegExp(`function ([\\w$]+)\\(${parameter.replaceAll("$", "\\$")}\\)\\{return [\\w$]+\\.registerExtensionPoint\\(\\{extensionPoint:${parameter.replaceAll("$", "\\$")},`).exec(source) ?? [];
    if (!register) throw new Error("this version of the workbench reads packages in a way that is not known");
    return [...source.matchAll(new RegExp(`[^\\w$]${register.replaceAll("$", "\\$")}\\("(\\w+)"\\)`, "g"))].map(([, point]) => point);
  });
  const points = new Set([...source.matchAll(/extensionPoint:"([\w.]+)"/g)].map(([, point]) => point).concat(named));
  const missing = ["commands", "keybindings", "menus", "configurationDefaults", "snippets", "chatInstructions"].filter((point) => !points.has(point));
  if (missing.length > 0) throw new Error(`this version of the workbench reads packages in a way that is not known: no ${missing.join(", ")} found`);
  return [...points].sort();
}

/**
 * The page's policy on frames has to be the one that origins.cjs adds webviews' names to.
 * @param {string} server code-server's lib/vscode
 */
export function requireFramePolicy(server) {
  if (fs.readFileSync(path.join(server, "out/server-main.js"), "utf8").split(`"${FRAME_SOURCES}`).length !== 2)
    throw new Error("this version of the server says in a way that is not known which frames its page may hold");
}

/**
 * The page has to name the workbench as preload.cjs looks for it.
 * @param {string} server code-server's lib/vscode
 */
export function requirePage(server) {
  const times = fs.readFileSync(path.join(server, HTML), "utf8").split(SCRIPT).length - 1;
  if (times !== 1) throw new Error(`${HTML} names ${SCRIPT} ${times} times, expected once`);
}

/**
 * The actors by their numbers, where the table of methods is about this version.
 * @param {string} server code-server's lib/vscode
 */
export function actorsOf(server) {
  let found;
  try {
    found = extract(server);
  } catch (error) {
    throw new Error(`the methods of this version of VS Code cannot be read: ${error.message}`, { cause: error });
  }
  const other = mismatches(found);
  if (other.length > 0) throw new Error(`methods of this version of VS Code have other arguments than bulkhead knows:\n${other.map((one) => `  ${one}`).join("\n")}`);
  return found.actors.map((actor) => actor.key);
}

/**
 * What `bulkhead doctor --code` prints: each edit and whether it fits, and what else is read of a server, with the
 * reason where it cannot be.
 * @param {string} server code-server's lib/vscode
 */
export function diagnose(server) {
  const { version, commit, called } = published(server);
  const source = fs.readFileSync(path.join(server, SCRIPT), "utf8");
  const reads = [
    { name: "settings", what: "which settings are the editor's own", read: () => settingFamilies(source) },
    { name: "packages", what: "what is read of packages", read: () => extensionPoints(source) },
    { name: "frames", what: "which frames the page may hold", read: () => requireFramePolicy(server) },
    { name: "page", what: "which workbench the page loads", read: () => requirePage(server) },
    { name: "commands", what: "what commands reach, and which conditions there are", read: () => commandsOf(source) },
    { name: "methods", what: "what hosts and the workbench call, and with how many arguments", read: () => actorsOf(server) },
  ].map(({ name, what, read }) => {
    try {
      read();
      return { name, what };
    } catch (error) {
      return { name, what, problem: /** @type {string} */ (error.message) };
    }
  });
  return { version, commit, called, edits: [...inspect(source), ...inspectFrames(path.join(server, FRAMES)), ...inspectBuiltins(server)], reads };
}

/**
 * Removes what starts left half written that were killed, or ours where the disk is full.
 * @param {string} folder
 */
function sweep(folder) {
  for (const name of fs.existsSync(folder) ? fs.readdirSync(folder) : []) {
    const [, pid] = /\.(\d+)$/.exec(name) ?? [];
    if (pid && (Number(pid) === process.pid || !fs.existsSync(`/proc/${pid}`))) fs.rmSync(path.join(folder, name), { recursive: true, force: true });
  }
}

/** What was prepared before, if all of it is there. */
function launchBefore(/** @type {string} */ file) {
  try {
    return JSON.parse(fs.readFileSync(file, "utf8"));
  } catch {
    return null;
  }
}

/**
 * What commands need that packages may name, but for those that are asked about.
 * @param {string[]} unread those that nobody has read in this version
 */
const declarable = (unread) => Object.fromEntries(Object.entries(declarableOf()).filter(([command, needs]) => needs !== "commands-foreign" && !unread.includes(command)));

/**
 * @param {object} options
 * @param {string} options.server code-server's lib/vscode
 * @param {string} options.state bulkhead's state folder
 * @param {string} options.sockets where running compartments have their sockets
 * @param {string} options.bulkhead the program
 * @param {string[]} options.builtin ids of built-in extensions that share a compartment with whoever depends on them
 * @param {string[]} [options.outside] ids of those that run outside, though they start programs
 * @returns {string} path of the launch file
 */
export function prepare({ server, state, sockets, bulkhead, builtin, outside = [] }) {
  const { version, commit, called } = published(server);
  const script = path.join(server, SCRIPT);
  const source = fs.readFileSync(script, "utf8");
  // placement.js first: the others add to what it made.
  const placed = ["placement.js", "foreseen.js", "declarations.js", "buttons.js", "pages.js"].map((name) => fs.readFileSync(path.join(here, "../workbench", name), "utf8")).join("\n");
  // A copy has passed what these say.
  const passed = ["workbench/edits.mjs", "workbench/links.mjs", "workbench/shapes.mjs", "api/table.json", "api/parameters.json", "api/commands.json", "api/reach.json", "api/bundle.mjs", "api/follower.mjs", "api/reach.mjs", "api/commands.mjs"].map((name) => fs.readFileSync(path.join(here, "..", name), "utf8"));
  const [ids, left] = [builtin, outside].map((list) => list.map((id) => id.toLowerCase()));
  const shipped = of(called, () => shippedIds(server));
  requireBuiltin(server, [...ids, ...left], shipped);
  const confined = confinedIds(shipped, left);
  const files = companion();
  const edited = of(called, () => editBuiltins(server));
  const frames = of(called, () => editFrames(path.join(server, FRAMES)));
  const hash = createHash("sha256");
  for (const part of [source, placed, ...passed, JSON.stringify([ids, confined, shipped, [...files], [...frames], [...edited].map(([name, texts]) => [name, [...texts]])])]) hash.update(part);
  const tag = hash.digest("hex").slice(0, 16);
  const folder = path.join(state, "editor", `${version}-${tag}`);  // no compartment may write there (manifests/blocklist.json)
  sweep(folder);
  process.once("exit", () => sweep(folder));
  const linked = linkExtensions(path.join(folder, "extensions"), server, files, edited);
  linkPackages(folder, server);
  const launchFile = path.join(folder, "launch.json");
  const before = launchBefore(launchFile);
  const { unread, contexts } = before?.unread && before?.contexts ? before : of(called, () => commandsOf(source));
  const told = { builtin: ids, confined, shipped, companion: linked.companion, commands: declarable(unread), ...of(called, () => ({ settingFamilies: settingFamilies(source), points: extensionPoints(source) })) };
  const settings = `globalThis.bulkheadSettings=${JSON.stringify(told)};`;
  const placement = settings + placed;
  const launch = {
    bulkhead,
    sockets,
    server,
    version,
    commit,
    tag,
    script,
    html: path.join(server, HTML),
    workbench: path.join(folder, "workbench.js"),
    frames: path.join(folder, "frames"),
    extensions: linked.extensions,
    shipped,
    companion: linked.companion,
    compiled: path.join(folder, "compiled"),
    actors: /** @type {string[]} */ ([]),
    settingFamilies: told.settingFamilies,
    unread,
    contexts,
  };
  for (const each of [launch.compiled, launch.frames]) makeFolder(each);
  const whole = (file, text) => {
    const temporary = path.join(folder, `${path.basename(file)}.${process.pid}`);
    fs.writeFileSync(temporary, text, { mode: 0o600 });
    fs.renameSync(temporary, file);
  };
  const framed = [...frames].map(([name, text]) => [path.join(launch.frames, name), text]);
  if (before && [launch.workbench, ...framed.map(([file]) => file)].every((file) => fs.existsSync(file))) {
    launch.actors = before.actors;
  } else {
    const workbench = of(called, () => edit(source, placement));
    of(called, () => requireFramePolicy(server));
    of(called, () => requirePage(server));
    launch.actors = of(called, () => actorsOf(server));
    for (const [file, text] of framed) whole(file, text);
    whole(launch.workbench, workbench);
  }
  const text = JSON.stringify(launch, null, 1);
  if (JSON.stringify(before, null, 1) !== text) whole(launchFile, text);
  return launchFile;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const options = JSON.parse(process.argv[2]);
  try {
    process.stdout.write(prepare(options));
  } catch (error) {
    if (error.syscall === "write") error.message = `cannot write below ${options.state}: ${error.message}`; // Node has no path there
    // For people where it is about the server; where it is about us, they report where it was.
    process.stderr.write(error.code || error.constructor === Error || error.name === "EditError" ? error.message : error.stack);
    process.exitCode = 1;
  }
}
