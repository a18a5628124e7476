import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const { halfKey } = createRequire(import.meta.url)("./half_key.cjs");
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "bulkhead-half-"));
test.after(() => fs.rmSync(folder, { recursive: true }));

test("it is made once, for its user alone", () => {
  const file = path.join(folder, "once");
  const half = halfKey(file);
  assert.equal(half.length, 32);
  assert.deepEqual(halfKey(file), half);
  assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  assert.notDeepEqual(halfKey(path.join(folder, "other")), half);
  assert.deepEqual(fs.readdirSync(folder).sort(), ["once", "other"]);
});

test("servers that start at once have the same", async () => {
  const file = path.join(folder, "race");
  const halves = await Promise.all(Array.from({ length: 6 }, () => new Promise((resolve) => {
    const child = spawn(process.execPath, ["-e", `process.stdout.write(require(${JSON.stringify(path.join(here, "half_key.cjs"))}).halfKey(${JSON.stringify(file)}).toString("hex"))`]);
    let text = "";
    child.stdout.on("data", (part) => (text += part));
    child.on("close", () => resolve(text));
  })));
  assert.deepEqual(new Set(halves), new Set([halfKey(file).toString("hex")]));
});

test("one that was cut short is not made anew over what it opens", () => {
  const file = path.join(folder, "short");
  fs.writeFileSync(file, "short");
  assert.throws(() => halfKey(file), /short holds 5 bytes, not 32.*remove it/);
  assert.equal(fs.readFileSync(file, "utf8"), "short");
});
