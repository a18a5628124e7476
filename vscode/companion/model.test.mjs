import assert from "node:assert/strict";
import test from "node:test";
import modelModule from "./model.js";

const { Model } = modelModule;

function world() {
  const clock = { now: 1_000_000 };
  const model = new Model(() => clock.now);
  const events = [];
  for (const name of ["added", "removed", "question", "withdrawn", "review", "refusal", "stuck", "ended", "complaint", "serves"])
    model.on(name, (compartment, ...rest) => events.push([name, compartment.pid, ...rest]));
  const sent = [];
  const hello = (members = {}) => {
    const message = {
      type: "hello", protocol: 1, run: "r1", pid: 10, trace: false, state: "running", since: 0, workspace: [],
      extensions: [{ id: "a.b", name: "B", version: "1", folder: "" }], permits: [], cannot: [], grants: [], ...members,
    };
    model.hello(message, (line) => {
      sent.push([message.pid, line]);
      return true;
    });
    return model.get(message.pid);
  };
  const question = (id, members = {}) => ({
    type: "question", id, kind: "read", resource: "/x", extension: "", program: "", process: 0, detail: "", ...members,
  });
  const deny = (members = {}) => ({
    type: "decision", time: 5, kind: "read", resource: "/x", verdict: "deny", rule: "otherwise: deny", program: "/bin/cat",
    count: 1, enforced: true, ...members,
  });
  return { clock, model, events, sent, hello, question, deny, of: (name) => events.filter(([event]) => event === name) };
}

test("a question is answered once", () => {
  const { model, hello, question, sent, of } = world();
  const compartment = hello();
  model.message(10, question(4));
  assert.equal(model.questions.length, 1);
  assert.equal(model.answer(compartment, 4, "always"), true);
  assert.equal(model.answer(compartment, 4, "once"), false);
  assert.deepEqual(sent, [[10, { type: "answer", id: 4, answer: "always" }]]);
  assert.equal(of("withdrawn").length, 1);
});

test("a withdrawn question, a lost host and a successor take no late answer", () => {
  const { model, hello, question, sent } = world();
  const compartment = hello();
  model.message(10, question(1));
  model.message(10, { type: "withdrawn", id: 1 });
  assert.equal(model.answer(compartment, 1, "once"), false);
  model.message(10, question(2));
  model.lost(10);
  assert.equal(model.answer(compartment, 2, "once"), false);
  model.gone(10);
  hello({ run: "r2" });
  model.message(10, question(2));
  assert.equal(model.answer(compartment, 2, "once"), false, "the answer meant another process");
  assert.deepEqual(sent, []);
});

test("questions are bounded: those beyond are refused", () => {
  const { model, hello, question, sent } = world();
  hello();
  for (let id = 1; id <= 1100; id += 1) model.message(10, question(id));
  assert.equal(model.questions.length, 1000);
  assert.equal(sent.length, 100);
  assert.ok(sent.every(([, line]) => line.answer === "no"));
});

test("refusals are counted by what the host counts, also after a reconnect", () => {
  const { model, hello, deny } = world();
  const compartment = hello();
  model.message(10, deny({ count: 3 }));
  model.message(10, deny({ count: 5 }));
  model.message(10, deny({ count: 2, program: "/bin/dd" }));
  const [refusal] = compartment.refusals.values();
  assert.equal(refusal.count, 7);
  assert.equal(model.unseen, 7);
  model.look();
  model.lost(10);
  assert.equal(hello(), compartment);
  model.message(10, deny({ count: 5 }));
  assert.equal(refusal.count, 7);
  assert.equal(model.unseen, 0);
});

test("what says nothing is not counted, and a key that was tried is for a person to see", () => {
  const { model, hello, deny, of } = world();
  hello();
  model.message(10, deny({ resource: "/", rule: "baseline: @tool-settings: the folders above the workspace show only the files that tools read by name" }));
  model.message(10, deny({ kind: "status", resource: "/etc" }));
  assert.deepEqual([model.unseen, model.alarming], [0, 0]);
  model.message(10, deny());
  assert.deepEqual([model.unseen, model.alarming], [1, 0]);
  assert.ok(of("refusal").at(-1)[3].ofExtension, "the first that is told");
  model.message(10, deny({ resource: "/home/me/.ssh/id_rsa", rule: "built-in blocklist: ${home}/.ssh [ssh-keys]" }));
  assert.deepEqual([model.unseen, model.alarming], [2, 1]);
  model.look();
  assert.deepEqual([model.unseen, model.alarming], [0, 0]);
});

test("the first refusal of an extension is told once, though its host starts again", () => {
  const { model, hello, deny, of } = world();
  hello();
  model.message(10, deny({ kind: "environment", resource: "TOKEN" }));
  model.message(10, deny({ resource: "/asked", asked: true }));
  model.message(10, deny());
  model.message(10, deny({ count: 2 }));
  model.message(10, deny({ resource: "/y" }));
  model.gone(10);
  hello({ pid: 11, run: "r2" });
  model.message(11, deny());
  const firsts = of("refusal").map(([, , refusal, first]) => [refusal.resource, first.ofExtension, first.ofResource]);
  assert.deepEqual(firsts, [["TOKEN", false, false], ["/asked", false, false], ["/x", true, true], ["/x", false, false], ["/y", false, true], ["/x", false, false]]);
});

test("what a trace recorded is no refusal to tell", () => {
  const { model, hello, deny, of } = world();
  hello({ trace: true });
  model.message(10, deny({ enforced: false }));
  assert.equal(of("refusal")[0][3].ofExtension, false);
});

test("refusals are bounded, the most recent stay", () => {
  const { model, hello, deny } = world();
  const compartment = hello();
  for (let i = 0; i < 700; i += 1) model.message(10, deny({ resource: `/f${i}` }));
  assert.equal(compartment.refusals.size, 500);
  assert.equal(compartment.further, 200);
  assert.equal([...compartment.refusals.values()].at(-1).resource, "/f699");
});

test("a server is told of once, by whose it is and its port", () => {
  const { model, hello, of } = world();
  hello();
  const usage = (/** @type {number[]} */ listens) => model.message(10, { type: "usage", cpu: 1, memory: 1, processes: 1, listens });
  for (const ports of [[], [5500], [5500], [5500, 8080], [1, 2, 3, 4, 6, 7]]) usage(ports);
  assert.deepEqual(of("serves").map(([, , port]) => port), [5500, 8080, 1, 2, 3]);
});

test("what it looked for in a home of its own is no refusal to tell of", () => {
  const { model, hello, deny, of } = world();
  hello();
  const rule = "yours is as it was: it has a home folder of its own";
  for (const kind of ["read", "write"]) model.message(10, deny({ kind, rule }));
  assert.deepEqual(of("refusal").map(([, , refusal, first]) => [refusal.kind, first.ofResource]), [["read", false], ["write", true]]);
  assert.equal(model.unseen, 0);
});

test("a key that it looked for there is told of: few have a reason to try", () => {
  const { model, hello, deny, of } = world();
  hello();
  const rule = "yours is blocked, and was not shown: it has a home folder of its own";
  for (const count of [1, 2]) model.message(10, deny({ resource: "/home/me/.ssh/id_rsa", rule, count }));
  assert.deepEqual(of("refusal").map(([, , , { ofBlocklist }]) => ofBlocklist), [true, false]);
});

test("the load is a share of a core over the time between reports", () => {
  const { clock, model, hello } = world();
  const compartment = hello();
  const report = (cpu) => model.message(10, { type: "usage", cpu, memory: 1, processes: 1 });
  report(10);
  assert.equal(compartment.cpuPercent, undefined);
  clock.now += 2000;
  report(10.5);
  assert.equal(compartment.cpuPercent, 25);
  for (let i = 0; i < 100; i += 1) {
    clock.now += 2000;
    report(11 + i);
  }
  assert.equal(compartment.load.length, 60);
});

test("ends: unexpected ones are told, counted over five minutes, and stay in sight", () => {
  const { clock, model, hello, of } = world();
  for (let i = 0; i < 3; i += 1) {
    hello({ pid: 20 + i, run: `r${i}` });
    model.message(20 + i, { type: "state", state: "ended", outcome: "ended by SIGKILL" });
    model.lost(20 + i);
    model.gone(20 + i);
    clock.now += 60_000;
  }
  assert.deepEqual(of("ended").map(([, pid, times]) => [pid, times]), [[20, 1], [21, 2], [22, 3]]);
  assert.deepEqual(model.compartments.map((one) => one.pid), [22], "only the last, since each has a successor");
  clock.now += 600_000;
  hello({ pid: 30, run: "r9", state: "starting", extensions: [] });
  assert.equal(model.compartments.length, 2, "whose successor it is, is not known yet");
  hello({ pid: 30, run: "r9" });
  assert.deepEqual(model.compartments.map((one) => one.pid), [30]);
  model.message(30, { type: "state", state: "ended", outcome: "ended by SIGSEGV" });
  assert.equal(of("ended").at(-1)[2], 1);
});

test("ends that were asked for, or that the host expects, are quiet", () => {
  const { model, hello, of, sent } = world();
  model.end(hello());
  assert.deepEqual(sent.at(-1), [10, { type: "end" }]);
  model.message(10, { type: "state", state: "ended", outcome: "ended by SIGKILL" });
  model.gone(10);
  hello({ pid: 11, run: "r2" });
  model.message(11, { type: "state", state: "ended", outcome: "the window was closed", expected: true });
  model.gone(11);
  assert.equal(of("ended").length, 0);
  assert.equal(model.compartments.length, 0);
});

test("a host that does not respond is told once in a spell, and only while it is at work", () => {
  const { model, hello, of } = world();
  const compartment = hello();
  const pulse = (responds) => model.message(10, { type: "pulse", responds });
  pulse(true);
  pulse(false);
  pulse(false);
  assert.equal(compartment.stuck, true);
  model.lost(10);
  assert.equal(compartment.stuck, false, "who knows");
  hello();
  pulse(false);  // as it is told to everybody who connects
  assert.equal(compartment.stuck, true);
  assert.equal(of("stuck").length, 1);
  pulse(true);
  assert.equal(compartment.stuck, false);
  pulse(false);
  assert.equal(of("stuck").length, 2);
  model.message(10, { type: "state", state: "ended", outcome: "ended on request" });
  assert.equal(compartment.stuck, false);
});

test("a review is decided by the digest that was seen", () => {
  const { model, hello, sent } = world();
  const compartment = hello({ state: "review" });
  const review = { type: "review", digest: "d1", reason: "new", extensions: [], usual: "", notable: [], permits: [], cannot: [], unusual: [], widened: [] };
  model.message(10, review);
  assert.equal(model.reviews.length, 1);
  model.message(10, { ...review, digest: "d2" });
  assert.equal(model.decide(compartment, "d1", true), false);
  assert.equal(model.decide(compartment, "d2", false), true);
  assert.equal(model.reviews.length, 0);
  model.reconsider(compartment);
  assert.equal(model.decide(compartment, "d2", true), true);
  assert.equal(model.decide(compartment, "d2", true), false);
  assert.deepEqual(sent.map(([, line]) => [line.type, line.digest]), [["reject", "d2"], ["approve", "d2"]]);
});

test("only the model's own compartments are compartments", () => {
  const { model, hello } = world();
  const compartment = hello();
  assert.equal(model.has(compartment), true);
  assert.equal(model.has({ ...compartment }), false);
  assert.equal(model.has(JSON.parse(JSON.stringify({ pid: 10 }))), false);
  model.gone(10);
  assert.equal(model.has(compartment), false);
});
