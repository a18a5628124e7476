// What is loaded into VS Code's server before its own code: what it hands to the processes that it starts.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

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
  const words = ["--require", path.join(here, "preload.cjs"), file("server.cjs", code), "--connection-token-file", file("token", "t")];
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
