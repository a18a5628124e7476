// What a published port costs: a server of Node's on plain loopback, and the same one in a compartment behind --listen,
// in turns.
//
//   node bench/listen.mjs [--bulkhead build/dev/bin/bulkhead] [--rounds 7] [--seconds 1]
//
// Three loads: requests over connections that stay, requests with a connection each, and bytes of one large answer.
import { spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    bulkhead: { type: "string", default: "build/dev/bin/bulkhead" },
    rounds: { type: "string", default: "7" },
    seconds: { type: "string", default: "1" },
  },
});
const rounds = Number(values.rounds);
const span = Number(values.seconds) * 1000;
const CONNECTIONS = 16;

const SERVER = `
const http = require("node:http");
const large = Buffer.alloc(1 << 20);
http.createServer((request, response) => {
  if (request.url !== "/large") return response.end("hello");
  const more = () => { while (response.write(large)); };
  response.on("drain", more);
  more();
}).listen(Number(process.argv[2]), "127.0.0.1", () => console.log("listening"));
`;

const folder = fs.mkdtempSync(path.join("/var/tmp", "bulkhead-bench-"));
const file = path.join(folder, "server.cjs");
fs.writeFileSync(file, SERVER);

/** A port that is free, and none that the kernel gives by itself. */
const freePort = () =>
  new Promise((resolve) => {
    const port = 20000 + Math.floor(Math.random() * 10000);
    const probe = net.createServer().once("error", () => resolve(freePort())).listen(port, "127.0.0.1", () => probe.close(() => resolve(port)));
  });

async function start(words, port) {
  const command = [...words(port), process.execPath, file, String(port)];
  const child = spawn(command[0], command.slice(1), { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  await new Promise((resolve, reject) => {
    child.stdout.once("data", resolve);
    child.once("exit", (code) => reject(new Error(`${command.join(" ")} ended with ${code}`)));
  });
  return { child, port };
}

const get = (port, agent) =>
  new Promise((resolve, reject) => {
    http.get({ host: "127.0.0.1", port, agent, path: "/" }, (response) => response.resume().once("end", resolve)).once("error", reject);
  });

/** Requests in a second. */
async function requests(port, keepAlive) {
  const agent = new http.Agent({ keepAlive, maxSockets: CONNECTIONS });
  const begin = performance.now();
  let count = 0;
  const one = async () => {
    while (performance.now() - begin < span) {
      await get(port, agent);
      ++count;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, one));
  agent.destroy();
  return count / ((performance.now() - begin) / 1000);
}

/** Megabytes in a second. */
function bytes(port) {
  return new Promise((resolve, reject) => {
    const begin = performance.now();
    let count = 0;
    const request = http.get({ host: "127.0.0.1", port, path: "/large" }, (response) => {
      response.on("data", (part) => {
        count += part.length;
        if (performance.now() - begin < span) return;
        request.destroy();
        resolve(count / 1e6 / ((performance.now() - begin) / 1000));
      });
    });
    request.on("error", reject);
  });
}

const LOADS = {
  "requests/s, connections that stay": (port) => requests(port, true),
  "requests/s, a connection each": (port) => requests(port, false),
  "MB/s of one answer": bytes,
};

const servers = {
  plain: await start(() => [], await freePort()),
  published: await start((port) => [path.resolve(values.bulkhead), "run", "--quiet", "--listen", String(port), "--"], await freePort()),
};
const figures = Object.fromEntries(Object.keys(LOADS).map((load) => [load, { plain: [], published: [] }]));
for (const load of Object.values(LOADS)) for (const { port } of Object.values(servers)) await load(port); // not counted
for (let round = 0; round < rounds; ++round)
  for (const [name, load] of Object.entries(LOADS))
    for (const [which, { port }] of Object.entries(servers)) figures[name][which].push(await load(port));

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
console.log(`${os.cpus()[0].model}, ${os.cpus().length} processors, Linux ${os.release()}, Node ${process.version}, medians of ${rounds} rounds`);
for (const [name, { plain, published }] of Object.entries(figures))
  console.log(`${name.padEnd(36)} plain ${median(plain).toFixed(0).padStart(7)}   published ${median(published).toFixed(0).padStart(7)}   ${(median(published) / median(plain)).toFixed(2)}`);
for (const { child } of Object.values(servers)) child.kill();
fs.rmSync(folder, { recursive: true });
