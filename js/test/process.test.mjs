// What a sandbox is to the process that uses it: nothing that stays, nothing that waits.
import test from 'node:test';
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync, rmdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import internals from '../lib/sandbox.cjs';
import { Sandbox, warm, cool, LostError, SandboxError } from '../index.mjs';

const run = promisify(execFile);
const index = new URL('../index.cjs', import.meta.url).pathname;
const script = (body) => run(process.execPath, ['-e', `const { Sandbox } = require(${JSON.stringify(index)}); ${body}`], { timeout: 30000 });

test('a host that forgets to dispose ends, and its worker with it', async () => {
  const { stdout } = await script(`(async () => {
    const s = await Sandbox.create();
    console.log(s.pid, await s.run('1 + 1'));
  })()`);
  const [pid, two] = stdout.trim().split(' ').map(Number);
  assert.equal(two, 2);
  for (let i = 0; existsSync(`/proc/${pid}`) && i < 100; i++) await sleep(20);
  assert.ok(!existsSync(`/proc/${pid}`), 'the worker outlived its host');
});

test('a host that may have no thread more is told so, and goes on', async (t) => {
  const group = `/sys/fs/cgroup/pids/bulkhead-test-${process.pid}`;
  try {
    mkdirSync(group);
  } catch {
    return t.skip('needs cgroup-pids');
  }
  try {
    const { stdout } = await script(`
      const { writeFileSync } = require('node:fs');
      writeFileSync(${JSON.stringify(group)} + '/cgroup.procs', String(process.pid));
      const [first, second] = [1, 2].map(() => Sandbox.createSync({ journal: false, time: '5 s' }));
      writeFileSync(${JSON.stringify(group)} + '/pids.max', '1');
      second.run('1').catch((error) => {
        console.log(error.code, first.runSync('2'));
        first.disposeSync();
        console.log('alive');
      });`);
    assert.equal(stdout, 'ERR_SANDBOX_LOST 2\nalive\n');
  } finally {
    // Its workers end after it.
    for (let left = 100; left > 0 && existsSync(group); left--) {
      try {
        rmdirSync(group);
      } catch {
        await sleep(50);
      }
    }
  }
});

// The state and the id of each child of a process.
function children(pid) {
  const found = [];
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    try {
      for (const child of readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').split(' ').filter(Boolean))
        found.push({ pid: Number(child), state: /\) (\w)/.exec(readFileSync(`/proc/${child}/stat`, 'latin1'))[1] });
    } catch { /* one of them has just ended */ }
  }
  return found;
}
test('what has ended is no child any more: disposed of, killed, or lost', async () => {
  const before = new Set(children(process.pid).map(({ pid }) => pid));
  const added = () => children(process.pid).filter(({ pid }) => !before.has(pid));
  const disposed = await Sandbox.create({ journal: false }), killed = await Sandbox.create({ journal: false, time: '50 ms' });
  assert.equal(added().length, 2);
  await disposed.dispose();
  process.kill(killed.pid, 'SIGKILL');
  await assert.rejects(killed.run('1'), LostError);
  for (let i = 0; added().length > 0 && i < 200; i++) await sleep(20);
  assert.deepEqual(added(), []);
});

test('a worker\'s keeper has what it was given: no descriptors of the host, no session, no signals that the host ignores', async () => {
  const { stdout } = await script(`(async () => {
    const { readFileSync, readlinkSync, readdirSync, openSync } = require('node:fs');
    openSync('/etc/hostname');
    process.on('SIGUSR2', () => {});
    const s = await Sandbox.create({ journal: false });
    const [keeper] = readdirSync('/proc/self/task').flatMap((task) => readFileSync('/proc/self/task/' + task + '/children', 'latin1').split(' ').filter(Boolean));
    const fds = readdirSync('/proc/' + keeper + '/fd').map((fd) => { try { return readlinkSync('/proc/' + keeper + '/fd/' + fd); } catch { return ''; } });
    const stat = readFileSync('/proc/' + keeper + '/stat', 'latin1').split(') ')[1].split(' ');
    console.log(JSON.stringify({ fds, session: stat[3] === keeper, ignored: /SigIgn:\\s+(\\w+)/.exec(readFileSync('/proc/' + keeper + '/status', 'latin1'))[1] }));
    await s.dispose();
  })()`);
  const { fds, session, ignored } = JSON.parse(stdout);
  assert.ok(!fds.some((name) => name.includes('/etc/hostname')), String(fds));
  assert.ok(session);
  // Above 31 are the C library's own.
  assert.equal(BigInt(`0x${ignored}`) & 0x7fffffffn, 0n, ignored);
});

test('a host that is killed takes its workers along', async () => {
  const { stdout } = await script(`(async () => {
    const s = await Sandbox.create();
    console.log(s.pid);
    process.kill(process.pid, 'SIGKILL');
  })()`).catch((error) => error);
  const pid = Number(stdout.trim());
  assert.ok(pid > 0);
  for (let i = 0; existsSync(`/proc/${pid}`) && i < 100; i++) await sleep(20);
  assert.ok(!existsSync(`/proc/${pid}`), 'the worker outlived its host');
});

test('the event loop never waits for a guest', async () => {
  await using sandbox = await Sandbox.create({ time: '400 ms' });
  let ticks = 0;
  const timer = setInterval(() => { ticks++; }, 5);
  await sandbox.run('for (;;) {}').catch(() => {});
  clearInterval(timer);
  assert.ok(ticks > 20, `${ticks} ticks`);
});

test('in worker threads, and many at once', async () => {
  const { stdout } = await script(`
    const { Worker } = require('node:worker_threads');
    const body = 'const { Sandbox } = require(' + JSON.stringify(${JSON.stringify(index)}) + '); const { parentPort } = require("node:worker_threads");' +
      '(async () => { const s = await Sandbox.create(); parentPort.postMessage(await s.run("6 * 7")); })()';
    let sum = 0, left = 3;
    for (let i = 0; i < 3; i++) new Worker(body, { eval: true }).on('message', (n) => { sum += n; }).on('exit', () => { if (--left === 0) console.log(sum); });
  `);
  assert.equal(stdout.trim(), '126');
  const many = await Promise.all(Array.from({ length: 6 }, (_, i) => Sandbox.create({ tenant: `t${i % 3}` })));
  assert.deepEqual(await Promise.all(many.map((s, i) => s.run(`${i} + 1`))), [1, 2, 3, 4, 5, 6]);
  assert.equal(new Set(many.map((s) => s.pid)).size, 3);
  await Promise.all(many.map((s) => s.dispose()));
});

test('one sandbox calls another', async () => {
  await using a = await Sandbox.create({ tenant: 'x' });
  await using b = await Sandbox.create({ tenant: 'x' });
  const inner = b.runSync('(x) => x + 1');
  await a.set('inner', (x) => inner(x));
  assert.equal(a.runSync('inner(41)'), 42);
  assert.equal(await a.run('inner(1) + inner(2)'), 5);
  // The inner one's end ends the turn of both.
  await a.set('forever', () => b.runSync('for (;;) {}'));
  await assert.rejects(a.run('try { forever() } catch {} for (;;) {}', { time: '100 ms' }), SandboxError);
  assert.equal(await a.run('1'), 1);
});

test('warm workers', async () => {
  await warm(2);
  const begin = performance.now();
  const sandbox = await Sandbox.create();
  await sandbox.run('1');
  const took = performance.now() - begin;
  cool();
  await sandbox.dispose();
  assert.ok(took < 500, `${took} ms`);
});

test('a worker has one shared memory and nothing else', async () => {
  await using sandbox = await Sandbox.create();
  assert.equal(await sandbox.run('typeof process + typeof require + typeof fetch + typeof console + typeof WebAssembly'), 'undefinedundefinedundefinedundefinedobject');
  const status = readFileSync(`/proc/${sandbox.pid}/status`, 'latin1');
  assert.match(status, /^Seccomp:\s+2$/m);
  assert.match(status, /^NoNewPrivs:\s+1$/m);
  // What is typed at the host's terminal does not reach it.
  const session = (pid) => readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1].split(' ')[3];
  assert.notEqual(session(sandbox.pid), session(process.pid));
  const held = readdirSync(`/proc/${sandbox.pid}/fd`).map((fd) => readlinkSync(`/proc/${sandbox.pid}/fd/${fd}`));
  assert.ok(held[0].startsWith('/memfd:bulkhead-channel'), held[0]);
  for (const what of held.slice(1)) assert.match(what, /^(\/dev\/null|anon_inode:\[\w+\]|pipe:\[\d+\])$/);
});

test('a worker that was taken over starts no process and opens no flood of files', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bulkhead-worker-'));
  try {
    // What runs in the compartment of a worker, without the sandbox's program.
    writeFileSync(join(folder, 'taken.cjs'), `
      const { spawnSync } = require('node:child_process');
      const fs = require('node:fs');
      const said = [spawnSync(process.execPath, ['-v']).error?.code];
      const held = [];
      try { for (let i = 0; i < 5000; i++) held.push(fs.openSync(__filename)); } catch (error) { said.push(error.code); }
      for (const fd of held) fs.closeSync(fd);
      try { fs.readFileSync('/etc/hostname'); } catch (error) { said.push(error.code); }
      console.log(said.join(' '));`);
    const bulkhead = process.env.BULKHEAD ?? new URL('../../build/dev/bin/bulkhead', import.meta.url).pathname;
    const child = spawn(bulkhead, ['isolate', '--memory', '400MiB', '--read', folder, '--read', process.execPath, '--', process.execPath, '--openssl-config=/dev/null', join(folder, 'taken.cjs')],
      { stdio: ['ignore', 'pipe', 'pipe', 'pipe'], timeout: 20000 });
    let text = '';
    child.stdout.on('data', (part) => { text += part; });
    child.stderr.on('data', (part) => { text += part; });
    await once(child, 'close');
    assert.equal(text.trim(), 'EAGAIN EMFILE EACCES');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('what is disposed leaves no descriptor behind, collected or not', async () => {
  const held = () => readdirSync('/proc/self/fd').map((fd) => { try { return readlinkSync(`/proc/self/fd/${fd}`); } catch { return ''; } }).filter((what) => /pidfd|statm|memfd/.test(what)).length;
  const before = held();
  for (let i = 0; i < 5; i++) {
    const sandbox = await Sandbox.create();
    assert.ok(held() > before);
    await sandbox.dispose();
  }
  assert.equal(held(), before);
});

test('create and dispose, again and again', { timeout: 120000 }, async () => {
  await using keep = await Sandbox.create({ tenant: 'churn' });
  const resident = () => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${keep.pid}/status`, 'latin1'))[1]) / 1024;
  const turn = async () => {
    const s = await Sandbox.create({ tenant: 'churn' });
    assert.equal(s.pid, keep.pid);
    assert.ok(internals.endpoints.get(s).number < 5, 'a worker has room for so many');
    assert.equal(await s.run('const a = Array.from({ length: 1e4 }, (_, i) => ({ i })); a.length'), 10000);
    await s.dispose();
  };
  for (let i = 0; i < 20; i++) await turn();
  const before = resident();
  for (let i = 0; i < 60; i++) await turn();
  const after = resident();
  assert.ok(after < before + 30, `from ${before.toFixed(1)} to ${after.toFixed(1)} MB`);
});

test('a guest that takes its own process down', async () => {
  const sandbox = await Sandbox.create();
  const pending = sandbox.run('new Promise(() => {})');
  process.kill(sandbox.pid, 'SIGKILL');
  await assert.rejects(sandbox.run('1'), LostError);
  await assert.rejects(pending, LostError);
  assert.ok(sandbox.lost instanceof LostError);
  await sandbox.dispose();
});

test('globals', async () => {
  await using none = await Sandbox.create({ globals: 'none', expose: { x: 1 } });
  assert.equal(await none.run('typeof Object + typeof Array + typeof eval + x'), 'undefinedundefinedundefined1');
  assert.deepEqual(await none.run('[1, { a: 2 }]'), [1, { a: 2 }]);
  await using some = await Sandbox.create({ globals: ['Math', 'JSON', 'btoa'] });
  assert.equal(await some.run('typeof Math + typeof Date + btoa("x")'), 'objectundefinedeA==');
  await using web = await Sandbox.create({ globals: 'web' });
  const said = [];
  web.on('console', (level, args) => said.push([level, ...args]));
  assert.equal(await web.run(`console.log('a', { b: 1 }); console.warn('w');
    new Promise((resolve) => setTimeout(() => resolve(new TextDecoder().decode(new TextEncoder().encode('ä'))), 5))`), 'ä');
  assert.deepEqual(said, [['log', 'a', { b: 1 }], ['warn', 'w']]);
  assert.equal(await web.run('let n = 0; new Promise((resolve) => { const t = setInterval(() => { if (++n === 3) { clearInterval(t); resolve(n) } }, 1) })'), 3);
  assert.deepEqual(await web.run('structuredClone(new Map([[1, { a: 2 }]]))'), new Map([[1, { a: 2 }]]));
});

test('eval, WebAssembly and frozen intrinsics', async () => {
  await using bare = await Sandbox.create({ eval: false, wasm: 0, frozen: true });
  await assert.rejects(bare.run('eval("1")'), EvalError);
  await assert.rejects(bare.run('new Function("return 1")'), EvalError);
  await assert.rejects(bare.run('new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))'), /WebAssembly|Wasm|embedder/i);
  await assert.rejects(bare.run('"use strict"; Array.prototype.map = 1'), TypeError);
  await assert.rejects(bare.run('"use strict"; Object.prototype.x = 1'), TypeError);
  assert.equal(await bare.run('[1, 2].map((x) => x * 2).join()'), '2,4');
});

test('parts of the language taken away', async () => {
  await using sandbox = await Sandbox.create({ without: ['WebAssembly', 'Array.prototype.sort', 'Math.random'] });
  assert.equal(await sandbox.run('typeof WebAssembly + typeof [].sort + typeof Math.random + typeof Math.max'), 'undefinedundefinedundefinedfunction');
  // The membrane does not need them.
  assert.deepEqual(await sandbox.run('[3, 1].map((x) => ({ x }))'), [{ x: 3 }, { x: 1 }]);
  await assert.rejects(Sandbox.create({ without: ['Array.prototype.sorted'] }), /there is no Array.prototype.sorted/);
  await assert.rejects(Sandbox.create({ without: ['Infinity'] }), /Infinity cannot be taken away/);
  await assert.rejects(Sandbox.create({ without: 'eval' }), /a list of paths/);
  await using realm = await sandbox.realm({ without: ['JSON'] });
  assert.equal(await realm.run('typeof JSON + typeof [].sort'), 'undefinedfunction');
});

test('a worker that does not let go of a sandbox is lost before its others have waited for long', async () => {
  const create = () => Sandbox.create({ tenant: 'stuck' });
  const [gone, sibling] = [await create(), await create()];
  assert.equal(gone.pid, sibling.pid);
  process.kill(gone.pid, 'SIGSTOP');
  gone.disposeSync();
  const begin = performance.now();
  assert.throws(() => sibling.runSync('1 + 1'), SandboxError);
  assert.ok(performance.now() - begin < 4000, `${performance.now() - begin}`);
  assert.ok(sibling.lost !== undefined);
  await sibling.dispose();
  await using next = await create();
  assert.equal(await next.run('1 + 1'), 2);
});

test('a listener that throws keeps nobody else from being told that the worker is lost', async () => {
  const { stdout } = await script(`
    const told = [];
    process.on('uncaughtException', (error) => told.push(error.message));
    (async () => {
      const one = await Sandbox.create({ time: '50 ms' });
      const realm = await one.realm();
      one.on('lost', () => { throw new Error('of the listener'); });
      realm.on('lost', () => told.push('told'));
      const waiting = realm.run('new Promise(() => {})').catch(() => told.push('rejected'));
      await one.run('Array.prototype.sort.call({ length: 2 ** 32 })').catch(() => {});
      await waiting;
      setImmediate(() => console.log(told.sort().join()));
    })()`);
  assert.equal(stdout.trim(), 'of the listener,rejected,told');
});

test('an idle sandbox is nothing that a host would notice', async () => {
  const { stdout } = await script(`(async () => {
    const listeners = () => process.eventNames().map((name) => String(name) + process.listenerCount(name)).sort().join();
    const before = listeners();
    const sandbox = await Sandbox.create({ globals: 'web' });
    await sandbox.run('1');
    sandbox.runSync('1');
    await new Promise((resolve) => setTimeout(resolve, 50));
    const active = process.getActiveResourcesInfo().filter((name) => !['PipeWrap', 'TTYWrap', 'ProcessWrap'].includes(name));
    console.log(JSON.stringify([listeners() === before, active]));
  })()`);
  assert.deepEqual(JSON.parse(stdout), [true, []]);
});

test('a thread that waits for a guest ends when it is told to', async () => {
  const { stdout } = await script(`
    const { Worker } = require('node:worker_threads');
    const worker = new Worker('const { Sandbox } = require(' + JSON.stringify(${JSON.stringify(index)}) + '); const s = Sandbox.createSync({ journal: false, time: "10 min" }); require("node:worker_threads").parentPort.postMessage(1); s.runSync("for (;;);")', { eval: true });
    worker.once('message', async () => {
      await new Promise((resolve) => setTimeout(resolve, 200));
      console.log('ended', typeof await worker.terminate());
    });`);
  assert.equal(stdout, 'ended number\n');
});
