// Both ends of the membrane in one process, values from a seed, and a carrier that changes messages:
//   node fuzz/membrane.mjs SECONDS [SEED]      SEED as an earlier run named it; else from the clock
// Honest rounds: what comes back is what was sent. Torn rounds: the guest's true messages with bytes
// changed, cut or put in from others; the host gets a value or an error of the sandbox's, in bounded
// time, and none of its own objects changes. Seeds that found something are in corpus/membrane/seeds,
// each of which runs for some hundred rounds first.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Script, createContext, runInContext } from 'node:vm';
import { inspect, types } from 'node:util';

const require = createRequire(import.meta.url);
const { Endpoint } = require('../js/lib/membrane.cjs');
const { Link } = require('../js/lib/link.cjs');
const { HostPolicy } = require('../js/lib/policy-host.cjs');
const { Op } = require('../js/lib/wire.cjs');
const { encodeArguments } = require('../js/lib/standin.cjs');
const { DisposedError, SandboxError } = require('../js/lib/errors.cjs');

// The guest's end as a worker runs it, with natives of ours instead.
const membraneProgram = require('../js/lib/program.cjs').program;
const script = new Script(membraneProgram().toString('latin1'));

const ROUNDS = 500;
const SIZE = 1 << 20;
const SLOW = 2000;  // ms of processor time; a round is bounded by objects and bytes, and takes a few

let seed = 0;
const random = (n) => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 2 ** 32) * n);
};
const pick = (list) => list[random(list.length)];

// ------------------------------------------------------------------- two ends

const kindOf = (value) => (types.isProxy(value) ? 32 | (typeof value === 'function' ? 1 : 0)
  : typeof value === 'function' ? (/^class|^function/.test(Function.prototype.toString.call(value)) ? 2 : 1)
  : Array.isArray(value) ? 3 : types.isDate(value) ? 4 : types.isRegExp(value) ? 5 : types.isNativeError(value) ? 6 : types.isPromise(value) ? 7
  : types.isMap(value) ? 8 : types.isSet(value) ? 9 : ArrayBuffer.isView(value) ? 10 : types.isAnyArrayBuffer(value) ? 11 : types.isBoxedPrimitive(value) ? 12 : 0);

// change(bytes): what becomes of a message of the guest's on its way.
function pair(change) {
  const realm = createContext({});
  const view = runInContext('(buffer) => new Uint8Array(buffer)', realm);
  const toGuest = Buffer.alloc(SIZE), toHost = Buffer.alloc(SIZE);
  let input, output, link, guest, large;
  const deliver = (length) => {
    large = change(Buffer.from(toHost.subarray(0, length)));
    if (large.length <= input.length) input.set(large);
    return large.length < 16 ? -4 : large.length;
  };
  const put = (length) => toGuest.set(output.subarray(0, length));
  const unused = () => undefined;
  const io = {
    in: view(toGuest.buffer), out: view(toHost.buffer), kind: kindOf,
    exchange(length) {
      const heard = deliver(length);
      put(link.serve(link.received(heard)));
      return link.writer.at;
    },
    putString(text, at) {
      if (/^[\0-\xff]*$/.test(text)) return toHost.latin1Write(text, at, text.length);
      return -toHost.ucs2Write(text, at, 2 * text.length);
    },
    getString: (at, bytes, two) => (two ? toGuest.ucs2Slice(at, at + bytes) : toGuest.latin1Slice(at, at + bytes)),
    flushing: new Uint8Array(1),
    run: (text, file) => runInContext(text, realm, file), memory: () => [0, 0],
  };
  guest = script.runInContext(realm)(new Proxy(io, { get: (target, name) => (name in target ? target[name] : unused) }));
  const native = {
    useBuffers(i, o) { input = i; output = o; },
    exchange(told) { const length = Math.abs(told); put(length); return deliver(guest(length, true, true)); },
    fetch() { input.set(large); return true; },
    listener: unused, limits: unused, idle: unused, close: unused, stop: unused, lastWords: () => 0, processorTime: () => 0,
  };
  link = new Link(native, SIZE);
  const sandbox = {
    turnLimits: () => ({ time: 0, wall: 0, resident: 0 }), failure: () => new DisposedError(), sendSettled() {}, sendReleases() {},
    callRecord: () => Promise.resolve(), invoke: () => Promise.resolve(), given() {}, begin() {}, clock() {}, count() {}, ended: (error) => error, note() {},
  };
  const endpoint = new Endpoint(link, 0, new HostPolicy(sandbox, 65536));
  link.endpoints.set(0, endpoint);
  const run = (text) => endpoint.ask(Op.RUN, 0, (e) => {
    link.writer.u32(0);
    link.writer.u32(0);
    e.encodeText(text);
    e.encodeText('fuzz.js');
    link.writer.u32(0);
  }, (e) => e.decode(), false);
  // As the asynchronous face calls: what is plain data all the way down comes as such.
  const call = (target, value) => endpoint.ask(Op.APPLY, endpoint.standIns.get(target).id, (e) => {
    e.encode(undefined);
    encodeArguments(e, [value]);
  }, (e) => e.decode(), true);
  return { run, call, link };
}

// ------------------------------------------------------------------- values

const texts = ['', 'a', '__proto__', 'constructor', 'then', 'length', '0', 'toJSON', 'é', '€', '\ud800', 'x'.repeat(24), 'x'.repeat(25), 'ÿ'.repeat(300), '€'.repeat(300), '\0'];
const numbers = [0, -0, 1, -1, 0.5, NaN, Infinity, -Infinity, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), 2 ** 53, 1e-320];
function make(depth, known) {
  switch (random(depth > 5 ? 7 : 18)) {
    case 0: return undefined;
    case 1: return null;
    case 2: return random(2) === 0;
    case 3: return pick(numbers);
    case 4: return pick(texts);
    case 5: return BigInt(pick([0, 1, -1, 255, -256, 2 ** 53])) ** BigInt(random(9));
    case 6: return pick([Symbol.iterator, Symbol.for('fuzz'), Symbol.toPrimitive]);
    case 7: return new Date(pick([0, NaN, 8.64e15, -1]));
    case 8: return pick([/a/g, /[a--b]\//v, /(?:)/uy, /\//]);
    case 9: return new (pick([Uint8Array, Int16Array, Float64Array, BigInt64Array]))(random(9));
    case 10: return new Map(Array.from({ length: random(4) }, () => [make(depth + 1, known), make(depth + 1, known)]));
    case 11: return new Set(Array.from({ length: random(4) }, () => make(depth + 1, known)));
    case 12: return Array.from({ length: random(20) }, () => random(1000));
    case 13: return Object(pick([1, 'boxed', true, 2n]));
    case 14: {
      const list = [];
      known.push(list);
      for (let i = random(5); i >= 0; i--) list[list.length + (random(4) === 0 ? 2 : 0)] = make(depth + 1, known);
      return list;
    }
    case 15: return known.length > 0 ? pick(known) : [];
    default: {
      const object = {};
      known.push(object);
      for (let i = random(5); i >= 0; i--)
        Object.defineProperty(object, pick(texts), { value: make(depth + 1, known), writable: true, enumerable: true, configurable: true });
      return object;
    }
  }
}

// ------------------------------------------------------------------- rounds

const roots = [Object, Function, Array, Promise, Error, Map, Set, Date, RegExp, Uint8Array, Buffer].flatMap((item) => [item, item.prototype]);
const shape = () => roots.map((item) => Reflect.ownKeys(item).length).join();
const before = shape();
const kept = [];  // messages that were true, to take pieces from
const sums = { honest: 0, torn: 0, lost: 0, values: 0, errors: 0 };

function honest(rounds) {
  const { run, call } = pair((bytes) => {
    if (kept.length < 500) kept.push(bytes);
    else kept[random(500)] = bytes;
    return bytes;
  });
  const echo = run('(value) => value');
  for (let i = 0; i < rounds; i++) {
    const began = seed;
    const value = make(0, []);
    const back = call(echo, value);
    try {
      assert.deepStrictEqual(back, value);
    } catch (error) {
      throw new Error(`seed ${began}: ${inspect(value, { depth: 9, maxArrayLength: 9 })}\n  came back as ${inspect(back, { depth: 9, maxArrayLength: 9 })}`);
    }
    sums.honest++;
  }
}

function torn(bytes) {
  if (random(8) > 0) return bytes;
  const out = Buffer.from(bytes);
  switch (random(5)) {
    case 0: return out.subarray(0, random(out.length + 1));
    case 1: {
      const other = kept.length > 0 ? pick(kept) : out;
      const at = 16 + random(Math.max(1, out.length - 16)), from = 16 + random(Math.max(1, other.length - 16));
      return Buffer.concat([out.subarray(0, at), other.subarray(from, from + random(40)), out.subarray(at)]);
    }
    default:
      for (let i = random(4); i >= 0; i--) out[random(4) === 0 ? random(16) : random(out.length)] = pick([0, 1, 255, random(256), random(48)]);
      return out;
  }
}

const program = `globalThis.keep = []; ((value, call, object) => {
  const made = { value, f() { return value }, list: [value], e: new Error('guest', { cause: value }) };
  keep.push(made); try { keep.push(call(made, object.x), object.y, Object.keys(object), new object.K(made)) } catch (e) { keep.push(e) }
  return made })`;
async function tearing(rounds) {
  let link, task;
  for (let i = 0; i < rounds; i++) {
    const began = seed;
    const start = process.cpuUsage();
    try {
      if (link === undefined || link.lost !== undefined || random(50) === 0) {
        await new Promise(setImmediate);  // what nobody holds is let go of between tasks
        let calm = true;
        const ends = pair((bytes) => (calm ? bytes : torn(bytes)));
        link = ends.link;
        task = ends.run(program);
        calm = false;
      }
      const object = { x: 1, y: { z: [1] }, K: class { constructor(a) { this.a = a; } }, g() { return this; } };
      const result = task(make(3, []), (...all) => all[0], Object.assign(object, { method() {} }));
      const got = [result, result?.f, Reflect.ownKeys(Object(result)).length, result?.value];
      assert.ok(!got.includes(globalThis) && !got.includes(process), `seed ${began}: the host's global or process`);
      sums.values++;
    } catch (error) {
      // A stand-in that was thrown would be asked, and answer what is made up.
      const real = types.isNativeError(error);
      if (real && error.code === 'ERR_ASSERTION') throw error;
      sums.errors++;
      // An error of the host's own machinery is one that we did not foresee.
      const where = String(!real || error instanceof SandboxError ? '' : error.stack).split('\n')[1] ?? '';
      if (/js\/lib\/(decode|membrane|serve|link|wire)/.test(where) && error instanceof TypeError && /Cannot (read|set)|not iterable|is not a function/.test(error.message))
        throw new Error(`seed ${began}: ${error.stack}`);
    }
    if (link.lost !== undefined) sums.lost++;
    const took = process.cpuUsage(start).user / 1000;
    if (took > SLOW) throw new Error(`seed ${began}: ${took.toFixed(0)} ms`);
    if (shape() !== before) throw new Error(`seed ${began}: an object of the host's own was changed`);
    sums.torn++;
  }
}

const seeds = readFileSync(new URL('corpus/membrane/seeds', import.meta.url), 'utf8').split('\n').filter(Boolean).map(Number);
const [seconds, first] = [Number(process.argv[2] ?? 10), Number(process.argv[3] ?? Date.now()) >>> 0];
for (const known of seeds) {
  seed = known >>> 0;
  honest(ROUNDS / 10);
  await tearing(ROUNDS / 5);
}
seed = first;
const end = Date.now() + 1000 * seconds;
console.log(`fuzz: membrane from seed ${first} for ${seconds} s, after ${seeds.length} kept`);
while (Date.now() < end) {
  honest(ROUNDS);
  await tearing(ROUNDS);
}
console.log(`fuzz: ${Object.entries(sums).map(([name, sum]) => `${sum} ${name}`).join(', ')}`);
