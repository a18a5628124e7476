// The folder of built-in extensions that the server is started with: a link to each of the published
// ones, edited copies of some files, and our companion, which so is built in: it runs in the main host and cannot be uninstalled or
// disabled. The server itself stays as it is published.
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { makeFolder } from "./folders.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const COMPANION = path.join(here, "../companion");
/** The repository's root, or <prefix>/share/bulkhead: what holds schema/ and manifests/. */
const DATA = path.join(here, "../..");
export const COMPANION_ID = "bulkhead.companion";

/** @param {string} file */
const json = (file) => JSON.parse(fs.readFileSync(file, "utf8"));

/** The manifest's schema as the editor offers and explains by it: with the sets that exist, and such that it finds no mistake. */
function schema() {
  const value = json(path.join(DATA, "schema/manifest.schema.json"));
  const folder = path.join(DATA, "manifests/sets");
  const sets = fs.readdirSync(folder).filter((name) => name.endsWith(".json")).sort().map((name) => json(path.join(folder, name)));
  const { set } = value.definitions;
  set.defaultSnippets = sets.map((one) => ({ label: `@${one.set}`, description: one.about, body: `@${one.set}` }));
  // `bulkhead check` does (companion/manifests.js), and each would be listed twice.
  const lenient = (/** @type {any} */ { $ref, ...own }) => {
    const { description, properties, items, ...leaf } = { ...value.definitions[$ref?.split("/").at(-1)], ...own };
    if (properties) return { description, properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, lenient(one)])) };
    return items ? { description, items: lenient(items) } : { description, anyOf: [{ description, ...leaf }, {}] };
  };
  const { $schema, title, definitions } = value;
  return JSON.stringify({ $schema, title, ...lenient(value), definitions }, null, 1);
}

/**
 * Of two packages with one id VS Code loads the one of the higher version, and of the same version the built-in one. No
 * version is higher than this, so none that is installed takes the companion's place, in which nobody would be asked anything.
 */
const HIGHEST = Array(3).fill(Number.MAX_SAFE_INTEGER).join(".");

/**
 * The files of the companion as they are installed.
 * @returns {Map<string, string>} path → text, sorted
 */
export function companion() {
  const files = new Map();
  const walk = (folder) => {
    for (const entry of fs.readdirSync(path.join(COMPANION, folder), { withFileTypes: true })) {
      const name = path.join(folder, entry.name);
      if (entry.isDirectory()) walk(name);
      else if (/\.(js|json|css|svg)$/.test(entry.name)) files.set(name, fs.readFileSync(path.join(COMPANION, name), "utf8"));
    }
  };
  walk("");
  files.set("schema/manifest.schema.json", schema());
  files.set("package.json", JSON.stringify({ ...JSON.parse(files.get("package.json")), version: HIGHEST }, null, 1));
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Ids of the extensions that come with the server, and of our companion, in small letters.
 * @param {string} server code-server's lib/vscode
 */
export function shippedIds(server) {
  const folder = path.join(server, "extensions");
  const files = fs.readdirSync(folder).map((name) => path.join(folder, name, "package.json")).filter((file) => fs.existsSync(file));
  const ids = files.map(json).map(({ publisher, name }) => `${publisher}.${name}`.toLowerCase());
  return [...new Set([...ids, COMPANION_ID])].sort();
}

/**
 * Built-in extensions with a manifest in manifests/ that stay outside all the same: they start no program, their
 * edited copies (workbench/builtins.mjs) read what documents name in the workspace alone, and the compartment that the
 * others share, in which workspaces have programs started, would have their network.
 */
const REACHING = new Set([
  "vscode.json-language-features", // schemas, from servers that the user trusts
  "vscode.markdown-language-features", // pictures of a preview
]);

/**
 * Ids of the built-in extensions that get a compartment, without being named: those with a manifest.
 * @param {string[]} shipped of shippedIds()
 * @param {string[]} [outside] those that the user wants outside
 */
export const confinedIds = (shipped, outside = []) => {
  const manifests = new Set(fs.readdirSync(path.join(DATA, "manifests")));
  return shipped.filter((id) => manifests.has(`${id}.json`) && !REACHING.has(id) && !outside.includes(id));
};

/**
 * Throws where one of `ids` is no built-in extension: whoever misspelt it would believe it confined, or outside.
 * @param {string} server code-server's lib/vscode
 * @param {string[]} ids in small letters
 * @param {string[]} shipped of shippedIds()
 */
export function requireBuiltin(server, ids, shipped) {
  const unknown = ids.find((id) => !shipped.includes(id) || id === COMPANION_ID);
  if (unknown === undefined) return;
  throw new Error(`${unknown} is no built-in extension: correct --builtin, or the setting bulkhead.compartments.builtin or bulkhead.compartments.outside (${path.join(server, "extensions/*/package.json")} have the names)`);
}

/**
 * A folder that is `from`, but for some files: links to everything else.
 * @param {string} folder does not exist
 * @param {string} from
 * @param {Map<string, string>} edited path in it → text
 */
function overlay(folder, from, edited) {
  fs.mkdirSync(folder, { mode: 0o700 });
  const inside = new Set([...edited.keys()].map((file) => file.split("/")[0]));
  for (const name of fs.readdirSync(from)) if (!inside.has(name)) fs.symlinkSync(path.join(from, name), path.join(folder, name));
  for (const name of inside) {
    const to = path.join(folder, name);
    const text = edited.get(name);
    if (text !== undefined) {
      fs.writeFileSync(to, text, { mode: 0o600 });
      continue;
    }
    const below = [...edited].filter(([file]) => file.startsWith(`${name}/`)).map(([file, content]) => /** @type {[string, string]} */ ([file.slice(name.length + 1), content]));
    overlay(to, path.join(from, name), new Map(below));
  }
}

/** What a package says of itself is read without following a link (src/policy/package.cc). */
const PACKAGE = ["package.json", "package.nls.json"];
const withPackage = (/** @type {string} */ from, /** @type {Map<string, string>} */ edited) =>
  new Map([...PACKAGE.filter((name) => fs.existsSync(path.join(from, name))).map((name) => /** @type {[string, string]} */ ([name, fs.readFileSync(path.join(from, name), "utf8")])), ...edited]);

/** Whether overlay() would make just this. */
function isOverlay(/** @type {string} */ folder, /** @type {string} */ from, /** @type {Map<string, string>} */ edited) {
  const parents = new Set([""]);
  for (const file of edited.keys()) for (let at = path.dirname(file); at !== "."; at = path.dirname(at)) parents.add(at);
  return [...parents].every((parent) => {
    const names = fs.readdirSync(path.join(from, parent));
    return fs.readdirSync(path.join(folder, parent)).length === names.length && names.every((name) => {
      const inside = path.join(parent, name);
      if (parents.has(inside)) return fs.lstatSync(path.join(folder, inside)).isDirectory();
      const text = edited.get(inside);
      return text === undefined ? fs.readlinkSync(path.join(folder, inside)) === path.join(from, inside) : fs.readFileSync(path.join(folder, inside), "utf8") === text;
    });
  });
}

/**
 * @param {string} folder is made, or made anew where what it links to has changed
 * @param {string} server code-server's lib/vscode
 * @param {Map<string, string>} files of companion()
 * @param {Map<string, Map<string, string>>} [edited] of editBuiltins()
 * @returns {{ extensions: string, companion: string }} the folders of all, and of ours
 */
export function linkExtensions(folder, server, files, edited = new Map()) {
  const published = path.join(server, "extensions");
  const own = path.join(folder, COMPANION_ID);
  const names = fs.readdirSync(published, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  const whole = () =>
    names.every((name) => {
      const changed = edited.get(name);
      return changed
        ? isOverlay(path.join(folder, name), path.join(published, name), withPackage(path.join(published, name), changed))
        : fs.readlinkSync(path.join(folder, name)) === path.join(published, name);
    }) &&
    fs.readdirSync(folder).length === names.length + 1 &&
    [...files].every(([name, text]) => fs.readFileSync(path.join(own, name), "utf8") === text);
  try {
    if (whole()) return { extensions: folder, companion: own };
  } catch {
    // Not there, or not all of it.
  }
  const temporary = `${folder}.${process.pid}`;
  fs.rmSync(temporary, { recursive: true, force: true });
  makeFolder(temporary);
  for (const name of names) {
    const changed = edited.get(name);
    if (changed) overlay(path.join(temporary, name), path.join(published, name), withPackage(path.join(published, name), changed));
    else fs.symlinkSync(path.join(published, name), path.join(temporary, name));
  }
  for (const [name, text] of files) {
    const file = path.join(temporary, COMPANION_ID, name);
    makeFolder(path.dirname(file));
    fs.writeFileSync(file, text, { mode: 0o600 });
  }
  fs.rmSync(folder, { recursive: true, force: true });
  try {
    fs.renameSync(temporary, folder);
  } catch (error) {
    // Another start was faster.
    fs.rmSync(temporary, { recursive: true, force: true });
    if (!whole()) throw error;
  }
  return { extensions: folder, companion: own };
}

/**
 * The packages beside VS Code's extensions stand beside their copies too: an edited file requires some (git's main.js
 * `@vscode/fs-copyfile`), and Node looks for them in the folders above it.
 * @param {string} folder that has the copies' folder in it
 * @param {string} server VS Code's server, which has its packages beside its extensions
 */
export function linkPackages(folder, server) {
  const link = path.join(folder, "node_modules");
  const packages = path.join(server, "node_modules");
  if (fs.lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() && fs.readlinkSync(link) === packages) return;
  const temporary = `${link}.${process.pid}`;
  fs.symlinkSync(packages, temporary);
  fs.rmSync(link, { recursive: true, force: true });
  fs.renameSync(temporary, link);
}
