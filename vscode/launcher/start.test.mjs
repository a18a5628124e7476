// What `bulkhead code` refuses before it starts anything.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

import { saidBy } from "./said.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const server = fs.mkdtempSync(path.join(os.tmpdir(), "bulkhead-start-"));
test.after(() => fs.rmSync(server, { recursive: true }));
const start = (...words) =>
  spawnSync(process.execPath, [path.join(here, "start.mjs"), "--bulkhead", "/nonexistent/bulkhead", "--state", server, "--sockets", server, "--server", server, ...words], { encoding: "utf8", timeout: 30_000 });

test("whatever would let others in", () => {
  for (const words of [["--host", "0.0.0.0"], ["--host=0.0.0.0"], ["--socket-path", "/tmp/x"], ["--without-connection-token"], ["--connection-token", "x"], ["--connection-token-file=x"],
    ["--server-base-path=/"], ["--server-data-dir", "/x"], ["--extensions-dir=/x"], ["--builtin-extensions-dir=/x"], ["--inspect-extensions"], ["--inspect-brk-extensions=1"], ["--agent-host-port=1"], ["--agent-host-path", "x"]]) {
    const { status, stderr } = start(server, ...words);
    assert.equal(status, 125, words.join(" "));
    assert.match(stderr, new RegExp(`^bulkhead code: ${words[0].split("=")[0]} is not possible: `), words.join(" "));
    if (words[0].startsWith("--host")) assert.match(stderr, /127\.0\.0\.1 and ::1 only/);
  }
});

test("ports that are none, or taken, also where browsers look first", async (t) => {
  assert.match(start("--port", "70000").stderr, /--port 70000: not a port/);
  for (const host of ["127.0.0.1", "::1"]) {
    const other = net.createServer();
    const listens = await new Promise((resolve) => other.once("error", () => resolve(false)).listen(0, host, () => resolve(true)));
    if (!listens) continue;
    t.after(() => other.close());
    const { port } = other.address();
    const { status, stderr } = start("--port", String(port));
    assert.equal(status, 125);
    assert.match(stderr, new RegExp(`port ${port} cannot be used \\(another program listens there\\)`), host);
  }
});

test("a host's supervisor is heard, and nobody who writes like it", () => {
  // As src/vscode/seal_test.cc has it.
  const seal = "2b2b6886afa0aa02cd262e1efc91afb131f15604eb430d33b5d39906728bfb39";
  const log = "[12:00:00] [ExtensionHostConnection] <7><stderr> ";
  assert.equal(saidBy("4f", `${log}x${seal}bulkhead host: ended`), "bulkhead host: ended");
  assert.equal(saidBy("4f", `${log}${createHash("sha256").update("4fbulkhead: a\x1b").digest("hex")}bulkhead: a\x1b`), "bulkhead: a?");
  for (const line of ["bulkhead: run this", "4fbulkhead host: ended", `${seal}bulkhead host: run this`, `${seal}bulkhead host: ended.`, `${seal}bulkhead: ended`, seal, ""])
    assert.equal(saidBy("4f", log + line), undefined, line);
});

test("folders that are not there", () => {
  assert.match(start(path.join(server, "none")).stderr, /none does not exist/);
  fs.writeFileSync(path.join(server, "a.txt"), "");
  assert.match(start(path.join(server, "a.txt")).stderr, /neither a folder nor a \.code-workspace file/);
  // There, and not to be reached.
  fs.symlinkSync("loop", path.join(server, "loop"));
  const { status, stderr } = start(path.join(server, "loop"));
  assert.equal(status, 125);
  assert.match(stderr, /^bulkhead code: ELOOP: .*loop/);
});

test("a working folder that was removed is told in a line", () => {
  const gone = fs.mkdtempSync(path.join(server, "gone-"));
  const words = [path.join(here, "start.mjs"), "--bulkhead", "/nonexistent/bulkhead", "--state", server, "--sockets", server, "--server", server];
  const { status, stderr } = spawnSync("sh", ["-c", 'rmdir "$PWD"; exec "$@"', "sh", process.execPath, ...words], { cwd: gone, encoding: "utf8", timeout: 30_000 });
  assert.equal(status, 125, stderr);
  assert.match(stderr, /^bulkhead code: ENOENT: .*\n$/);
});

test("an address that cannot be told ends the server", () => {
  const state = path.join(server, "state");
  const words = ["--bulkhead", "/nonexistent/bulkhead", "--state", state, "--sockets", path.join(state, "sockets"), server];
  const full = fs.openSync("/dev/full", "w");
  const { status, stderr } = spawnSync(process.execPath, [path.join(here, "start.mjs"), ...words], { encoding: "utf8", stdio: ["ignore", full, "pipe"], timeout: 60_000 });
  fs.closeSync(full);
  assert.equal(status, 125, stderr);
  assert.match(stderr, /^bulkhead code: cannot write the output: ENOSPC/);
  // Its token goes with it.
  assert.deepEqual(fs.readdirSync(path.join(state, "code/data")).filter((name) => name.startsWith("token-")), []);
});

test("a folder that cannot be made is told by its option, and an option that nobody knows by its name", () => {
  const run = (...more) => spawnSync(process.execPath,
    [path.join(here, "start.mjs"), "--bulkhead", "/nonexistent/bulkhead", "--state", path.join(server, "state"), "--sockets", path.join(server, "state/sockets"), ...more, server],
    { encoding: "utf8", timeout: 60_000 });
  const file = path.join(server, "a.txt");
  fs.writeFileSync(file, "");
  for (const [option, folder] of [["--extensions", file], ["--data", file], ["--data", path.join(file, "in")]]) {
    const { status, stderr } = run(option, folder);
    assert.equal(status, 125, stderr);
    assert.match(stderr, new RegExp(`^bulkhead code: ${option} ${folder}: not a folder: name a folder that is there, or can be made\n$`));
  }
  // Where the kernel says ENOENT of a name in a folder that is there.
  for (const folder of ["/proc/none", "/proc/none/in"]) {
    const { status, stderr } = run("--data", folder);
    assert.deepEqual([status, stderr], [125, `bulkhead code: --data ${folder}: no folder can be made there: name a folder that is there, or can be made\n`]);
  }
  const { status, stdout, stderr } = run("--nonsense-option");
  assert.deepEqual([status, stdout, stderr], [125, "", "bulkhead code: --nonsense-option is an option of neither bulkhead nor VS Code's server\n"]);
});

test("a command to the server is done when it is, and says what the server says", () => {
  const words = [path.join(here, "start.mjs"), "--bulkhead", "/nonexistent/bulkhead", "--state", path.join(server, "state"), "--sockets", path.join(server, "state/sockets"), server];
  const run = (...more) => spawnSync(process.execPath, [...words, ...more], { encoding: "utf8", timeout: 60_000 });
  const { status, stdout, stderr } = run("--help");
  assert.deepEqual([status, stderr], [0, ""]);
  assert.match(stdout, /--install-extension/);
  assert.deepEqual(fs.readdirSync(path.join(server, "state/code/data")).filter((name) => name.startsWith("token-")), []);
  const failed = run("--install-extension", path.join(server, "none.vsix"));
  assert.equal(failed.status, 125);
  assert.match(failed.stderr, /^bulkhead code: the server ended before it was ready \(1\):\nError: ENOENT: .*none\.vsix'\nFailed Installing Extensions: .*none\.vsix\n$/);
});

test("who ends it before it is ready reads of no failure", async () => {
  const state = path.join(server, "state");
  const child = spawn(process.execPath, [path.join(here, "start.mjs"), "--bulkhead", "/nonexistent/bulkhead", "--state", state, "--sockets", path.join(state, "sockets"), server],
    { stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  child.stderr.on("data", (part) => (stderr += part));
  const servers = () => fs.readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").trim().split(" ")
    .filter((pid) => /server-main/.test(fs.readFileSync(`/proc/${pid || "self"}/cmdline`, "utf8")));
  while (child.exitCode === null && servers().length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  child.kill("SIGINT");
  const [code] = await new Promise((resolve) => child.once("close", (...ended) => resolve(ended)));
  assert.deepEqual([code, stderr], [130, ""]);
});

/** An editor whose address was told, and what it said beside that. */
const editor = (t, data, ...words) => editorIn(t, data, undefined, server, ...words);

async function editorIn(t, data, cwd, ...words) {
  const state = path.join(server, "state");
  const child = spawn(process.execPath, [path.join(here, "start.mjs"), "--bulkhead", "/nonexistent/bulkhead", "--state", state, "--sockets", path.join(state, "sockets"), "--data", data, "--json", ...words],
    { cwd, stdio: ["ignore", "pipe", "pipe"] });
  t.after(() => child.kill());
  let stderr = "";
  child.stderr.on("data", (part) => (stderr += part));
  const closed = new Promise((resolve) => child.once("close", resolve));
  const told = await Promise.race([new Promise((resolve) => child.stdout.once("data", resolve)), closed]);
  assert.ok(Buffer.isBuffer(told), stderr);
  const { port, pathname, searchParams } = new URL(JSON.parse(String(told)).address);
  const end = () => {
    child.kill();
    return closed;
  };
  const whole = () => fs.readFileSync(`/proc/${JSON.parse(String(told)).pid}/environ`, "utf8").split("\0").find((one) => one.startsWith("BULKHEAD_WHOLE="));
  return { port: Number(port), pathname, place: [...searchParams].slice(1), whole, said: () => stderr, end };
}

test("the next start has the same address, for which the browser keeps tabs and secrets; one beside it has another", async (t) => {
  const data = path.join(server, "data");
  const first = await editor(t, data);
  assert.equal(first.pathname, `/code-${first.port}/`);
  await first.end();
  // At once: whoever is first has the port.
  const both = await Promise.all([editor(t, data), editor(t, data)]);
  const [same, other] = both[0].port === first.port ? both : both.reverse();
  assert.deepEqual([same.port, same.pathname, same.said()], [first.port, first.pathname, ""]);
  assert.notEqual(other.port, first.port);
  assert.equal(other.said(), `bulkhead code: port ${first.port} is taken, so this is port ${other.port}, for which the browser keeps tabs, trust and secrets of their own\n`);
  await other.end();
  const again = await editor(t, data);
  assert.equal(again.port, other.port, "the second window's port is kept too");
  await Promise.all([same.end(), again.end()]);
});

test("a kept port that another program has, or another start is about to listen at, is not taken; lines that are no port are nothing", async (t) => {
  const data = path.join(server, "taken");
  const [listens, begins] = [net.createServer(), net.createServer()];
  t.after(() => [listens, begins].forEach((one) => one.close()));
  await new Promise((resolve) => listens.listen(0, "127.0.0.1", resolve));
  const { port } = listens.address();
  const next = port === 65535 ? port - 1 : port + 1;
  await new Promise((resolve) => begins.listen(`\0bulkhead-code-${next}`, resolve));
  fs.mkdirSync(data);
  fs.writeFileSync(path.join(data, "ports"), `x\n70000\n0\n${port}\n${next}\n`);
  const one = await editor(t, data);
  assert.ok(one.port !== port && one.port !== next);
  assert.match(one.said(), new RegExp(`^bulkhead code: port ${port} is taken`));
  await one.end();
});

test("what is no project is opened where it was named, granted where it was named for that, and told", async (t) => {
  const data = path.join(server, "whole");
  const home = fs.mkdtempSync(path.join(server, "home-"));
  const why = ["--no-project", "is a home folder"];
  const link = path.join(server, "me");
  fs.symlinkSync(home, link);
  for (const [cwd, words, place, whole, said] of /** @type {const} */ ([
    [home, [], ["folder", home], undefined, /^$/],
    [home, why, ["ew", "true"], undefined, /^bulkhead code: the working folder \S+ is a home folder, so no folder is opened: .*\n$/],
    [server, [...why, home], ["folder", home], undefined, /^bulkhead code: \S+ is a home folder, and would be granted .* --workspace \S+`\n$/],
    [server, [...why, "--workspace", link], ["folder", link], `BULKHEAD_WHOLE=${home}`, /^$/],
  ])) {
    const one = await editorIn(t, data, cwd, ...words);
    assert.deepEqual([one.place, one.whole()], [[place], whole], words.join(" "));
    assert.match(one.said(), said);
    await one.end();
  }
  assert.match(start("--workspace", home, home).stderr, /^bulkhead code: --workspace \S+ and \S+: name one of them\n$/);
  assert.match(start("--workspace", path.join(here, "start.mjs")).stderr, /^bulkhead code: --workspace \S+: not a folder\n$/);
});
