// What either side has dropped, or nobody waits for any more, is given back before a limit is said to be reached:
// in a host that never collects its garbage by itself, with few handles and with many.
import test from 'node:test';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { Sandbox, live, HandleLimitError } from '../index.mjs';

const index = new URL('../index.mjs', import.meta.url).href;
const run = promisify(execFile);

const FEW = [16, 64, 1000];
// What a guest gives without end.
const given = {
  'a function': '() => () => 1', 'an object with methods': '() => ({ m() {} })', 'a promise that is settled': 'async (x) => x',
  'a promise of a function': 'async () => () => 1', 'an error': '() => { throw new RangeError("x") }', 'a rejection': 'async () => { throw new RangeError("x") }',
  'functions in data': '() => [() => 1, { f() {} }, () => 2]',
};

for (const [name, source] of Object.entries(given))
  test(`${name}, given again and again`, async () => {
    for (const handles of FEW) {
      await using sandbox = await Sandbox.create({ handles });
      const f = await sandbox.run(source);
      for (let i = 0; i < Math.min(2 * handles + 20, 1200); i++)
        await f(i).catch((error) => { if (!(error instanceof RangeError)) throw error; });
      // Without the event loop, in one job.
      const g = sandbox.runSync(source);
      for (let i = 0; i < Math.min(2 * handles + 20, 1200); i++) {
        try {
          g(i);
        } catch (error) {
          if (!(error instanceof RangeError)) throw error;
        }
      }
    }
  });

test('what a guest is given again and again', async () => {
  for (const handles of FEW) {
    const expose = { make: () => ({ go: () => 1 }), later: async () => () => 1, fail: async () => { throw new Error('x'); }, keep: live({}) };
    await using sandbox = await Sandbox.create({ handles, time: '20 s', expose });
    const times = Math.min(2 * handles + 20, 1200);
    assert.equal(await sandbox.run(`let sum = 0; for (let i = 0; i < ${times}; i++) sum += make().go(); sum`), times);
    assert.equal(await sandbox.run(`(async () => { let sum = 0; for (let i = 0; i < ${times}; i++) sum += (await later())(); return sum })()`), times);
    assert.equal(await sandbox.run(`(async () => { let sum = 0; for (let i = 0; i < ${times}; i++) await fail().catch(() => { sum++ }); return sum })()`), times);
    const g = await sandbox.run('(f) => f() + 1');
    for (let i = 0; i < times; i++) assert.equal(await g(() => i), i + 1);
    const h = sandbox.runSync('(f) => f() + 1');
    for (let i = 0; i < times; i++) assert.equal(h(() => i), i + 1);
  }
});

test('one message with all that may be held, after as much was dropped', async () => {
  await using sandbox = await Sandbox.create({ handles: 1000, time: '20 s', expose: { take: (list) => list.length, many: (count) => live(Array.from({ length: count }, () => () => 1)) } });
  const f = await sandbox.run('(count) => Array.from({ length: count }, () => () => 1)');
  // Less than what a collection is asked for by itself.
  for (let i = 0; i < 30; i++) assert.equal((await f(i % 2 === 0 ? 400 : 950)).length, i % 2 === 0 ? 400 : 950);
  const g = await sandbox.run('async (count) => Array.from({ length: count }, () => () => 1)');
  for (let i = 0; i < 30; i++) assert.equal((await g(i % 2 === 0 ? 400 : 950)).length, i % 2 === 0 ? 400 : 950);
  const h = await sandbox.run('(list) => list.length');
  const list = (count) => Array.from({ length: count }, () => () => 1);
  for (let i = 0; i < 30; i++) assert.equal(await h(list(i % 2 === 0 ? 400 : 950)), i % 2 === 0 ? 400 : 950);
  assert.equal(sandbox.runSync('for (let i = 0; i < 30; i++) take(Array.from({ length: i % 2 === 0 ? 400 : 950 }, () => () => 1)); 7'), 7);
});

test('what is held is refused beyond the limit, and what is in use is not given back', { timeout: 120_000 }, async () => {
  await using sandbox = await Sandbox.create({ handles: 64, time: '20 s', expose: { keep: (f) => kept.push(f) } });
  const kept = [];
  await assert.rejects(sandbox.run('for (let i = 0; i < 100; i++) keep(() => i)'), (error) => error.name === 'RangeError' || error instanceof HandleLimitError);
  assert.ok(kept.length > 55 && kept.length < 65, `${kept.length}`);
  for (const [i, f] of kept.entries()) assert.equal(await f(), i);
  kept.length = 0;
  // What a collection did not find it does not look for again at once.
  while (await sandbox.run('() => 1').then(() => false, () => true)) await sleep(20);
  const f = await sandbox.run('(i) => ({ i, m() { return this.i } })');
  // Many at once: what waits in the queue is about what nobody holds besides.
  const lanes = (task) => Promise.all(Array.from({ length: 10 }, async (_, lane) => { for (let i = lane; i < 600; i += 10) assert.equal(await task(i), i); }));
  await lanes(async (i) => (await f(i)).m());
  const g = await sandbox.run('() => (x) => x()');
  await lanes(async (i) => (await g())(await sandbox.run(`() => ${i}`)));
});

test('what a request in the queue names is given back after it', async () => {
  let done = false;
  await using sandbox = await Sandbox.create({ time: '60 s', expose: { done: () => done } });
  const held = [await sandbox.run('(x) => x() + 1'), await sandbox.run('() => 4')];
  const slow = sandbox.run('while (!done());');
  // Nobody has either any more while it waits, and each answer to the guest says what was dropped.
  const pending = held[0](held[1]);
  held.length = 0;
  for (let i = 0; i < 20; i++) {
    globalThis.gc();
    await sleep(1);
  }
  done = true;
  assert.equal(await pending, 5);
  await slow;
});

test('a large and quiet host makes more calls than there are handles', { timeout: 280_000 }, async () => {
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', `
    import { Sandbox } from ${JSON.stringify(index)};
    globalThis.cache = Array.from({ length: 4e5 }, (_, i) => ({ i, name: 'n' + i }));
    const sandbox = await Sandbox.create({ journal: false, handles: 8000 });
    const f = await sandbox.run('async (x) => x');
    let sum = 0;
    for (let i = 0; i < 20000; i++) sum += await f(1);
    console.log(sum, typeof gc);
    sandbox.disposeSync();`], { timeout: 280_000 });
  assert.equal(stdout, '20000 undefined\n');
});
