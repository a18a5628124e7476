// Objects that stay where they are, seen from the other side: every trap, identity, real copies.
import test, { after } from 'node:test';
import assert from 'node:assert/strict';
import { Sandbox, live, protected_, readonly, revoke, isGuest } from '../index.mjs';

const sandbox = Sandbox.createSync({ time: '5 s' });
after(() => sandbox.dispose());
const run = (source) => sandbox.runSync(source);
const give = (name, value) => sandbox.setSync(name, value);

test('all traps, host on a guest object', () => {
  const o = run('globalThis.o = { x: 1, get g() { return this.x + 1 }, set s(v) { this.x = v } }; o');
  assert.equal(o.x, 1);
  assert.equal(o.g, 2);
  o.s = 5;
  assert.equal(run('o.x'), 5);
  assert.ok('x' in o && !('y' in o));
  assert.ok(delete o.x);
  assert.equal(run('"x" in o'), false);
  assert.deepEqual(Reflect.ownKeys(o), ['g', 's']);
  assert.equal(Object.getPrototypeOf(o), Object.prototype);
  assert.ok(o instanceof Object);
  Object.defineProperty(o, 'fixed', { value: 3 });
  assert.deepEqual(Object.getOwnPropertyDescriptor(o, 'fixed'), { value: 3, writable: false, enumerable: false, configurable: false });
  assert.equal(run('o.fixed'), 3);
  assert.equal(typeof Object.getOwnPropertyDescriptor(o, 'g').get, 'function');
  assert.ok(Object.isExtensible(o));
  Object.freeze(o);
  assert.ok(Object.isFrozen(o));
  assert.ok(run('Object.isFrozen(o)'));
  const p = run('globalThis.p = {}; p');
  Object.setPrototypeOf(p, o);
  assert.ok(run('Object.getPrototypeOf(p) === o'));
  assert.equal(Object.getPrototypeOf(p), o);
  assert.equal(p.fixed, 3);
});

test('frozen, sealed and array objects of a guest', () => {
  assert.ok(Object.isFrozen(run('Object.freeze({ z: 1 })')));
  assert.ok(Object.isSealed(run('Object.seal([1, 2])')));
  assert.ok(!Object.isFrozen(run('[1]')));
  const a = run('globalThis.a = [3, 1, 2]; a');
  assert.ok(Array.isArray(a) && a instanceof Array);
  assert.deepEqual([...a], [3, 1, 2]);
  assert.deepEqual(a.map((x) => x + 1), [4, 2, 3]);
  assert.equal(JSON.stringify(a), '[3,1,2]');
  a.push(9);
  a.sort();
  assert.equal(run('a.join()'), '1,2,3,9');
  assert.deepEqual([].concat(a), [1, 2, 3, 9]);
  assert.deepEqual(Object.keys(a), ['0', '1', '2', '3']);
  a.length = 0;
  assert.equal(run('a.length'), 0);
});

test('functions, classes and new.target', () => {
  const P = run(`globalThis.P = class P { #p = 1; static s = 2; constructor(a) { this.a = a } get dbl() { return this.a * 2 } p() { return this.#p } }; P`);
  const p = new P(4);
  assert.ok(p instanceof P);
  assert.equal(p.dbl, 8);
  assert.equal(p.p(), 1);
  assert.equal(P.s, 2);
  assert.throws(() => P(), TypeError);
  class Q extends P { y() { return this.a + 1; } }
  const q = new Q(5);
  assert.equal(q.y(), 6);
  assert.ok(q instanceof Q && q instanceof P);
  assert.throws(() => new (run('() => 1'))(), TypeError);
  assert.equal(typeof P, 'function');
  assert.deepEqual(Object.keys(run('Object.assign(function f() {}, { k: 1 })')), ['k']);
  assert.equal(run('(function f(a, b) {})').length, 2);
  assert.equal(run('new Proxy(function () { return 7 }, {})')(), 7);
});

test('a class of the host, inside', () => {
  class H {
    constructor(x) { this.x = x; }
    twice() { return this.x * 2; }
    static make() { return new H(9); }
  }
  give('H', H);
  assert.equal(run('new H(3).x'), 3);
  assert.equal(run('new H(3).twice()'), 6);
  assert.ok(run('new H(1) instanceof H'));
  assert.ok(run('new H(3)') instanceof H);
  assert.ok(run('class G extends H { z() { return this.x } }; globalThis.G = G; new G(4) instanceof H && new G(4).z() === 4'));
  assert.equal(run('H.constructor === Function && H.constructor("return typeof process")()'), 'undefined');
});

test('identity, both ways and again', () => {
  const host = { f() { return this; } };
  give('host', host);
  assert.equal(run('host'), host);
  assert.equal(run('host.f()'), host);
  assert.ok(run('host === host && host.f === host.f'));
  const o = run('globalThis.q = { me: null }; q.me = q; q');
  assert.equal(o, o.me);
  o.back = host;
  assert.equal(o.back, host);
  give('o2', o);
  assert.ok(run('o2 === q'));
  const promise = run('globalThis.pr = Promise.resolve(1); pr');
  assert.ok(promise instanceof Promise && Object.getPrototypeOf(promise) === Promise.prototype);
  give('pr2', promise);
  assert.ok(run('pr2 === pr'));
  const error = run('globalThis.er = new TypeError("x"); er');
  give('er2', error);
  assert.ok(run('er2 === er'));
});

test('instances are of the class that a guest was given, whether it has read its prototype or not', () => {
  class Base { b() { return 1; } }
  class Shown extends Base { s() { return 2; } }
  class Hidden extends Shown {}
  give('C', Shown);
  give('one', new Shown());
  assert.ok(run('Object.getPrototypeOf(one) === C.prototype'));
  assert.ok(run('Object.getPrototypeOf(new C()) === C.prototype && one instanceof C && new C().s() === 2'));
  // A class that it was not given is passed by.
  give('deep', new Hidden());
  assert.ok(run('Object.getPrototypeOf(deep) === C.prototype && Object.getPrototypeOf(C.prototype) === Object.prototype'));
});

test('what is known is real on the other side', () => {
  const values = {
    date: new Date(5), regexp: /a(b)/gi, map: new Map([[1, { k: 2 }]]), set: new Set(['a']), bytes: new Uint8Array([1, 2, 3]),
    doubles: new Float64Array([1.5, -0]), big: new BigInt64Array([-1n]), view: new DataView(new Uint8Array([1, 2]).buffer),
    buffer: new Uint8Array([9]).buffer, aggregate: new AggregateError([new Error('in')], 'out'), boxed: Object(3),
  };
  give('v', values);
  assert.ok(run(`v.date.getTime() === 5 && v.regexp.flags === 'gi' && v.regexp.test('xAB') && v.map.get(1).k === 2 && v.set.has('a')
    && v.bytes[2] === 3 && v.doubles[0] === 1.5 && Object.is(v.doubles[1], -0) && v.big[0] === -1n && v.view.getUint8(1) === 2
    && v.buffer.byteLength === 1 && v.aggregate.errors[0].message === 'in' && v.boxed + 1 === 4
    && [v.date instanceof Date, v.regexp instanceof RegExp, v.map instanceof Map, v.set instanceof Set, v.bytes instanceof Uint8Array,
      v.buffer instanceof ArrayBuffer, v.aggregate instanceof AggregateError].every(Boolean)`));
  const back = run(`({ date: new Date(7), regexp: /x/y, map: new Map([['a', 1]]), set: new Set([1]), bytes: new Uint16Array([1, 2]),
    error: new SyntaxError('s', { cause: 1 }), buffer: new ArrayBuffer(3), boxed: Object('s') })`);
  assert.equal(new Date(back.date).getTime(), 7);
  assert.equal('ax'.search(/x/), 1);
  assert.ok(back.regexp instanceof RegExp && back.map.get('a') === 1 && back.set.has(1));
  assert.deepEqual(structuredClone(back.bytes), new Uint16Array([1, 2]));
  assert.ok(back.error instanceof SyntaxError && back.error.cause === 1);
  assert.equal(back.buffer.byteLength, 3);
  give('node', Buffer.from('node'));
  assert.ok(run('node instanceof Uint8Array && node.length === 4 && node.buffer.byteLength === 4'), 'no pool behind a Buffer');
  assert.ok(run('v.date') instanceof Date);
  const mine = Symbol('m');
  give('boxed', Object(mine));
  give('bare', mine);
  assert.ok(run('typeof boxed === "object" && boxed.valueOf() === bare'));
  const boxed = run('globalThis.own = Symbol("o"); Object(own)');
  assert.ok(typeof boxed === 'object' && Object.getPrototypeOf(boxed) === Symbol.prototype && boxed.valueOf() === run('own'));
});

test('a message has no more regular expressions than a host reads at once', () => {
  assert.equal(run('Array.from({ length: 1000 }, () => /a+b/g)').length, 1000);
  assert.equal(sandbox.copySync(run('Array.from({ length: 1000 }, () => /a+b/g)'))[999].flags, 'g');
  for (const [length, value] of [[20_000, '/a/'], [1, 'new RegExp("a".repeat(300_000))'], [2000, '/\\p{L}/u'], [40, '/[\\p{L}--\\P{Lu}]/v'], [40, '/\\p{RGI_Emoji}/v']])
    assert.throws(() => sandbox.copySync(run(`Array.from({ length: ${length} }, () => ${value})`)), { code: 'ERR_SANDBOX_OUTPUT' }, value);
  assert.equal(run('1'), 1);
});

test('a getter that disposes of the sandbox while it is copied ends that alone', async () => {
  for (const how of ['get', 'argument', 'result', 'expose']) {
    const [gone, sibling] = await Promise.all([1, 2].map(() => Sandbox.create({ tenant: 'getter' })));
    const data = { before: () => {}, list: [{ get x() { gone.disposeSync(); return () => 1; } }] };
    const given = [() => {}, data.list];
    if (how === 'result') gone.setSync('f', () => given);
    const f = gone.runSync(how === 'result' ? '() => f()' : '(x) => x');
    await assert.rejects(async () => {
      if (how === 'argument') f(given);
      else if (how === 'result') f();
      else if (how === 'expose') await gone.set('given', given);
      else await gone.call(f, [given]);
    }, { code: 'ERR_SANDBOX_DISPOSED' }, how);
    assert.equal(sibling.runSync('6 * 7'), 42, how);
    await using next = await Sandbox.create({ tenant: 'getter' });
    assert.equal(next.pid, sibling.pid);
    assert.equal(await next.run('1'), 1);
    await sibling.dispose();
  }
});

test('symbols', () => {
  assert.equal(run('Symbol.iterator'), Symbol.iterator);
  assert.equal(run('Symbol.for("q")'), Symbol.for('q'));
  assert.equal(run('globalThis.sy = Symbol("l"); sy'), run('sy'));
  const mine = Symbol('mine');
  give('mine', mine);
  assert.equal(run('mine'), mine);
  assert.notEqual(run('Symbol.for("nodejs.util.inspect.custom")'), Symbol.for('nodejs.util.inspect.custom'));
  const o = run('({ [Symbol.for("nodejs.util.inspect.custom")]() { return "called" } })');
  assert.ok(!Reflect.ownKeys(o).includes(Symbol.for('nodejs.util.inspect.custom')));
});

test('iterators, generators and destructuring', () => {
  assert.deepEqual([...run('(function* () { yield 1; yield 2 })()')], [1, 2]);
  const [a, ...rest] = run('[1, 2, 3]');
  assert.deepEqual([a, rest], [1, [2, 3]]);
  assert.deepEqual({ ...run('({ q: 1 })') }, { q: 1 });
  give('items', live({ *[Symbol.iterator]() { yield 4; yield 5; } }));
  assert.equal(run('[...items].join()'), '4,5');
});

test('async functions, generators and thenables, both ways', async () => {
  give('haf', async (x) => { await new Promise((resolve) => setTimeout(resolve, 5)); return x * 3; });
  assert.equal(await run('(async () => await haf(5) + 1)()'), 16);
  await assert.rejects(run('(async () => { throw new TypeError("as") })()'), TypeError);
  give('bad', async () => { throw new RangeError('no'); });
  assert.equal(await run('bad().catch((e) => e instanceof RangeError && e.message)'), 'no');
  const out = [];
  for await (const x of run('(async function* () { yield 1; yield await haf(2) })()')) out.push(x);
  assert.deepEqual(out, [1, 6]);
  assert.equal(await run('({ then(resolve) { resolve(8) } })'), 8);
});

test('callbacks in callbacks', () => {
  give('rec', (n) => (n === 0 ? 0 : 1 + sandbox.global.grec(n - 1)));
  run('globalThis.grec = (n) => n === 0 ? 0 : 1 + rec(n - 1)');
  assert.equal(sandbox.global.rec(40), 40);
  assert.throws(() => sandbox.global.rec(1000), RangeError);
  assert.equal(run('1'), 1);
  give('each', (list, f) => list.map((x) => f(x)));
  assert.equal(run('each([1, 2], (x) => x * 2).join()'), '2,4');
});

test('views hold for what they lead to', () => {
  const inner = { list: [1], f() { return 1; } };
  const object = { inner, n: 1, m() { return this.n; } };
  for (const [view, name] of [[readonly, 'ro'], [(x) => x, 'usual'], [(x) => readonly(x, { cached: true }), 'kept']]) {
    give(name, view(object));
    assert.throws(() => run(`'use strict'; ${name}.n = 2`), TypeError);
    assert.throws(() => run(`'use strict'; ${name}.inner.list.push(2)`), TypeError);
    assert.throws(() => run(`'use strict'; delete ${name}.n`), TypeError);
    assert.throws(() => run(`Object.defineProperty(${name}, 'z', { value: 1 })`), TypeError);
    assert.throws(() => run(`Object.setPrototypeOf(${name}, null)`), TypeError);
    assert.throws(() => run(`Object.freeze(${name})`), TypeError);
    assert.equal(run(`${name}.m()`), 1);
  }
  give('pr', protected_(object));
  run('pr.n = 5; pr.inner.list.push(2)');
  assert.equal(object.n, 5);
  assert.throws(() => run("'use strict'; pr.m = () => 1"), TypeError);
  assert.throws(() => run("'use strict'; Object.defineProperty(pr, 'g', { get() { return 1 } })"), TypeError);
  give('lv', live(object));
  run('lv.added = () => 7; lv.inner.k = 1');
  assert.equal(object.added(), 7);
  assert.equal(inner.k, 1);
  assert.throws(() => run("'use strict'; lv.__proto__ = null"), TypeError);
  assert.throws(() => run('Object.setPrototypeOf(lv, null)'), TypeError);
});

test('what a guest may only read it cannot write by putting it where it may', async () => {
  class Db { url = 'good'; query() { return 'real'; } pool = { size: 1 }; }
  const db = new Db(), settings = { level: 1 }, state = { list: [] };
  const expose = { db, settings: readonly(settings), state: live(state), data: protected_({}), plain: protected_({ f() {} }),
    tools: live({ pick: (item) => item, self() { return this; }, get me() { return this; }, of: (give) => give(), first: ([item]) => item, Keep: class { constructor(item) { this.item = item; } } }) };
  await using one = await Sandbox.create({ expose });
  await using other = await Sandbox.create({ expose: { state: live(state) } });
  const ways = ['state.a = db', 'state.a = { db }.db', 'Object.defineProperty(state, "b", { value: db, configurable: true }).b', 'state.list.push(db) && state.list[state.list.length - 1]', 'tools.pick(db)', 'tools.self.call(db)',
    'Reflect.get(tools, "me", db)', 'tools.of(() => db)', 'tools.first([db])', 'new tools.Keep(db).item', 'state.a.pool', '(state.c = db.pool)', '(state.d = db.query)', '(state.e = settings)'];
  for (const way of ways) {
    for (const source of [`Reflect.set(${way}, 'query', () => 'evil')`, `Reflect.defineProperty(${way}, 'query', { value: 1 })`, `Reflect.deleteProperty(${way}, 'url')`]) {
      assert.equal(one.runSync(source), false, source);
      // There it is a promise of the guest's.
      if (!source.includes('tools.of(')) assert.equal(await one.run(source), false, source);
    }
  }
  for (const way of ['data.a = db', 'data.a = { db }', 'data.a = [db]', 'data.a = new Map([[1, settings]])', 'data.a = [plain.f]']) assert.throws(() => one.runSync(way), /data alone/, way);
  assert.equal(one.runSync('state.a === db && state.e === settings && state.a.url'), 'good');
  assert.equal(other.runSync('Reflect.set(state.a, "url", 1) || Reflect.set(state.e, "level", 2)'), false);
  assert.deepEqual([db, settings, Object.hasOwn(db, 'query')], [new Db(), { level: 1 }, false]);
  // What the host itself says holds.
  one.setSync('whole', live(db));
  assert.ok(one.runSync('whole.url = "new"; Reflect.set(state.list, "length", 0) && Reflect.set(whole, "n", 1)'));
  assert.deepEqual([db.url, db.n], ['new', 1]);
});

test('of a guest\'s data a protected object gets a copy, and of nothing else anything', async () => {
  const object = { inner: {} };
  give('pd', protected_(object));
  run('globalThis.data = { a: 1, list: [1, { b: 2 }] }; pd.inner.data = data; pd.when = new Date(5); pd.names = new Map([[1, "one"]]); data.a = 2; pd.self = pd.inner');
  assert.deepEqual(object, { inner: { data: { a: 1, list: [1, { b: 2 }] } }, when: new Date(5), names: new Map([[1, 'one']]), self: object.inner });
  assert.ok(!isGuest(object.inner.data) && !isGuest(object.inner.data.list) && object.self === object.inner);
  run("Object.defineProperty(pd, 'fixed', { value: [1], enumerable: true, configurable: true })");
  assert.ok(Array.isArray(object.fixed) && !isGuest(object.fixed));
  const kept = Object.keys(object);
  for (const value of ['{ toString() { return 1 } }', '{ a: { f() {} } }', '[() => 1]', 'new (class { m() {} })()', 'new Map([[1, () => 1]])', 'new Map([[1, {}]])',
    'Promise.resolve(1)', 'new Proxy({}, {})', 'Object.assign(new Error("x"), { cause: {} })', '({ n: 0, get f() { return this.n++ > 0 ? () => 1 : 1 } })']) {
    assert.throws(() => run(`'use strict'; pd.bad = (${value})`), /data alone/, value);
    assert.throws(() => run(`Object.defineProperty(pd, 'bad', { value: (${value}) })`), /data alone/, value);
  }
  await assert.rejects(sandbox.run('pd.bad = { f() {} }'), /data alone/);
  assert.deepEqual(Object.keys(object), kept);
  assert.ok(!('bad' in object));
  await sandbox.run('pd.later = { a: [1] }');
  assert.deepEqual(object.later, { a: [1] });
});

test('what is read of a cached view is asked for once', () => {
  let reads = 0;
  const inner = { get n() { return ++reads; } };
  const object = { inner, get n() { return ++reads; }, list: [1, 2], nothing: undefined, own() { return { f() {}, get n() { return ++reads; } }; } };
  give('anew', readonly(object));
  assert.equal(run('[anew.n, anew.n, anew.n].join()'), '1,2,3');
  give('kept', readonly(object, { cached: true }));
  assert.equal(run('[kept.n, kept.n, kept.n].join()'), '4,4,4');
  assert.equal(run('kept.n'), 4);
  assert.equal(run('[kept.inner.n, kept.inner.n, kept.inner === kept.inner].join()'), '5,5,true');
  assert.equal(run('{ const made = kept.own(); [made.n, made.n].join() }'), '6,6');
  assert.equal(run('kept.list.map((x) => x + 1).join() + kept.nothing + kept.nothing + kept.none'), '2,3undefinedundefinedundefined');
  // An object that inherits from it is another one: what the getter is called on is that.
  assert.equal(run('{ const own = Object.create(kept); [own.n, own.n].join() }'), '7,8');
  object.list[0] = 9;
  assert.equal(run('kept.list[0] + "," + anew.list[0]'), '1,9');
  assert.equal(reads, 8);
});

test('revoked', () => {
  const object = { n: 1, f() { return 1; } };
  give('gone', object);
  assert.equal(run('gone.n'), 1);
  revoke(object);
  assert.throws(() => run('gone.n'), /revoked/);
  assert.throws(() => run('Object.keys(gone)'), /revoked/);
});

test('what was revoked is neither handed back nor called on', async () => {
  class Db { #rows = [1]; query() { return this.#rows; } get rows() { return this.#rows; } }
  const db = new Db(), other = new Db();
  await using one = await Sandbox.create({ expose: { db, other, all: live({}), see: (item) => item === db, look: (item) => item.db === db, of: (give) => give() === db } });
  one.runSync('var query = db.query');
  assert.deepEqual(one.runSync('[...query.call(db)]'), [1]);
  revoke(db);
  for (const way of ['query.call(db)', 'Reflect.apply(query, db, [])', 'Reflect.get(other, "rows", db)', 'see(db)', 'see.call(db)', 'look({ db })', 'of(() => db)', 'all.db = db'])
    assert.throws(() => one.runSync(way), /revoked/, way);
  for (const way of ['query.call(db)', 'see(db)', 'look({ db })', 'db', '(async () => { await see(1); return db })()', 'Promise.resolve([db])']) await assert.rejects(one.run(way), /revoked/, way);
  assert.deepEqual(one.runSync('query.call(other).length + (db === db)'), 2);
  // Another call hears of it.
  const later = one.run('new Promise((resolve) => { globalThis.settle = () => resolve(db) })');
  const refused = assert.rejects(later, /revoked/);
  assert.equal(await one.run('settle(); 3'), 3);
  await refused;
});

test('what is dropped is released', { timeout: 60000 }, async () => {
  const make = run('(i) => ({ i })');
  for (let round = 0; round < 10; round++) {
    for (let i = 0; i < 1000; i++) make(i);
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { imported } = await sandbox.stats();
  assert.ok(imported < 2000, `${imported} are held`);
  const kept = run('globalThis.kept = { a: 1 }; kept');
  globalThis.gc();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(kept, run('kept'));
});

test('a getter may not call in while its value is copied', () => {
  const f = run('(x) => x.a');
  assert.throws(() => f({ get a() { return sandbox.runSync('1'); } }), /while its value was copied/);
  assert.equal(f({ get a() { return 1; } }), 1);
});

test('stand-ins are told from what is ours', () => {
  assert.ok(isGuest(run('({})')) && isGuest(run('() => 1')));
  assert.ok(!isGuest({}) && !isGuest(1) && !isGuest(null));
});

test('instanceof, for each class that the language has', () => {
  const made = {
    Object: '{}', Function: 'function () {}', Array: '[1]', Promise: 'Promise.resolve()', Map: 'new Map', Set: 'new Set', WeakMap: 'new WeakMap',
    WeakSet: 'new WeakSet', WeakRef: 'new WeakRef({})', FinalizationRegistry: 'new FinalizationRegistry(() => {})', Date: 'new Date', RegExp: '/a/',
    Error: 'new Error', TypeError: 'new TypeError', RangeError: 'new RangeError', SyntaxError: 'new SyntaxError', ReferenceError: 'new ReferenceError',
    EvalError: 'new EvalError', URIError: 'new URIError', AggregateError: 'new AggregateError([])', ArrayBuffer: 'new ArrayBuffer(8)', DataView: 'new DataView(new ArrayBuffer(8))',
    Number: 'Object(1)', String: 'Object("s")', Boolean: 'Object(true)', BigInt: 'Object(1n)', Iterator: '[].values()',
    'Intl.DateTimeFormat': 'new Intl.DateTimeFormat', 'Intl.NumberFormat': 'new Intl.NumberFormat', 'Intl.Collator': 'new Intl.Collator', 'Intl.Segmenter': 'new Intl.Segmenter',
  };
  for (const name of ['Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array', 'Float32Array', 'Float64Array',
    'BigInt64Array', 'BigUint64Array']) made[name] = `new ${name}(1)`;
  for (const [name, source] of Object.entries(made)) {
    const Class = (0, eval)(name);
    assert.ok(run(`(${source})`) instanceof Class, `${name} of the guest`);
    give('it', readonly((0, eval)(`(${source})`)));
    assert.equal(run(`it instanceof ${name}`), true, `${name} of the host`);
    if (name === 'Object' || name === 'BigInt' || name === 'Iterator' || name === 'WeakRef' || name === 'FinalizationRegistry') continue;
    // A subclass of it is one as well, though nothing of the subclass shows.
    const args = { Promise: '() => {}', AggregateError: '[]', DataView: 'new ArrayBuffer(8)' }[name] ?? '';
    assert.ok(run(`new (class Sub extends ${name} {})(${args})`) instanceof Class, `a subclass of ${name} of the guest`);
    give('it', (0, eval)(`new (class Sub extends ${name} {})(${args})`));
    assert.equal(run(`it instanceof ${name}`), true, `a subclass of ${name} of the host`);
  }
});

test('a cycle through both heaps ends with the sandbox', async () => {
  const ref = await (async () => {
    const other = Sandbox.createSync();
    const host = { f() {} };
    other.setSync('host', live(host));
    host.back = other.runSync('globalThis.guest = { host }; guest');
    assert.equal(host.back.host, host);
    await other.dispose();
    return new WeakRef(host);
  })();
  for (let i = 0; i < 50 && ref.deref() !== undefined; i++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    globalThis.gc();
  }
  assert.equal(ref.deref(), undefined);
});
