import assert from "node:assert/strict";
import test from "node:test";
import programModule from "./program.js";

const { read } = programModule;
const printing = (/** @type {string} */ script) => ["-e", script];

test("as many lines are read as there are, whoever wrote them", async () => {
  const count = 20_000;
  let found = 0;
  let last;
  await read(process.execPath, printing(`for (let i = 0; i < ${count}; i += 1) console.log(JSON.stringify({ i, resource: "x".repeat(400) }))`), (row) => {
    found += 1;
    last = row.i;
  });
  assert.deepEqual([found, last], [count, count - 1]);
});

test("what cannot be read whole is an error", async () => {
  const nothing = () => {};
  await assert.rejects(read(process.execPath, printing('console.error("no such run"); process.exit(3)'), nothing), /^Error: no such run$/);
  await assert.rejects(read(process.execPath, printing('console.log("{")'), nothing), /cannot be read/);
  await assert.rejects(read(process.execPath, printing('console.log(JSON.stringify("x".repeat(100000)))'), nothing), /too long/);
  await assert.rejects(read(process.execPath, printing("setInterval(() => {}, 1000)"), nothing, { timeout: 200 }), Error);
  await assert.rejects(read("/no-such-program", [], nothing), /ENOENT/);
});
