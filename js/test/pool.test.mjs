// What the pool keeps of workers, and for how long.
import test from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pool from '../lib/pool.cjs';
import { Sandbox } from '../index.mjs';

const learned = async () => {
  for (let i = 0; i < 500; i++) {
    const [code] = pool.codes.values();
    if (code?.length > 0) return code;
    await sleep(10);
  }
  return undefined;
};

test('the code of the guests\' program is of a worker in which no guest has run', async () => {
  pool.codes.clear();
  await using first = await Sandbox.create({ tenant: 'code' });
  const code = await learned();
  assert.ok(code?.length > 10_000, `${code?.length} bytes`);
  await using second = await Sandbox.create();
  assert.equal(await second.run('6 * 7'), 42);
  await using third = Sandbox.createSync();
  assert.equal(third.runSync('6 * 7'), 42);
  // Somebody's code has run in this one.
  pool.codes.clear();
  assert.equal(await first.run('1'), 1);
  await using sibling = await Sandbox.create({ tenant: 'code' });
  assert.equal(await sibling.run('1'), 1);
  assert.equal(sibling.pid, first.pid);
  assert.equal(pool.codes.size, 0);
});

test('what makes a sandbox is not the time of a call, and the first call has no more than its own', async () => {
  const limits = { time: '1 ms', expose: { many: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`key${i}`, i])) } };
  await using first = await Sandbox.create(limits);
  using second = Sandbox.createSync(limits);
  for (const sandbox of [first, second]) {
    const begin = performance.now();
    await assert.rejects(sandbox.run('for (;;);'), { code: 'ERR_SANDBOX_TIME' });
    assert.ok(performance.now() - begin < 4000);
  }
});

test('code of another engine is compiled anew', async () => {
  pool.codes.clear();
  await using first = await Sandbox.create();
  const code = await learned();
  assert.equal(await first.run('1'), 1);
  for (const other of [code.subarray(0, code.length / 2), Buffer.alloc(1000, 7), Buffer.concat([Buffer.alloc(8), code.subarray(8)])]) {
    for (const key of pool.codes.keys()) pool.codes.set(key, other);
    await using sandbox = await Sandbox.create({ tenant: 'other' });
    await using further = await Sandbox.create({ tenant: 'other' });
    assert.equal(await sandbox.run('6 * 7') + await further.run('1'), 43);
  }
  pool.codes.clear();
});

const childrenOf = (task) => {
  try {
    return readFileSync(`/proc/self/task/${task}/children`, 'latin1').split(' ').filter(Boolean);
  } catch {
    return []; // a thread that ended meanwhile
  }
};
const children = () => readdirSync('/proc/self/task').flatMap(childrenOf);
const until = async (what, test) => {
  for (let i = 0; i < 1000; i++) {
    if (await test()) return;
    await sleep(10);
  }
  assert.fail(`${what} did not happen in ten seconds`);
};

test('a worker that has had many sandboxes is followed by another one', async () => {
  const { most } = pool.lives;
  pool.lives.most = 5;
  try {
    await using stays = await Sandbox.create({ tenant: 'many' });
    const f = await stays.run('let n = 0; () => ++n');
    const pids = [];
    await until('a following worker', async () => {
      await using sandbox = await Sandbox.create({ tenant: 'many' });
      pids.push(sandbox.pid);
      return await sandbox.run('1') === 1 && sandbox.pid !== stays.pid;
    });
    // Nobody waited for it, and who is where it was stays there.
    assert.ok(pids.length > pool.lives.most, `${pids.length} sandboxes`);
    assert.equal(await f(), 1);
  } finally {
    pool.lives.most = most;
  }
});

test('a follower that nobody needed goes with the tenant', async () => {
  const { most } = pool.lives;
  pool.lives.most = 1;
  const before = children();
  const started = () => children().filter((pid) => !before.includes(pid));
  try {
    const [a, b] = [await Sandbox.create({ tenant: 'few', journal: false }), await Sandbox.create({ tenant: 'few', journal: false })];
    assert.equal(a.pid, b.pid);
    await until('a following worker', () => pool.tenants.get('few').pid !== a.pid);
    assert.equal(started().length, 2);
    await a.dispose();
    await b.dispose();
    await until('the end of both', () => started().length === 0);
  } finally {
    pool.lives.most = most;
  }
});

test('a tenant\'s worker stays for who is on the way to it', async () => {
  const first = await Sandbox.create({ tenant: 'next' });
  const coming = Sandbox.create({ tenant: 'next' });
  first.disposeSync();
  await using second = await coming;
  assert.equal(await second.run('6 * 7'), 42);
});

test('a worker that is ended while it starts is waited for no longer', async () => {
  const begun = pool.warm(1);
  pool.cool();
  const outcome = await Promise.race([begun.then(() => 'done', () => 'done'), new Promise((resolve) => { setTimeout(resolve, 8000, 'waits').unref(); })]);
  assert.equal(outcome, 'done');
});
