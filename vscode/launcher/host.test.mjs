// What is loaded before VS Code's extension host, against the host of the installed build.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const server = process.env.BULKHEAD_CODE_SERVER ?? path.join(here, "../node_modules/code-server/lib/vscode");

/** What `act`, as a host's code, has called `tell` with. */
const inHost = (act) =>
  JSON.parse(execFileSync(process.execPath, ["--require", path.join(here, "host.cjs"), "--input-type=module", "--eval", `import { exec } from "node:child_process"; const tell = (value) => console.log(JSON.stringify(value));\n${act}`], { encoding: "utf8" }));

test("the build's scans for ports start nothing", () => {
  const source = fs.readFileSync(path.join(server, "out/vs/workbench/api/node/extensionHostProcess.js"), "utf8");
  const scans = [...new Set(source.match(/"(?:ls -l \/proc\/|ps -F )[^"]+"/g))];
  assert.equal(scans.length, 2, scans.join());
  for (const scan of scans) {
    const [child, failed, ...said] = inHost(`const child = exec(${scan}, (error, ...said) => tell([child?.pid, error?.message, ...said]));`);
    assert.deepEqual([child, failed, said], [null, "no ports to look for in a compartment", ["", ""]], scan);
  }
});

test("every other program starts as it did", () => {
  assert.deepEqual(inHost('exec("echo ls -l /proc", (error, output) => tell([error, output]));'), [null, "ls -l /proc\n"]);
  assert.deepEqual(inHost('exec("echo $0 $X", { env: { X: "here" }, shell: "/bin/sh" }, (error, output) => tell(output));'), "/bin/sh here\n");
});
