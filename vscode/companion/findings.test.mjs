import assert from "node:assert/strict";
import test from "node:test";
import findingsModule from "./findings.js";

const { findings } = findingsModule;
const one = (members) => JSON.stringify([{ file: "f", line: 2, column: 3, severity: "error", field: "a.b", message: "wrong", fix: "", ...members }]);
const marked = (source, members) => {
  const [found] = findings(one(members), source);
  return source.slice(found.start, found.end);
};

test("the token at line and column is marked", () => {
  const source = '{\n  "name": ["x \\" y", -1.5e3],\n  "z": 1\n}\n';
  assert.equal(marked(source, {}), '"name"');
  assert.equal(marked(source, { column: 12 }), '"x \\" y"');
  assert.equal(marked(source, { column: 22 }), "-1.5e3");
  assert.equal(marked(source, { line: 1, column: 1 }), "{");
});

test("columns are bytes", () => {
  assert.equal(marked('{\n  "日本": "äö",\n "b": 2}', { column: 13 }), '"äö"');
});

test("a finding without a place marks the first line, one beyond the end its end", () => {
  assert.equal(marked("{}\n", { line: 0, column: 0 }), "{}");
  const [found] = findings(one({ line: 99, column: 99 }), "{}\n");
  assert.ok(found.start <= 4);
});

test("message and fix are told", () => {
  assert.equal(findings(one({ fix: "say deny" }), "{}")[0].message, "wrong\nFix: say deny");
  assert.throws(() => findings("{}", "{}"));
  assert.throws(() => findings("", "{}"));
});
