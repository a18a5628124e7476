// Code caches: used where they are what they were, and refused where they are not.
import test from 'node:test';
import assert from 'node:assert/strict';
import { Sandbox } from '../index.mjs';
import codeCache from '../lib/code-cache.cjs';

const key = 'a secret of this host';
const source = `(() => { const table = { ${Array.from({ length: 200 }, (_, i) => `f${i}(x) { return x + ${i} }`).join(', ')} }; return (n) => table['f' + n](1) })()`;
// Notes of the journal, as the sandbox tells them.
const noted = (sandbox) => {
  const list = [];
  const { note } = sandbox;
  sandbox.note = (...args) => { list.push(args); return note.apply(sandbox, args); };
  return list;
};

test('a cache serves its text in another sandbox of its tenant, under the same key', async () => {
  await using maker = await Sandbox.create({ cacheKey: key, tenant: 'a' });
  const cache = await maker.cache(source, { filename: 'table.js' });
  assert.ok(Buffer.isBuffer(cache) && cache.length > 1000);
  await using user = await Sandbox.create({ cacheKey: key, tenant: 'a' });
  const told = noted(user);
  const f = await user.run(source, { cache, filename: 'table.js' });
  assert.equal(await f(41), 42);
  assert.equal(user.runSync(source, { cache })(3), 4);
  assert.deepEqual(told, []);
  assert.equal(user.lost, undefined);
});

test('sandboxes without a tenant make none and take none: they trust nobody, and each other no more', async () => {
  await using tenant = await Sandbox.create({ cacheKey: key, tenant: 'a' });
  const cache = await tenant.cache(source);
  await using sandbox = await Sandbox.create({ cacheKey: key });
  await using realm = await sandbox.realm();
  for (const each of [sandbox, realm]) {
    await assert.rejects(each.cache(source), { name: 'TypeError', message: /of a tenant.*option "tenant"/ });
    await assert.rejects(each.run(source, { cache }), { name: 'TypeError', message: /of a tenant/ });
    assert.throws(() => each.runSync(source, { cache }), { name: 'TypeError', message: /of a tenant/ });
    assert.equal(await each.run('6 * 7'), 42);
  }
});

test('whatever is altered is refused, and the text runs all the same', async () => {
  await using maker = await Sandbox.create({ cacheKey: key, tenant: 'a' });
  const cache = await maker.cache(source);
  const own = await Sandbox.create({ tenant: 'a' }).then(async (sandbox) => { const made = await sandbox.cache(source); await sandbox.dispose(); return made; });
  const flipped = (at) => { const copy = Buffer.from(cache); copy[at] ^= 1; return copy; };
  const cases = {
    'the first byte': flipped(0), 'the code': flipped(cache.length - 100), 'the mac': flipped(20), 'its head': flipped(40), empty: Buffer.alloc(0), short: cache.subarray(0, 36),
    longer: Buffer.concat([cache, Buffer.from([0])]), shorter: cache.subarray(0, cache.length - 1), 'what the engine alone would take': cache.subarray(36), 'another key': own,
  };
  await using user = await Sandbox.create({ cacheKey: key, tenant: 'a' });
  const told = noted(user);
  for (const [name, bytes] of Object.entries(cases)) {
    told.length = 0;
    assert.equal(await (await user.run(source, { cache: bytes }))(1), 2, name);
    assert.equal(told.length, 1, name);
    assert.match(told[0][2], /altered/, name);
  }
  told.length = 0;
  assert.equal(await user.run('40 + 2', { cache }), 42, 'of another text');
  assert.match(told[0][2], /another text/);
  await using other = await Sandbox.create({ cacheKey: key, tenant: 'b' });
  const otherTold = noted(other);
  assert.equal(await (await other.run(source, { cache }))(1), 2);
  assert.equal(otherTold.length, 1, 'of another tenant');
  await assert.rejects(user.run('1', { cache: 'text' }), /cache is what/);
  await assert.rejects(Sandbox.create({ cacheKey: 'short' }), /16 bytes/);
});

test('an authentic one of another engine is refused by V8, which says so', async () => {
  await using maker = await Sandbox.create({ cacheKey: key, tenant: 'a' });
  const cache = await maker.cache(source);
  const code = Buffer.from(cache.subarray(36));
  // Where V8 has the hash of its version, and of its flags.
  const refused = [];
  for (const at of [4, 12]) {
    const changed = Buffer.from(code);
    changed.writeUInt32LE((changed.readUInt32LE(at) ^ 0x5555) >>> 0, at);
    await using user = await Sandbox.create({ cacheKey: key, tenant: 'a' });
    const told = noted(user);
    assert.equal(await (await user.run(source, { cache: codeCache.seal(key, 'a', source, changed) }))(1), 2);
    refused.push(told.some((note) => /another engine/.test(note[2])));
    assert.equal(user.lost, undefined);
  }
  assert.deepEqual(refused, [true, true]);
});

test('limits hold while it is made, and errors are those of the text', async () => {
  await using sandbox = await Sandbox.create({ output: '64 KiB', time: '5 s', tenant: 'small' });
  await assert.rejects(sandbox.cache(`const t = [${'(x) => x + 1,'.repeat(4000)}]`), { code: 'ERR_SANDBOX_OUTPUT' });
  await assert.rejects(sandbox.cache('let a = ;'), SyntaxError);
  assert.equal(await sandbox.run('1'), 1);
});
