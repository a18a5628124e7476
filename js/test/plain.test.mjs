// Large plain data cross as one text: what arrives is the same as item by item, whatever stands among them.
import test, { after } from 'node:test';
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { Sandbox, live } from '../index.mjs';

const require = createRequire(import.meta.url);
const { Tag } = require('../lib/wire.cjs');
const { endpoints } = require('../lib/sandbox.cjs');
const sandbox = await Sandbox.create({ time: '30 s' });
after(() => sandbox.dispose());
const echo = await sandbox.run('(x) => x');
// How the argument of the last call was written.
const told = (value) => {
  const endpoint = endpoints.get(sandbox);
  endpoint.say(8, 0, (e) => e.encode(value), 0);
  return endpoint.link.writer.bytes[16];
};
const rows = (count = 50, more = () => ({})) => Array.from({ length: count }, (_, i) => ({ id: i, name: `name ${i}`, tags: ['a', i], ok: true, none: null, part: { n: i / 3 }, ...more(i) }));

// Which things are the same as which: a number for each container, in the order in which they are met.
function identities(value, met = new Map(), out = []) {
  if (typeof value !== 'object' || value === null) return out;
  if (met.has(value)) return out.push(met.get(value)), out;
  met.set(value, met.size);
  const items = value instanceof Map ? [...value].flat() : value instanceof Set ? [...value] : Array.isArray(value) ? Array.from(value) : Object.values(value);
  for (const item of items) identities(item, met, out);
  return out;
}
const same = async (value) => {
  const back = await echo(value);
  assert.deepStrictEqual(back, value);
  assert.deepEqual(identities(back), identities(value));
};

test('it is a text where JSON says all of it, and else is not', () => {
  assert.equal(told(rows()), Tag.JSON);
  assert.equal(told({ rows: rows() }), Tag.OBJECT);  // the rows in it are
  assert.equal(told([1, 'a', {}]), Tag.ARRAY);
  let tree = { v: 1 };
  for (let i = 0; i < 9; i++) tree = { a: structuredClone(tree), b: structuredClone(tree) };
  assert.equal(told(tree), Tag.JSON);
  const shared = [1];
  const cycle = rows();
  cycle[7].self = cycle;
  for (const value of [rows(50, (i) => (i === 49 ? { x: undefined } : {})), rows(50, (i) => (i === 49 ? { x: -0 } : {})), rows(50, () => ({ x: NaN })), rows(50, () => ({ shared })), cycle,
    rows(50, () => ({ when: new Date(1) })), rows(50, () => ({ big: 1n })), Object.assign(Array(60).fill(null).map(() => ({})), { 61: 1 }), rows(50, () => ({ f() {} })), rows(50, () => ({ part: live({}) }))])
    assert.equal(told(value), Tag.ARRAY);
});

test('what is there twice is once, in a text and beside it', async () => {
  const shared = { list: rows() };
  await same([shared.list, shared.list, shared]);
  await same({ before: shared.list[3], list: shared.list, after: shared.list[4], again: shared });
  await same([...rows(), shared.list]);
  const cycle = rows();
  cycle[3].part.up = cycle[3];
  await same([cycle, rows()]);
  const list = rows();
  list[0].self = list;
  await same({ list, again: list });
});

test('names and texts that look like something else', async () => {
  await same(rows(50, (i) => JSON.parse('{"__proto__": 1, "constructor": 2, "toString": 3, "then": 4, "toJSON": 5, "": 6, "7": 7, "length": 8}')));
  await same(rows(50, (i) => ({ [`"\\}${i}{[,`]: `"\\,{}[]:\u0000\u2028\u00e9\ud83d\ude00\ud800\n${i}` })));
  await same(Array.from({ length: 100 }, (_, i) => [[[`\u00e9${i}`]], { '\u0416': '\u0416' }, 1e300, -1e-7, 2 ** 53]));
});

test('nobody\'s toJSON has a say', async () => {
  for (const [prototype, where] of [[Array.prototype, 'Array'], [Object.prototype, 'Object']]) {
    Object.defineProperty(prototype, 'toJSON', { value: () => 'mine', configurable: true });
    try {
      await same(rows());
    } finally {
      delete prototype.toJSON;
    }
    await sandbox.run(`${where}.prototype.toJSON = () => 'mine'`);
    const back = await echo(rows());
    await sandbox.run(`delete ${where}.prototype.toJSON`);
    assert.deepEqual(back, rows());
  }
  class List extends Array { toJSON() { return 1; } }
  assert.deepEqual(await echo(List.from(rows())), rows());
});

test('nor has what a guest made of its language', async () => {
  const other = await Sandbox.create();
  await other.run(`JSON.parse = JSON.stringify = () => 'mine'; Object.defineProperty(Object.prototype, 'id', { set() { throw 1 }, get() { return 2 }, configurable: true });
    Object.defineProperty(Array.prototype, 3, { set() { throw 1 }, configurable: true }); Set.prototype.add = Map.prototype.get = () => { throw 1 }; 1`);
  const list = rows();
  assert.deepEqual(await (await other.run('(x) => x'))(list), list);
  await other.dispose();
});

// One of each seed.
function random(seed) {
  let state = seed >>> 0;
  return (n) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5) >>> 0;
    return ((state ^ (state >>> 13)) >>> 0) % n;
  };
}
const names = ['a', 'b', 'c', '0', '10', '__proto__', 'constructor', 'then', 'toJSON', '', '\u00e9', '\u0416', 'length'];
const odd = [() => undefined, () => NaN, () => -0, () => Infinity, () => 1n, () => Symbol.iterator, () => new Date(5), () => /x/g];
function made(seed) {
  const next = random(seed);
  const all = [];
  const strange = next(3) === 0 ? 0 : 40 + next(300);  // one of so many is nothing for JSON
  const value = (depth) => {
    if (strange !== 0 && next(strange) === 0) {
      if (all.length > 0 && next(2) === 0) return all[next(all.length)];
      return odd[next(odd.length)]();
    }
    switch (next(depth > 5 ? 5 : 8)) {
      case 0: return next(100) - 50;
      case 1: return next(1000) / 7;
      case 2: return ['', 'x', '\u00e9\u00e9', '\u0416"\\', '\ud800', 'a longer text, of more than two dozen characters'][next(6)];
      case 3: return [true, false, null][next(3)];
      case 4: return `k${next(1e6)}`;
      case 5: {
        const object = {};
        all.push(object);
        for (let i = next(6); i > 0; i--) Object.defineProperty(object, names[next(names.length)], { value: value(depth + 1), writable: true, enumerable: true, configurable: true });
        return object;
      }
      case 6: {
        const list = [];
        all.push(list);
        for (let i = next(3) === 0 ? next(60) : next(5); i > 0; i--) list.push(value(depth + 1));
        return list;
      }
      default: {
        if (strange === 0 || next(4) > 0) return value(depth + 1);
        const map = next(2) === 0 ? new Map() : new Set();
        all.push(map);
        for (let i = next(4); i > 0; i--) map instanceof Map ? map.set(`k${i}`, value(depth + 1)) : map.add(value(depth + 1));
        return map;
      }
    }
  };
  return Array.from({ length: 20 + next(60) }, () => value(0));
}
test('made-up values, there and back', async () => {
  const begin = Number(process.env.BULKHEAD_SEED ?? 1);
  for (let seed = begin; seed < begin + 150; seed++) {
    const value = made(seed);
    try {
      await same(value);
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
  }
  assert.equal(sandbox.lost, undefined);
});
