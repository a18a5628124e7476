// A worker that lies: every message that the host's end reads is made up, torn or changed. Whatever it
// says, the host gets an error of the sandbox's or a value, never more, and stays as it was.
import test from 'node:test';
import { types } from 'node:util';
import assert from 'node:assert/strict';
import linkModule from '../lib/link.cjs';
import membrane from '../lib/membrane.cjs';
import policyModule from '../lib/policy-host.cjs';
import wire from '../lib/wire.cjs';
import modulesModule from '../lib/modules.cjs';
import intrinsics from '../lib/intrinsics.cjs';
import errors from '../lib/errors.cjs';
import { Sandbox, OutputLimitError } from '../index.mjs';

const { Link } = linkModule;
const { Op, Tag } = wire;

// What js/native/host.cc gives, with a worker of our own making behind it: `answer(bytes)` gives bytes.
class FakeNative {
  constructor(answer) {
    this.answer = answer;
    this.large = null;
    this.closed = false;
  }
  useBuffers(input, output) { this.input = input; this.output = output; }
  listener() {}
  limits() {}
  idle() {}
  lastWords() { return 0; }
  processorTime() { return 0; }
  close() { this.closed = true; }
  exchange(length) {
    if (this.closed) return -3;
    const bytes = this.answer(this.output.slice(0, Math.abs(length)));
    if (bytes === null) return -3;
    this.large = bytes;
    if (bytes.length < 16) return -4;
    if (bytes.length <= this.input.length) this.input.set(bytes);
    return bytes.length;
  }
  fetch() {
    this.input.set(this.large);
    return true;
  }
}

function hostOf(answer, handles = 1000) {
  const native = new FakeNative(answer);
  const link = new Link(native, 1 << 20);
  link.most = 16 << 20;  // as of a message of the default size
  const sandbox = {
    turnLimits: () => ({ time: 0, wall: 0, resident: 0 }), failure: () => new errors.DisposedError(), sendSettled() {}, sendReleases() {},
    callRecord: () => Promise.resolve(), invoke: () => Promise.resolve(), given() {}, begin() {}, clock() {}, count() {}, ended: (error) => error, note() {}, lasting: (call) => call, awaits() {}, endCall() {},
  };
  const endpoint = new membrane.Endpoint(link, 0, new policyModule.HostPolicy(sandbox, handles));
  link.endpoints.set(0, endpoint);
  return { native, link, endpoint };
}

const header = (op, { flags = 0, releases = 0, sandbox = 0, target = 0 } = {}) => {
  const bytes = Buffer.alloc(16);
  bytes[0] = op;
  bytes[1] = flags;
  bytes.writeUInt16LE(releases, 2);
  bytes.writeUInt32LE(sandbox, 4);
  bytes.writeUInt32LE(target, 12);
  return bytes;
};
const u32 = (n) => { const b = Buffer.alloc(4); b.writeUInt32LE(n >>> 0); return b; };
const text = (s) => Buffer.concat([Buffer.from([Tag.TEXT1]), u32(s.length), Buffer.from(s, 'latin1')]);
const run = (endpoint) => endpoint.ask(Op.RUN, 0, (e) => { e.encode('x'); }, (e) => e.decode(), false);

test('messages that cannot be end the worker', () => {
  const bodies = {
    'no tag': [], 'unknown tag': [200], 'a text longer than its message': [Tag.TEXT1, 255, 255, 255, 255], 'an odd text': [Tag.TEXT2, 1, 0, 0, 0, 0],
    'an array of billions': [Tag.ARRAY, 255, 255, 255, 255], 'numbers of billions': [Tag.NUMBERS, 255, 255, 255, 127],
    'an object of billions': [Tag.OBJECT, 255, 255, 255, 127], 'a handle that was never given': [Tag.YOURS, 5, 0, 0, 0],
    'a key that was never sent': [Tag.KEY, 1, 0], 'a back reference to nothing': [Tag.BACK, 0, 0, 0, 0], 'a kind that is none': [Tag.MINE, 0, 0, 0, 0, 99],
    'a handle too large': [Tag.MINE, 255, 255, 255, 255, 0], 'a symbol of ours that is none': [Tag.YOUR_SYMBOL, 0, 0, 0, 0],
    'a well-known symbol that is none': [Tag.WELL_KNOWN, 99], 'a symbol of Node\'s': [Tag.REGISTERED, ...text('nodejs.util.inspect.custom')],
    'a bigint of letters': [Tag.BIGINT, ...text('xyz')], 'a bigint of nothing': [Tag.BIGINT, ...text('-')], 'a view of no class': [Tag.VIEW, 99, 0, 0, 0, 0],
    'doubles of three bytes': [Tag.VIEW, 9, 3, 0, 0, 0, 1, 2, 3], 'an error of no class': [Tag.ERROR, 0, 0, 0, 0, 77],
    'a map of an odd number': [Tag.MAP, 1, 0, 0, 0, Tag.NULL], 'a limit()': [Tag.LIMIT], 'a transfer()': [Tag.TRANSFER], 'a handle to be cached': [Tag.MINE, 0, 0, 0, 0, 16], 'JSON that is none': [Tag.JSON, ...text('{"a":')], 'JSON of nothing': [Tag.JSON, ...text('null')], 'JSON that is no text': [Tag.JSON, Tag.NULL], 'JSON beyond its message': [Tag.JSON, Tag.TEXT1, 255, 255, 0, 0],
    'JSON nested without end': [Tag.JSON, ...text('['.repeat(200) + ']'.repeat(200))], 'nested without end': Array(400).fill([Tag.ARRAY, 1, 0, 0, 0]).flat(),
  };
  for (const [name, body] of Object.entries(bodies)) {
    const { endpoint, link } = hostOf(() => Buffer.concat([header(Op.RETURN), Buffer.from(body)]));
    assert.throws(() => run(endpoint), errors.LostError, name);
    assert.ok(link.lost instanceof errors.LostError, name);
    assert.ok(link.native.closed, name);
  }
});

test('regular expressions count by what it takes to read them', () => {
  const many = (count, source, flags) => {
    const one = Buffer.concat([Buffer.from([Tag.REGEXP]), text(source), text(flags)]);
    return Buffer.concat([Buffer.from([Tag.ARRAY]), u32(count), ...Array(count).fill(one)]);
  };
  for (const [count, source, flags] of [[20_000, 'a', ''], [1, 'a'.repeat(300_000), ''], [2000, '\\p{L}', 'u'], [40, '\\p{RGI_Emoji}', 'v'], [40, '\\P{L}', 'iv'], [1000, '\\W'.repeat(20), 'iu']]) {
    const { endpoint } = hostOf(() => Buffer.concat([header(Op.RETURN), many(count, source, flags)]));
    assert.throws(() => run(endpoint), /broke the protocol \(weight\)/, source.slice(0, 20));
  }
  const { endpoint } = hostOf(() => Buffer.concat([header(Op.RETURN), many(100, '\\p{L}', 'u')]));
  assert.equal(run(endpoint)[99].source, '\\p{L}');
});

test('what takes longer to make weighs more', async () => {
  const error = (id) => Buffer.concat([Buffer.from([Tag.ERROR]), u32(id), Buffer.from([0]), text(''), text('E'), text(''), text(''), Buffer.from([Tag.UNDEFINED, Tag.HOLE, Tag.HOLE, 0])]);
  const snapshot = (methods) => (id) => Buffer.concat([Buffer.from([Tag.SNAPSHOT]), u32(id), Buffer.from([0]), u32(methods), ...Array(methods).fill(text('m')), u32(0), u32(0)]);
  for (const [make, count] of [[error, 2100], [() => error(1), 2100], [snapshot(0), 8500], [() => snapshot(0)(1), 8500], [snapshot(20), 2100]]) {
    const answer = (many) => Buffer.concat([header(Op.RETURN), Buffer.from([Tag.ARRAY]), u32(many), ...Array.from({ length: many }, (_, i) => make(i))]);
    const take = (many) => run(hostOf(() => answer(many), 65536).endpoint);
    assert.throws(() => take(count), /broke the protocol \(weight\)/);
    assert.equal(take(count / 2).length, count / 2);
  }
  // A guest that tells the truth is told.
  await using sandbox = await Sandbox.create({ time: '10 s', memory: '128 MiB' });
  for (const item of ['new Error("x")', '{ f() {}, g() {}, h() {}, ...Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`m${i}`, () => 1])) }'])
    await assert.rejects(sandbox.run(`Array.from({ length: 17_000 }, () => (${item}))`), OutputLimitError, item);
  assert.equal(await sandbox.run('1 + 1'), 2);
});

test('what is closed while its message is written says nothing more', () => {
  let asked = 0;
  const { endpoint, link } = hostOf(() => {
    asked++;
    return Buffer.concat([header(Op.RETURN), Buffer.from([Tag.NULL])]);
  });
  const data = [() => {}, { get x() { endpoint.close(); return () => 1; } }];
  assert.throws(() => endpoint.ask(Op.RUN, 0, (e) => e.encode(data), (e) => e.decode(), false), errors.DisposedError);
  assert.equal(asked, 0);
  assert.equal(link.lost, undefined);
  assert.equal(link.encoding, null);
});

test('what a module asks for is made up', () => {
  const load = (body) => {
    const { endpoint } = hostOf(() => Buffer.concat([header(Op.RETURN), body]));
    const modules = new modulesModule.Modules(() => '', () => {});
    modules.loadSync('a', '', ({ op, write, read }) => endpoint.ask(op, 0, write, read, false));
  };
  assert.throws(() => load(u32(2 ** 31)), /broke the protocol \(count\)/);
  assert.throws(() => load(Buffer.concat([u32(1), Buffer.from([Tag.INT, 0, 0, 0, 0])])), /broke the protocol \(text\)/);
  assert.throws(() => load(Buffer.concat([u32(1), text('x'.repeat(1001))])), { code: 'ERR_SANDBOX_MODULE' });
  let next = 0;
  const { endpoint } = hostOf(() => Buffer.concat([header(Op.RETURN), u32(1), text(`m${next++}`)]));
  const endless = new modulesModule.Modules(() => '', () => {});
  assert.throws(() => endless.loadSync('a', '', ({ op, write, read }) => endpoint.ask(op, 0, write, read, false)), /more than 1000 modules/);
});

test('headers that cannot be', () => {
  for (const [name, bytes] of Object.entries({
    short: Buffer.alloc(8), 'another sandbox': header(Op.RETURN, { sandbox: 9 }), 'releases beyond the message': header(Op.RETURN, { releases: 9 }),
    'a release of what was never given': Buffer.concat([header(Op.RETURN, { releases: 1 }), u32(3), u32(1)]),
    'a request of no sandbox': header(Op.GET, { sandbox: 4 }), 'an op that only hosts use': header(Op.RUN), 'an op that is none': header(63),
    'an answer that is none': header(99), 'a handle that was never given': Buffer.concat([header(Op.GET, { target: 4 }), text('a')]),
  })) {
    const { endpoint, link } = hostOf(() => bytes);
    assert.throws(() => run(endpoint), errors.LostError, name);
    assert.ok(link.lost, name);
  }
});

test('more handles than were agreed on', () => {
  const many = Buffer.concat([header(Op.RETURN), Buffer.from([Tag.ARRAY]), u32(200),
    ...Array.from({ length: 200 }, (_, i) => Buffer.concat([Buffer.from([Tag.MINE]), u32(i), Buffer.from([0])]))]);
  const { endpoint } = hostOf(() => many, 100);
  assert.throws(() => run(endpoint), errors.LostError);
});

test('numbers that a worker chooses keep the host no longer than others', () => {
  const answerOf = (body) => hostOf(() => Buffer.concat([header(Op.RETURN), body]), 65536).endpoint;
  const list = (items) => Buffer.concat([Buffer.from([Tag.ARRAY]), u32(items.length), ...items]);
  // V8 looks at the last 64 bits of a key, and so at each of these for each of them: minutes.
  const keys = Array.from({ length: 30_000 }, (_, i) => Buffer.concat([Buffer.from([Tag.BIGINT]), text(`${i.toString(16)}0000000000000001`)]));
  for (const [tag, items] of [[Tag.SET, keys], [Tag.MAP, keys]]) {
    const begin = process.cpuUsage();
    assert.throws(() => run(answerOf(Buffer.concat([Buffer.from([tag]), u32(items.length), ...items]))), /broke the protocol \(keys that collide\)/);
    assert.ok(process.cpuUsage(begin).user < 2e6);
  }
  assert.equal(run(answerOf(Buffer.concat([Buffer.from([Tag.SET]), u32(20_000), ...Array.from({ length: 20_000 }, (_, i) => Buffer.concat([Buffer.from([Tag.INT]), u32(i)]))]))).size, 20_000);
  // Numbers of handles and symbols are indices, each of one thing at a time.
  const mine = (id) => Buffer.concat([Buffer.from([Tag.MINE]), u32(id), Buffer.from([0])]);
  assert.throws(() => run(answerOf(list([mine(5), mine(5 | 1 << 20)]))), /broke the protocol \(handles\)/);
  assert.throws(() => run(answerOf(Buffer.concat([Buffer.from([Tag.MY_SYMBOL]), u32(65536), Buffer.from([Tag.UNDEFINED])]))), /broke the protocol \(symbols\)/);
  const [one, again] = run(answerOf(list([mine(5), mine(5)])));
  assert.equal(one, again);
});

test('a release of more than was sent, and twice', () => {
  for (const counts of [[2], [1, 1]]) {
    const releases = Buffer.concat(counts.map((count) => Buffer.concat([u32(0), u32(count)])));
    const { endpoint } = hostOf(() => Buffer.concat([header(Op.RETURN, { releases: counts.length }), Buffer.from([Tag.NULL]), releases]));
    assert.throws(() => endpoint.ask(Op.RUN, 0, (e) => e.encode(() => 1), (e) => e.decode(), false), errors.LostError);
  }
});

test('an intrinsic is called on nothing but what was given', () => {
  const call = (path, self) => Buffer.concat([header(Op.INTRINSIC), text(path), Buffer.from(self), Buffer.from([0, 0])]);
  for (const [path, self] of [['Function.prototype.call', [Tag.NULL]], ['Map.prototype.get', [Tag.NULL]], ['%Generator.prototype.next', [Tag.INTRINSIC, ...text('Object')]],
    ['%Generator.constructor', [Tag.NULL]], ['%Generator.prototype.next', [Tag.NULL]], ['Function.prototype.call', [Tag.YOURS, 0, 0, 0, 0]],
    ['Object.prototype.__defineGetter__', [Tag.YOURS, 0, 0, 0, 0]]]) {
    let left = 3;
    const { endpoint } = hostOf(() => (left-- > 0 ? call(path, self) : null));
    assert.throws(() => endpoint.ask(Op.RUN, 0, (e) => e.encode(() => 1), (e) => e.decode(), false), /broke the protocol/, path);
  }
});

test('what has no end of its own has one here', () => {
  const many = (count, piece, end) => Buffer.concat([Buffer.alloc(count * piece.length, Buffer.from(piece)), Buffer.from(end)]);
  const empties = (count) => Buffer.concat([Buffer.from([Tag.ARRAY]), u32(count), many(count, [Tag.ARRAY, 0, 0, 0, 0], [])]);
  const long = 'x'.repeat(257);
  const bodies = {
    'keys in keys': many(50000, [Tag.NEW_KEY, 0, 0], text('a')), 'symbols in symbols': many(50000, [Tag.MY_SYMBOL, 0, 0, 0, 0], text('a')),
    'bigints in bigints': many(50000, [Tag.BIGINT], text('1')), 'registered in registered': many(50000, [Tag.REGISTERED], text('a')),
    'paths in paths': many(50000, [Tag.INTRINSIC], text('eval')), 'more objects than a message may have': empties(1 << 20),
    'a long registered symbol': Buffer.concat([Buffer.from([Tag.REGISTERED]), text(long)]),
    'a long symbol': Buffer.concat([Buffer.from([Tag.MY_SYMBOL, 0, 0, 0, 0]), text(long)]),
  };
  for (const [name, body] of Object.entries(bodies)) {
    const { endpoint } = hostOf(() => Buffer.concat([header(Op.RETURN), body]));
    assert.throws(() => run(endpoint), /broke the protocol \((text|weight|symbol)\)/, name);
  }
  const { endpoint } = hostOf(() => Buffer.concat([header(Op.RETURN), empties(1000)]));
  assert.equal(run(endpoint).length, 1000);
  const holes = hostOf(() => Buffer.concat([header(Op.RETURN), Buffer.from([Tag.ARRAY, 4, 0, 0, 0, Tag.HOLE, Tag.NULL, Tag.HOLE, Tag.TRUE])]));
  assert.deepEqual(run(holes.endpoint), [, null, , true]);
});

// What the host answers to `requests`, which a worker sends instead of an answer of its own.
function asked(encode, ...requests) {
  const replies = [];
  const { endpoint, link } = hostOf((said) => {
    replies.push(said);
    return requests[replies.length - 1] ?? null;
  });
  assert.throws(() => endpoint.ask(Op.RUN, 0, encode, (e) => e.decode(), false), errors.LostError);
  return { message: link.lost.message, replies: replies.slice(1) };
}
const invoke = (name) => Buffer.concat([header(Op.INVOKE), text(name), Buffer.from([1, 0]), text('return process')]);

test('a host calls no method by a name that its worker says', () => {
  for (const name of ['constructor', '__defineGetter__', 'call', 'f']) {
    const { message, replies } = asked((e) => e.encode(Object.assign(() => 1, { f() { assert.fail('called'); } })), invoke(name));
    assert.match(message, /broke the protocol \(invoke\)/, name);
    assert.deepEqual(replies, [], name);
  }
});

test('a host takes no intrinsic but what an object inherits from', () => {
  const intrinsic = (path) => Buffer.from([Tag.INTRINSIC, ...text(path)]);
  for (const path of ['eval', 'Function', 'Object', 'Object.prototype', 'Array.prototype.push', '%AsyncFunction.constructor', 'Reflect.apply'])
    for (const body of [intrinsic(path), Buffer.concat([Buffer.from([Tag.ARRAY, 1, 0, 0, 0]), intrinsic(path)])]) {
      const { endpoint } = hostOf(() => Buffer.concat([header(Op.RETURN), body]));
      assert.throws(() => run(endpoint), /broke the protocol \(intrinsic\)/, path);
    }
  for (const [path, allowed] of [['Object.prototype', true], ['Map', true], ['eval', false], ['Function', false], ['%Generator.constructor', false],
    ['%AsyncFunction.constructor', false], ['%AsyncGenerator.constructor', false]]) {
    const { endpoint } = hostOf((said) => Buffer.concat([header(Op.RETURN), said[0] === Op.RUN ? Buffer.from([Tag.MINE, 0, 0, 0, 0, 0]) : intrinsic(path)]));
    const standIn = run(endpoint);
    if (allowed) assert.ok(intrinsics.intrinsics().paths.has(Object.getPrototypeOf(standIn)), path);
    else assert.throws(() => Object.getPrototypeOf(standIn), /broke the protocol \(intrinsic\)/, path);
  }
  // Evaluators are known by their paths.
  for (const [path, value] of [['%Generator.constructor', (function* () {}).constructor], ['%AsyncFunction.constructor', (async () => {}).constructor],
    ['%AsyncGenerator.constructor', (async function* () {}).constructor], ['Function', Function], ['eval', eval]])
    assert.equal(intrinsics.intrinsics().objects.get(path), value);
});

test('what was copied is not asked', () => {
  const error = Object.assign(new Error('boom'), { config: 'secret' });
  const promise = Promise.resolve(1);
  const all = {
    'the stack of an error': Buffer.concat([header(Op.GET), text('stack')]), 'its own properties': Buffer.concat([header(Op.GET), text('config')]),
    keys: header(Op.KEYS), describe: Buffer.concat([header(Op.DESCRIBE), text('stack')]),
    'another then': Buffer.concat([header(Op.SET), text('then'), Buffer.from([Tag.NULL])]),
    'a property of one\'s own': Buffer.concat([header(Op.DEFINE), text('then'), Buffer.from([1, 0, Tag.NULL])]), prototype: header(Op.GET_PROTOTYPE),
  };
  for (const value of [error, promise])
    for (const [name, bytes] of Object.entries(all)) assert.match(asked((e) => e.encode(value), bytes).message, /broke the protocol/, name);
  assert.ok(!Object.hasOwn(promise, 'then'));
  // Nor could it be written to.
  const { endpoint } = hostOf(() => null);
  assert.throws(() => endpoint.ask(Op.RUN, 0, (e) => {
    e.encode(promise);
    assert.equal(e.entries[0].view, 0);
  }, () => undefined, false));
});

test('a sandbox that is there no more is told so, and its siblings go on', () => {
  const said = [];
  const { endpoint, link } = hostOf((bytes) => {
    said.push(bytes[0]);
    if (said.length === 1) return Buffer.concat([header(Op.GET, { sandbox: 1, target: 0 }), text('a')]);
    if (said.length === 2) return Buffer.concat([header(Op.APPLY, { sandbox: 1, releases: 1 }), u32(0), u32(1)]);
    return Buffer.concat([header(Op.RETURN), Buffer.from([Tag.TRUE])]);
  });
  const gone = new membrane.Endpoint(link, 1, endpoint.policy);
  link.endpoints.set(1, gone);
  gone.close();
  assert.equal(run(endpoint), true);
  assert.deepEqual(said.slice(1), [Op.ENDED, Op.ENDED]);
  assert.equal(link.lost, undefined);
});

test('a host that is asked for ever more, nested', () => {
  let asked = 0;
  const { endpoint } = hostOf(() => {
    // Ask for the function again and again, from inside its own call.
    asked++;
    return asked > 5000 ? null : Buffer.concat([header(Op.APPLY, { target: 0 }), Buffer.from([Tag.NULL]), Buffer.from([0, 0])]);
  });
  let depth = 0;
  let deepest = 0;
  const f = () => {
    depth++;
    deepest = Math.max(deepest, depth);
    try {
      return run(endpoint);
    } finally {
      depth--;
    }
  };
  assert.throws(() => endpoint.ask(Op.RUN, 0, (e) => e.encode(f), (e) => e.decode(), false), errors.LostError);
  assert.ok(deepest > 10 && deepest <= 100, `nested ${deepest} deep`);
});

// Changed and made-up messages, from a seed: the same ones each time.
test('thousands of torn messages', async () => {
  // `make fuzz` goes on for longer, from a seed that it says when something is found.
  const seconds = Number(process.env.SECONDS_OF_FUZZING ?? 0);
  const end = Date.now() + 1000 * seconds;
  const first = Number(process.env.SEED ?? (seconds > 0 ? end : 1)) >>> 0;
  let seed = first;
  const random = (n) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * n);
  };
  const tags = Object.values(Tag);
  const ops = Object.values(Op);
  const value = (depth) => {
    const tag = tags[random(tags.length)];
    const small = () => u32(random(8) === 0 ? random(2 ** 31) : random(5));
    switch (random(depth > 4 ? 7 : 10)) {
      case 0: return Buffer.from([tag, random(256), random(256), random(4), 0, random(256)]);
      case 1: return text('abc'.repeat(random(4)));
      case 2: return Buffer.concat([Buffer.from([Tag.MINE]), small(), Buffer.from([random(5)])]);
      case 3: return Buffer.concat([Buffer.from([Tag.YOURS]), small()]);
      case 4: return Buffer.concat([Buffer.from([Tag.INTRINSIC]), text(['Object', 'Array.prototype.map', 'Function', 'process', '__proto__'][random(5)])]);
      case 5: return Buffer.concat([Buffer.from([Tag.PROMISE]), small()]);
      case 6: return Buffer.concat([Buffer.from([Tag.JSON]), text(['[]', '{"a":[1,"b\\\"",{}]}', '[[[', '{"__proto__":1,"then":2}', '1', '"', '}}]]'][random(7)])]);
      case 7: {
        const count = random(4);
        return Buffer.concat([Buffer.from([[Tag.ARRAY, Tag.SET, Tag.MAP][random(3)]]), u32(count), ...Array.from({ length: count }, () => value(depth + 1))]);
      }
      case 8: return Buffer.concat([Buffer.from([Tag.ERROR]), small(), Buffer.from([random(9)]), text(['', 'MyError'][random(2)]), text('Error'), text('m'), text('s\n at x'), value(depth + 1), value(depth + 1), value(depth + 1),
        ...(random(2) === 0 ? [Buffer.from([0])] : [Buffer.from([1]), text(['__proto__', 'code', 'toString', 'a'][random(4)]), value(depth + 1)])]);
      default: return Buffer.concat([Buffer.from([Tag.OBJECT]), u32(1), text(['__proto__', 'constructor', 'then', 'a'][random(4)]), value(depth + 1)]);
    }
  };
  const message = () => {
    const op = random(3) > 0 ? Op.RETURN : ops[random(ops.length)];
    const parts = [header(op, { flags: random(8), releases: random(10) === 0 ? random(3) : 0, target: random(4), sandbox: random(30) === 0 ? 1 : 0 })];
    for (let i = random(4); i >= 0; i--) parts.push(value(0));
    const bytes = Buffer.concat(parts);
    for (let i = random(4); i > 0; i--) bytes[random(bytes.length)] = random(256);
    return random(6) === 0 ? bytes.subarray(0, 16 + random(bytes.length - 15)) : bytes;
  };
  const canary = { untouched: true, f() { return 1; } };
  let lost = 0;
  let values = 0;
  let rounds = 0;
  for (; rounds < 4000 || Date.now() < end; rounds++) {
    // What weak references were asked for lives until the end of a job.
    if (rounds % 100 === 0) await new Promise(setImmediate);
    let left = 20;
    const { endpoint, link } = hostOf(() => (left-- > 0 ? message() : null));
    try {
      const result = endpoint.ask(Op.RUN, 0, (e) => { e.encode(canary); e.encode(() => canary); }, (e) => e.decode(), false);
      values++;
      assert.ok(result !== globalThis && result !== process);
    } catch (error) {
      // An error of ours, or what the worker threw: not one of the host's own machinery.
      // A stand-in that was thrown would be asked, and answer made-up things.
      const real = types.isNativeError(error);
      assert.ok(!(real && error instanceof RangeError && /Invalid|allocation/.test(error.message)), `seed ${first}: ${real && error.stack}`);
      assert.ok(!(real && error instanceof TypeError && /Cannot (read|set)/.test(error.message) && /lib\/(decode|membrane|serve|link)/.test(error.stack.split('\n')[1])), `seed ${first}: ${real && error.stack}`);
    }
    if (link.lost) lost++;
    assert.deepEqual(Object.keys(canary), ['untouched', 'f']);
    assert.equal({}.a, undefined);
    assert.equal(Object.getPrototypeOf(canary), Object.prototype);
  }
  assert.ok(lost > rounds / 10 && values > rounds / 50, `${lost} lost, ${values} values of ${rounds}`);
});

test('of a copy with methods each counts, and its data has no `then` that the engine would call', async () => {
  const { endpoint, native } = hostOf((said) => (said[0] === Op.RUN ? answer : null));
  let answer = Buffer.concat([header(Op.RETURN), Buffer.from([Tag.SNAPSHOT]), u32(0), Buffer.from([0]), u32(2 ** 20 + 1), Buffer.alloc(6 * (2 ** 20 + 1), text('m')), u32(0), u32(0)]);
  assert.throws(() => endpoint.ask(Op.RUN, 0, (e) => e.encode('x'), (e) => e.decode(), true), /broke the protocol \(weight\)/);
  assert.ok(native.closed);
  const other = hostOf(() => answer);
  answer = Buffer.concat([header(Op.RETURN), Buffer.from([Tag.SNAPSHOT]), u32(0), Buffer.from([0]), u32(1), text('m'), u32(0), u32(1), text('then'), Buffer.from([Tag.MINE]), u32(1), Buffer.from([1])]);
  assert.throws(() => other.endpoint.ask(Op.RUN, 0, (e) => e.encode('x'), (e) => e.decode(), true), /broke the protocol \(then\)/);
  const accessor = hostOf(() => Buffer.concat([header(Op.RETURN), Buffer.from([Tag.SNAPSHOT]), u32(0), Buffer.from([0]), u32(0), u32(1), text('then'), u32(0)]));
  assert.throws(() => accessor.endpoint.ask(Op.RUN, 0, (e) => e.encode('x'), (e) => e.decode(), true), /broke the protocol \(then\)/);
});

test('of a message that is not sent after all nothing is lent, and what it let go of is let go of by the next', () => {
  const { endpoint, link } = hostOf(() => null);
  Array.prototype.push.call(endpoint.releases, 5, 2, 6, 1);
  const length = endpoint.say(Op.RUN, 0, (e) => { e.encode(() => 1); e.encode({ f() {} }); }, 0);
  assert.deepEqual([endpoint.count, endpoint.unreleased], [2, 0]);
  endpoint.unsay(link.writer.bytes.slice(0, length), endpoint.said());
  assert.equal(endpoint.count, 0);
  const pairs = [];
  for (let i = 0; i < endpoint.releases.length; i += 2) pairs.push(`${endpoint.releases[i]} ${endpoint.releases[i + 1]}`);
  assert.deepEqual(pairs.sort(), ['5 2', '6 1']);
});

test('a message that fits is sent, whatever there is to let go of besides, which the next one says', () => {
  const { endpoint } = hostOf(() => null);
  Array.prototype.push.call(endpoint.releases, ...Array.from({ length: 200 }, (_, i) => i));
  const length = endpoint.say(Op.RUN, 0, (e) => e.encode('x'.repeat((1 << 20) - 100)), 0);
  assert.ok(length > (1 << 20) - 100 && endpoint.unreleased === 100);
  endpoint.say(Op.RUN, 0, (e) => e.encode('x'), 0);
  assert.equal(endpoint.unreleased, 0);
});

test('a stack is a stack, however much a worker calls one', () => {
  for (const long of ['\n'.repeat(900_000), `Error\n    at ${'x'.repeat(900_000)}`]) {
    const body = Buffer.concat([Buffer.from([Tag.ERROR]), u32(0), Buffer.from([0]), text(''), text('Error'), text('m'), text(long), Buffer.from([Tag.UNDEFINED, Tag.HOLE, Tag.HOLE, 0])]);
    const { endpoint } = hostOf(() => Buffer.concat([header(Op.RETURN), body]));
    const { stack } = run(endpoint);
    assert.match(stack, /^Error: m/);
    assert.ok(stack.length < 10_000, `${stack.length}`);
  }
});

test('what a worker says of its limits is in our words, or short', () => {
  const message = (code) => {
    const { endpoint } = hostOf(() => {
      const text = Buffer.alloc(500_000, 'x');
      const put = (bytes) => { const head = Buffer.alloc(5); head[0] = Tag.TEXT1; head.writeUInt32LE(bytes.length, 1); return Buffer.concat([head, bytes]); };
      return Buffer.concat([header(Op.THROW, { flags: wire.Flag.LIMIT }), put(Buffer.from(code)), put(text)]);
    });
    try {
      endpoint.ask(Op.GLOBAL, 0, undefined, () => endpoint.decode(), false);
    } catch (error) {
      assert.equal(error.code, code);
      return error.message;
    }
    return undefined;
  };
  assert.match(message('ERR_SANDBOX_OUTPUT'), /option output/);
  assert.match(message('ERR_SANDBOX_HANDLES'), /option handles/);
  assert.equal(message('ERR_SANDBOX_COPY').length, 601);
});
