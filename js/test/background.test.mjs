// What goes on after a call has answered, or while it waits: it has limits by default, whoever waits is told of its
// end, and what goes wrong where nobody waits is heard.
import test from 'node:test';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import callModule from '../lib/call.cjs';
import { Sandbox, GuestError, TimeLimitError, MemoryLimitError, OutputLimitError } from '../index.mjs';

const run = promisify(execFile);
const index = new URL('../index.mjs', import.meta.url).href;
const script = (body) => run(process.execPath, ['--input-type=module', '-e', `import { Sandbox } from ${JSON.stringify(index)}; ${body}`], { timeout: 60_000 })
  .catch((error) => error);

// The next error of a sandbox's background, and where it is from.
const next = (sandbox) => new Promise((resolve) => { sandbox.once('error', (error, { sandbox: name, from }) => resolve({ error, name, from })); });

const thrown = {
  'an unhandled rejection': ['Promise.reject(new RangeError("lost")); 1', 'rejection'],
  'an async function that nobody waits for': ['(async () => { await null; throw new RangeError("lost") })(); 1', 'rejection'],
  'a throw in a microtask': ['queueMicrotask(() => { throw new RangeError("lost") }); 1', 'rejection'],
  'a throw in a timer': ['setTimeout(() => { throw new RangeError("lost") }, 1); 1', 'timer'],
  'a throw after a promise of the host\'s': ['later().then(() => { throw new RangeError("lost") }); 1', 'rejection'],
  'a rejection that is data': ['({ p: Promise.reject(new RangeError("lost")), q: 1 }).q', 'rejection'],
};
for (const [name, [source, from]] of Object.entries(thrown))
  test(`${name} is heard`, async () => {
    await using sandbox = await Sandbox.create({ globals: 'web', name: 'rules', expose: { later: async () => 1 } });
    for (const way of ['run', 'runSync']) {
      const heard = next(sandbox);
      assert.equal(await sandbox[way](`{ ${source} }`), 1);
      const { error, ...rest } = await heard;
      assert.ok(error instanceof GuestError && error instanceof RangeError && error.message === 'lost', String(error));
      assert.deepEqual(rest, { name: 'rules', from });
    }
  });

test('a function of the host\'s that fails, of which the guest does not look', async () => {
  const own = new TypeError('of the host');
  await using sandbox = await Sandbox.create({ globals: 'web', expose: { fail: async () => { throw own; }, now: () => { throw own; } } });
  let heard = next(sandbox);
  await sandbox.run('fail(); 1');
  assert.deepEqual(await heard, { error: own, name: 'sandbox', from: 'rejection' });
  heard = next(sandbox);
  await sandbox.run('setTimeout(() => now(), 1); 1');
  assert.deepEqual(await heard, { error: own, name: 'sandbox', from: 'timer' });
});

test('a callback of a guest\'s that the host calls and does not look at', async () => {
  await using sandbox = await Sandbox.create();
  const f = await sandbox.run('(x) => { throw new RangeError("lost") }');
  const object = await sandbox.run('({ m() { throw new RangeError("lost") } })');
  for (const call of [() => [1].forEach(f), () => { object.m(); }, () => { JSON.stringify({ toJSON: f }); }]) {
    const heard = next(sandbox);
    call();
    const { error, from } = await heard;
    assert.ok(error instanceof RangeError);
    assert.equal(from, 'callback');
  }
  const data = sandbox.run('({ p: Promise.reject(new RangeError("lost")) })');
  const heard = next(sandbox);
  await data;
  assert.equal((await heard).from, 'callback');
});

test('what somebody waits for is not told besides', async () => {
  await using sandbox = await Sandbox.create({ time: '100 ms', expose: { fail: async () => { throw new RangeError('x'); }, later: () => sleep(5) } });
  const told = [];
  sandbox.on('error', (error) => told.push(error));
  const f = await sandbox.run('() => { throw new RangeError("x") }');
  await assert.rejects(f(), RangeError);
  await f().catch(() => {});
  await f().then(undefined, () => {});
  await Promise.allSettled([f(), sandbox.run('throw 1'), sandbox.run('Promise.reject(2)'), sandbox.run('fail()')]);
  await Promise.race([f(), sleep(50)]).catch(() => {});
  const late = f();
  await null;
  await assert.rejects(late, RangeError);
  await sandbox.run('fail().catch(() => 1)');
  await sandbox.run('(async () => { try { await fail() } catch {} })()');
  await assert.rejects(sandbox.run('later().then(() => { for (;;); })'), TimeLimitError);
  await assert.rejects(sandbox.run('for (;;) later()'), TimeLimitError);
  await assert.rejects(sandbox.run('new Promise(() => {})', { wall: '20 ms' }), TimeLimitError);
  assert.equal(await sandbox.run('(async () => { for (;;) await later() })(); 1', { wall: '800 ms' }), 1);
  const { p } = await sandbox.run('({ p: Promise.reject(new RangeError("x")) })');
  await assert.rejects(p, RangeError);
  await sleep(900);
  assert.deepEqual(told, []);
});

test('unheard: said once, thrown, or nothing', async () => {
  const body = (unheard) => `
    const sandbox = await Sandbox.create({ journal: false, name: 'a\\u202eb', ${unheard === undefined ? '' : `unheard: '${unheard}'`} });
    for (let i = 0; i < 3; i++) { await sandbox.run('Promise.reject(new Error("lost\\x1b[2J' + i + '")); 1'); await new Promise(setImmediate); }
    await new Promise((resolve) => setTimeout(resolve, 20));
    console.log('alive'); sandbox.disposeSync();`;
  let { stdout, stderr } = await script(body());
  assert.equal(stdout, 'alive\n');
  assert.match(stderr, /SandboxWarning: in the background of the sandbox "a\\u\{202e\}b" \(rejection\): Error: lost\\u\{1b\}\[2J0/);
  assert.equal(stderr.match(/SandboxWarning/g).length, 1, stderr);
  ({ stdout, stderr } = await script(body('throw')));
  assert.equal(stdout, '');
  assert.match(stderr, /Error: lost/);
  ({ stdout, stderr } = await script(body('ignore')));
  assert.deepEqual([stdout, stderr], ['alive\n', '']);
  await assert.rejects(Sandbox.create({ unheard: 'no' }), /unheard/);
});

test('a call whose later turn is ended is over, and who waits for it is told', async () => {
  await using sandbox = await Sandbox.create({ time: '50 ms', memory: '16 MiB', globals: 'web', expose: { ask: async () => 1 } });
  await assert.rejects(sandbox.run('ask().then(() => { for (;;); })'), TimeLimitError);
  await assert.rejects(sandbox.run('new Promise((resolve) => { setTimeout(() => { for (;;); }, 1); setTimeout(resolve, 300) })'), TimeLimitError);
  // Nobody waits.
  const heard = next(sandbox);
  assert.equal(await sandbox.run('globalThis.ticks = 0; setInterval(() => { ticks++ }, 1); setInterval(() => { for (;;); }, 0); 1'), 1);
  const { error, from } = await heard;
  assert.ok(error instanceof TimeLimitError);
  assert.equal(from, 'timer');
  const before = await sandbox.run('ticks');
  await sleep(50);
  assert.equal(await sandbox.run('ticks'), before, 'timers of the call that is over');
});

test('memory that is filled from timers', async () => {
  await using sandbox = await Sandbox.create({ memory: '16 MiB', time: '20 s', globals: 'web' });
  const error = await sandbox.run(`const kept = [];
    new Promise(() => { const step = () => setTimeout(() => { for (let i = 0; i < 20000; i++) kept.push({ i }); step(); }, 1); step(); })`).catch((e) => e);
  assert.ok(error instanceof MemoryLimitError && !error.killed, String(error));
  assert.equal(sandbox.lost, undefined);
});

test('what a call goes on with has a budget', async () => {
  const counts = { a: 0, b: 0 };
  await using sandbox = await Sandbox.create({ time: '1 s', background: '30 ms', globals: 'web', expose: { a: async () => { counts.a++; }, b: () => { counts.b++; } } });
  const pending = sandbox.run('(async () => { for (;;) await a() })()');
  await assert.rejects(pending, (error) => error instanceof TimeLimitError && error.limit === 'background');
  const heard = next(sandbox);
  // The share of the clock that every call has is less than this takes.
  await sandbox.run('setInterval(() => { b(); for (const end = Date.now() + 20; Date.now() < end;); }, 0); 1');
  assert.equal((await heard).error.limit, 'background');
  const before = { ...counts };
  await sleep(60);
  assert.deepEqual(counts, before);
  assert.equal(await sandbox.run('2'), 2);
  await assert.rejects(Sandbox.create({ background: 'much' }), /background/);
});

test('a budget: so much at once, and a part of the clock', (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const call = new callModule.Call({ background: 100 });
  assert.equal(call.spend(50), undefined);
  now = 10_000;
  assert.equal(call.spend(900), undefined, 'a tenth of ten seconds besides');
  assert.ok(call.spend(200) instanceof TimeLimitError);
  assert.ok(call.over() instanceof TimeLimitError);
  const free = new callModule.Call({ background: Infinity });
  assert.equal(free.spend(1e9), undefined);
});

test('the default is ten times time', async () => {
  const { readOptions } = (await import('../lib/options.cjs')).default;
  assert.equal(readOptions({ time: '200 ms' }).background, 2000);
  assert.equal(readOptions({ background: false }).background, Infinity);
});

test('a value of a promise that is too large rejects with the reason', async () => {
  await using sandbox = await Sandbox.create({ output: '64 KiB', expose: { read: async () => 'A'.repeat(1e6) } });
  await assert.rejects(sandbox.run('(async () => "B".repeat(1e6))()'), OutputLimitError);
  await assert.rejects(sandbox.run('(async () => { throw "B".repeat(1e6) })()'), OutputLimitError);
  // The host's own error, which the guest handed on.
  await assert.rejects(sandbox.run('(async () => (await read()).length)()'), OutputLimitError);
  assert.equal(await sandbox.run('read().catch((error) => error instanceof Error && error.message.length > 0)'), true);
});

test('timers of a guest keep no program running, but while somebody waits, or where it is asked for', async () => {
  const base = 'const sandbox = await Sandbox.create({ journal: false, globals: "web"';
  const tick = 'await sandbox.run("setInterval(() => {}, 5); 1"); process.on("exit", () => console.log("over"));';
  assert.equal((await script(`${base} }); ${tick}`)).stdout, 'over\n');
  assert.equal((await script(`${base} }); ${tick} console.log(await sandbox.run("new Promise((resolve) => setTimeout(resolve, 100, 7))"));`)).stdout, '7\nover\n');
  assert.equal((await script(`${base} }); console.log(await sandbox.run("new Promise((resolve) => setTimeout(resolve, 100, 7))"));`)).stdout, '7\n');
  const kept = await script(`${base}, keepAlive: true, expose: { done: () => { console.log('done'); sandbox.disposeSync(); } } }); await sandbox.run("setTimeout(done, 100); 1");`);
  assert.equal(kept.stdout, 'done\n');
});

test('processor time of a worker whose call was ended', async () => {
  await using sandbox = await Sandbox.create({ time: '50 ms', globals: 'web' });
  const heard = next(sandbox);
  await sandbox.run('setInterval(() => { for (;;); }, 0); 1');
  await heard;
  const used = () => readFileSync(`/proc/${sandbox.pid}/stat`, 'latin1').split(') ')[1].split(' ').slice(11, 13).reduce((a, b) => a + Number(b), 0);
  await sandbox.run('1');
  const before = used();
  await sleep(200);
  assert.ok(used() - before <= 2, `${used() - before} ticks`);
});
