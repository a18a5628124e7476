import assert from "node:assert/strict";
import test from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import modelModule from "./model.js";
import noticesModule from "./notices.js";
import promptsModule from "./prompts.js";

const { Model } = modelModule;
const { Prompts } = promptsModule;
const { Notices } = noticesModule;

/** A window whose messages stay until the test chooses a button, by its title; undefined closes. */
class FakeWindow {
  messages = [];
  picks = [];
  #show(kind, message, items) {
    const options = items[0] && typeof items[0] === "object" && !("title" in items[0]) ? items.shift() : {};
    return new Promise((resolve) => {
      const shown = {
        kind, message, options, titles: items.map((item) => item.title ?? item),
        choose: (title) => {
          this.messages.splice(this.messages.indexOf(shown), 1);
          resolve(items.find((item) => (item.title ?? item) === title));
        },
      };
      this.messages.push(shown);
    });
  }
  showWarningMessage = (message, ...items) => this.#show("warning", message, items);
  showInformationMessage = (message, ...items) => this.#show("info", message, items);
  showErrorMessage = (message, ...items) => this.#show("error", message, items);
  showQuickPick = (rows, options) => Promise.resolve(this.picks.shift()?.(rows, options));
}

// What waits for nothing but its turn has had it then: timers of one length fire in the order in which they were set,
// on a busy machine too.
const turn = async () => {
  for (let i = 0; i < 5; i++) await wait(1);
};

function world({ pids = [10] } = {}) {
  const clock = { now: 1_000_000 };
  const model = new Model(() => clock.now);
  const window = new FakeWindow();
  const prompts = new Prompts(model, /** @type {any} */ (window), { home: "/home/me", gather: 0, pause: 0, now: () => clock.now });
  const sent = [];
  for (const pid of pids)
    model.hello(
      { type: "hello", protocol: 1, run: `r${pid}`, pid, trace: false, state: "running", since: 0, workspace: [],
        extensions: [{ id: `a.e${pid}`, name: `E${pid}`, version: "1", folder: "" }], permits: [], cannot: [], grants: [] },
      (line) => sent.push(line.type === "answer" ? [pid, line.id, line.answer] : [pid, line.type]) > 0,
    );
  const ask = (id, pid = 10, rest = {}) =>
    model.message(pid, { type: "question", id, kind: "read", resource: `/q${id}`, extension: "", program: "", process: 0, detail: "", about: "", later: false, ...rest });
  return { clock, model, window, prompts, sent, ask };
}

/** As a person does: the two answers that most need stand in the notification, the others behind "More…". */
async function choose(window, title, message = window.messages[0]) {
  if (["Once", "This Session", "Never"].includes(title) && !message.titles.includes(title)) {
    message.choose("More…");
    await turn();
    message = window.messages.find(({ options }) => options?.modal);
  }
  message.choose(title);
}

test("one notification at a time; the others are counted; each answer goes to its question", async () => {
  const { window, sent, ask } = world();
  for (const id of [1, 2, 3, 4, 5]) ask(id);
  for (const [title, answer, id] of [["Once", "once", 1], ["This Session", "run", 2], ["Always", "always", 3], ["Never", "never", 4], [undefined, "no", 5]]) {
    await turn();
    assert.equal(window.messages.length, 1);
    assert.match(window.messages[0].message, new RegExp(`/q${id}\\b`));
    assert.equal(/ more question/.test(window.messages[0].message), id !== 5);
    await choose(window, title);
    await turn();
    assert.deepEqual(sent.at(-1), [10, id, answer]);
  }
  assert.equal(window.messages.length, 0);
});

test("the next question does not come under the second click of a double click", async () => {
  const { model, window, ask } = world();
  const slow = new FakeWindow();
  new Prompts(model, /** @type {any} */ (slow), { gather: 0, pause: 60_000 });
  ask(1);
  ask(2);
  await turn();
  await choose(slow, "Once");
  await turn();
  assert.equal(slow.messages.length, 0);
  assert.equal(window.messages.length, 1);
});

test("details take the answer; closing them and Enter refuse", async () => {
  const { window, sent, ask } = world();
  ask(1);
  await turn();
  window.messages[0].choose("More…");
  await turn();
  assert.equal(window.messages[0].options.modal, true);
  window.messages[0].choose("Always");
  await turn();
  assert.deepEqual(sent, [[10, 1, "always"]]);
  ask(2);
  await turn();
  window.messages[0].choose("More…");
  await turn();
  // VS Code gives the focus to the first button, and one of its own, "Cancel", to dialogs without a close affordance.
  const [{ titles }] = window.messages;
  assert.deepEqual(titles, ["No", "Once", "This Session", "Always", "Never"]);
  window.messages[0].choose(titles[0]);
  await turn();
  assert.deepEqual(sent.at(-1), [10, 2, "no"]);
  ask(3);
  await turn();
  window.messages[0].choose("More…");
  await turn();
  window.messages[0].choose(undefined);
  await turn();
  assert.deepEqual(sent.at(-1), [10, 3, "no"]);
});

test("a notification whose question was withdrawn answers nothing, and says so", async () => {
  const { model, window, sent, ask } = world();
  ask(1);
  await turn();
  const [stale] = window.messages;
  model.message(10, { type: "withdrawn", id: 1 });
  ask(2);
  await turn();
  assert.equal(window.messages.length, 2, "the next may be asked beside it");
  stale.choose("Always");
  await turn();
  assert.deepEqual(sent, []);
  assert.ok(window.messages.some(({ kind, message }) => kind === "info" && /no longer open/.test(message)));
});

test("withdrawn notifications do not pile up", async () => {
  const { model, window, ask } = world();
  for (let id = 1; id <= 10; id += 1) {
    ask(id);
    await turn();
    model.message(10, { type: "withdrawn", id });
  }
  assert.equal(window.messages.length, 2);
});

test("a host that asks without end gets one notification for all", async () => {
  const { model, window, sent, ask } = world();
  for (let id = 1; id <= 30; id += 1) ask(id);
  for (let i = 0; i < 5; i += 1) {
    await turn();
    await choose(window, "Once");
  }
  await turn();
  assert.equal(window.messages.length, 1);
  assert.match(window.messages[0].message, /keeps asking: 25 questions/);
  window.messages[0].choose("Refuse All");
  await turn();
  assert.equal(model.questions.length, 0);
  assert.equal(sent.filter(([, , answer]) => answer === "no").length, 25);
});

test("no more than three on the screen; a closed one makes room for another host", async () => {
  const { window, ask } = world({ pids: [10, 11, 12, 13] });
  for (const pid of [10, 11, 12, 13]) ask(1, pid);
  await turn();
  assert.equal(window.messages.length, 3);
  await choose(window, "Once");
  await turn();
  assert.equal(window.messages.length, 3);
  assert.ok(window.messages.some(({ message }) => message.startsWith("E13")));
});

test("notifications without effect take no other's place: those of withdrawn questions, and of compartments that are gone", async () => {
  const { model, window, ask } = world({ pids: [10, 11, 12, 13, 14, 15] });
  for (const pid of [10, 11, 12]) ask(1, pid);
  await turn();
  assert.equal(window.messages.length, 3);
  model.message(10, { type: "withdrawn", id: 1 });
  ask(1, 13);
  await turn();
  assert.match(window.messages[3].message, /E13/);
  model.gone(11);
  ask(1, 14);
  await turn();
  assert.match(window.messages[4].message, /E14/);
  ask(1, 15);
  await turn();
  assert.equal(window.messages.length, 5, "three that can answer are as many as ever");
  model.message(12, { type: "withdrawn", id: 1 });
  await turn();
  assert.match(window.messages[5]?.message, /E15/, "who waits is shown without asking again");
});

test("a compartment that ends makes room for the next question by itself", async () => {
  const { model, window, ask } = world({ pids: [10, 11, 12, 13] });
  for (const pid of [10, 11, 12, 13]) ask(1, pid);
  await turn();
  assert.equal(window.messages.length, 3);
  model.gone(11);
  await turn();
  assert.match(window.messages[3]?.message, /E13/);
});

test("the list answers many at once", async () => {
  const { window, prompts, sent, ask, model } = world({ pids: [10, 11] });
  ask(1);
  ask(2);
  ask(3, 11);
  window.picks = [
    (rows) => rows.slice(1),
    (answers) => {
      assert.equal(answers[0].label, "No", "which Enter picks");
      model.message(11, { type: "withdrawn", id: 3 });
      return answers.find(({ label }) => label === "This Session");
    },
  ];
  await prompts.list();
  assert.deepEqual(sent, [[10, 2, "run"]]);
  assert.ok(window.messages.some(({ message }) => /1 question was no longer open/.test(message)));
});

test("questions of one cause are one; what was not shown is not answered by it", async () => {
  const { window, sent, ask } = world();
  const files = ["/home/me/notes", "/home/me/notes/a.txt", "/home/me/notes/b.txt"];
  files.forEach((resource, i) => ask(i + 1, 10, { resource }));
  ask(4, 10, { resource: "/home/me/.netrc" });
  ask(5, 10, { kind: "lookup", resource: "api.example.org" });
  ask(6, 10, { kind: "connect", resource: "api.example.org:443" });
  ask(7, 10, { kind: "connect", resource: "api.example.org.evil:443" });
  await turn();
  assert.equal(window.messages.length, 1);
  assert.match(window.messages[0].message, /wants to read 3 files in ~\/notes: notes, a\.txt, b\.txt\. \(and 4 more questions\)$/);
  ask(8, 10, { resource: "/home/me/notes/later.txt" });
  await choose(window, "This Session");
  await turn();
  assert.deepEqual(sent, [[10, 1, "run"], [10, 2, "run"], [10, 3, "run"]]);
  assert.match(window.messages[0].message, /\.netrc/);
  await choose(window, "Never");
  await turn();
  assert.match(window.messages[0].message, /wants to connect to api\.example\.org\. \(/);
  await choose(window, "Once");
  await turn();
  assert.deepEqual(sent.slice(3), [[10, 4, "never"], [10, 5, "once"], [10, 6, "once"]]);
  assert.match(window.messages[0].message, /api\.example\.org\.evil:443/);
});

test("a flood of one cause is listed as far as it can be, and answered no further", async () => {
  const { window, sent, ask } = world();
  for (let id = 1; id <= 30; id += 1) ask(id, 10, { resource: `/home/me/notes/${id}.txt` });
  await turn();
  assert.match(window.messages[0].message, /20 files in ~\/notes: 1\.txt, 2\.txt, 3\.txt, 4\.txt and 16 more\. \(and 10 more questions\)/);
  window.messages[0].choose("More…");
  await turn();
  assert.ok(window.messages[0].options.detail.includes("/home/me/notes/20.txt") && !window.messages[0].options.detail.includes("/home/me/notes/21.txt"));
  await choose(window, "This Session");
  await turn();
  assert.equal(sent.length, 20);
});

test("nobody says yes to what is only counted, nor to what lies anywhere", async () => {
  const { window, sent, ask } = world();
  for (const [i, name] of ["a.md", "b.md", "c.md", "deep/er/d.md", "tax/2025.pdf"].entries()) ask(i + 1, 10, { resource: `/home/me/docs/${name}` });
  await turn();
  const [{ message, titles }] = window.messages;
  assert.match(message, /wants to read 5 files in ~\/docs: a\.md, b\.md, c\.md, deep\/er\/d\.md and 1 more\.$/);
  assert.deepEqual(titles, ["No", "More…"]);
  window.messages[0].choose("More…");
  await turn();
  assert.ok(window.messages[0].options.detail.includes("/home/me/docs/tax/2025.pdf") && window.messages[0].titles.includes("Once"));
  window.messages[0].choose("No");
  await turn();
  assert.equal(sent.length, 5);
  // A file beside the home folder has not the cause of all that is in it.
  const above = "/home";
  ask(6, 10, { resource: `${above}/notes` });
  ask(7, 10, { resource: "/home/me/diary/1" });
  await turn();
  assert.match(window.messages[0].message, /wants to read \/home.notes\. \(and 1 more question\)$/);
});

test("a late once is for one try: the next compartment has it where a person restarted the other for it", async () => {
  const { model, window, sent, ask } = world();
  ask(1, 10, { later: true });
  await turn();
  await choose(window, "Once");
  await turn();
  assert.deepEqual(sent, [[10, 1, "once"]]);
  model.gone(10);
  model.hello(
    { type: "hello", protocol: 1, run: "r20", pid: 20, trace: false, state: "running", since: 0, workspace: [],
      extensions: [{ id: "a.e10", name: "E10", version: "1", folder: "" }], permits: [], cannot: [], grants: [] },
    (line) => sent.push([20, line.id, line.answer]) > 0);
  ask(1, 20, { resource: "/q1" });
  assert.equal(sent.length, 1, "it ended by itself, and had tried again before");
});

test("who went on without an answer is offered a new start once all is answered, which asks nothing again", async () => {
  const { model, window, sent, ask } = world();
  ask(1);
  ask(2);
  model.message(10, { type: "later", id: 2 });
  await turn();
  model.message(10, { type: "later", id: 1 });
  await choose(window, "Once");
  await turn();
  assert.deepEqual(sent, [[10, 1, "once"]]);
  const [second] = window.messages;
  assert.match(second.message, /\/q2\. It went on without an answer\./);
  await choose(window, "This Session", second);
  await turn();
  const offer = window.messages.find(({ titles }) => titles.includes("Restart Extension"));
  offer.choose("Restart Extension");
  await turn();
  assert.deepEqual(sent.slice(1), [[10, 2, "run"], [10, "end"]]);
  const next = (version, pid) => model.hello(
    { type: "hello", protocol: 1, run: `r${pid}`, pid, trace: false, state: "running", since: 0, workspace: [],
      extensions: [{ id: "a.e10", name: "E10", version, folder: "" }], permits: [], cannot: [], grants: [] },
    (line) => sent.push([pid, line.id, line.answer]) > 0);
  next("1", 20);
  ask(1, 20, { resource: "/q2" });
  ask(2, 20, { resource: "/q1" });
  ask(3, 20, { resource: "/q2", kind: "write" });
  ask(4, 20, { resource: "/q1" });
  ask(5, 20, { resource: "/q2", about: "[1]" });
  ask(6, 20, { resource: "/q2" });
  assert.deepEqual(sent.slice(3), [[20, 1, "run"], [20, 2, "once"], [20, 6, "run"]]);
  next("2", 21);
  ask(1, 21, { resource: "/q2" });
  assert.equal(sent.length, 6, "another version is another program");
});

test("a late no, and a late never, offer nothing", async () => {
  const { window, sent, ask } = world();
  ask(1, 10, { later: true });
  await turn();
  window.messages[0].choose(undefined);
  await turn();
  ask(2, 10, { later: true });
  await turn();
  await choose(window, "Never");
  await turn();
  assert.deepEqual(sent, [[10, 1, "no"], [10, 2, "never"]]);
  assert.equal(window.messages.length, 0);
});

/** Notices with a clock of their own. */
function notices({ wanted = "firstOfExtension" } = {}) {
  const one = world({ pids: [10, 11] });
  const { model, window, clock } = one;
  const [shown, waiting] = [[], []];
  const settings = { wanted };
  new Notices(model, /** @type {any} */ (window), {
    refusals: () => settings.wanted, ends: () => true, show: ({ pid }) => shown.push(pid), journal: ({ pid }) => shown.push(-pid),
    home: "/home/me", now: () => clock.now, later: (act) => waiting.push(act),
  });
  const deny = (resource, { pid = 10, rule = "", kind = "read", ...rest } = {}) =>
    model.message(pid, { type: "decision", time: 1, kind, resource, verdict: "deny", rule, program: "", count: 1, enforced: true, ...rest });
  const later = async () => {
    for (const act of waiting.splice(0)) act();
    await turn();
  };
  const texts = () => window.messages.map(({ message }) => message);
  return { ...one, shown, settings, deny, later, texts };
}
const BLOCKED = { rule: "built-in blocklist: ${home}/.ssh" };

test("notices: the first refusal, ends, complaints; by the settings", async () => {
  const { model, window, shown, settings, deny, texts } = notices();
  deny("/a");
  deny("/b");
  await turn();
  assert.deepEqual(texts(), ["E10 (a.e10) tried to read /a. Refused."]);
  window.messages[0].choose("Show");
  await turn();
  assert.deepEqual(shown, [10]);
  deny("/c");
  await turn();
  assert.equal(window.messages.length, 0);
  settings.wanted = "firstOfResource";
  deny("/d");
  await turn();
  window.messages[0].choose(undefined);
  await turn();
  settings.wanted = "never";
  deny("/e", { pid: 11 });
  deny("/f", { pid: 11, ...BLOCKED });
  await turn();
  assert.equal(window.messages.length, 0);
  model.message(10, { type: "state", state: "ended", outcome: "ended by SIGKILL" });
  model.message(11, { type: "error", message: "no\u202e" });
  await turn();
  assert.deepEqual(texts(), ["E10 (a.e10) ended by SIGKILL. Its compartment starts again.", "E11 (a.e11): no\\u{202e}"]);
});

test("notices: who does not respond is restarted from the message, as long as that is so", async () => {
  const { model, window, clock, sent, texts } = notices();
  const pulse = (responds, pid = 10) => model.message(pid, { type: "pulse", responds });
  const chosen = async (title) => {
    window.messages.at(-1).choose(title);
    await turn();
  };
  pulse(false);
  await turn();
  assert.deepEqual(texts(), ["E10 (a.e10) did not respond for 10 seconds, as in an endless loop or at a breakpoint. Other extensions are not affected."]);
  pulse(true);
  await chosen("Restart");
  assert.deepEqual(texts(), ["E10 (a.e10) responds again, or has ended. It was not restarted."]);
  assert.deepEqual(sent, []);
  await chosen(undefined);
  // Messages that nobody closes do not pile up, and the one that stands speaks for the next spell.
  for (let spell = 0; spell < 9; spell += 1) {
    pulse(false);
    await turn();
    clock.now += 60_000;
    if (spell < 8) pulse(true);
  }
  assert.equal(texts().length, 1);
  await chosen("Restart");
  assert.deepEqual(sent, [[10, "end"]]);
  assert.deepEqual(texts(), []);
  // Nor do those that somebody closes at once come again at once.
  for (let spell = 0; spell < 5; spell += 1) {
    pulse(false, 11);
    await turn();
    assert.equal(texts().length, 1);
    await chosen(undefined);
    pulse(true, 11);
    clock.now += 10_000;
    pulse(false, 11);
    await turn();
    assert.equal(texts().length, 0, "too soon");
    pulse(true, 11);
    clock.now += 30_000;
  }
});

test("notices: what no extension gets is told each time, whatever was told or is still open", async () => {
  const { deny, texts } = notices();
  deny("/tmp/vscode.lock", { kind: "write" });
  deny("/home/me/.ssh/id_rsa", { ...BLOCKED, program: "/usr/bin/python3" });
  deny("/home/me/.ssh/id_rsa", { ...BLOCKED, program: "/usr/bin/python3", count: 2 });
  deny("/home/me/.ssh", { ...BLOCKED, kind: "read-status" });
  deny("/home/me/.ssh/traced", { ...BLOCKED, enforced: false });
  deny("/x", { pid: 11 });
  await turn();
  assert.deepEqual(texts(), [
    "E10 (a.e10) tried to write /tmp/vscode.lock. Refused.",
    "E10 (a.e10) tried to read ~/.ssh/id_rsa, by running python3. Refused. No extension may do this, and few have a reason to try.",
    "E11 (a.e11) tried to read /x. Refused.",
  ]);
});

test("notices: a flood is told together, and hides neither others nor what comes later", async () => {
  const { window, clock, deny, later, texts } = notices();
  for (let i = 0; i < 600; i += 1) deny(`/junk${i}`); // as many as the model remembers, and more
  for (let i = 0; i < 50; i += 1) deny(`/home/me/.ssh/${i}`, BLOCKED);
  deny("/home/me/.aws", { pid: 11, ...BLOCKED });
  await turn();
  assert.equal(texts().length, 4, "three of the one, and the other's");
  assert.match(texts()[3], /^E11 \(a\.e11\) tried to read ~\/\.aws/);
  await later();
  assert.equal(texts().at(-1), "E10 (a.e10) was refused 48 more things. The last: to read ~/.ssh/49.");
  for (let i = 50; i < 700; i += 1) deny(`/home/me/.ssh/${i}`, BLOCKED);
  await later();
  assert.equal(texts().length, 5, "the message that stands speaks for them");
  window.messages.at(-1).choose(undefined);
  await turn();
  await later();
  assert.equal(texts().at(-1), "E10 (a.e10) was refused 650 more things. The last: to read ~/.ssh/699.");
  window.messages.at(-1).choose(undefined);
  await turn();
  clock.now += 61_000;
  deny("/home/me/.gnupg", BLOCKED);
  await turn();
  assert.match(texts().at(-1), /^E10 \(a\.e10\) tried to read ~\/\.gnupg\. Refused\. No extension/);
});

test("the list says by its id whose a question is: a name may be anybody's", async () => {
  const { model, window, prompts, ask } = world({ pids: [10, 11] });
  Object.assign(model.get(11).extensions[0], { id: "evil.x", name: "E10" });
  ask(1);
  ask(2, 11);
  let shown = [];
  window.picks.push((rows) => void (shown = rows));
  await prompts.list();
  assert.deepEqual(shown.map(({ description }) => description), ["E10 (a.e10)", "E10 (evil.x)"]);
});
