// Clicks that come too soon, one after the other, where a button was not, or of nobody.
import assert from "node:assert/strict";
import fs from "node:fs";
import test from "node:test";
import vm from "node:vm";

const source = fs.readFileSync(new URL("buttons.js", import.meta.url), "utf8");

test("a button of ours takes a click where it has stood still, and nobody clicked meanwhile", () => {
  let [now, look] = [0, () => {}];
  let ended = false;
  const bulkhead = { isAskers: (/** @type {string | undefined} */ id) => id === "bulkhead.companion" };
  const lifted = /** @type {Record<string, (event: object) => void>} */ ({});
  const context = vm.createContext({ bulkhead, performance: { now: () => now }, setInterval: (/** @type {() => void} */ run) => void (look = run), clearInterval: () => (ended = true), setTimeout: () => {}, addEventListener: (/** @type {string} */ type, /** @type {() => void} */ heard) => (lifted[type] = heard) });
  vm.runInContext(source, context);
  const made = () => {
    const place = { x: 1, y: 1 };
    return { place, isConnected: true, getBoundingClientRect: () => place };
  };
  const pass = (/** @type {number} */ time) => {
    now += time;
    look();
  };
  const click = { type: "click", isTrusted: true };
  const ours = made();
  bulkhead.watchButton("bulkhead.companion", ours);
  const meant = (event = click) => bulkhead.isMeant(ours, event);
  assert.equal(meant(), false, "it has just come");
  assert.equal(meant({ type: "keydown", isTrusted: true }), false, "keys too");
  pass(499);
  assert.equal(meant(), false);
  pass(499);
  assert.equal(meant(), false, "clicks one after the other");
  pass(500);
  assert.equal(meant(), true);
  assert.equal(meant({ type: "keydown", isTrusted: true }), true);
  for (const nobodys of [undefined, { type: "click" }, { type: "keydown", isTrusted: false }, { type: "-monaco-gesturetap" }]) assert.equal(bulkhead.isMeant(ours, nobodys), false);
  ours.place = { x: 1, y: 2 };
  lifted.touchend({ isTrusted: true });
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

test("an answer is one while a person presses one of our buttons, and never else", () => {
  let now = 0;
  const bulkhead = { isAskers: (/** @type {string | undefined} */ id) => id === "bulkhead.companion" };
  vm.runInContext(source, vm.createContext({ bulkhead, performance: { now: () => now }, setInterval: () => 0, clearInterval() {} }));
  const place = { x: 1, y: 1 };
  const button = { isConnected: true, getBoundingClientRect: () => place };
  bulkhead.watchButton("bulkhead.companion", button);
  let answers = 0;
  const answer = () => bulkhead.mayAnswer("bulkhead.companion") && (answers += 1);
  now = 600;
  bulkhead.press(button, { type: "click", isTrusted: false }, answer);
  bulkhead.press({ ...button }, { type: "click", isTrusted: true }, answer);
  answer();
  assert.equal(answers, 0, "a script, another's button, a command");
  assert.equal(bulkhead.mayAnswer("me.mine"), true);
  bulkhead.press(button, { type: "click", isTrusted: true }, answer);
  assert.equal(answers, 1);
  assert.throws(() => bulkhead.press(button, { type: "click", isTrusted: true }, () => { throw new Error("x"); }));
  answer();
  assert.equal(answers, 1, "nor afterwards");
});

test("a dialog of ours takes no key or click that comes with it, before anybody has looked at its buttons", () => {
  let now = 0;
  const heard = /** @type {Record<string, (event: object) => void>} */ ({});
  class Element {
    isConnected = true;
    constructor(/** @type {string} */ question) {
      this.closest = (/** @type {string} */ what) => (what.endsWith(".monaco-button") ? this : { querySelector: () => ({ textContent: question }) });
    }
    getBoundingClientRect() {
      return { x: 1, y: 1 };
    }
  }
  const bulkhead = { isAskers: (/** @type {string | undefined} */ id) => id === "bulkhead.companion" };
  vm.runInContext(source, vm.createContext({ bulkhead, Element, performance: { now: () => now }, setInterval: () => 0, clearInterval() {}, setTimeout() {}, addEventListener: (/** @type {string} */ type, /** @type {() => void} */ run) => (heard[type] = run) }));
  bulkhead.asksModally("bulkhead.companion", "Asker wants to read it.");
  const passes = (/** @type {Element} */ target, type = "keydown") => {
    let stopped = false;
    heard[type]({ type, key: "Enter", isTrusted: true, target, preventDefault() {}, stopImmediatePropagation: () => (stopped = true) });
    return !stopped;
  };
  for (const type of ["keydown", "click"]) {
    const button = new Element("Asker wants to read it.");
    assert.equal(passes(button, type), false, type);
    now += 600;
    assert.equal(passes(button, type), true);
  }
  assert.equal(passes(new Element("Another's question")), true);
});
