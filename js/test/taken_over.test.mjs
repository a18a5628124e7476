// A worker that a bug of V8's gave to somebody: native code in its process, in its compartment
// (tests/attacks/javascript/taken_over.cc). The host and other tenants lose nothing by it.
import test, { after, before } from 'node:test';
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const require = createRequire(import.meta.url);
const SECRET = `secret-of-the-host-${process.pid}`;
const root = mkdtempSync(join(tmpdir(), 'bulkhead-taken-over-'));
const folder = join(root, 'data');
const file = join(folder, 'secret');
process.env.SECRET_OF_THE_HOST = SECRET;

// The package once more, whose workers are those of `addons`.
function packageOf(addons) {
  for (const name of Object.keys(require.cache)) if (name.includes('/js/lib/') || name.endsWith('/js/index.cjs')) delete require.cache[name];
  if (addons !== undefined) process.env.BULKHEAD_ADDONS = addons;
  return require('../index.cjs');
}
const honest = packageOf();
let hostile, victim, other;

before(async () => {
  mkdirSync(folder);
  writeFileSync(file, SECRET);
  victim = await honest.Sandbox.create({ tenant: 'victim', expose: { secret: SECRET } });
  await victim.run('globalThis.kept = secret + " kept"');
  const addons = join(root, 'addons');
  mkdirSync(addons);
  symlinkSync(join(process.env.BULKHEAD_ADDONS, 'host.node'), join(addons, 'host.node'));
  symlinkSync(process.env.BULKHEAD_TAKEN_OVER, join(addons, 'worker.node'));
  hostile = packageOf(addons);
  other = await hostile.Sandbox.create({ tenant: 'other', time: '5 s' });
});
after(async () => {
  await other?.dispose();
  await victim?.dispose();
  rmSync(root, { recursive: true, force: true });
});

// Whatever was tried: the other tenant has what it had, in the process that it had, and so has the host.
async function unharmed() {
  assert.equal(await victim.run('kept'), `${SECRET} kept`);
  assert.equal(victim.lost, undefined);
  assert.deepEqual([readFileSync(file, 'utf8'), readdirSync(folder)], [SECRET, ['secret']]);
  assert.equal({}.taken, undefined);
}
const attack = async (options, ...what) => {
  const sandbox = await hostile.Sandbox.create({ tenant: 'attacker', time: '5 s', ...options });
  try {
    return await sandbox.run(what.join(' '));
  } finally {
    await sandbox.dispose();
    await unharmed();
  }
};
const nothing = async (...what) => assert.match(await attack({}, ...what), /^tried [1-9]\d*$/);
const gone = async (pid) => {
  while (existsSync(`/proc/${pid}`)) await sleep(10);
};

test('files', async () => {
  await nothing('files', file, join(folder, 'new'));
  await nothing('reads', '/etc/passwd', '/etc/hostname', '/root', '/home', import.meta.filename, '/var/log', '/run', '/proc/1/environ',
    `/proc/${process.pid}/environ`, `/proc/${process.pid}/mem`, `/proc/${process.pid}/fd`, `/proc/${process.pid}/root/etc/passwd`, dirname(folder), '/sys/kernel', '/dev/kmsg');
});

test('the network', async (t) => {
  const heard = [];
  const path = join(root, 'socket');
  const abstract = `bulkhead-taken-over-${process.pid}`;
  const tcp = createServer((socket) => { heard.push('TCP'); socket.destroy(); }).listen(0, '127.0.0.1');
  await once(tcp, 'listening');
  const { port } = tcp.address();
  const servers = [createServer(() => heard.push('path')).listen(path), createServer(() => heard.push('abstract')).listen(`\0${abstract}`)];
  const udp = createSocket('udp4').on('message', () => heard.push('UDP')).bind(port, '127.0.0.1');
  t.after(() => { for (const each of [tcp, ...servers, udp]) each.close(); });
  await Promise.all([...servers, udp].map((each) => once(each, 'listening')));
  await nothing('network', port, path, abstract);
  // What had been sent before this one is heard before it.
  const last = createSocket('udp4');
  const end = once(udp, 'message');
  last.send('end', port, '127.0.0.1', () => last.close());
  await end;
  assert.deepEqual(heard, ['UDP']);
});

test('other processes: the host, other workers, whoever keeps them', async () => {
  const parent = (pid) => Number(/^PPid:\t(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);
  const keeper = parent(parent(victim.pid));
  await nothing('processes', process.pid, victim.pid, other.pid, keeper, parent(victim.pid));
  assert.equal(await other.run('nobody'), 'what is nobody?');
});

test('children, programs, ways into the kernel', () =>
  nothing('children', ['/lib64/ld-linux-x86-64.so.2', '/lib/ld-linux-aarch64.so.1'].find(existsSync)));

test('its memory: no byte less, none more, no seal more', () => nothing('memory'));

test('it is born with one memory and nothing else', async () => {
  const told = (await attack({}, 'born-with')).trim().split('\n');
  assert.deepEqual(told.filter((line) => /^\d/.test(line)), ['0=memory', '1=null', '2=null']);
  assert.ok(!told.join().includes(SECRET) && !told.some((line) => line.startsWith('SECRET')));
});

test('its memory holds nothing of the host\'s, nor of another tenant\'s', async () => {
  const sandbox = await hostile.Sandbox.create({ tenant: 'attacker', time: '20 s' });
  const scan = async (text) => Number(/^tried [1-9]\d* found (\d+)$/.exec(await sandbox.run(`scan ${Buffer.from(text).toString('hex')}`))[1]);
  assert.equal(await scan(SECRET), 0);
  // What it was sent itself is there.
  await sandbox.set('own', `${' '.repeat(4000)}sent-to-this-one`);
  assert.ok(await scan('sent-to-this-one') > 0);
  await sandbox.dispose();
});

test('more memory than its own', async () => {
  const limits = { memory: '16 MiB', buffers: '16 MiB', wasm: '16 MiB' };
  const most = 16 * 3.5 + 160;  // pool.cjs, of which its own takes a part
  const before = process.memoryUsage.rss();
  for (const how of ['pages', 'descriptor']) {
    const got = await attack(limits, 'grow', 2000, how).then(Number, (error) => {
      assert.ok(error instanceof hostile.SandboxError && error.code !== 'ERR_SANDBOX_TIME', String(error));
      return 0;
    });
    assert.ok(got < 2 * most, `${got} MB of ${how}`);
  }
  assert.ok(process.memoryUsage.rss() - before < 64 * 2 ** 20, 'the host grew');
});

test('lies about a message', async () => {
  for (const length of [0, 1, 15, 2 ** 24 + 3 * 4096, 2 ** 31, 2 ** 32 - 1])
    await assert.rejects(attack({}, 'lie', length), { code: 'ERR_SANDBOX_LOST' }, String(length));
  // What stands in its slot from before is anything, but never more than a value or the worker's end.
  await attack({}, 'lie', 2 ** 20).catch((error) => assert.equal(error.code, 'ERR_SANDBOX_LOST'));
});

test('a message that changes while the host reads it', async () => {
  for (let round = 0; round < 8; round++) {
    const sandbox = await hostile.Sandbox.create({ tenant: `racer ${round}`, time: '5 s' });
    try {
      for (let i = 0; i < 400; i++) {
        const list = sandbox.runSync('rewrite');
        assert.equal(list.length, 16);
      }
    } catch (error) {
      assert.equal(error.code, 'ERR_SANDBOX_LOST', error.stack);
    }
    await sandbox.dispose();
  }
  await unharmed();
});

test('writing over all that both share, and answers that nobody asked for', async () => {
  for (const how of ['scribble', 'chatter', 'punch']) {
    const sandbox = await hostile.Sandbox.create({ tenant: 'attacker', time: '200 ms' });
    const { pid } = sandbox;
    await sandbox.run(how).catch(() => {});
    for (let i = 0; i < 20 && !sandbox.lost; i++) {
      await unharmed();
      // Any value, or an error of the sandbox's.
      await sandbox.run('anything').catch((error) => assert.ok(error instanceof hostile.SandboxError, `${how}: ${error.stack}`));
    }
    await sandbox.dispose();
    await gone(pid);
  }
});

test('one that does not come back, sleeps, or stops itself is ended, and the next one works', async () => {
  for (const how of ['spin', 'sleep', 'stop']) {
    const sandbox = await hostile.Sandbox.create({ tenant: 'attacker', time: '50 ms', wall: '300 ms' });
    const { pid } = sandbox;
    await assert.rejects(sandbox.run(how), (error) => error.code === 'ERR_SANDBOX_TIME', how);
    await gone(pid);
    await sandbox.dispose();
    await unharmed();
  }
});

test('what it leaves running is gone with it', async () => {
  const sandbox = await hostile.Sandbox.create({ tenant: 'attacker', time: '5 s' });
  const { pid } = sandbox;
  assert.equal(await sandbox.run('linger'), 'lingers');
  const threads = Number(await sandbox.run('threads'));
  assert.ok(threads > 0);
  await sandbox.dispose();
  await gone(pid);
  await unharmed();
});
