// The Buffer of a guest, where it is asked for: its own, and a Buffer on both sides.
import test from 'node:test';
import assert from 'node:assert/strict';
import { Sandbox } from '../index.mjs';

test('only where it is asked for', async () => {
  for (const globals of ['ecmascript', 'web', 'none', ['JSON']]) {
    await using sandbox = await Sandbox.create({ globals });
    assert.equal(await sandbox.run('typeof Buffer'), 'undefined', String(globals));
  }
  await using listed = await Sandbox.create({ globals: ['Buffer'] });
  assert.equal(await listed.run('Buffer.from("hello").toString("hex") + typeof Map + typeof Uint8Array'), '68656c6c6fundefinedundefined');
});

test('globals node: what programs of Node\'s expect', async () => {
  await using sandbox = await Sandbox.create({ globals: 'node' });
  assert.equal(await sandbox.run('global === globalThis'), true);
  assert.equal(await sandbox.run('new Promise((resolve) => setImmediate(resolve, 5))'), 5);
  assert.equal(await sandbox.run('[typeof process, typeof require, typeof console.log, typeof URL].join()'), 'undefined,undefined,function,undefined');
  assert.equal(await sandbox.run(`[
    Buffer.from('aGVsbG8', 'base64').toString(), Buffer.from('68c3a9', 'hex').toString(), Buffer.from('\\u20ac').length, Buffer.alloc(3).fill(1).toString('base64'),
    Buffer.concat([Buffer.from('a'), Buffer.from('b')]).toString('utf16le').length, Buffer.from([1, 2, 3, 4]).readUInt32BE(0), Buffer.byteLength('\\u00e9'),
    Buffer.from('abc').equals(Buffer.from('abc')), Buffer.compare(Buffer.from('a'), Buffer.from('b')), JSON.stringify(Buffer.from('x')),
  ].join(';')`), 'hello;h\u00e9;3;AQEB;1;16909060;2;true;-1;{"type":"Buffer","data":[120]}');
});

test('a Buffer of the host is one inside, and one of the guest\'s is one outside', async () => {
  await using sandbox = await Sandbox.create({ globals: 'node' });
  await sandbox.set('given', Buffer.from('from the host'));
  assert.equal(await sandbox.run('Buffer.isBuffer(given) && given instanceof Buffer && given instanceof Uint8Array && given.toString("latin1")'), 'from the host');
  const back = await sandbox.run('Buffer.from("from the guest")');
  assert.ok(Buffer.isBuffer(back));
  assert.equal(back.toString(), 'from the guest');
  const size = await sandbox.run('(b) => b.buffer.byteLength');
  assert.equal(await size(Buffer.from('12')), 2, 'not the pool that the host\'s is cut from');
  assert.equal(await sandbox.run('Buffer.allocUnsafe(1000).every((byte) => byte === 0)'), true);
  assert.ok(!Buffer.isBuffer(await sandbox.run('new Uint8Array(2)')));
});

test('it is the guest\'s own: nothing of the host\'s, limits hold, frozen if asked', async () => {
  await using sandbox = await Sandbox.create({ globals: 'node', frozen: true, buffers: '1 MiB', time: '200 ms' });
  assert.equal(await sandbox.run('Buffer.from("x").constructor.constructor("return typeof process + typeof require")()'), 'undefinedundefined');
  await assert.rejects(sandbox.run('Buffer.alloc(2 ** 22)'), RangeError);
  assert.equal(await sandbox.run('Buffer.prototype.toString = 1; typeof Buffer.prototype.toString + Object.isFrozen(Buffer)'), 'functiontrue');
  const error = await sandbox.run('Buffer.from(Symbol())').catch((e) => e);
  assert.ok(!error.stack.includes('bulkhead') && !error.stack.includes('node_modules'), error.stack);
});
