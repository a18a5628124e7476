#!/usr/bin/env node
// Measures what compartments cost in VS Code: plain code-server and `bulkhead code` in turns in one run.
//
//   editor.mjs [--bulkhead PROGRAM] [--rounds N] [--only start,memory,idle] [--idle SECONDS] [--json] [--check]
//
// Prints Markdown for docs/benchmarks.md: the medians of the rounds and, where the target is a difference or a
// ratio, the median of the differences or ratios to the plain run of the same round. Needs a quiet machine; the
// load at start and end is part of the output. Needs root for the notifications of an idle host.
//
// What is measured (every time with a new home, a new server and a new browser with nothing in its cache; but the
// editor has been used once before in that home, for fifteen seconds, so that its edited copies exist, what it keeps
// of compiled code, and what a browser keeps for its address. For memory and idleness it has only been started before):
//   host start    from the server's call of fork() for an extension host (a preload in the server stamps it) to
//                 - Node's start: its performance.timeOrigin.
//                 - READY: VS Code's own mark code/extHost/willConnectToRenderer in that host, set as it tells its
//                   parent that it is ready. In a compartment `bulkhead host` has told the server so long before.
//                 - initial data: what the host is for has reached it.
//                 - its code runs: the first line of the extension's module, by that process's clock.
//                 with the window: while the page loads and the other hosts start. alone: the window is there, and the
//                 one host is ended and started again (plain: killed, and the new one holds all built-in extensions;
//                 compartment: ended as the companion's button does, and it alone).
//   window        from the page's navigation to the status bar, and to the status bar item of an extension.
//   Format        from the key (Ctrl+Shift+I) to the changed line in the page's editor; median of 10 after the first.
//   typing        from a key to its letter in the page's editor, completions coming meanwhile; median of 100.
//   memory        PSS of a host: `bulkhead host`, its init and Node; and of everything beside the browser.
//   idle          calls of ioctl(SECCOMP_IOCTL_NOTIF_RECV) by the supervisor, by the kernel's tracing; CPU time.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const source = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const MODES = /** @type {const} */ (["plain", "compartments"]);

/**
 * The rows. `target`: "plus" a difference to plain, "times" a ratio to plain, "most" of the compartments' own
 * value, "unchanged" no more than plain differs from itself.
 */
const ROWS = [
  { key: "start.node", name: "host start to Node's start, with the window", unit: "ms" },
  { key: "start.ready", name: "host start to READY, with the window", unit: "ms", target: ["plus", 60] },
  { key: "start.initialData", name: "host start to its initial data, with the window", unit: "ms" },
  { key: "start.evaluated", name: "host start to its extension's code, with the window", unit: "ms" },
  { key: "alone.node", name: "host start to Node's start, alone", unit: "ms" },
  { key: "alone.ready", name: "host start to READY, alone", unit: "ms", target: ["plus", 60] },
  { key: "alone.initialData", name: "host start to its initial data, alone", unit: "ms" },
  { key: "alone.evaluated", name: "host start to its extension's code, alone", unit: "ms" },
  { key: "window.workbench", name: "window to status bar", unit: "ms", target: ["times", 1.1] },
  { key: "window.item", name: "window to an extension's status bar item", unit: "ms", target: ["times", 1.1] },
  { key: "format", name: "Format Document", unit: "ms", target: ["plus", 15] },
  { key: "typing", name: "typing, median key", unit: "ms", target: ["unchanged"] },
  { key: "typing95", name: "typing, 95th of 100 keys", unit: "ms" },
  { key: "memory1.host", name: "a host's PSS, one extension (plain: the one host)", unit: "MB", target: ["most", 80] },
  { key: "memory10.host", name: "a host's PSS, of ten extensions (plain: the one host)", unit: "MB", target: ["most", 80] },
  { key: "memory10.own", name: "… of it shared with nobody", unit: "MB" },
  { key: "memory10.supervisor", name: "… of it `bulkhead host`", unit: "MB" },
  { key: "memory10.init", name: "… of it init", unit: "MB" },
  { key: "memory1.whole", name: "PSS beside the browser, one extension", unit: "MB" },
  { key: "memory10.whole", name: "PSS beside the browser, ten extensions", unit: "MB", target: ["plus", 1024] },
  { key: "idle.notifications", name: "idle host: notifications", unit: "" },
  { key: "idle.noisySeconds", name: "idle host: seconds with a notification, of 100", unit: "", target: ["most", 20] },
  { key: "idle.journal", name: "idle host: accesses in the journal", unit: "" },
  { key: "idle.supervisorCpu", name: "idle host: CPU of `bulkhead host`", unit: "ms" },
  { key: "idle.hostCpu", name: "idle host: CPU of the extension host", unit: "ms" },
];

const { values: options } = parseArgs({
  options: {
    bulkhead: { type: "string", default: path.join(source, "build/release/bin/bulkhead") },
    rounds: { type: "string", default: "7" },
    only: { type: "string", default: "start,memory,idle" },
    idle: { type: "string", default: "60" },
    json: { type: "boolean" },
    check: { type: "boolean" },
    help: { type: "boolean" },
  },
});
if (options.help) {
  const [, ...lines] = fs.readFileSync(fileURLToPath(import.meta.url), "utf8").split("\n");
  console.log(lines.slice(0, lines.findIndex((line) => !line.startsWith("//"))).map((line) => line.slice(3)).join("\n"));
  process.exit(0);
}
const rounds = Number(options.rounds);
const idleSeconds = Number(options.idle);
const only = new Set(options.only.split(","));
if (!(rounds >= 1) || !(idleSeconds >= 1)) {
  console.error("--rounds and --idle want a number of at least 1");
  process.exit(2);
}

// tests/vscode/editor.mjs reads these once.
process.env.BULKHEAD = fs.realpathSync(options.bulkhead);
process.env.BULKHEAD_DATA ??= source;
const { Scene, median, quantile } = await import("./editor/scene.mjs");

let current;
process.on("exit", () => current?.abandon());
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) process.once(signal, () => process.exit(128 + os.constants.signals[signal]));

async function within(mode, extensions, act) {
  const scene = await Scene.start(mode, extensions, (began) => {
    current = began;
  });
  try {
    return await act(scene);
  } catch (error) {
    await scene.editor.photograph("bench");
    throw error;
  } finally {
    await scene.end();
    current = undefined;
  }
}

const measureStart = (mode) => within(mode, { tool: true }, async (scene) => {
  const window = await scene.window();
  const start = await scene.start(1);
  await scene.openText();
  const format = median(await scene.format(10));
  const keys = await scene.type(100);
  await scene.settle();
  await scene.restart();
  return { window, start, format, typing: median(keys), typing95: quantile(keys, 0.95), alone: await scene.start(2) };
});

const measureMemory = (mode, trivial, idle) => within(mode, { trivial }, async (scene) => {
  await scene.settle();
  const { whole, hosts } = scene.memory();
  const expected = mode === "plain" ? 1 : trivial;
  if (hosts.length !== expected) throw new Error(`${hosts.length} hosts, expected ${expected}`);
  const mean = (part, of = "pss") => hosts.reduce((sum, host) => sum + host[part][of], 0) / hosts.length;
  const found = { whole: whole.pss, host: mean("all"), own: mean("all", "own") };
  if (mode !== "plain") Object.assign(found, { supervisor: mean("supervisor"), init: mean("init") });
  if (!idle) return { [`memory${trivial}`]: found };
  const still = await scene.idle(idleSeconds);
  if (still.noisySeconds !== undefined) still.noisySeconds *= 100 / idleSeconds;
  return { [`memory${trivial}`]: found, idle: still };
});

/** { a: { b: 1 } } → { "a.b": 1 } */
const flat = (found, prefix = "") =>
  Object.assign({}, ...Object.entries(found).map(([key, value]) => (typeof value === "object" && value ? flat(value, `${prefix}${key}.`) : value === undefined ? {} : { [prefix + key]: value })));

/** One object of figures for each mode and round. */
const figures = { plain: [], compartments: [] };
const loadBefore = os.loadavg()[0];
// The first round warms up the disk's cache and counts for nothing.
for (let round = only.has("start") ? -1 : 0; round < rounds; round += 1) {
  for (const mode of round % 2 === 0 ? MODES : [...MODES].reverse()) {
    const found = {};
    if (only.has("start")) Object.assign(found, await measureStart(mode));
    if (round >= 0 && (only.has("memory") || (only.has("idle") && round === 0))) Object.assign(found, await measureMemory(mode, 1, only.has("idle") && round === 0));
    if (round >= 0 && only.has("memory")) Object.assign(found, await measureMemory(mode, 10, false));
    if (round >= 0) figures[mode][round] = flat(found);
    process.stderr.write(`${round < 0 ? "warm-up" : `round ${round + 1} of ${rounds}`}, ${mode}: done\n`);
  }
}

const missed = [];
const rows = [];
for (const { key, name, unit, target: [kind, limit] = [] } of ROWS) {
  const of = (mode) => figures[mode].map((one) => one[key]).filter((value) => value !== undefined);
  const [plain, ours] = [of("plain"), of("compartments")];
  if (plain.length + ours.length === 0) continue;
  const pairs = figures.plain.map((one, round) => [one[key], figures.compartments[round][key]]).filter(([a, b]) => a !== undefined && b !== undefined);
  const difference = median(pairs.map(([a, b]) => b - a));
  const ratio = median(pairs.map(([a, b]) => b / a));
  // Between the quartiles of plain's own rounds, at least a millisecond.
  const noise = plain.length > 0 ? Math.max(1, quantile(plain, 0.75) - quantile(plain, 0.25)) : undefined;
  const fine = {
    plus: () => difference <= limit,
    times: () => ratio <= limit,
    most: () => median(ours) <= limit,
    unchanged: () => difference <= noise,
  }[kind]?.();
  const wanted = { plus: `≤ plain + ${limit} ${unit}`, times: `≤ ×${limit}`, most: `≤ ${limit} ${unit}`.trim(), unchanged: `unchanged (within ${noise?.toFixed(1)} ms)` }[kind];
  rows.push({ key, name, unit, plain: median(plain), ours: median(ours), difference, ratio, wanted, fine });
  if (fine === false) missed.push(`${name}: ${wanted} wanted`);
}

const machine = {
  processor: /model name\s*: (.*)/.exec(fs.readFileSync("/proc/cpuinfo", "utf8"))?.[1] ?? os.arch(),
  cores: os.cpus().length,
  kernel: os.release(),
  rounds,
  idleSeconds,
  load: [loadBefore, os.loadavg()[0]],
};
if (options.json) {
  console.log(JSON.stringify({ machine, rows, missed, figures }, null, 1));
} else {
  const show = (value, unit) => (value === undefined ? "" : `${value.toFixed(Math.abs(value) < 10 && unit ? 1 : 0)} ${unit}`.trim());
  console.log(`${machine.processor}, ${machine.cores} cores, kernel ${machine.kernel}, ${rounds} rounds (idle: one, ${idleSeconds} s), load ${loadBefore.toFixed(1)} before and ${machine.load[1].toFixed(1)} after.\n`);
  console.log("| | plain | compartments | difference | ratio | target |\n|---|---|---|---|---|---|");
  for (const { name, unit, plain, ours, difference, ratio, wanted, fine } of rows) {
    const compared = difference === undefined ? ["", ""] : [`${difference < 0 ? "" : "+"}${show(difference, unit)}`, `×${ratio.toFixed(2)}`];
    console.log(`| ${name} | ${show(plain, unit)} | ${show(ours, unit)} | ${compared.join(" | ")} | ${wanted ? `${wanted}${fine ? "" : ": missed"}` : ""} |`);
  }
  if (only.has("idle") && !rows.some(({ key }) => key === "idle.notifications")) console.log("\nNotifications of the idle host were not counted: that needs root and system-call tracing in the kernel.");
}
for (const line of missed) process.stderr.write(`missed: ${line}\n`);
process.exit(missed.length > 0 && options.check ? 1 : 0);
