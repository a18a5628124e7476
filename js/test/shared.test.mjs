// Memory that host and guest both have, where it is asked for.
import test from 'node:test';
import assert from 'node:assert/strict';
import launcher from '../lib/launcher.cjs';
import { Sandbox, warm, cool, DisposedError, SandboxError } from '../index.mjs';

const sum = '(() => { const bytes = new Uint8Array(shared); let sum = 0; for (const byte of bytes) sum += byte; return sum })()';

test('either side sees what the other wrote, without a message', async () => {
  await using sandbox = await Sandbox.create({ shared: '1 MiB' });
  assert.equal(sandbox.shared.size, 2 ** 20);
  sandbox.shared.write(new Uint8Array([1, 2, 3]), 4096);
  assert.equal(await sandbox.run(sum), 6);
  assert.equal(sandbox.runSync('shared instanceof SharedArrayBuffer && shared.byteLength'), 2 ** 20);
  sandbox.runSync('Atomics.store(new Int32Array(shared), 0, -2)');
  assert.deepEqual([...sandbox.shared.read(0, 4)], [254, 255, 255, 255]);
  sandbox.shared.write(Float64Array.of(0.5), 8);
  assert.equal(sandbox.runSync('new Float64Array(shared)[1]'), 0.5);
  assert.equal(sandbox.shared.read().length, 2 ** 20);
});

test('more than the largest message', async () => {
  await using sandbox = await Sandbox.create({ shared: '8 MiB', output: '64 KiB' });
  sandbox.shared.write(new Uint8Array(8 * 2 ** 20).fill(1));
  assert.equal(await sandbox.run(sum), 8 * 2 ** 20);
});

test('a copy changes no more, and a copy of it that crosses is the guest\'s', async () => {
  await using sandbox = await Sandbox.create({ shared: 4096 });
  const before = sandbox.shared.read();
  sandbox.runSync('new Uint8Array(shared).fill(7)');
  assert.equal(before[0], 0);
  const copied = sandbox.runSync('shared');
  sandbox.runSync('new Uint8Array(shared).fill(8)');
  assert.deepEqual([new Uint8Array(copied)[0], sandbox.shared.read(0, 1)[0]], [7, 8]);
});

test('in whole pages, within them, and while there is a sandbox', async () => {
  const sandbox = await Sandbox.create({ shared: '1 B' });
  assert.equal(sandbox.shared.size, 4096);
  for (const bad of [[-1], [4097], [0, 4097], [4096, 1], [0.5], [NaN], [0, -1], [2 ** 53, 1], ['0']]) assert.throws(() => sandbox.shared.read(...bad), RangeError, String(bad));
  for (const bad of [[new Uint8Array(4097)], [new Uint8Array(1), 4096], [new Uint8Array(1), -1]]) assert.throws(() => sandbox.shared.write(...bad), RangeError);
  for (const bad of ['text', [1], undefined, new ArrayBuffer(4)]) assert.throws(() => sandbox.shared.write(bad), TypeError);
  assert.equal(sandbox.shared.read(4096).length, 0);
  await sandbox.dispose();
  assert.throws(() => sandbox.shared.read(), DisposedError);
  assert.throws(() => sandbox.shared.write(new Uint8Array(1)), DisposedError);
  await assert.rejects(Sandbox.create({ shared: '1 GiB' }), SandboxError);
  await assert.rejects(Sandbox.create({ shared: 'much' }), SandboxError);
});

test('the addon copies nothing that is not of this memory, whoever asks', () => {
  const link = launcher.native().link(65536, new Uint8Array(16), 8192);
  const bytes = (length) => new Uint8Array(length);
  for (const write of [false, true]) {
    for (const [length, offset] of [[8192, 0], [1, 8191], [0, 8192], [4096, 4096]]) assert.equal(link.copyShared(bytes(length), offset, write), true, `${length} at ${offset}`);
    for (const [length, offset] of [[8193, 0], [1, 8192], [0, 8193], [1, -1], [1, NaN], [1, Infinity], [1, 2 ** 53], [4097, 4096], [1, -(2 ** 40)], [1, 2 ** 64]])
      assert.equal(link.copyShared(bytes(length), offset, write), false, `${length} at ${offset}`);
    for (const other of [new Uint16Array(1), new DataView(new ArrayBuffer(1)), new ArrayBuffer(1), [1], undefined]) assert.equal(link.copyShared(other, 0, write), false);
  }
  assert.equal(link.copyShared(bytes(1), 0, undefined), false);
  link.close();
  assert.equal(link.copyShared(bytes(1), 0, false), false);
});

test('only who asked has it: no other of its tenant, no realm, and nobody without the option', async () => {
  await using first = await Sandbox.create({ tenant: 'shared', shared: 4096 });
  await using second = await Sandbox.create({ tenant: 'shared', shared: 4096 });
  await using third = await Sandbox.create({ tenant: 'shared' });
  assert.equal(new Set([first.pid, second.pid, third.pid]).size, 3);
  assert.equal(third.shared, undefined);
  assert.equal(await third.run('typeof shared'), 'undefined');
  second.shared.write(new Uint8Array(16).fill(9));
  assert.equal(await first.run(sum), 0);
  await using realm = await first.realm();
  assert.equal(realm.shared, undefined);
  assert.equal(await realm.run('typeof shared'), 'undefined');
});

test('a warm worker without it is not for who asks', async () => {
  await warm(1, { memory: '80 MiB', wasm: '64 MiB' });
  try {
    await using sandbox = await Sandbox.create({ shared: 4096 });
    assert.equal(await sandbox.run(sum), 0);
  } finally {
    cool();
  }
});

test('a guest neither grows it nor gives it away, and what it does to it ends with it', async () => {
  await using sandbox = await Sandbox.create({ shared: 4096, time: '100 ms' });
  for (const source of ['shared.grow(8192)', 'structuredClone(shared, { transfer: [shared] })', 'new Uint8Array(shared).buffer.transfer(0)', 'Atomics.wait(new Int32Array(shared), 0, 0)'])
    await assert.rejects(sandbox.run(source), source);
  // Who writes while the host reads changes what is read, and nothing else.
  const writing = sandbox.run('for (const bytes = new Uint8Array(shared); ;) bytes[0]++').catch(() => 'ended');
  for (let i = 0; i < 1000; i++) sandbox.shared.read().sort();
  assert.equal(await writing, 'ended');
  assert.equal(sandbox.shared.size, 4096);
});
