// What an error keeps on its way, and where its stack says that it was.
import test, { after } from 'node:test';
import assert from 'node:assert/strict';
import { Sandbox, GuestError, TimeLimitError, OutputLimitError } from '../index.mjs';

class HostError extends Error {
  constructor(message, status) {
    super(message);
    Object.assign(this, { status, details: { field: 'name', list: [1, 2] }, request: { send() {} }, socket: new (class Socket {})() });
  }
  get secret() { return 'secret'; }
}
const fail = () => { throw new HostError('host!', 404); };
const sandbox = await Sandbox.create({ expose: { fail, failLater: async () => fail() } });
after(() => sandbox.dispose());
const source = `globalThis.HttpError = class HttpError extends TypeError {
  constructor(message, status) { super(message); Object.assign(this, { status, details: { field: 'name', list: [1, 2] }, code: 7, next() {} }); }
}
globalThis.f = () => { throw new HttpError('not found', 404); }; f`;
const thrown = async (task) => {
  try {
    await task();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
};

test("own data of a guest's error, and its class's name", async () => {
  const f = await sandbox.run(source);
  for (const task of [() => f(), () => sandbox.runSync('f()')]) {
    const error = await thrown(task);
    assert.ok(error instanceof TypeError && error instanceof GuestError);
    assert.deepEqual({ ...error }, { status: 404, details: { field: 'name', list: [1, 2] }, code: 7 });
    assert.equal(error.constructor.name, 'HttpError');
    assert.equal(error.name, 'TypeError');
    assert.equal(error.message, 'not found');
  }
});

test("own data of the host's error inside: data alone, no object that does something", async () => {
  const seen = (call) => `${call}.catch((e) => [e instanceof Error, e.constructor.name, Object.keys(e), e.status, e.details, e.secret, e.message])`;
  const expected = [true, 'HostError', ['status', 'details'], 404, { field: 'name', list: [1, 2] }, undefined, 'host!'];
  assert.deepEqual(await sandbox.run(seen('failLater()')), expected);
  assert.deepEqual(await sandbox.run(seen('(async () => fail())()')), expected);
});

test('what an error is by its class, its data do not change', async () => {
  const error = await thrown(() => sandbox.run(`throw Object.assign(new Error('x'), { toString: 1, constructor: 2, code: 'ERR_SANDBOX_TIME', ['__proto__']: 3 })`));
  assert.equal(String(error), 'Error: x');
  assert.equal(error.constructor, Error);
  assert.equal(error.code, undefined);
  const cyclic = await thrown(() => sandbox.run('const e = new Error("x"); e.self = e; e.cause = e; e.list = [e]; throw e'));
  assert.deepEqual(Object.keys(cyclic), []);
  const large = await thrown(() => sandbox.run('throw Object.assign(new Error("x"), { input: "x".repeat(1e6), n: 1 })'));
  assert.deepEqual({ ...large }, { n: 1 });
  // A name that a terminal would obey names no class.
  const named = await thrown(() => sandbox.run('const C = class extends Error {}; Object.defineProperty(C, "name", { value: "\\u202eC" }); throw new C()'));
  assert.equal(named.constructor, Error);
});

const ours = /js\/lib\/|node:internal/;
test("a guest's error shows where the guest was, and who called", async () => {
  await sandbox.run(source, { filename: 'plugin.js' });
  const f = await sandbox.run('f');
  async function asks() { await f(); }
  const error = await thrown(async function begins() { await asks(); });
  assert.match(error.stack, /^TypeError: not found\n.*plugin\.js:4:\d+.*\n(.*\n)*.*at asks .*errors\.test\.mjs.*\n.*at begins .*errors\.test\.mjs/);
  assert.doesNotMatch(error.stack, ours);
  const live = sandbox.runSync('f');
  const atOnce = await thrown(function asksAtOnce() { live(); });
  assert.match(atOnce.stack, /plugin\.js:4:\d+.*\n(.*\n)*.*asksAtOnce .*errors\.test\.mjs/);
  assert.doesNotMatch(atOnce.stack, ours);
});

test("limits' errors show who called, and nothing of ours", async () => {
  async function loops() { return await sandbox.run('for (;;);', { time: '20 ms' }); }
  const error = await thrown(loops);
  assert.ok(error instanceof TimeLimitError);
  assert.match(error.stack, /^TimeLimitError: [^\n]+\n(.*\n)*.*at loops .*errors\.test\.mjs/);
  assert.doesNotMatch(error.stack, ours);
  const atOnce = await thrown(function loopsAtOnce() { sandbox.runSync('for (;;);', { time: '20 ms' }); });
  assert.match(atOnce.stack, /at loopsAtOnce .*errors\.test\.mjs/);
  assert.doesNotMatch(atOnce.stack, ours);
});

test("a time limit's error shows where the guest's code stood", async () => {
  const source = "globalThis.sync ??= () => 1; function spins() { for (;;); }\nfunction begins() { spins(); }\n";
  async function asks(text, options) { return await sandbox.run(source + text, { filename: 'rule.js', time: '50 ms', ...options }); }
  const stood = /^TimeLimitError: [^\n]+\n    at spins \(rule\.js:1:\d+\)\n    at begins \(rule\.js:2:\d+\)\n    at <anonymous> \(rule\.js:3:1\)\n(.*\n)*.*at asks .*errors\.test\.mjs/;
  const error = await thrown(() => asks('begins()', {}));
  assert.match(error.stack, stood);
  assert.doesNotMatch(error.stack, ours);
  const atOnce = await thrown(function asks() { sandbox.runSync(`${source}begins()`, { filename: 'rule.js', time: '50 ms' }); });
  assert.match(atOnce.stack, stood);
  // Whatever it stands in: a sort, a regular expression, a call of the host's, a promise.
  await sandbox.set('sync', () => 1);
  for (const text of ['function spins2() { const list = Array.from({ length: 1e5 }, Math.random); for (;;) list.sort(() => 0.5 - Math.random()); } spins2()', 'function spins2() { /^(a+)+$/.test("a".repeat(40) + "b"); } spins2()',
    'function spins2() { for (;;) sync(); } spins2()', '(async function spins2() { await 0; for (;;); })()']) {
    const ended = await thrown(() => asks(text, {}));
    assert.ok(ended instanceof TimeLimitError && !ended.killed, text);
    assert.match(ended.stack, /at spins2 \(rule\.js:3/, text);
  }
  assert.equal(await sandbox.run('1 + 1'), 2);
});

test("a guest learns nothing of the host's places by them", async () => {
  await sandbox.set('again', () => sandbox.runSync('f()'));
  assert.doesNotMatch(await sandbox.run('try { again() } catch (e) { e.stack }'), /errors\.test/);
});

test('what is too large says which option it is about', async () => {
  const small = await Sandbox.create({ output: '64 KiB', tenant: 'small' });
  const isNamed = (error) => error instanceof OutputLimitError && /option output/.test(error.message);
  await assert.rejects(small.run('"x".repeat(1e5)'), isNamed);
  await assert.rejects(small.run(`"${'x'.repeat(1e5)}"`), isNamed);
  const sealed = await small.cache('1');
  await assert.rejects(small.run(`"${'x'.repeat(1e5)}"`, { cache: sealed }), isNamed);
  await small.dispose();
});
