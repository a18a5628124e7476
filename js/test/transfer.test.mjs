// transfer(): bytes that cross are gone where they were, in both directions.
import test from 'node:test';
import assert from 'node:assert/strict';
import { Sandbox, OutputLimitError, transfer, readonly, byValue } from '../index.mjs';

const bytes = (...values) => new Uint8Array(values).buffer;

test('from the host: the guest has a buffer of its own, and the host none', async () => {
  await using sandbox = await Sandbox.create({ globals: 'node' });
  const describe = await sandbox.run(`(v) => {
    const view = ArrayBuffer.isView(v) ? v : new Uint8Array(v);
    return [v.constructor.name, view.byteLength, v.buffer === undefined || v.buffer.byteLength === view.byteLength, v[0] ?? v.getUint8?.(0) ?? view[0]];
  }`);
  for (const [value, name] of [[bytes(7, 8), 'ArrayBuffer'], [new Uint8Array([7, 8]), 'Uint8Array'], [new Float64Array([7]), 'Float64Array'],
    [new DataView(bytes(7, 8)), 'DataView'], [new BigInt64Array([7n]), 'BigInt64Array'], [Buffer.alloc(5000, 7), 'Buffer']]) {
    const size = value.byteLength;
    const [is, length, whole, first] = await describe(transfer(value));
    if (name !== 'Buffer') assert.equal(is, name);
    assert.deepEqual([length, whole, Number(first)], [size, true, 7], name);
    assert.equal((value.buffer ?? value).detached, true, name);
  }
  // The same, at once; nested in data; as a property of what is live; as what a function gives, or a promise.
  const one = bytes(1), two = bytes(2), three = bytes(3), four = bytes(4), five = bytes(5);
  assert.equal(sandbox.callSync(sandbox.runSync('(b) => b.byteLength'), [transfer(one)]), 1);
  const sum = await sandbox.run('({ a, b }) => new Uint8Array(a)[0] + new Uint8Array(b[0])[0]');
  assert.equal(await sum({ a: transfer(two), b: [byValue(transfer(three))] }), 5);
  await sandbox.set('ask', { now: () => transfer(four), later: async () => transfer(five) });
  assert.deepEqual(await sandbox.run('(async () => [new Uint8Array(ask.now())[0], new Uint8Array(await ask.later())[0]])()'), [4, 5]);
  for (const gone of [one, two, three, four, five]) assert.equal(gone.detached, true);
  const six = bytes(6);
  await sandbox.set('six', readonly(transfer(six)));
  assert.deepEqual([await sandbox.run('new Uint8Array(six)[0]'), six.detached], [6, true]);
});

test('from a guest, by a transfer() of its own', async () => {
  await using sandbox = await Sandbox.create({ expose: { transfer } });
  const [buffer, state] = await sandbox.run(`
    const kept = new Uint8Array([1, 2, 3]);
    const send = () => transfer(kept);
    const first = [send, () => [kept.length, kept.buffer.detached]]`).then(() => Promise.all([
    sandbox.run('send()'), sandbox.run('first[1]()')]));
  assert.deepEqual([buffer, state], [new Uint8Array([1, 2, 3]), [0, true]]);
  // Handed to a function of the host's, and in what a promise gives.
  const got = [];
  await sandbox.set('take', (value) => { got.push(value); });
  assert.equal(await sandbox.run('{ const b = new ArrayBuffer(4); take(transfer(b)); b.detached }'), true);
  assert.equal(got[0].byteLength, 4);
  const later = await sandbox.run('globalThis.l = new ArrayBuffer(5); Promise.resolve().then(() => ({ list: [transfer(l)] }))');
  assert.deepEqual([later.list[0].byteLength, await sandbox.run('l.detached')], [5, true]);
  // It is the guest's own: nothing of the host's is behind it, and no property of what it gives leads anywhere.
  assert.equal(await sandbox.run('transfer.constructor("return typeof process")()'), 'undefined');
  assert.deepEqual(await sandbox.run('(() => { const t = transfer(new ArrayBuffer(1)); return [Object.getPrototypeOf(Object.getPrototypeOf(t)), Reflect.ownKeys(Object.getPrototypeOf(t)).length, t.constructor] })()'), [null, 0, undefined]);
  // What its own prototypes say is not asked.
  assert.equal(await sandbox.run(`{
    for (const name of ['detached', 'resizable', 'byteLength']) Object.defineProperty(ArrayBuffer.prototype, name, { get() { throw 'asked' } });
    ArrayBuffer.prototype.transfer = () => { throw 'asked' };
    globalThis.m = new Uint8Array(2); take(transfer(m)); m.length }`), 0);
});

test('what cannot be given away is refused, and stays', async () => {
  await using sandbox = await Sandbox.create({ output: '64 KiB', expose: { transfer, take: () => {} } });
  const pooled = Buffer.from('a piece of the pool');
  const resizable = new ArrayBuffer(8, { maxByteLength: 16 });
  const gone = bytes(1);
  structuredClone(gone, { transfer: [gone] });
  for (const [value, message] of [[pooled, /part/], [new Uint8Array(bytes(1, 2), 1), /part/], [resizable, /resizable/], [new Uint8Array(resizable), /resizable/],
    [gone, /detached/], [new SharedArrayBuffer(8), /shared/], [new Uint8Array(new SharedArrayBuffer(8)), /shared/], [{}, /ArrayBuffer/], [1, /ArrayBuffer/],
    [null, /ArrayBuffer/], [() => {}, /ArrayBuffer/], [new Uint8Array(pooled.buffer), /untransferable/], [new Proxy(bytes(1), {}), /ArrayBuffer/]])
    assert.throws(() => transfer(value), { name: 'TypeError', message });
  assert.ok(pooled.length === 19 && !pooled.buffer.detached && resizable.byteLength === 8);
  const guests = await sandbox.run(`(() => {
    const fixed = new ArrayBuffer(8), resizable = new ArrayBuffer(8, { maxByteLength: 16 }), gone = new ArrayBuffer(8);
    gone.transfer();
    const name = (f) => { try { f(); return 'none' } catch (e) { return (e instanceof TypeError) + e.message.slice(0, 20) } };
    return [new Uint8Array(fixed, 1), resizable, new Uint8Array(resizable), gone, new SharedArrayBuffer(8), {}, 1, new Proxy(fixed, {})].map((v) => name(() => transfer(v)));
  })()`);
  for (const said of guests) assert.match(said, /^truetransfer: /);

  // Nothing of a message that was not sent is gone.
  const take = await sandbox.run('() => {}');
  const large = new ArrayBuffer(1 << 20), small = bytes(1);
  await assert.rejects(take(transfer(large)), OutputLimitError);
  await assert.rejects(take(transfer(small), transfer(large)), OutputLimitError);
  await assert.rejects(take(transfer(small), transfer(small)), /twice/);
  assert.deepEqual([large.detached, small.detached], [false, false]);
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1 }).buffer;
  await using roomy = await Sandbox.create({ expose: { transfer } });
  await assert.rejects(roomy.set('memory', transfer(memory)), TypeError);
  assert.equal(memory.byteLength, 65536);
  // Handed over before, it is there no more; and so when it goes between.
  const box = transfer(small);
  await take(box);
  await assert.rejects(take(box), /transferred once/);
  const other = bytes(1), early = transfer(other);
  structuredClone(other, { transfer: [other] });
  await assert.rejects(take(early), /transferred once/);
  const inside = await sandbox.run(`globalThis.big = new ArrayBuffer(1 << 20); try { take(transfer(big)); 'none' } catch (e) { e.name + big.detached }`);
  assert.equal(inside, 'RangeErrorfalse');
  // What a promise gives and cannot be sent is no less there.
  await assert.rejects(sandbox.run('Promise.resolve(transfer(big))'));
  assert.equal(await sandbox.run('big.detached'), false);
});

test('of several in one message all are given away, or none', async () => {
  await using sandbox = await Sandbox.create({ expose: { transfer, take: () => {} } });
  const take = await sandbox.run('() => {}');
  const first = bytes(1), second = bytes(2), memory = new WebAssembly.Memory({ initial: 1, maximum: 1 }).buffer;
  await assert.rejects(take(transfer(first), [transfer(memory)]), { name: 'TypeError', message: /nothing of the message/ });
  // Or a getter takes one away while the message is written.
  const between = { get other() { if (!second.detached) structuredClone(second, { transfer: [second] }); return 1; } };
  await assert.rejects(take(transfer(first), transfer(second), between), { name: 'TypeError', message: /nothing of the message/ });
  assert.deepEqual([first.detached, memory.byteLength, second.detached], [false, 65536, true]);
  // None of what was refused goes with the next one.
  await take(1);
  assert.equal(first.detached, false);
  await take(transfer(first));
  assert.equal(first.detached, true);
});

test('and so inside: as arguments, as a result, in what a promise gives', async () => {
  await using sandbox = await Sandbox.create({ expose: { transfer, take: () => {} } });
  await sandbox.run(`globalThis.own = new ArrayBuffer(8); globalThis.other = new ArrayBuffer(8);
    globalThis.pages = new WebAssembly.Memory({ initial: 1, maximum: 1 }).buffer; 1`);
  const state = () => sandbox.run('[own.detached, pages.byteLength]');
  assert.match(await sandbox.run('try { take(transfer(own), transfer(pages)); "sent" } catch (e) { e.name + e.message }'), /^TypeErrortransfer: .*nothing of the message/);
  await assert.rejects(sandbox.run('[transfer(own), transfer(pages)]'), TypeError);
  assert.match(await sandbox.run('try { take(transfer(own), transfer(other), { get a() { if (!other.detached) other.transfer(); return 1 } }); "sent" } catch (e) { e.message }'), /nothing of the message/);
  assert.deepEqual(await state(), [false, 65536]);
  // Whoever waits for a promise is told, and whose answer it would have come with has its own.
  const later = sandbox.run('new Promise((resolve) => { globalThis.settle = () => resolve([transfer(own), transfer(pages)]) })');
  assert.equal(await sandbox.run('settle(); "its own"'), 'its own');
  await assert.rejects(later, /cannot cross the membrane/);
  assert.deepEqual(await state(), [false, 65536]);
  assert.equal(await sandbox.run('take(transfer(own)); own.detached'), true);
});

test('what was given away is the receiver\'s to account for', async () => {
  await using sandbox = await Sandbox.create({ buffers: '4 MiB', output: '2 MiB', time: '5 s', expose: { transfer, take: () => {} } });
  const keep = await sandbox.run('globalThis.kept = []; (b) => kept.push(b)');
  const grow = async () => { for (let i = 0; i < 8; i++) await keep(transfer(new ArrayBuffer(1 << 20))); };
  await assert.rejects(grow(), (error) => error instanceof RangeError || error.code === 'ERR_SANDBOX_MEMORY');
  await sandbox.run('kept = []');
  // The sender has its share back, without a collection.
  assert.equal(await sandbox.run('for (let i = 0; i < 50; i++) take(transfer(new ArrayBuffer(1 << 20))); "sent"'), 'sent');
});

test('a guest\'s own transfer() and limit() handed back are functions like others', async () => {
  const { limit } = await import('../index.mjs');
  await using sandbox = await Sandbox.create({ expose: { transfer, limit } });
  assert.equal(typeof await sandbox.run('transfer'), 'function');
  assert.equal(typeof await sandbox.run('limit'), 'function');
  assert.equal(await sandbox.run('6 * 7'), 42);
});
