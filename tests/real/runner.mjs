// Real extensions, as they are published: what each is there for, once in plain code-server and once in its
// compartment while nobody answers. Says whether the result is the same, how long it took, and what was asked.
//
//   node tests/real/runner.mjs EXTENSIONS [--only NAME,…] [--modes plain,compartments] [--rounds N] [--used] [--json FILE]
//
// Each run has a new home. --used: the editor has been used there once before, for a quarter of a minute, by the same
// browser, whose cache alone is new.
//
// README.md says what stands in EXTENSIONS. Exits 1 where a result is not what is to be had.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { Editor } from "../vscode/editor.mjs";
import { World } from "../vscode/world.mjs";
import * as formatters from "./formatters.mjs";
import * as linters from "./linters.mjs";
import * as languages from "./languages.mjs";
import * as looks from "./looks.mjs";
import * as tools from "./tools.mjs";
import { markdown, summary } from "./table.mjs";

/** How long an extension may take for its first result, from the moment at which the window is there. */
const PATIENCE = 60_000;
/** By then Node has written what it compiled (vscode/launcher/compile_cache.cjs). */
const USED = 15_000;
/** What nobody answers is asked for by then, if it is asked at all. */
const SETTLE = 2_000;

/**
 * @typedef {object} Job what one extension is there for
 * @property {string} name as people call it
 * @property {string[]} extensions ids, the one that is tried first
 * @property {string} job in a few words
 * @property {string} [project] a folder of EXTENSIONS/projects that is laid over the workspace: what a package manager left there
 * @property {boolean} [above] over the folder above the workspace, as in a repository of several packages
 * @property {Record<string, string | Buffer>} [files] below the home folder
 * @property {Record<string, unknown>} [settings]
 * @property {"the network" | "a terminal"} [needs] what somebody has to grant; it is then asked for, once
 * @property {(hands: { editor: Editor, world: World, page: import("playwright-core").Page }) => Promise<string>} drive
 *   does what a person does and says what came of it, as soon as it is there
 * @property {RegExp} expected what that is in plain
 */

/** @type {Job[]} */
export const JOBS = [formatters, linters, languages, looks, tools].flatMap((module) => module.jobs);

/** The packages of a folder by id: unpacked ones, and VSIX files, which are unpacked into `scratch`. */
function packagesOf(folder, scratch) {
  const found = new Map();
  for (const name of fs.readdirSync(folder)) {
    let place = path.join(folder, name);
    if (name.endsWith(".vsix")) {
      execFileSync("python3", ["-m", "zipfile", "-e", place, path.join(scratch, name)]);
      place = path.join(scratch, name, "extension");
    }
    if (!fs.existsSync(path.join(place, "package.json"))) continue;
    const { publisher, name: short, version } = JSON.parse(fs.readFileSync(path.join(place, "package.json"), "utf8"));
    if (publisher) found.set(`${publisher}.${short}`.toLowerCase(), { folder: place, version });
  }
  return found;
}

function prepare(job, world, projects) {
  if (job.project) {
    const project = path.join(projects, job.project);
    if (!fs.existsSync(project)) throw new Error(`${project} is not there: README.md says what it holds`);
    fs.cpSync(project, job.above ? path.dirname(world.workspace) : world.workspace, { recursive: true, verbatimSymlinks: true });
  }
  for (const [name, content] of Object.entries(job.files ?? {})) world.write(`home/${name}`, content);
}

/** How many questions wait, as the window says it. */
const waiting = (page) => page.evaluate(() => {
  const label = document.querySelector(".statusbar-item [aria-label^='Bulkhead']")?.getAttribute("aria-label") ?? "";
  return Number(/(\d+) questions? waiting/.exec(label)?.[1] ?? 0);
}).catch(() => 0);

/** What the journal has of questions, each resource once. */
const asked = (editor) => [...new Set(editor.journal().filter((line) => line.asked).map((line) => `${line.kind} ${line.resource}`))];

/** One run in a world of its own. */
async function run(job, mode, packages, projects, used) {
  const world = await World.create();
  const outcome = { result: "", seconds: undefined, questions: 0, asked: [], told: false, error: undefined };
  let editor;
  try {
    prepare(job, world, projects);
    const start = (kept) => Editor.start({ mode, world, extensions: job.extensions.map((id) => packages.get(id).folder), settings: job.settings, keepsPort: used, kept });
    let kept;
    if (used) {
      editor = await start();
      await new Promise((resolve) => setTimeout(resolve, USED));
      kept = await editor.storage();
      await editor.end();
    }
    editor = await start(kept);
    const ready = performance.now();
    const watch = setInterval(async () => (outcome.questions = Math.max(outcome.questions, await waiting(editor.page))), 500);
    try {
      const late = new Promise((_, reject) => setTimeout(() => reject(new Error(`nothing in ${PATIENCE / 1000} s`)), PATIENCE).unref());
      const work = job.drive({ editor, world, page: editor.page });
      work.catch(() => {});
      outcome.result = await Promise.race([work, late]);
      outcome.seconds = (performance.now() - ready) / 1000;
    } catch (error) {
      outcome.error = error.message.split("\n")[0];
      await editor.photograph(job.name);
    }
    if (mode === "compartments") await new Promise((resolve) => setTimeout(resolve, SETTLE));
    outcome.questions = Math.max(outcome.questions, await waiting(editor.page));
    outcome.told = (await editor.page.locator(".notifications-toasts .notification-list-item", { hasText: "Source: Bulkhead" }).count()) > 0;
    clearInterval(watch);
  } catch (error) {
    outcome.error = error.message.split("\n")[0];
  } finally {
    // What the table of methods lacks is told at the end.
    await editor?.end().catch((error) => (outcome.error ??= error.message.split("\n")[0]));
    if (editor && mode === "compartments") {
      outcome.asked = asked(editor);
      if (process.env.BULKHEAD_JOURNALS) fs.writeFileSync(path.join(process.env.BULKHEAD_JOURNALS, `${job.name.replace(/\W+/g, "-")}.jsonl`), editor.journal().map((line) => JSON.stringify(line)).join("\n"));
    }
    await world.destroy();
  }
  return outcome;
}

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** Of several rounds: the first that failed, else the one in the middle. */
function joined(rounds) {
  const failed = rounds.find((one) => one.error);
  const questions = Math.max(...rounds.map((one) => one.questions));
  const all = [...new Set(rounds.flatMap((one) => one.asked))];
  return { ...(failed ?? rounds[0]), each: rounds.map((one) => one.seconds), seconds: failed ? undefined : median(rounds.map((one) => one.seconds)), questions, asked: all };
}

async function main() {
  const { values: options, positionals: [folder] } = parseArgs({
    allowPositionals: true,
    options: { only: { type: "string" }, modes: { type: "string", default: "plain,compartments" }, rounds: { type: "string", default: "1" }, used: { type: "boolean" }, json: { type: "string" } },
  });
  if (!folder || !fs.existsSync(folder)) throw new Error(`${folder ?? "EXTENSIONS"} is not there; make test-real EXTENSIONS=FOLDER names a folder of extensions (tests/real/README.md)`);
  const only = options.only?.toLowerCase().split(",");
  const modes = options.modes.split(",");
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "bulkhead-real-"));
  const rows = [];
  // The browser's driver takes these signals for itself and would leave the next job to begin.
  let stopped = false;
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => (stopped = true));
  try {
    const packages = packagesOf(folder, scratch);
    for (const job of JOBS) {
      if (stopped) break;
      if (only && !only.some((word) => job.name.toLowerCase().includes(word))) continue;
      const missing = job.extensions.filter((id) => !packages.has(id));
      const row = { name: job.name, version: packages.get(job.extensions[0])?.version, job: job.job, needs: job.needs, missing };
      rows.push(row);
      if (missing.length === 0) {
        // In turns: what else the machine does is then the same for both.
        const rounds = Object.fromEntries(modes.map((mode) => [mode, []]));
        for (let i = 0; i < Number(options.rounds); i += 1)
          for (const mode of modes) rounds[mode].push(await run(job, mode, packages, path.join(folder, "projects"), options.used));
        for (const mode of modes) row[mode] = joined(rounds[mode]);
        if (row.plain && !row.plain.error && !job.expected.test(row.plain.result)) row.plain.error = `not what was expected: ${row.plain.result}`;
      }
      process.stdout.write(`${summary(row)}\n`);
      if (options.json) fs.writeFileSync(options.json, JSON.stringify(rows, null, 1));
    }
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true });
  }
  process.stdout.write(`\n${markdown(rows)}\n`);
  return rows.every((row) => row.ok !== false) ? 0 : 1;
}

// What a job left open (a server, a page that was lost) is not waited for.
if (import.meta.filename === process.argv[1]) process.exit(await main());
