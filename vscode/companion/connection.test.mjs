import assert from "node:assert/strict";
import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import test from "node:test";
import connectionModule from "./connection.js";
import { FakeHost } from "./fake_host.mjs";

const { Hosts } = connectionModule;

/** A folder of sockets, and what the companion saw in it. */
function world(t, { started = true } = {}) {
  const folder = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "companion-")), "w");
  const hosts = new Hosts(folder, { waits: [5], rescan: 20 });
  const fakes = [];
  t.after(async () => {
    hosts.dispose();
    await Promise.all(fakes.map((fake) => fake.close()));
    fs.rmSync(path.dirname(folder), { recursive: true });
  });
  const host = async (members, greeted) => {
    const fake = new FakeHost(folder, members, greeted);
    fakes.push(fake);
    return fake.listen();
  };
  if (started) {
    fs.mkdirSync(folder, { mode: 0o700 });
    hosts.start();
  }
  return { folder, hosts, host };
}

test("hosts that come are greeted, talk, are answered and leave", async (t) => {
  const { hosts, host } = world(t);
  const found = once(hosts, "host");
  const fake = await host({ pid: 31 });
  const [connection] = await found;
  const [hello] = await once(connection, "hello");
  assert.equal(hello.pid, 31);
  const message = once(connection, "message");
  fake.send({ type: "question", id: 1, kind: "read", resource: "/x" });
  assert.deepEqual((await message)[0], {
    type: "question", id: 1, kind: "read", resource: "/x", extension: "", program: "", process: 0, detail: "", about: "", later: false,
  });
  const answer = fake.next();
  assert.equal(connection.send({ type: "answer", id: 1, answer: "once" }), true);
  assert.deepEqual(await answer, { type: "answer", id: 1, answer: "once" });
  const gone = once(hosts, "gone");
  // The file goes first: what the host still says is heard.
  fs.rmSync(fake.file);
  const last = once(connection, "message");
  fake.send({ type: "state", state: "ended", outcome: "ended by SIGKILL" });
  assert.equal((await last)[0].outcome, "ended by SIGKILL");
  await fake.close();
  assert.deepEqual(await gone, [31]);
  assert.equal(connection.send({ type: "end" }), false);
});

test("the folder comes with the first host, goes with the last one, and comes again", async (t) => {
  const { folder, hosts, host } = world(t, { started: false });
  hosts.start();
  assert.equal(fs.existsSync(folder), false, "a window without compartments leaves nothing behind");
  for (const pid of [32, 33]) {
    const found = once(hosts, "host");
    fs.mkdirSync(folder, { mode: 0o700 });
    const fake = await host({ pid });
    const [connection] = await found;
    await once(connection, "hello");
    const gone = once(hosts, "gone");
    await fake.close();
    fs.rmSync(folder, { recursive: true });
    assert.deepEqual(await gone, [pid]);
  }
});

test("a host that was there before is found, several at once", async (t) => {
  const { folder, hosts, host } = world(t, { started: false });
  fs.mkdirSync(folder, { mode: 0o700 });
  await host({ pid: 41 });
  await host({ pid: 42 });
  const pids = [];
  const both = new Promise((resolve) => {
    hosts.on("host", (connection) => connection.on("hello", ({ pid }) => pids.push(pid) === 2 && resolve(undefined)));
  });
  hosts.start();
  await both;
  assert.deepEqual(pids.sort(), [41, 42]);
});

test("a broken connection is made again; a line in two pieces and two lines in one are read", async (t) => {
  const { hosts, host } = world(t);
  const found = once(hosts, "host");
  const fake = await host({ pid: 51 });
  const [connection] = await found;
  await once(connection, "hello");
  const lost = once(connection, "lost");
  fake.break();
  await lost;
  assert.equal(connection.send({ type: "end" }), false, "nobody is there");
  await once(connection, "hello");
  const seen = [];
  const two = new Promise((resolve) => connection.on("message", (message) => seen.push(message.id) === 2 && resolve(undefined)));
  fake.send('{"type":"withdrawn",');
  setImmediate(() => fake.send('"id":7}\n{"type":"later-version"}\n{"type":"withdrawn","id":8}\n'));
  await two;
  assert.deepEqual(seen, [7, 8]);
});

for (const [what, line, expected] of [
  ["a line that is no JSON", "{\n", /no JSON/],
  ["a line without type", "[]\n", /without a type/],
  ["a member of the wrong form", '{"type":"question","id":"1","kind":"read","resource":"/x"}\n', /question\.id/],
  ["a prototype as type", '{"type":"__proto__"}\n{\n', /no JSON/],
  ["a list of the wrong things", '{"type":"review","digest":"d","reason":"new","extensions":[],"usual":"","notable":[],"permits":[1],"cannot":[],"unusual":[],"widened":[]}\n', /review\.permits/],
  ["an endless line", "x".repeat((1 << 20) + 2), /longer than 1 MiB/],
])
  test(`${what} ends the connection, and nothing of it is passed on`, async (t) => {
    const { hosts, host } = world(t);
    const messages = [];
    const found = once(hosts, "host");
    let sent = false;
    const fault = once(hosts, "fault");
    await host({ pid: 61 }, (fake) => {
      if (!sent) fake.send(line);
      sent = true;
    });
    const [connection] = await found;
    connection.on("message", (message) => messages.push(message));
    assert.match((await fault)[0], expected);
    assert.deepEqual(messages, []);
    await once(connection, "hello");
  });

test("a host under another's number, or of another protocol, is not believed", async (t) => {
  const { hosts, host, folder } = world(t);
  const greeted = [];
  hosts.on("host", (connection) => connection.on("hello", (hello) => greeted.push(hello)));
  const fault = once(hosts, "fault");
  const fake = await host({ pid: 71 });
  fake.hello.pid = 72;
  fs.writeFileSync(path.join(folder, "touch"), "");
  assert.match((await fault)[0], /process 72/);
  const other = once(hosts, "fault");
  await host({ pid: 73, protocol: 2 });
  for (let [text] = await other; !/hello\.protocol/.test(text); ) [text] = await once(hosts, "fault");
  assert.deepEqual(greeted, []);
});

test("a folder that others can write to is left alone", async (t) => {
  const { folder, hosts, host } = world(t, { started: false });
  fs.mkdirSync(folder, { mode: 0o700 });
  fs.chmodSync(folder, 0o770);
  await host({ pid: 81 });
  let connected = 0;
  hosts.on("host", () => {
    connected += 1;
  });
  const fault = once(hosts, "fault");
  hosts.start();
  assert.match((await fault)[0], /open to other users/);
  assert.equal(connected, 0);
  const found = once(hosts, "host");
  fs.chmodSync(folder, 0o700);
  await found;
});

test("other files are no hosts, and a stale socket hurts nobody", async (t) => {
  const { folder, hosts, host } = world(t);
  for (const name of ["x.sock", "0.sock", "12.sock.bak", "lock"]) fs.writeFileSync(path.join(folder, name), "");
  const stale = net.createServer();
  await new Promise((resolve) => stale.listen(path.join(folder, "91.sock"), () => resolve(undefined)));
  fs.renameSync(path.join(folder, "91.sock"), path.join(folder, "kept"));
  await new Promise((resolve) => stale.close(resolve));
  fs.renameSync(path.join(folder, "kept"), path.join(folder, "91.sock"));
  const pids = [];
  hosts.on("host", (connection) => pids.push(connection.pid));
  const greeted = new Promise((resolve) => hosts.on("host", (connection) => connection.on("hello", ({ pid }) => resolve(pid))));
  await host({ pid: 92 });
  assert.equal(await greeted, 92);
  assert.deepEqual(pids.filter((pid) => pid !== 91), [92]);
});
