// No message of a guest costs its host more than its size allows, whatever it is made of: what is dear to make weighs more.
import test, { after } from 'node:test';
import assert from 'node:assert/strict';
import { Sandbox, OutputLimitError } from '../index.mjs';

const sandbox = await Sandbox.create({ time: '30 s', memory: '512 MiB' });
after(() => sandbox.dispose());

// Each would take the host a tenth of a second or more, and hundreds of megabytes some of them.
const dear = {
  maps: 'Array.from({ length: 1e6 }, () => new Map())', sets: 'Array.from({ length: 1e6 }, () => new Set())', 'a large map': 'new Map(Array.from({ length: 5e5 }, (_, i) => [i, i]))',
  texts: 'Array.from({ length: 2e6 }, (_, i) => "k" + i)', 'texts among others': 'Array.from({ length: 1e6 }, (_, i) => (i % 2 ? undefined : "k" + i))',
  'empty lists': 'Array.from({ length: 1e6 }, () => [])', 'empty objects': 'Array.from({ length: 1e6 }, () => ({}))',
  'objects of names of their own': 'Array.from({ length: 1e5 }, (_, i) => ({ ["n" + i]: 1 }))', 'the same among others': '[undefined, ...Array.from({ length: 1e5 }, (_, i) => ({ ["n" + i]: undefined }))]',
  'objects of orders of their own': `Array.from({ length: 2e4 }, (_, i) => { const names = 'abcdefghijklmnop'.split(''), o = {}; for (let k = 0, n = i; names.length > 8; k++) { const [x] = names.splice((n * 7 + k) % names.length, 1); n = (n * 31 + 7) % 65521; o[x] = 1; } return o; })`,
  dates: 'Array.from({ length: 1e6 }, (_, i) => new Date(i))', symbols: 'Array.from({ length: 6e4 }, () => Symbol())', bigints: 'Array.from({ length: 1e6 }, (_, i) => BigInt(i))',
  functions: 'Array.from({ length: 6e4 }, () => () => 1)', promises: 'Array.from({ length: 6e4 }, () => new Promise(() => {}))', instances: 'Array.from({ length: 6e4 }, () => new (class A { f() {} })())',
  errors: 'Array.from({ length: 2e4 }, () => new Error("x"))', buffers: 'Array.from({ length: 2e5 }, () => new Uint8Array(1))', 'boxed values': 'Array.from({ length: 5e5 }, () => Object(1))',
  'many numbers': 'Array.from({ length: 4e6 }, (_, i) => i)',
};
for (const [name, source] of Object.entries(dear)) {
  test(`too much in one message: ${name}`, async () => {
    await assert.rejects(sandbox.run(source), (error) => error instanceof OutputLimitError && error.message.includes('option output'));
    assert.equal(sandbox.lost, undefined);
    assert.equal(await sandbox.run('1 + 1'), 2);
  });
}

test('a larger output has room for more', async () => {
  const large = await Sandbox.create({ time: '30 s', memory: '512 MiB', output: '256 MiB' });
  assert.equal((await large.run('Array.from({ length: 1e5 }, (_, i) => new Map([[i, i]]))')).length, 1e5);
  await large.dispose();
});

test('what programs send fits', async () => {
  for (const [source, size] of [['"x".repeat(16 * 2 ** 20 - 100)', undefined], ['"\\u0416".repeat(8 * 2 ** 20 - 100)', undefined], ['new Uint8Array(16 * 2 ** 20 - 10_000)', undefined],
    ['Array.from({ length: 1e6 }, (_, i) => i)', undefined], ['Array.from({ length: 20_000 }, (_, i) => ({ id: i, name: "name " + i, price: i * 1.5, tags: ["a", "b"], ok: true }))', undefined],
    ['Array.from({ length: 20_000 }, (_, i) => ({ id: i, when: new Date(i), none: undefined }))', undefined], ['new Map(Array.from({ length: 20_000 }, (_, i) => ["k" + i, { i }]))', 20_000],
    ['Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => ["k" + i, i]))', undefined], ['Array.from({ length: 2000 }, () => ({ n: 1, f() {} }))', undefined]]) {
    const value = await sandbox.run(source);
    if (size !== undefined) assert.equal(value.size, size);
    assert.ok(value !== undefined, source);
  }
});

test("what a host sends is the host's to weigh", async () => {
  const count = await sandbox.run('(list) => list.length');
  assert.equal(await count(Array.from({ length: 100_000 }, (_, i) => new Map([[i, i]]))), 100_000);
  assert.equal(await count(Array.from({ length: 100_000 }, (_, i) => ({ [`n${i}`]: 1 }))), 100_000);
});
