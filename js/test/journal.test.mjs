// What sandboxes decided, as `bulkhead log` shows it.
import test from 'node:test';
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import journals from '../lib/journal.cjs';

const run = promisify(execFile);
const bulkhead = process.env.BULKHEAD;
const index = new URL('../index.cjs', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'bulkhead-journal-'));
test.after(() => rmSync(folder, { recursive: true }));

// A program with sandboxes, with a state folder of its own; it ends when its journal is kept.
let last = 0;
async function program(body, { state = join(folder, `state${last++}`), env = {} } = {}) {
  const file = join(folder, `program${last}.cjs`);
  writeFileSync(file, `const bulkhead = require(${JSON.stringify(index)}); const { Sandbox } = bulkhead;
    const { setTimeout: sleep } = require('node:timers/promises'); (async () => { ${body} })();`);
  const { stdout, stderr } = await run(process.execPath, [file], { env: { ...process.env, XDG_STATE_HOME: state, ...env }, timeout: 60000 })
    .catch((error) => error);
  return { file, state, stdout, stderr };
}
function log(state, ...args) {
  const text = execFileSync(bulkhead, ['log', '--json', ...args], { encoding: 'utf8', env: { ...process.env, XDG_STATE_HOME: state }, stdio: ['ignore', 'pipe', 'pipe'] });
  return text.trim() === '' ? [] : text.trim().split('\n').map((line) => JSON.parse(line));
}
// Kept by another process, a moment after who told it has ended.
async function eventually(state, wanted, ...args) {
  let rows = [];
  for (let i = 0; i < 100; i++) {
    rows = log(state, ...args);
    if (wanted(rows)) return rows;
    await sleep(30);
  }
  return rows;
}
const ended = (state) => eventually(state, (rows) => rows.length > 0 && rows.every((row) => row.outcome === 'ended'), '--runs');
const ours = (row) => row.kind === 'system' && row.resource.startsWith('sandbox ');
const decisions = (rows) => rows.filter(ours).map((row) => `${row.verdict} ${row.program}: ${row.resource.slice(8)}`).sort();

test('limits, imports and what was given, by the sandbox\'s name, in one run of the program', async () => {
  const { state, file } = await program(`
    const a = await Sandbox.create({ name: 'tax rules', time: '50 ms', output: '64 KiB', shared: '4 KiB', expose: { rate: 1, log: () => {} }, modules: { 'a.js': 'export default 1' } });
    await a.run('for (;;) {}').catch(() => {});
    await a.run('"x".repeat(1e6)').catch(() => {});
    await a.import('a.js');
    await a.run('import("node:fs")').catch(() => {});
    await a.set('more', 1);
    await a.run('new Promise(() => {})', { wall: '20 ms' }).catch(() => {});
    const b = await a.realm({ name: 'a plug-in', globals: 'web' });
    const c = await Sandbox.create({ memory: '16 MiB' });
    await c.run('const a = []; for (;;) a.push({ a: 1, b: [1, 2, 3] })').catch(() => {});
    for (const each of [b, a, c]) await each.dispose();`);
  const runs = await ended(state);
  assert.equal(runs.length, 1);
  assert.equal(runs[0].subject, file);
  assert.match(runs[0].command, /^node .*program/);
  const rows = log(state);
  assert.deepEqual(decisions(rows), [
    'allow a plug-in: globals web',
    'allow sandbox: globals ecmascript',
    'allow tax rules: expose more',
    'allow tax rules: globals ecmascript; expose log, rate; modules; 4096 bytes of shared memory',
    'allow tax rules: module a.js',
    'deny sandbox: limit memory',
    'deny tax rules: limit output',
    'deny tax rules: limit time',
    'deny tax rules: limit wall',
    'deny tax rules: module node:fs',
  ]);
  const time = rows.find((row) => row.resource === 'sandbox limit time');
  assert.match(time.rule, /ran longer than its time limit/);
  assert.ok(time.pid > 0);
  assert.equal(rows.find((row) => row.resource === 'sandbox module node:fs').detail, 'imported by sandbox.js');
});

test('bulkhead log explains them to a person, and filters them', async () => {
  const { state } = await program(`await using s = await Sandbox.create({ name: 'formula', time: '20 ms' }); await s.run('for (;;) {}').catch(() => {});`);
  await ended(state);
  const text = execFileSync(bulkhead, ['log', '--path', 'sandbox ', '--denied'], { encoding: 'utf8', env: { ...process.env, XDG_STATE_HOME: state } });
  assert.match(text, /denied +system +sandbox limit time +1 +formula +the guest ran longer than its time limit; what ran was ended/);
  assert.equal(log(state, '--program', 'formula').length, 2);
  assert.equal(log(state, '--program', 'another').length, 0);
});

test('a worker that is killed by its limit, and one that is lost', async () => {
  const { state } = await program(`
    const a = await Sandbox.create({ name: 'sorter', time: '50 ms' });
    await a.run('Array.prototype.sort.call({ length: 2 ** 32 })').catch(() => {});
    const b = await Sandbox.create({ name: 'unlucky' });
    const gone = new Promise((resolve) => b.once('lost', resolve));
    process.kill(b.pid, 'SIGKILL');
    await b.run('1').catch(() => {});
    await gone;
    await a.dispose();`);
  await ended(state);
  const rows = log(state, '--denied').filter(ours);
  assert.match(decisions(rows).join(), /^deny sorter: limit (time|memory),deny unlucky: worker$/);
  assert.match(rows.find((row) => row.program === 'sorter').rule, /worker was killed/);
  assert.match(rows.find((row) => row.program === 'unlucky').rule, /the worker of the sandbox ended/);
});

test('what a worker that was taken over tries is there, though it is killed right after', async () => {
  // What runs in the compartment of a worker, without the sandbox's program.
  // Not in /tmp, of which a compartment has its own.
  const others = mkdtempSync('/var/tmp/bulkhead-others-');
  test.after(() => rmSync(others, { recursive: true }));
  for (let i = 0; i < 700; i++) writeFileSync(join(others, String(i)), '');
  const tried = join(folder, 'taken.cjs');
  writeFileSync(tried, `const fs = require('node:fs');
    for (const file of ['/etc/shadow', '/etc/hostname']) try { fs.readFileSync(file); } catch {}
    for (let i = 0; i < 700; i++) try { fs.readFileSync('${others}/' + i); } catch {}
    fs.writeSync(1, 'done');
    for (;;);`);
  const state = join(folder, 'taken');
  const file = join(state, 'bulkhead', 'journal.db');
  const env = { ...process.env, XDG_STATE_HOME: state };
  const packets = createRequire(import.meta.url)(join(process.env.BULKHEAD_ADDONS, 'host.node')).packets();
  const [ours, theirs] = packets.open();
  const keeper = spawn(bulkhead, ['isolate', '--keep-journal', '--journal-file', file], { stdio: [theirs, 'ignore', 'inherit'], env });
  packets.started();
  const supervisor = spawn(bulkhead, ['isolate', '--journal', '--memory', '400MiB', '--read', folder, '--read', process.execPath, '--', process.execPath, '--openssl-config=/dev/null', tried],
    { stdio: ['ignore', 'pipe', 'inherit', 'pipe', ours], env });
  await once(supervisor.stdout, 'data');
  supervisor.kill('SIGKILL');
  packets.close();
  await once(keeper, 'exit');
  const rows = log(state, '--denied').filter((row) => row.kind === 'read');
  for (const wanted of ['/etc/shadow', '/etc/hostname'])
    assert.ok(rows.some((row) => row.resource === wanted), wanted);
  assert.ok(rows.length < 600, `${rows.length} rows`);
  assert.ok(rows.some((row) => row.resource === '(further resources)'));
});

test('a guest that asks without end is counted, in few rows, and waits for nobody', async () => {
  const { state, stdout } = await program(`
    const a = await Sandbox.create({ name: 'loud', time: '20 s', modules: {} });
    const begin = performance.now();
    console.log(await a.run('(async () => { let n = 0; for (let i = 0; i < 3000; i++) await import("m" + i).catch(() => { n++ }); return n })()'));
    await a.dispose();`);
  assert.equal(stdout.trim(), '3000');
  await ended(state);
  const rows = log(state).filter((row) => row.program === 'loud' && ours(row));
  assert.ok(rows.length <= 82, `${rows.length} rows`);
  assert.equal(rows.filter((row) => row.verdict === 'deny').reduce((sum, row) => sum + row.count, 0), 3000);
  assert.ok(rows.some((row) => row.resource === 'sandbox (further)' && row.count > 2000));
});

test('modules without end take no other decision\'s place', async () => {
  const { state } = await program(`
    const a = await Sandbox.create({ name: 'masked', time: '50 ms', output: '64 KiB', modules: {} });
    for (let i = 0; i < 90; i++) await a.run('import("m' + i + '")').catch(() => {});
    await a.run('for (;;) {}').catch(() => {});
    await a.run('"x".repeat(1e6)').catch(() => {});
    await a.dispose();`);
  await ended(state);
  const told = decisions(log(state, '--denied'));
  assert.ok(told.includes('deny masked: limit time') && told.includes('deny masked: limit output') && told.includes('deny masked: (further)'), told.join());
});

test('names of sandboxes that are gone leave room for others', async () => {
  const { state } = await program(`
    for (let i = 0; i < 210; i++) { const a = await Sandbox.create({ name: 'name' + i, tenant: 'many' }); globalThis.kept ??= await Sandbox.create({ name: 'kept', tenant: 'many' }); await a.dispose(); }
    await kept.dispose();`);
  await ended(state);
  const told = decisions(log(state));
  assert.ok(told.includes('allow name209: globals ecmascript'), told.slice(-5).join());
  assert.equal(told.length, 211);
});

test('of texts without end little is kept', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  const journal = journals.journalOf(join(folder, 'large.db'));
  journal.enter();
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < 60; i++) {
    journal.note('large', false, 'limit output', Buffer.alloc(2 << 20, `${i} `).toString('latin1'), '', 1);
    journal.note('large', false, 'module ' + Buffer.alloc(2 << 20, `${i} `).toString('latin1'), 'none', '', 1);
  }
  collect();
  const kept = process.memoryUsage().heapUsed - before;
  await journal.closed();
  assert.ok(kept < 5e6, `${kept} bytes`);
});

test('what a guest calls a module is text, whatever it holds', async () => {
  const { state } = await program(String.raw`
    const a = await Sandbox.create({ modules: {} });
    for (const name of ['a\\0b', '\\ud800', '\\u001b[31m', 'x'.repeat(5000), '€'.repeat(900)]) await a.run('import("' + name + '")').catch(() => {});
    await a.dispose();`);
  await ended(state);
  const names = log(state, '--denied').filter((row) => row.resource.startsWith('sandbox module')).map((row) => row.resource.slice(8));
  assert.ok(names.includes('module a\ufffdb') && names.includes('module \ufffd') && names.includes('module \u001b[31m'), JSON.stringify(names));
  const text = execFileSync(bulkhead, ['log'], { encoding: 'utf8', env: { ...process.env, XDG_STATE_HOME: state } });
  assert.ok(!text.includes('\u001b'));
});

test('off, or elsewhere', async () => {
  const off = await program(`await using s = await Sandbox.create({ journal: false, time: '20 ms' }); await s.run('for (;;) {}').catch(() => {});`);
  assert.ok(!existsSync(join(off.state, 'bulkhead', 'journal.db')));
  const file = join(folder, 'elsewhere', 'bulkhead', 'journal.db');
  const elsewhere = await program(`await using s = await Sandbox.create({ journal: ${JSON.stringify(file)}, name: 'there', time: '20 ms' }); await s.run('for (;;) {}').catch(() => {});`);
  const rows = await eventually(join(folder, 'elsewhere'), (found) => found.length > 1);
  assert.deepEqual(decisions(rows), ['allow there: globals ecmascript', 'deny there: limit time']);
  assert.ok(!existsSync(join(elsewhere.state, 'bulkhead', 'journal.db')));
});

test('a journal that cannot be kept is said, and stops nothing', async () => {
  const state = join(folder, 'no-folder');
  writeFileSync(state, '');
  const { stdout, stderr } = await program(`await using s = await Sandbox.create(); console.log(await s.run('6 * 7')); await sleep(300);`, { state });
  assert.equal(stdout.trim(), '42');
  assert.match(stderr, /decisions of JavaScript sandboxes are not recorded/);
});

test('bulkhead eval is a run of its own, kept when it has ended', () => {
  const state = join(folder, 'eval');
  const file = join(folder, 'rule.js');
  writeFileSync(file, 'for (;;) {}');
  const env = { ...process.env, XDG_STATE_HOME: state };
  assert.throws(() => execFileSync(bulkhead, ['eval', '--time', '30ms', file], { env, stdio: 'ignore' }), { status: 121 });
  const runs = log(state, '--runs');
  assert.equal(runs.length, 1);
  assert.deepEqual([runs[0].subject, runs[0].command, runs[0].outcome], [file, `bulkhead eval ${file}`, 'ended']);
  assert.deepEqual(decisions(log(state)), [`allow ${file}: globals web`, `deny ${file}: limit time`]);
});

test('nothing of it stays with a host that has no sandbox any more, and workers do not have it', async () => {
  const { stdout } = await program(`
    const { readdirSync, readlinkSync } = require('node:fs');
    const sockets = (pid) => readdirSync('/proc/' + pid + '/fd').filter((fd) => { try { return readlinkSync('/proc/' + pid + '/fd/' + fd).startsWith('socket:'); } catch { return false; } }).length;
    const before = sockets('self');
    const a = await Sandbox.create();
    const inWorker = sockets(a.pid);
    const during = sockets('self');
    await a.dispose();
    await sleep(2600);
    console.log(JSON.stringify([during > before, sockets('self') - before, inWorker, process.listenerCount('exit'), process.listenerCount('beforeExit')]));`);
  assert.deepEqual(JSON.parse(stdout), [true, 0, 0, 0, 0]);
});
