// What is loaded into VS Code's server before its own code: what it hands to the processes that it starts.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { saidBy } from "./said.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "preload-"));
test.after(() => fs.rmSync(folder, { recursive: true }));

/** What `act`, as the server's code, has called `tell` with. */
function inServer(act) {
  const file = (/** @type {string} */ name, /** @type {string} */ text, mode = 0o600) => {
    fs.writeFileSync(path.join(folder, name), text, { mode });
    return path.join(folder, name);
  };
  const bulkhead = file("bulkhead", `#!${process.execPath}\nprocess.send(process.env); process.disconnect();`, 0o700);
  const launch = { bulkhead, sockets: folder, workbench: "", html: "", script: "", tag: "", compiled: path.join(folder, "compiled"), server: folder };
  const code = `const tell = (value) => console.log(JSON.stringify(value)); const { execFileSync, fork } = require("node:child_process");\n${act}`;
  const words = ["--require", path.join(here, "preload.cjs"), file("server.cjs", code), "--connection-token-file", file("token", "t"), "--extensions-dir", path.join(folder, "extensions")];
  return JSON.parse(execFileSync(process.execPath, words, { encoding: "utf8", env: { ...process.env, BULKHEAD_LAUNCH: file("launch.json", JSON.stringify(launch)), BULKHEAD_MARK: "4f" } }));
}

test("what seals a supervisor's lines goes to supervisors alone", () => {
  const said = path.join(folder, "said.cjs");
  fs.writeFileSync(said, "process.send(process.env); process.disconnect();");
  const started = (/** @type {string} */ environment, words = '["--type=extensionHost"]') =>
    inServer(`fork(${JSON.stringify(said)}, ${words}, { env: { ...process.env, ...${environment} } }).on("message", (env) => tell(env.BULKHEAD_MARK ?? null));`);
  assert.equal(started('{ BULKHEAD_HOST: "me.mine" }'), "4f");
  assert.equal(started('{ BULKHEAD_HOST: "main" }'), null);
  assert.equal(started("{}", '["--type=ptyHost"]'), null);
  assert.equal(inServer('tell(execFileSync("/bin/sh", ["-c", "echo $BULKHEAD_MARK"], { encoding: "utf8" }));'), "\n");
});

test("an editor that ran over an upgrade starts no compartments, and says so", () => {
  const place = JSON.stringify(path.join(folder, "bulkhead"));
  const after = (/** @type {string} */ change) =>
    inServer(`
      const fs = require("node:fs");
      ${change}
      let said = "";
      const host = fork("none", ["--type=extensionHost"], { env: { ...process.env, BULKHEAD_HOST: "me.mine" }, silent: true });
      host.stderr.on("data", (part) => { said += part; });
      host.on("message", () => { said = "started"; });
      host.on("close", () => tell(said));`);
  const told = /^bulkhead host: bulkhead was upgraded or removed while this editor ran/;
  assert.equal(after(""), "started");
  for (const change of [`fs.appendFileSync(${place}, "\\n");`, `fs.utimesSync(${place}, 1, 1);`, `fs.rmSync(${place});`])
    assert.match(saidBy("4f", after(change).trim()) ?? "", told, change);
});

test("no script of a package runs as it is removed", () => {
  const script = path.join(folder, "bye.cjs");
  const ran = path.join(folder, "ran");
  fs.writeFileSync(script, `require("node:fs").writeFileSync(${JSON.stringify(ran)}, "");`);
  for (const words of ['["--type=extension-post-uninstall"]', '["--type=extension-post-install", "--type=ptyHost"]', "[]", "undefined", '["a", "--type=ptyHost"]'])
    assert.match(inServer(`try { fork(${JSON.stringify(script)}, ${words}).on("exit", () => tell("ran")); } catch (error) { tell(error.message); }`), /in no compartment/, words);
  assert.equal(fs.existsSync(ran), false);
});

test("a package is installed into the folder of extensions, and what lies elsewhere is not removed as one", () => {
  const extensions = path.join(folder, "extensions");
  const moved = (/** @type {string} */ from, /** @type {string} */ to) => {
    fs.rmSync(extensions, { recursive: true, force: true });
    for (const each of [".made", "editor", "elsewhere/kept"]) fs.mkdirSync(path.join(extensions, "../extensions", each), { recursive: true });
    fs.mkdirSync(path.join(folder, "outside-1.0.0"), { recursive: true });
    return inServer(`require("node:fs").promises.rename(${JSON.stringify(from)}, ${JSON.stringify(to)}).then(() => tell("moved"), (error) => tell(error.message));`);
  };
  assert.equal(moved(`${extensions}/.made`, `${extensions}/me.mine-1.0.0`), "moved");
  assert.equal(moved(`${extensions}/editor`, `${extensions}/.gone`), "moved");
  assert.equal(moved(`${folder}/outside-1.0.0`, `${folder}/outside-2`), "moved", "elsewhere nothing changes");
  for (const place of [`${extensions}/evil.zz/../../outside-2`, `${folder}/outside-2`, `${extensions}/elsewhere/x`, `${extensions}/../extensions/elsewhere/x`])
    assert.match(moved(`${extensions}/.made`, place), /leads out of/, place);
  for (const place of [`${extensions}/.gone`, `${folder}/outside-1.0.0.1f.vsctmp`]) assert.match(moved(`${folder}/outside-1.0.0`, place), /leads out of .*outside-1\.0\.0: /, place);
  assert.equal(moved(`${extensions}/editor`, `${extensions}/editor.1f.vsctmp`), "moved");
});
