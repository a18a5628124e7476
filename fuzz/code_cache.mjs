// Code caches, changed and made up, against the seal that stands between them and V8, which believes what is
// in one:
//   node fuzz/code_cache.mjs SECONDS [SEED]      SEED as an earlier run named it; else from the clock
// Nothing opens but what was sealed for the same key, tenant and text, whatever is changed in its bytes, cut
// off, put on, put together from two, or moved between the parts that the seal covers. What opens is what was
// sealed, byte for byte. Caches here are made by the V8 that runs this, so that their bytes are true ones.
// Inputs that found something are in corpus/code_cache: the first byte of a file is a length, then a tenant
// of that many bytes, then the cache; those that are there besides are each a way to be wrong.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Script } from 'node:vm';

const { seal, open } = createRequire(import.meta.url)('../js/lib/code-cache.cjs');

let seed = 0;
const random = (n) => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 2 ** 32) * n);
};
const pick = (list) => list[random(list.length)];

const keys = ['a secret of this host', 'a secret of this hosu', Buffer.from('a secret of this host'), Buffer.alloc(64, 1), undefined];
const tenants = ['', 'a', 'b', 'ab', 'a\0', '\ud800', '\udfff', '\ufffd', 'BHC1', 'a'.repeat(300), 'é', 'e\u0301'];
const sources = ['', '1', '40 + 2', '(x) => x', '(x) => x ', 'a', 'b', `(() => { ${'{ let a = 1; } '.repeat(50)} })()`, '"\ud800"', '"\ufffd"'];
const caches = sources.map((source) => new Script(source).createCachedData());

// Are they the same to whoever hashes them? UTF-8 has one form for all lone surrogates.
const same = (a, b) => Buffer.from(a).equals(Buffer.from(b));

const sums = { opened: 0, refused: 0 };
function check(key, tenant, source, bytes, made) {
  const opened = open(key, tenant, source, bytes);
  if (opened === undefined) return void sums.refused++;
  const known = made.find((one) => one.sealed.equals(bytes) && (one.key === key || (one.key !== undefined && key !== undefined && same(one.key, key))) &&
    same(one.tenant, tenant) && same(one.source, source));
  assert.ok(known !== undefined, 'something opened that was never sealed so');
  assert.ok(opened.equals(known.bytes), 'what opened is not what was sealed');
  sums.opened++;
}

function changed(bytes, other) {
  const out = Buffer.from(bytes);
  switch (random(9)) {
    case 0: return out;
    case 1: return out.subarray(0, random(out.length + 1));
    case 2: return out.subarray(random(out.length + 1));
    case 3: return Buffer.concat([out, Buffer.alloc(1 + random(40), random(256))]);
    case 4: {
      const at = random(out.length + 1), from = random(other.length + 1);
      return Buffer.concat([out.subarray(0, at), other.subarray(from)]);
    }
    case 5: return Buffer.concat([other.subarray(0, 36), out.subarray(36)]);  // another's seal on this code
    case 6: return Buffer.concat([Buffer.from('BHC1'), out]);                  // sealed twice, or half
    case 7: return Buffer.from(Array.from({ length: random(80) }, () => random(256)));
    default:
      for (let i = random(4); i >= 0 && out.length > 0; i--) out[random(3) === 0 ? random(Math.min(out.length, 40)) : random(out.length)] ^= 1 << random(8);
      return out;
  }
}

function round() {
  const made = Array.from({ length: 3 }, () => {
    const key = pick(keys), tenant = pick(tenants), i = random(sources.length);
    const bytes = pick([caches[i], Buffer.alloc(0), Buffer.from(caches[i]).subarray(0, random(100))]);
    return { key, tenant, source: sources[i], bytes, sealed: seal(key, tenant, sources[i], bytes) };
  });
  for (const one of made) assert.ok(open(one.key, one.tenant, one.source, one.sealed)?.equals(one.bytes), 'what was sealed does not open');
  // The end of one part is not the beginning of the next.
  for (const one of made) {
    const at = random(one.source.length + 1), end = random(one.tenant.length + 1);
    check(one.key, one.tenant + one.source.slice(0, at), one.source.slice(at), one.sealed, made);
    check(one.key, one.tenant.slice(0, end), one.tenant.slice(end) + one.source, one.sealed, made);
  }
  for (let i = 0; i < 12; i++) {
    const one = pick(made), other = pick(made);
    check(pick([one.key, one.key, pick(keys)]), pick([one.tenant, one.tenant, pick(tenants)]), pick([one.source, one.source, pick(sources)]),
      changed(one.sealed, other.sealed), made);
  }
}

const folder = new URL('corpus/code_cache/', import.meta.url);
const files = readdirSync(folder).sort();
for (const name of files) {
  const input = readFileSync(new URL(name, folder));
  const length = input[0] ?? 0;
  for (const key of keys)
    for (const source of sources) assert.equal(open(key, input.subarray(1, 1 + length).toString('utf8'), source, input.subarray(1 + length)), undefined, name);
}
const [seconds, first] = [Number(process.argv[2] ?? 10), Number(process.argv[3] ?? Date.now()) >>> 0];
console.log(`fuzz: code caches from seed ${first} for ${seconds} s, after ${files.length} kept`);
seed = first;
const end = Date.now() + 1000 * seconds;
while (Date.now() < end) {
  for (let i = 0; i < 200; i++) {
    const began = seed;
    try {
      round();
    } catch (error) {
      throw new Error(`seed ${began}`, { cause: error });
    }
  }
}
console.log(`fuzz: ${Object.entries(sums).map(([name, sum]) => `${sum} ${name}`).join(', ')}`);
