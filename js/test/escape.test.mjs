// What others fell to: each class by its mechanism. A guest must reach nothing of the host's beyond what
// it was given, whatever it walks along.
import test, { after } from 'node:test';
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { inspect } from 'node:util';
import { GuestError, Sandbox, SandboxError, isGuest, live } from '../index.mjs';
import intrinsicsModule from '../lib/intrinsics.cjs';
import internals from '../lib/sandbox.cjs';

const sandbox = Sandbox.createSync({ time: '20 s', memory: '128 MiB' });
after(() => sandbox.dispose());
const run = (source) => sandbox.runSync(source);

// Everything that can be reached from `roots` inside: prototypes, descriptors, symbols, constructors, and
// the results of the functions that need no arguments to be harmful.
const walker = `(roots) => {
  const seen = new Set(), queue = [...roots];
  for (let i = 0; i < queue.length && queue.length < 20000; i++) {
    const o = queue[i];
    if ((typeof o !== 'object' && typeof o !== 'function') || o === null || seen.has(o)) continue;
    seen.add(o);
    const meet = (f) => { try { queue.push(f()) } catch {} };
    meet(() => Object.getPrototypeOf(o));
    meet(() => o.constructor);
    meet(() => o.__proto__);
    let keys = [];
    try { keys = Reflect.ownKeys(o) } catch {}
    for (const k of keys.slice(0, 300)) {
      let d;
      try { d = Reflect.getOwnPropertyDescriptor(o, k) } catch {}
      if (d) queue.push(d.value, d.get, d.set);
      meet(() => o[k]);
    }
  }
  return seen;
}`;

test('no intrinsic of the host is ever a handle, whatever is handed in', () => {
  const roots = Object.getOwnPropertyNames(globalThis).filter((name) => !['global', 'globalThis', 'process'].includes(name))
    .map((name) => { try { return globalThis[name]; } catch { return undefined; } })
    .filter((value) => (typeof value === 'object' && value !== null) || typeof value === 'function');
  roots.push(new EventEmitter(), class A extends Map {}, async () => {}, function* () {}, Buffer, new Proxy({}, {}));
  let checked = 0;
  const paths = intrinsicsModule.intrinsics().paths;
  // Inside, each value is handed back: the host sees which of its own objects a handle named.
  sandbox.setSync('check', (value) => {
    checked++;
    assert.ok(value !== globalThis && value !== process && value !== process.env, 'the host\'s global or process');
  });
  sandbox.setSync('roots', roots);
  run(`globalThis.walked = (${walker})(roots); walked.forEach((x) => check(x)); walked.size`);
  assert.ok(checked > 500, `only ${checked} were met`);
  const exported = Array.from(internals.endpoints.get(sandbox).entries).map((entry) => entry.value).filter((value) => value !== undefined);
  assert.ok(exported.length > 100);
  for (const value of exported) {
    assert.ok(!paths.has(value), `${paths.get(value)} of the host is a handle`);
    assert.notEqual(value, globalThis);
  }
});

const escapes = {
  'constructor.constructor of a function': 'f.constructor.constructor("return typeof process")()',
  'constructor of an object': 'o.constructor.constructor("return typeof process")()',
  'prototype chain': 'let p = f; while (Object.getPrototypeOf(p)) p = Object.getPrototypeOf(p); p.constructor.constructor("return typeof process")()',
  'a thrown host error': 'let r; try { f(null) } catch (e) { r = e.constructor.constructor("return typeof process")() } r',
  'stack overflow in host code': 'let r; (function g() { try { g() } catch (e) { try { f({}) } catch (x) { r = x.constructor.constructor("return typeof process")() } } })(); r ?? "undefined"',
  'prepareStackTrace': `let r = 'undefined'; Error.prepareStackTrace = (e, frames) => { for (const x of frames) { const t = x.getThis?.(); if (t && t.process) r = 'object'; } return ''; };
     try { f(null) } catch (e) { e.stack } Error.prepareStackTrace = undefined; r`,
  'a replaced global Error': 'globalThis.Error = class { constructor() { return f } }; let r; try { f(null) } catch (e) { r = e.constructor.constructor("return typeof process")() } r',
  'species': 'const a = o.list; a.constructor = { [Symbol.species]: function () { return f } }; try { o.take(a) } catch {} f.constructor("return typeof process")()',
  'host async function': 'const p = af(); p.constructor.constructor("return typeof process")()',
  'then of a host promise': 'af().then.constructor("return typeof process")()',
  'this of a sloppy host function': 'typeof sloppy.call(undefined)?.process',
  'this by Reflect.apply': 'typeof Reflect.apply(sloppy, null, [])?.process',
  'caller': 'typeof sloppy.caller + typeof callsBack(() => callsBack.caller)',
  'arguments of a host function': 'String(callsBack(() => callsBack.arguments))',
  'bind': 'typeof sloppy.bind()()?.process',
  'host global by getter': 'typeof o.self?.process',
  '__lookupGetter__': 'o.__lookupGetter__("__proto__").call(f).constructor("return typeof process")()',
  '__proto__ of an instance': 'instance.__proto__.constructor.constructor("return typeof process")()',
  'Function of a host class': 'instance.constructor.constructor("return typeof process")()',
  'Reflect on a stand-in': 'Reflect.getPrototypeOf(Reflect.getPrototypeOf(f)).constructor.constructor("return typeof process")()',
  'eval and import': 'typeof (0, eval)("typeof process") === "string" ? eval("typeof process") : "undefined"',
  'generator constructor': 'gen.constructor("yield typeof process")().next().value',
  'proxy traps with host receivers': `let r = 'undefined'; const p = new Proxy({}, { get(t, k, receiver) { if (receiver && receiver.process) r = 'object'; return undefined } }); try { o.take(p) } catch {} r`,
};
test('known ways out lead nowhere', () => {
  const list = [1, 2];
  const o = { list, take(x) { return Array.prototype.concat.call(x, [1]).map(String) && String(x?.foo) && JSON.stringify(x); }, get self() { return globalThis; } };
  class Base extends EventEmitter { hello() { return 1; } }
  const give = {
    o: live(o), f(x) { return x.y.z; }, af: async () => 1, instance: new Base(), gen: function* () { yield 1; },
    sloppy: new Function('return this'), callsBack: new Function('f', 'return f()'),
  };
  for (const [name, value] of Object.entries(give)) sandbox.setSync(name, value);
  for (const [name, source] of Object.entries(escapes)) {
    let result;
    try {
      result = run(`{ ${source} }`);
    } catch (error) {
      result = `threw ${error.name}`;
    }
    assert.match(String(result), /^(undefined|undefinedundefined|null|threw TypeError)$/, `${name}: ${String(result)}`);
  }
});

test('what a guest hands over is its own, however much it is the language\'s', () => {
  const given = [];
  const init = (o) => { o.ready = true; };
  const take = (value) => { given.push(value); };
  const store = { set(k, v) { this[k] = v; } };
  const map = (list, f) => list.map((x) => f(x));
  for (const [name, value] of Object.entries({ init, take, store, map })) sandbox.setSync(name, value);
  assert.equal(run('map(["typeof process"], eval)[0]'), 'undefined');
  assert.equal(run('map(["return typeof process"], Function)[0]()'), 'undefined');
  assert.equal(run('map(["return typeof process"], (() => {}).constructor)[0]()'), 'undefined');
  for (const source of ['init(Object.prototype)', 'init(Array.prototype)', 'init(Function.prototype)', 'store.set.call(Object.prototype, "ready", 1)',
    'store.set.call({}.__proto__, "ready", 1)'])
    run(source);
  try {
    assert.equal({}.ready, undefined);
    assert.equal([].ready, undefined);
    assert.equal((() => {}).ready, undefined);
  } finally {
    for (const object of [Object.prototype, Array.prototype, Function.prototype]) delete object.ready;
  }
  // On every way: an argument, in a list, what is asked of an object, what a function gives and throws.
  const { paths } = intrinsicsModule.intrinsics();
  run('take(eval); take([eval, { f: Reflect.apply }]); take({ m() {}, f: eval }); take({ m() {} }.constructor); take(new (class extends Function {})().constructor)');
  given.push(run('eval'), run('({ m() {}, Object })').Object, run('({ m() {} })').__proto__, run('[() => 1]')[0].constructor, run('() => () => Function')()());
  for (const source of ['throw eval', 'throw Object.prototype']) try { run(source); } catch (error) { given.push(error); }
  const flat = given.flatMap((value) => (Array.isArray(value) ? [value[0], value[1].f] : [value, value.f]));
  for (const value of flat) assert.ok(!paths.has(value), `the host was given its own ${paths.get(value)}`);
  // What it inherits from is the language's own, but nothing that makes code of a text.
  assert.equal(Object.getPrototypeOf(run('({ m() {} })')), Object.prototype);
  assert.equal(Object.getPrototypeOf(run('class A extends Map {}; A')), Map);
  assert.ok(!paths.has(Object.getPrototypeOf(run('class B extends Function {}; B'))));
});

test('what the host makes of a guest\'s list stays with the host', () => {
  const list = run(`globalThis.kept = []; class List extends Array { static get [Symbol.species]() { return function () { const a = []; kept.push(a); return a } } }
    List.from([1, 2, 3])`);
  const made = Array.prototype.map.call(list, (x) => ({ secret: x }));
  assert.deepEqual(made, [{ secret: 1 }, { secret: 2 }, { secret: 3 }]);
  assert.equal(isGuest(made), false);
  assert.equal(isGuest(Array.prototype.concat.call(list, ['secret'])), false);
  assert.equal(run('kept.length'), 0);
});

test('the host\'s functions are called on nothing of the host\'s own', () => {
  const store = { get(k) { return this[k]; } };
  const self = live(Object.create({}, { all: { get: new Function('return this'), enumerable: true } }));
  sandbox.setSync('store', store);
  sandbox.setSync('self', self);
  sandbox.setSync('tell', function (k) { return typeof this + typeof this[k]; });
  sandbox.setSync('sloppyTell', new Function('k', 'return typeof this + typeof this[k]'));
  assert.equal(run('{ const { get } = store; typeof get("process") }'), 'undefined');
  assert.equal(run('typeof Reflect.apply(store.get, null, ["process"])'), 'undefined');
  assert.equal(run('typeof Reflect.get(self, "all", undefined).process'), 'undefined');
  assert.equal(run('typeof Reflect.get(self, "all", null).process'), 'undefined');
  assert.equal(run('typeof Object.getOwnPropertyDescriptor(self, "all").get.call(undefined).process'), 'undefined');
  assert.equal(run('tell("process") + sloppyTell("process")'), 'objectundefinedobjectundefined');
  assert.equal(store.get.call({ process: 1 }, 'process'), 1);
});

test('the membrane inside gives itself to nobody', () => {
  sandbox.setSync('hear', () => Symbol.for('said'));
  assert.equal(run(`{
    const caught = new Set();
    const names = ['registered', 'theirSymbols', 'resolve', 'handles', 'guest', 'io', 'endpoint', 'forwarders', 'seen', 'backs'];
    for (const name of names)
      Object.defineProperty(Object.prototype, name, { configurable: true, get() { caught.add(this); return undefined } });
    try { hear(Symbol.for('asked'), Symbol('own'), [1], {}, () => 1, new Error('x'), Promise.resolve(1)) } catch {}
    for (const name of names) delete Object.prototype[name];
    [...caught].filter((x) => typeof x.ask === 'function' || typeof x.putText === 'function' || typeof x.perform === 'function').length
  }`), 0);
});

test('a rejection of a guest that nobody waits for', async () => {
  const unhandled = [];
  const listener = (error) => { unhandled.push(error); };
  process.on('unhandledRejection', listener);
  try {
    const result = await sandbox.run('({ toJSON() { throw 1 }, f: () => { throw 2 }, n: 1 })');
    JSON.stringify(result);
    result.f();
    (await sandbox.run('() => { throw 3 }'))();
    await assert.rejects(result.f(), (error) => error === 2);
    await sandbox.run('1');
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual(unhandled, []);
  } finally {
    process.off('unhandledRejection', listener);
  }
});

test('the structure behind an object shows the language\'s own, until the class is given', async () => {
  await using fresh = await Sandbox.create();
  class Hidden { static secret() { return 'static'; } m() { return 1; } }
  fresh.setSync('one', new Hidden());
  assert.deepEqual(fresh.runSync(`[Object.getPrototypeOf(one) === Object.prototype, one.constructor === Object, one.__proto__ === Object.prototype,
    typeof one.constructor.secret, one.m()].join()`), 'true,true,true,undefined,1');
  fresh.setSync('Hidden', Hidden);
  assert.equal(fresh.runSync('[one instanceof Hidden, one.constructor === Hidden, Hidden.secret()].join()'), 'true,true,static');
});

test('symbols by which Node calls', async () => {
  await using fresh = await Sandbox.create();
  const custom = Symbol.for('nodejs.util.inspect.custom');
  const asked = [];
  fresh.setSync('tell', (key) => { asked.push(key); });
  const trap = fresh.runSync('new Proxy({}, { get(t, k) { tell(typeof k); return () => 1 }, has(t, k) { tell(typeof k); return true } })');
  assert.equal(trap[custom], undefined);
  assert.equal(custom in trap, false);
  assert.equal(Reflect.set(fresh.runSync('({})'), custom, 1), false);
  assert.deepEqual(asked, []);
  fresh.setSync('own', live({ [custom]() { return 'host'; }, a: 1 }));
  assert.equal(fresh.runSync('Reflect.ownKeys(own).map(String).join()'), 'a');
  assert.equal(fresh.runSync('typeof own[Symbol.for("nodejs.util.inspect.custom")]'), 'undefined');
});

test('a guest poisons nothing of the host', () => {
  class Service { ask() { return 'host'; } }
  const service = new Service();
  const log = Object.assign((x) => x, { level: 1 });
  sandbox.setSync('service', service);
  sandbox.setSync('log', log);
  sandbox.setSync('Service', Service);
  for (const source of ['service.ask = () => "evil"', 'service.__proto__.ask = () => "evil"', 'Object.getPrototypeOf(service).ask = () => "evil"',
    'Service.prototype.ask = () => "evil"', 'log.call = () => "evil"', 'Object.prototype.polluted = 1', 'service.__proto__.__proto__.polluted = 1',
    'Array.prototype.push = () => { throw 1 }', 'Object.defineProperty(service, "toString", { value: () => "evil" })', 'service.constructor.prototype.ask = 0',
    'Function.prototype.call = () => "evil"', 'Promise.prototype.then = () => "evil"', 'Object.assign(service.__proto__, { ask: 1 })'])
    try { run(source); } catch { /* refused is as good */ }
  assert.equal(service.ask(), 'host');
  assert.equal(new Service().ask(), 'host');
  assert.equal({}.polluted, undefined);
  assert.equal([].push.name, 'push');
  assert.equal(log.call(null, 3), 3);
  assert.equal(run('1 + 1'), 2, 'the membrane inside still works');
  assert.deepEqual(run('[1, { a: 2 }]')[1].a, 2);
});

test('the host\'s own functions on a guest\'s objects', async () => {
  const evil = run(`({ [Symbol.for('nodejs.util.inspect.custom')]() { throw new Error('called') }, toJSON: undefined, get constructor() { throw 1 } })`);
  assert.equal(typeof inspect(run('({ a: 1 })')), 'string');
  assert.doesNotThrow(() => inspect(evil, { showProxy: true }));
  // A rejection that nobody waits for does not end the host.
  run('Promise.reject(new Error("nobody"))');
  await sandbox.run('Promise.reject(new Error("nobody")); 1');
  await new Promise((resolve) => setImmediate(resolve));
});

test('what a thrown value is does not matter', () => {
  for (const source of ['throw null', 'throw undefined', 'throw Symbol("x")', 'throw () => 1', 'throw new Proxy({}, { get() { throw 1 } })',
    'throw { get stack() { throw 1 }, get message() { throw 2 } }', 'const e = new Error("x"); e.cause = e; throw e',
    'throw Object.assign(new Error("x"), { name: { toString() { throw 1 } } })', 'throw new AggregateError([1, new Error("y")])']) {
    let threw = false;
    try { run(`{ ${source} }`); } catch { threw = true; }
    assert.ok(threw, source);
    assert.equal(run('1'), 1, source);
  }
});

test('a guest that fills the prototypes with setters, and takes iterators away, still speaks and is spoken to', async () => {
  const sandbox = Sandbox.createSync({ time: '5 s' });
  const f = sandbox.runSync(`
    globalThis.heard = 0;
    const desc = { __proto__: null, get() { heard++; }, set() { heard++; } };
    for (const name of [0, 1, 2, 'length', 'get', 'set', 'value', 'apply', 'call', 'code', 'done', 'next', 'has'])
      Object.defineProperty(Object.prototype, name, desc);
    for (const name of ['call', 'apply', 'bind']) Object.defineProperty(Function.prototype, name, desc);
    delete Array.prototype[Symbol.iterator];
    (a, ...rest) => a() + rest.length`);
  assert.equal(f(() => 40, 1, 2), 42);
  const echo = sandbox.runSync('(x) => x');
  const got = echo({ get: 1, value: [1, 'two', { 0: 3 }], map: new Map([[1, 2]]), many: [1, 2, 3, 4, 5, 6, 7, 8, 9] });
  assert.equal(got.get, 1);
  assert.deepEqual(sandbox.copySync(got), { get: 1, value: [1, 'two', { 0: 3 }], map: new Map([[1, 2]]), many: [1, 2, 3, 4, 5, 6, 7, 8, 9] });
  assert.equal(echo(new RangeError('r', { cause: new Error('c') })).cause.message, 'c');
  assert.throws(sandbox.runSync('() => { throw new TypeError("t", { cause: 1 }) }'), TypeError);
  await sandbox.dispose();
});

test('what a guest throws is asked nothing on its way', () => {
  const sandbox = Sandbox.createSync({ time: '5 s' });
  sandbox.runSync(`globalThis.asked = [];
    globalThis.thrown = new Proxy({}, new Proxy({}, { get: (_, trap) => (...args) => { asked.push(trap); throw (x) => x.constructor } }))`);
  let caught;
  try {
    sandbox.runSync('throw thrown');
  } catch (error) {
    caught = error;
  }
  assert.ok(isGuest(caught));
  assert.equal(sandbox.copySync(sandbox.runSync('asked')).length, 0);
  sandbox.setSync('back', () => { throw caught; });
  assert.equal(sandbox.runSync('try { back() } catch (e) { e === thrown }'), true);
  assert.equal(sandbox.copySync(sandbox.runSync('asked')).length, 0);
  sandbox.disposeSync();
});

test('weak collections of the host stay where they are, and are changed where they are live', () => {
  const sandbox = Sandbox.createSync({ time: '5 s' });
  const key = live({ x: 1 });
  const known = new WeakMap([[key.value, 'here']]);
  sandbox.setSync('known', known);
  sandbox.setSync('key', key);
  assert.equal(sandbox.runSync('known.get(key)'), 'here');
  assert.equal(sandbox.runSync('known.has({})'), false);
  assert.throws(() => sandbox.runSync('known.set(key, 2)'), /may only be read/);
  assert.throws(() => sandbox.runSync('known.delete(key)'), /may only be read/);
  assert.equal(known.get(key.value), 'here');
  // Handed back to be called on what is the host's own, it changes nothing.
  sandbox.setSync('apply', (method) => method.call(known, key.value, 'theirs'));
  assert.throws(() => sandbox.runSync('apply(known.set)'), /is for what is the guest's/);
  assert.equal(known.get(key.value), 'here');
  sandbox.setSync('open', live(known));
  assert.equal(sandbox.runSync('open.set(key, 2); known.get(key)'), 2);
  sandbox.disposeSync();
});

test('no error of a guest passes for one of the sandbox\'s', async () => {
  await using sandbox = await Sandbox.create();
  for (const code of ['ERR_SANDBOX_TIME', 'ERR_SANDBOX_LOST', 'ERR_SANDBOX_']) {
    const error = await sandbox.run(`throw Object.assign(new RangeError('no'), { name: 'TimeLimitError', code: '${code}', killed: true })`).catch((thrown) => thrown);
    assert.deepEqual([error instanceof SandboxError, error instanceof GuestError, 'code' in error], [false, true, false]);
  }
  await assert.rejects(sandbox.run('throw Object.assign(new Error("no"), { code: "ENOENT" })'), { code: 'ENOENT' });
  // The sandbox's own, that went through a guest, is the same.
  const own = new SandboxError('ERR_SANDBOX_COPY', 'own');
  await sandbox.set('fail', () => { throw own; });
  await assert.rejects(sandbox.run('fail()'), (error) => error === own && error.code === 'ERR_SANDBOX_COPY');
});

test('a `then` that comes while its object is copied is not called for longer than its call', async () => {
  await using sandbox = await Sandbox.create({ time: '5 s' });
  const ran = sandbox.run(`
    const o = { m() {}, first: { get x() { o.then = (resolve) => { const end = Date.now() + 300; while (Date.now() < end); resolve('ran on'); }; return 1 } }, then: 1 };
    o`, { time: '50 ms' });
  await assert.rejects(ran, SandboxError);
});
