// What the asynchronous face gives of things that are more than data and methods: nothing of them vanishes in silence.
import test, { after } from 'node:test';
import assert from 'node:assert/strict';
import { Sandbox, GuestError, TimeLimitError } from '../index.mjs';

const sandbox = await Sandbox.create({ modules: {
  plugin: 'export default class Plugin { #n; constructor(n) { if (n < 0) throw new RangeError("n"); this.#n = n; this.kind = "plugin"; } get total() { return this.#n * 2; } set total(n) { this.#n = n; } add(n) { this.#n += n; return this.#n; } }',
} });
after(() => sandbox.dispose());
const all = async (items) => {
  const list = [];
  for await (const item of items) list.push(item);
  return list;
};

test('a class is a constructor, whose objects come by promises', async () => {
  const { default: Plugin } = await sandbox.import('plugin');
  const plugin = await new Plugin(20);
  assert.deepEqual([plugin.kind, await plugin.total, await plugin.add(1), await plugin.total], ['plugin', 40, 21, 42]);
  await assert.rejects(new Plugin(-1), (error) => error instanceof RangeError && error instanceof GuestError);
  await assert.rejects(Plugin(1), TypeError);
  const F = await sandbox.run('(function (x) { if (new.target === undefined) return x; this.x = x; })');
  assert.deepEqual([await F(1), await new F(2)], [1, { x: 2 }]);
  // Handed back it is the original.
  assert.equal(await sandbox.run('globalThis.isClass = (C, o) => o instanceof C; 1'), 1);
  assert.equal(await (await sandbox.run('isClass'))(Plugin, plugin), true);
});

test('accessors are read when they are asked for, and by nobody else', async () => {
  const object = await sandbox.run(`globalThis.reads = 0; ({ f() {}, n: 1, get own() { reads++; return { a: 1 }; }, set onlySet(x) {}, get fails() { throw new RangeError('x'); }, get then() { return 1; },
    __proto__: { get inherited() { reads++; return () => 7; } } })`);
  assert.equal(JSON.stringify(object), '{"n":1}');
  assert.deepEqual(Object.keys({ ...object }).sort(), ['f', 'n']);
  assert.equal(await sandbox.run('reads'), 0);
  assert.deepEqual(await object.own, { a: 1 });
  assert.equal(await (await object.inherited)(), 7);
  await assert.rejects(object.fails, RangeError);
  assert.equal(object.then, undefined);
  assert.equal(await sandbox.run('reads'), 2);
  // A rejection that nobody waits for is not the end of the host.
  void object.fails;
  await sandbox.run('1');
});

test('generators and what else is gone through', async () => {
  assert.deepEqual(await all(await sandbox.run('(function* () { yield 1; yield { a: 2 }; yield [3]; })()')), [1, { a: 2 }, [3]]);
  assert.deepEqual(await all(await sandbox.run('(async function* () { yield 1; await 0; yield 2; })()')), [1, 2]);
  assert.deepEqual(await all(await sandbox.run('new Map([[1, 2]]).entries()')), [[1, 2]]);
  assert.deepEqual(await all(await sandbox.run('({ *[Symbol.iterator]() { yield 5; } })')), [5]);
  assert.deepEqual(await all(await sandbox.run('new (class { async *[Symbol.asyncIterator]() { yield 6; } [Symbol.iterator]() { throw 1 } })()')), [6]);
  const steps = await sandbox.run('(function* () { try { const x = yield 1; yield x * 2; } finally { globalThis.ended = true; } })()');
  assert.deepEqual([await steps.next(), await steps.next(21)], [{ value: 1, done: false }, { value: 42, done: false }]);
  assert.deepEqual(await steps.return(5), { value: 5, done: true });
  assert.equal(await sandbox.run('ended'), true);
  for await (const one of await sandbox.run('ended = false; (function* () { try { for (;;) yield 1; } finally { ended = true; } })()')) {
    assert.equal(one, 1);
    break;
  }
  assert.equal(await sandbox.run('ended'), true);
});

test('an iterator that throws or does not end', async () => {
  await assert.rejects(all(await sandbox.run('(function* () { yield 1; throw new RangeError("x"); })()')), RangeError);
  const endless = await Sandbox.create({ time: '50 ms' });
  await assert.rejects(all(await endless.run('(function* () { yield 1; for (;;); })()')), TimeLimitError);
  assert.equal(await endless.run('1'), 1);
  await endless.dispose();
});

test("the language's own objects have their methods", async () => {
  assert.equal(await (await sandbox.run('new Intl.NumberFormat("en", { minimumFractionDigits: 2 })')).formatToParts(1).then((parts) => parts.map((part) => part.value).join('')), '1.00');
  const key = await sandbox.run('globalThis.key = {}; globalThis.weak = new WeakMap([[key, 5]]); (() => key)');
  assert.equal(typeof key, 'function');
  assert.equal(await (await sandbox.run('({ has: () => weak.has(key), weak })')).has(), true);
  assert.deepEqual(Object.keys(await sandbox.run('weak')).sort(), ['delete', 'get', 'has', 'set']);
});

test('a Proxy is refused by name', async () => {
  for (const source of ['new Proxy({}, {})', 'new Proxy([], {})', '({ a: [new Proxy({}, {})] })', 'Promise.resolve(1).then(() => new Proxy({}, {}))'])
    await assert.rejects(sandbox.run(source).then((value) => { throw new Error(`came as ${JSON.stringify(value)}`); }), (error) => /Proxy has no copy for the asynchronous face|cannot be copied/.test(String(error?.message ?? error)), source);
  assert.equal(await (await sandbox.run('new Proxy(() => 5, {})'))(), 5);
  assert.equal(sandbox.runSync('new Proxy({ a: 1 }, {})').a, 1);
});
