// What console.log and util.inspect show of a live stand-in, by which no guest's code runs.
import test, { after } from 'node:test';
import assert from 'node:assert/strict';
import { format, inspect } from 'node:util';
import { createRequire } from 'node:module';
import { Sandbox } from '../index.mjs';

const require = createRequire(import.meta.url);
const { Drawing } = require('../lib/look.cjs');
const sandbox = await Sandbox.create({ memory: '1 GiB', time: '30 s' });
after(() => sandbox.dispose());
const run = (source) => sandbox.runSync(source);

test('content, as of an object of ours', () => {
  assert.equal(inspect(run('({ a: 1, f() {}, list: [1, , "x"], deep: { b: { c: { d: 1 } } } })')), "[guest] {\n  a: 1,\n  f: [Function: f],\n  list: [ 1, <1 empty item>, 'x' ],\n  deep: { b: { c: [Object] } }\n}");
  assert.equal(inspect(run('new (class Point { constructor() { this.x = 1; this.self = this; } })')), '[guest] <ref *1> Point { x: 1, self: [Circular *1] }');
  assert.equal(inspect([run('[1, 2]'), run('(function foo() {})'), run('(class Foo {})')]), '[ [guest] [ 1, 2 ], [guest] [Function: foo], [guest] [class Foo] ]');
  assert.equal(inspect({ part: run('({ a: { b: 1 } })') }, { depth: 0 }), '{ part: [guest] [Object] }');
  assert.equal(inspect(run('({ m: new Map([[1, new Set([2])]]), d: new Date(0), p: Promise.resolve(), b: 5n, s: Symbol("q"), n: null, u: undefined })'), { breakLength: Infinity }),
    '[guest] { m: Map(1) { 1 => Set(1) { 2 } }, d: 1970-01-01T00:00:00.000Z, p: Promise {}, b: 5n, s: Symbol(q), n: null, u: undefined }');
  assert.equal(inspect(run('Object.create(null)')), '[guest] [Object: null prototype] {}');
  assert.equal(format('%s', run('({ a: 1 })')), '[guest] { a: 1 }');
});

test('nothing of a guest runs for it', async () => {
  const object = run(`globalThis.ran = 0; const loop = () => { ran++; for (;;); };
    ({ get a() { loop(); }, p: new Proxy({}, { ownKeys: loop, get: loop, getPrototypeOf: loop, getOwnPropertyDescriptor: loop }), toString: loop, toJSON: loop, inspect: loop,
      [Symbol.for('nodejs.util.inspect.custom')]: loop, [Symbol.toStringTag]: 'x', c: Object.create({ get constructor() { loop(); } }), child: Object.create(new Proxy({}, { getOwnPropertyDescriptor: loop, getPrototypeOf: loop })) })`);
  assert.match(inspect(object), /a: \[Getter\],\s+p: Proxy \{\}/);
  assert.equal(await sandbox.run('ran'), 0);
});

test('an assertion says what is to be compared', () => {
  const object = run('({ a: 1 })');
  assert.throws(() => assert.deepStrictEqual(object, { a: 1 }), /compare sandbox\.copySync\(it\)/);
  assert.deepStrictEqual(sandbox.copySync(object), { a: 1 });
  assert.deepStrictEqual(structuredClone(sandbox.copySync(object)), { a: 1 });
});

test('it is bounded', () => {
  for (const source of ['Array.from({ length: 1e6 }, (_, i) => ({ i }))', 'Object.fromEntries(Array.from({ length: 1e5 }, (_, i) => ["k" + i, "x".repeat(1e4)]))', '"x".repeat(1), ({ s: "x".repeat(1e6) })',
    'new Map(Array.from({ length: 1e5 }, (_, i) => [i, i])), ({ m: new Map(Array.from({ length: 1e5 }, (_, i) => [{ i }, "x".repeat(1000)])) })',
    'Array.from({ length: 90 }, () => Array.from({ length: 90 }, () => ({ a: {} })))'])
    assert.ok(inspect(run(`{ ${source} }`), { depth: Infinity, maxArrayLength: Infinity, maxStringLength: Infinity }).length < 300_000, source);
  assert.match(inspect(run('Array.from({ length: 1000 }, (_, i) => i)')), /900 more items/);
});

test('what a terminal obeys is spelled', () => {
  const shown = inspect(run('({ s: "\\u202e\\x1b[31m", ["\\u202e\\x1b"]: 1, f: { ["\\u202e\\x1b\\x9b"]() {} }, o: new ({ ["\\u202e\\x1b"]: class {} })["\\u202e\\x1b"]() })'));
  assert.doesNotMatch(shown, /[\u202e\x1b\x9b]/);
});

test('whoever does not answer is not waited for', async () => {
  const object = run('({ a: 1 })');
  const flight = sandbox.run('for (;;);', { time: '200 ms' }).catch((error) => error);
  assert.equal(inspect(object), '[guest, which does not answer]');
  await flight;
  assert.equal(inspect(object), '[guest] { a: 1 }');
  const gone = await Sandbox.create();
  const left = gone.runSync('({ a: 1 })');
  await gone.dispose();
  assert.equal(inspect(left), '[guest, which does not answer]');
  assert.doesNotMatch(inspect(object, { showProxy: true }), /LiveHandler|Endpoint/);
});

test('what a worker makes up is drawn or not, and nothing else', () => {
  for (const outline of [null, 1, [], [0], [1, -1], [1, 2 ** 32], [1, 1.5, [10, 99]], [2, 1], [6, 'x'], [7, 1, 2], [0, 'Object', 1, '__proto__', [0, 'Object', 0]], [0, '__proto__', 0], [99], [10, -1], [3, [3, [10, 0]]], [0, 'x', 'y', 5, [13]], [1, 1e9]])
    assert.equal(typeof inspect(Drawing.of(outline)), 'string');
  assert.equal(Object.getPrototypeOf(Drawing.of([0, 'Object', 1, '__proto__', [0, 'Object', 0]])), Object.prototype);
});
