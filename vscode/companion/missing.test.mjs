import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import test from "node:test";
import missing from "./missing.js";

/** @param {object[]} absent what the workbench says, changed in place @param {string[]} there ids with a compartment */
function scene(absent, there = [], answer = undefined) {
  const told = [], recorded = [], started = [];
  const model = Object.assign(new EventEmitter(), { compartments: there.map((id) => ({ extensions: [{ id }] })) });
  const window = { showWarningMessage: async (message, button) => (told.push([message, button]), answer) };
  const watch = new missing.Missing(/** @type {any} */ (model), /** @type {any} */ (window), {
    ask: async () => [...absent], start: async () => void started.push(absent.splice(0).length), record: (one) => void recorded.push(one.id), changed: () => {},
  }, { first: 1e6, again: 1e6 });
  return { watch, told, recorded, started, model };
}
const one = (id, why = "no compartment was asked for") => ({ id, name: id.toUpperCase(), why });

test("who has no compartment is told of once, with the reason, and recorded", async () => {
  const absent = [one("a.b"), one("c.d")];
  const { watch, told, recorded } = scene(absent);
  await watch.look();
  await watch.look();
  assert.deepEqual(told, [["A.B (a.b), C.D (c.d) have not started: no compartment was asked for.", "Start Anew"]]);
  assert.deepEqual(recorded, ["a.b", "c.d"]);
  assert.equal(watch.found.length, 2);
  absent.splice(0);
  await watch.look();
  absent.push(one("a.b"));
  await watch.look();
  assert.equal(told.length, 2, "and again where it went missing again");
  watch.dispose();
});

test("who has ended or waits for its review is told of elsewhere", async () => {
  const { watch, told } = scene([one("a.b")], ["A.b"]);
  await watch.look();
  assert.deepEqual([told, watch.found], [[], []]);
  watch.dispose();
});

test("the button starts those that are missing", async () => {
  const { watch, started } = scene([one("a.b"), one("c.d")], [], "Start Anew");
  await watch.look();
  assert.deepEqual(started, [2]);
  watch.dispose();
});

test("what an extension calls itself cannot rearrange the message", async () => {
  const { watch, told } = scene([one("a.b", "[x](command:y)\u202e")]);
  await watch.look();
  assert.equal(told[0][0], "A.B (a.b) has not started: [x]\\x28command:y)\\u{202e}.");
  watch.dispose();
});
