// limit(): what a guest grants the code that it calls itself.
import test from 'node:test';
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Sandbox, limit, TimeLimitError } from '../index.mjs';

const counts = { pause: 0, now: 0 };
const expose = { limit, pause: () => { counts.pause++; return sleep(1); }, now: () => { counts.now++; return 1; }, call: (f) => f(), take: () => 1 };
const create = (options) => Sandbox.create({ time: '3 s', expose, ...options });

const OVER = 'ERR_SANDBOX_TIME';
// Each ends by its limit, and the caller goes on.
const endless = {
  loop: '() => { for (;;) {} }',
  'catching': '() => { for (;;) try { for (;;) {} } catch {} }',
  'finally': '() => { try { for (;;) {} } finally { for (;;) {} } }',
  'microtasks': 'async () => { for (;;) await null }',
  'microtasks that catch': 'async () => { for (;;) try { for (;;) await null } catch {} finally { await null } }',
  'async generator': 'async () => { for await (const x of (async function* () { try { for (;;) yield 1 } finally { for (;;) await null } })()); }',
  'a thenable': '() => ({ then() { for (;;) {} } })',
  'a getter of then': '() => ({ get then() { for (;;) {} } })',
  'calls of the host': '() => { for (;;) now() }',
  'promises of the host': 'async () => { for (;;) { await pause(); for (const end = Date.now() + 3; Date.now() < end;); } }',
  'a callee of its own that is granted more': '() => limit(60_000, () => { for (;;) {} })',
  'the same, caught': 'async () => { for (;;) try { await limit(60_000, () => { for (;;) {} }) } catch {} }',
  'many callees of its own': 'async () => { for (;;) await limit(1, () => { for (;;) {} }).catch(() => 0) }',
};
for (const [name, callee] of Object.entries(endless)) {
  test(`${name}: ended, and the caller goes on`, async () => {
    await using sandbox = await create();
    const begin = performance.now();
    assert.equal(await sandbox.run(`(async () => { try { return await limit(30, ${callee}) } catch (error) { return error.code + (error instanceof RangeError) } })()`), `${OVER}true`);
    assert.ok(performance.now() - begin < 3000, `${performance.now() - begin}`);
    const before = { ...counts };
    await sleep(60);
    assert.deepEqual(counts, before, 'the callee goes on');
    assert.equal(await sandbox.run('1 + 1'), 2);
  });
}

test('what a callee gives, and throws', async () => {
  await using sandbox = await create();
  const run = (source) => sandbox.run(`(async () => { ${source} })()`);
  assert.equal(await run('return (await limit(50, (a, b) => a + b, 40, 2)).value'), 42);
  assert.equal(await run('return (await limit(50, async (a) => { await pause(); return a }, "later")).value'), 'later');
  assert.equal(await run('return await limit(50, () => { throw new TypeError("x") }).catch((e) => e.name)'), 'TypeError');
  assert.equal(await run('return await limit(50, async () => { await pause(); throw 7 }).catch((e) => e)'), 7);
  assert.equal(await run('return await limit(50, () => (function f() { f() })()).catch((e) => e.name)'), 'RangeError');
  assert.equal(await run('return (await limit(50, () => limit(20, () => 5).then((x) => x.value + 1))).value'), 6);
  assert.deepEqual(await run('return (await Promise.all([1, 2, 3].map((x) => limit(20, (y) => y * 2, x)))).map((x) => x.value)'), [2, 4, 6]);
  for (const args of ['0, () => 1', '"10 ms", () => 1', '-1, () => 1', 'NaN, () => 1', '10', '10, 1']) assert.equal(await run(`try { return await limit(${args}) } catch (e) { return e.name }`), 'TypeError', args);
});

test('callees that are ended in the middle of a call of the host leave nothing half said', async () => {
  await using sandbox = await create({ handles: 200, time: '20 s' });
  assert.equal(await sandbox.run(`(async () => {
    const gift = { m() {}, list: [() => 1, 2] };
    for (let i = 0; i < 150; i++) await limit(1, () => { for (;;) take(gift) }).catch(() => 0);
    return now();
  })()`), 1);
  assert.equal(await sandbox.run('now()'), 1);
  // In the middle of one that the host waits for, in the middle of its own.
  for (let i = 0; i < 20; i++) {
    sandbox.runSync('globalThis.out = 0; limit(5, () => call(() => { for (;;) try { call(() => { for (;;) {} }) } catch {} finally { now() } })).catch((e) => { out = e.code })');
    assert.equal(sandbox.runSync('out'), OVER);
  }
  assert.equal(sandbox.runSync('call(() => now())'), 1);
});

test('what a callee leaves behind ends with its limit', async () => {
  await using sandbox = await create();
  assert.equal(await sandbox.run(`(async () => {
    globalThis.ran = 0;
    const { value } = await limit(30, () => { (async () => { for (;;) { await null; ran++ } })(); return 'done' });
    globalThis.before = ran;
    return value;
  })()`), 'done');
  await sleep(20);
  assert.ok(await sandbox.run('ran > 0 && ran === before'));
});

test('a value\'s then is not asked in the caller\'s time', async () => {
  await using sandbox = await create();
  assert.equal(await sandbox.run(`(async () => {
    globalThis.asked = 0;
    const { value } = await limit(30, () => {
      const gift = {};
      // After it was given, before it is taken.
      Promise.resolve().then(() => null).then(() => null).then(() => { Object.defineProperty(gift, 'then', { get() { asked++; return undefined } }) });
      return gift;
    });
    return typeof value + asked;
  })()`), 'object0');
});

test('the caller\'s own limits hold over it', async () => {
  await using sandbox = await create({ time: '60 ms' });
  for (const callee of Object.values(endless).slice(0, 8)) {
    await assert.rejects(sandbox.run(`(async () => { for (;;) try { await limit(60_000, ${callee}) } catch {} })()`), TimeLimitError, callee);
    assert.equal(await sandbox.run('1 + 1'), 2);
    assert.equal(await sandbox.run('limit(20, () => 3).then((x) => x.value)'), 3);
  }
  // What waits for its turn goes with the call that put it off.
  await assert.rejects(sandbox.run('globalThis.late = 0; limit(50, () => { late++ }); for (;;) {}'), TimeLimitError);
  assert.equal(await sandbox.run('late'), 0);
  assert.equal(await sandbox.run('late'), 0);
});

test('a wall clock ends it too', async () => {
  await using sandbox = await create();
  await assert.rejects(sandbox.run('limit(60_000, async () => { for (;;) await pause() })', { wall: '50 ms' }), TimeLimitError);
  await assert.rejects(sandbox.run('limit(60_000, () => { for (;;) now() })', { wall: '50 ms' }), TimeLimitError);
  await sleep(20);
  const before = { ...counts };
  await sleep(60);
  assert.deepEqual(counts, before, 'the callee goes on');
  assert.equal(await sandbox.run('limit(20, () => 3).then((x) => x.value)'), 3);
});

test('it is the guest\'s, and only where it was given', async () => {
  assert.throws(() => limit(10, () => 1), TypeError);
  await using sandbox = await Sandbox.create();
  assert.equal(await sandbox.run('typeof limit'), 'undefined');
  await using other = await create({ modules: { limits: { limit } } });
  assert.equal(await other.run('import("limits").then((m) => m.limit(20, () => 4)).then((x) => x.value)'), 4);
  assert.equal(await other.run('limit === limit && limit.name !== "x"'), true);
});
