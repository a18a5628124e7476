// Clicks that come too soon, one after the other, or where a button was not.
import assert from "node:assert/strict";
import fs from "node:fs";
import test from "node:test";
import vm from "node:vm";

const source = fs.readFileSync(new URL("buttons.js", import.meta.url), "utf8");

test("a button of ours takes a click where it has stood still, and nobody clicked meanwhile", () => {
  let [now, look] = [0, () => {}];
  let ended = false;
  const bulkhead = { isAskers: (/** @type {string | undefined} */ id) => id === "bulkhead.companion" };
  const context = vm.createContext({ bulkhead, performance: { now: () => now }, setInterval: (/** @type {() => void} */ run) => void (look = run), clearInterval: () => (ended = true) });
  vm.runInContext(source, context);
  const made = () => {
    const place = { x: 1, y: 1 };
    return { place, isConnected: true, getBoundingClientRect: () => place };
  };
  const pass = (/** @type {number} */ time) => {
    now += time;
    look();
  };
  const click = { type: "click" };
  const ours = made();
  bulkhead.watchButton("bulkhead.companion", ours);
  const meant = (event = click) => bulkhead.isMeant(ours, event);
  assert.equal(meant(), false, "it has just come");
  assert.equal(meant({ type: "keydown" }), true);
  pass(499);
  assert.equal(meant(), false);
  pass(499);
  assert.equal(meant(), false, "clicks one after the other");
  pass(500);
  assert.equal(meant(), true);
  ours.place = { x: 1, y: 2 };
  assert.equal(bulkhead.isMeant(ours, { type: "-monaco-gesturetap" }), true, "until then it was there");
  ours.getBoundingClientRect = () => ours.place;
  assert.equal(meant(), false, "what was above came down");
  pass(500);
  assert.equal(meant(), true);
  ours.isConnected = false;
  for (let looks = 0; looks < 52; looks += 1) pass(100);
  assert.ok(ended);
  for (const id of ["me.mine", "vscode.git", undefined]) {
    const other = made();
    bulkhead.watchButton(id, other);
    assert.equal(bulkhead.isMeant(other, click), true);
  }
});
