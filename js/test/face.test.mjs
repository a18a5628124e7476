// What a user of the package writes first.
import test, { after } from 'node:test';
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { types } from 'node:util';
import {
  Sandbox, GuestError, TimeLimitError, DisposedError, StackLimitError, SandboxError, isGuest, byValue, live, readonly,
} from '../index.mjs';

const sandbox = await Sandbox.create({ expose: { add: (a, b) => a + b, data: { list: [1, 2, 3] } } });
after(() => sandbox.dispose());

test('values of a script', async () => {
  assert.equal(await sandbox.run('1 + 1'), 2);
  assert.equal(await sandbox.run('"ä€😀".repeat(300)'), 'ä€😀'.repeat(300));
  assert.equal(await sandbox.run('-(2n ** 70n)'), -(2n ** 70n));
  assert.ok(Object.is(await sandbox.run('-0'), -0));
  assert.deepEqual(await sandbox.run('({ a: [1, , "x"], b: null, d: new Date(5), m: new Map([[1, new Set([2])]]) })'),
    { a: [1, , 'x'], b: null, d: new Date(5), m: new Map([[1, new Set([2])]]) });
  const loop = await sandbox.run('const loop = { n: 1 }; loop.self = loop; loop');
  assert.equal(loop.self, loop);
  assert.deepEqual(Object.keys(await sandbox.run('JSON.parse(\'{"__proto__": 1}\')')), ['__proto__']);
});

test('what the issue shows', async () => {
  const price = await sandbox.run('(item) => item.net * (1 + item.tax)');
  assert.equal(await price({ net: 10, tax: 0.2 }), 12);
  assert.ok(isGuest(price));
});

test('exposed functions and data', async () => {
  assert.equal(await sandbox.run('add(2, 3) + data.list.length'), 8);
  await sandbox.set('later', async (x) => x * 2);
  assert.equal(await sandbox.run('later(21).then((x) => x + 1)'), 43);
});

test('an object with methods keeps its state where it is', async () => {
  const plugin = await sandbox.run('({ name: "p", n: 0, inc() { return ++this.n; } })');
  assert.equal(plugin.name, 'p');
  assert.equal(await plugin.inc(), 1);
  assert.equal(await plugin.inc(), 2);
  const isSame = await sandbox.run('globalThis.kept = { f() { return 1; } }; (x) => x === kept');
  assert.equal(await isSame(await sandbox.run('kept')), true);
});

test('errors of guests are of their own class, and say where they are from', async () => {
  const error = await sandbox.run('null.x', { filename: 'formula.js' }).catch((e) => e);
  assert.ok(error instanceof TypeError && error instanceof GuestError);
  assert.match(error.stack, /formula\.js:1:6/);
  assert.ok(!error.stack.includes('bulkhead:') && !error.stack.includes('/js/lib/'));
  assert.equal(await sandbox.run('throw 7').catch((e) => e), 7);
  const deep = await sandbox.run('(function f() { f(); })()').catch((e) => e);
  assert.ok(deep instanceof RangeError && deep instanceof StackLimitError);
  assert.ok(!(new TypeError() instanceof GuestError));
});

test('errors of the host, seen from inside', async () => {
  await sandbox.set('fail', () => { throw new RangeError('host!', { cause: new TypeError('why') }); });
  assert.deepEqual(
    await sandbox.run(`try { fail(); } catch (e) {
      [e instanceof RangeError, e.constructor === RangeError, e.message, e.cause instanceof TypeError, e.stack.includes('/')] }`),
    [true, true, 'host!', true, false]);
});

test('a script that does not end, and the next one', async () => {
  const begin = performance.now();
  await assert.rejects(sandbox.run('for (;;) {}', { time: '50 ms' }), TimeLimitError);
  assert.ok(performance.now() - begin < 3000);
  assert.equal(await sandbox.run('2 + 2'), 4);
});

test('the synchronous face is live', () => {
  const o = sandbox.runSync('globalThis.o = { x: 1, self() { return this === o; } }; o');
  assert.equal(o.self(), true);
  assert.equal(o, sandbox.runSync('o'));
  o.y = 5;
  assert.equal(sandbox.runSync('o.y'), 5);
  assert.deepEqual(Object.keys(o), ['x', 'self', 'y']);
  assert.deepEqual(sandbox.copySync(sandbox.runSync('({ a: [1, { b: 2 }] })')), { a: [1, { b: 2 }] });
  assert.equal(sandbox.callSync(sandbox.runSync('(a, b) => a + b'), [1, 2]), 3);
});

test('both faces, one in the middle of the other', async () => {
  await sandbox.set('back', (f) => typeof f);
  const slow = sandbox.run('let s = 0; for (let i = 0; i < 1e6; i++) s += i; s');
  assert.equal(sandbox.runSync('1'), 1);
  assert.equal(await slow, 499999500000);
  const many = await Promise.all(Array.from({ length: 50 }, (_, i) => sandbox.run(`${i} * 2`)));
  assert.deepEqual(many, Array.from({ length: 50 }, (_, i) => i * 2));
  await sandbox.set('nested', () => sandbox.runSync('40') + 2);
  assert.equal(await sandbox.run('nested()'), 42);
});

test('views', async () => {
  const state = { n: 1, list: [] };
  await sandbox.set('state', live(state));
  await sandbox.run('state.n = 2; state.list.push(7)');
  assert.deepEqual(state, { n: 2, list: [7] });
  await sandbox.set('fixed', readonly(state));
  await assert.rejects(sandbox.run('"use strict"; fixed.n = 3'), TypeError);
  assert.equal(await sandbox.run('fixed.list[0]'), 7);
  await sandbox.set('copy', byValue(state));
  await sandbox.run('copy.n = 9');
  assert.equal(state.n, 2);
  await assert.rejects(sandbox.set('copy', byValue({ f() {} })), SandboxError);
});

test('what is by value is so all the way down, whatever leads to it', async () => {
  class Db { url = 'x'; }
  const list = [1, { a: 1 }];
  const expose = { whole: live({ data: byValue({ list }), first: byValue([list[1]]) }), give: live(() => byValue({ list })), map: live({ known: byValue(new Map([[1, list]])) }) };
  await using one = await Sandbox.create({ expose });
  for (const way of ['whole.data.list', 'whole.data.list[1]', 'whole.first[0]', 'give().list', 'map.known.get(1)'])
    assert.equal(one.runSync(`(() => { const it = ${way}; it.a = 2; it[0] = 7; return it[0] })()`), 7, way);
  assert.deepEqual(list, [1, { a: 1 }]);
  for (const value of [{ a: new Db() }, [() => 1], { a: { f() {} } }, new Map([[1, new Db()]]), new Error('x', { cause: new Db() })])
    await assert.rejects(one.set('copy', byValue(value)), { code: 'ERR_SANDBOX_COPY' });
  // What comes next is as it always is.
  assert.equal(await (await one.run('(item) => item.url'))(new Db()), 'x');
});

test('mistakes in options are named', async () => {
  for (const [options, text] of [
    [{ memry: 1 }, /unknown option "memry"/], [{ memory: 'lots' }, /memory: "lots"/], [{ time: -1 }, /time:/],
    [{ memory: '1 KiB' }, /memory: must be/], [{ globals: 'all' }, /globals/], [{ tenant: '' }, /tenant/],
    [{ runtime: 'node' }, /runtime/], [{ handles: 1.5 }, /handles/]])
    await assert.rejects(Sandbox.create(options), (error) => error.code === 'ERR_SANDBOX_OPTION' && text.test(error.message));
});

test('disposed', async () => {
  const one = Sandbox.createSync();
  const f = one.runSync('() => 1');
  const g = await one.run('() => 2');
  const waiting = one.run('new Promise(() => {})');
  await one.run('0');
  await one.dispose();
  await assert.rejects(waiting, DisposedError);
  assert.throws(() => f(), DisposedError);
  await assert.rejects(g(), DisposedError);
  await assert.rejects(one.run('1'), DisposedError);
  assert.equal(one.disposed, true);
});

test('require and import give the same', () => {
  assert.equal(createRequire(import.meta.url)('../index.cjs').Sandbox, Sandbox);
});

test('what a promise gives is for the face that was given it', async () => {
  await using one = await Sandbox.create();
  const promise = one.run('new Promise((resolve) => { globalThis.settle = () => resolve({ n: 1, f() { return this.n } }) })');
  await one.run('1');
  // Told with the answer to a call that waits, whose own results are live.
  one.runSync('settle()');
  const given = await promise;
  assert.ok(Object.isFrozen(given) && !types.isProxy(given), 'a live stand-in');
  assert.equal(given.n, 1);
  assert.ok(given.f() instanceof Promise);
  assert.equal(await given.f(), 1);
  const later = one.run('new Promise((resolve) => { globalThis.settle = () => resolve(() => 7) })');
  await one.run('1');
  one.runSync('settle()');
  assert.ok((await later)() instanceof Promise, 'a function that waits');
});

test('as many handles for each face as were agreed on', async () => {
  await using one = await Sandbox.create({ handles: 100 });
  const live = one.runSync('globalThis.list = Array.from({ length: 80 }, (_, i) => () => i)');
  const kept = Array.from({ length: 80 }, (_, i) => live[i]);
  const copied = await one.run('list');
  assert.equal(await copied[79](), kept[79]());
});

test('a call that ended before it began leaves nothing lent', async () => {
  await using one = await Sandbox.create({ time: '5 s', handles: 64 });
  const take = await one.run('(f) => 1');
  const keep = await one.run('({ f() {} })');
  for (let round = 0; round < 4; round++) {
    const busy = one.run('{ const end = Date.now() + 20; while (Date.now() < end); }');
    const stop = new AbortController();
    const queued = Array.from({ length: 20 }, () => one.call(take, [() => round], { signal: stop.signal }).catch((error) => error.name));
    stop.abort();
    await busy;
    assert.deepEqual(new Set(await Promise.all(queued)), new Set(['AbortError']));
  }
  const { exported } = await one.stats();
  assert.ok(exported < 20, `${exported} are lent`);
  assert.equal(await take(() => 1), 1);
  assert.equal(await keep.f(), undefined);
});
