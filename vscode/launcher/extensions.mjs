// The folder of built-in extensions that the server is started with: a link to each of the published
// ones, and our companion, which so is built in: it runs in the main host and cannot be uninstalled or
// disabled. The server itself stays as it is published.
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const COMPANION = path.join(here, "../companion");
/** The repository's root, or <prefix>/share/bulkhead: what holds schema/ and manifests/. */
const DATA = path.join(here, "../..");
export const COMPANION_ID = "bulkhead.companion";

/** @param {string} file */
const json = (file) => JSON.parse(fs.readFileSync(file, "utf8"));

/** The manifest's schema, with what an editor offers: the sets that exist, and what they hold. */
function schema() {
  const value = json(path.join(DATA, "schema/manifest.schema.json"));
  const folder = path.join(DATA, "manifests/sets");
  const sets = fs.readdirSync(folder).filter((name) => name.endsWith(".json")).sort().map((name) => json(path.join(folder, name)));
  const { set } = value.definitions;
  set.defaultSnippets = sets.map((one) => ({ label: `@${one.set}`, description: one.about, body: `@${one.set}` }));
  return JSON.stringify(value, null, 1);
}

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
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * @param {string} folder is made, or made anew where what it links to has changed
 * @param {string} server code-server's lib/vscode
 * @param {Map<string, string>} files of companion()
 * @returns {{ extensions: string, companion: string }} the folders of all, and of ours
 */
export function linkExtensions(folder, server, files) {
  const published = path.join(server, "extensions");
  const own = path.join(folder, COMPANION_ID);
  const names = fs.readdirSync(published, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  const whole = () =>
    names.every((name) => fs.readlinkSync(path.join(folder, name)) === path.join(published, name)) &&
    fs.readdirSync(folder).length === names.length + 1 &&
    [...files].every(([name, text]) => fs.readFileSync(path.join(own, name), "utf8") === text);
  try {
    if (whole()) return { extensions: folder, companion: own };
  } catch {
    // Not there, or not all of it.
  }
  const temporary = `${folder}.${process.pid}`;
  fs.rmSync(temporary, { recursive: true, force: true });
  fs.mkdirSync(temporary, { recursive: true, mode: 0o700 });
  for (const name of names) fs.symlinkSync(path.join(published, name), path.join(temporary, name));
  for (const [name, text] of files) {
    const file = path.join(temporary, COMPANION_ID, name);
    fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
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
