// Programs that take time or memory which they were not given, by as many ways of the language: for
// js/test/resources.test.mjs, and for the peers (bench/javascript/resources.mjs).
// Methods of arrays on what only says that it is long.
const generic = ['fill', 'indexOf', 'lastIndexOf', 'includes', 'join', 'reverse', 'sort', 'copyWithin', 'find', 'findIndex', 'findLast', 'every', 'some',
  'filter', 'map', 'forEach', 'reduce', 'reduceRight', 'flat', 'flatMap', 'slice', 'splice', 'shift', 'unshift', 'concat', 'toLocaleString', 'at', 'with',
  'toSorted', 'toReversed', 'toSpliced'];
const argument = { toLocaleString: '', copyWithin: '1, 0', with: '0, 1', reduce: '() => 1, 0', reduceRight: '() => 1, 0', flatMap: '() => [1]', unshift: '1', splice: '0, 1', toSpliced: '0, 1' };
const callbacks = ['find', 'findIndex', 'findLast', 'every', 'some', 'filter', 'map', 'forEach'];
export const programs = {};
for (const length of ['2 ** 32 - 1', '2 ** 53 - 1'])
  for (const name of generic)
    programs[`Array.prototype.${name} of ${length}`] = `Array.prototype.${name}.call({ length: ${length} }, ${argument[name] ?? (callbacks.includes(name) ? '() => name === 1'.replace('name', '0') : '1')})`;

const huge = '"x".repeat(2 ** 27)';
for (const [name, source] of Object.entries({
  split: `${huge}.split("")`, 'replaceAll growing': `${huge}.replaceAll("x", "yyyyyyyy")`, 'replace function': `${huge}.replace(/x/g, () => "yy")`,
  padStart: '"".padStart(2 ** 29)', normalize: '("a" + "\\u0301".repeat(2e6)).normalize("NFD")', toUpperCase: `("\\u00df".repeat(2 ** 26)).toUpperCase()`,
  localeCompare: `${huge}.localeCompare(${huge})`, 'indexOf quadratic': '("a".repeat(2 ** 22) + "b").indexOf("a".repeat(2 ** 21) + "b")',
  lastIndexOf: '("b" + "a".repeat(2 ** 22)).lastIndexOf("b" + "a".repeat(2 ** 21) + "c")', matchAll: `[...${huge}.matchAll(/x/g)].length`,
  'spread of a string': `[...${huge}].length`, encodeURIComponent: `encodeURIComponent("\\u20ac".repeat(2 ** 25)).length`, escape: `escape("\\u20ac".repeat(2 ** 25)).length`,
  'String.raw': 'String.raw({ raw: { length: 2 ** 40 } })', 'fromCodePoint': 'String.fromCodePoint(...Array(1e6).fill(65)).length', 'concat doubling': 'let s = "x"; for (;;) s += s',
  'flattened ropes': 'let s = "x"; for (let i = 0; i < 28; i++) s += s; s.charCodeAt(3); [s + 1, s + 2, s + 3].map((t) => t.charCodeAt(2e8))',
  'localeUpper': `("i".repeat(2 ** 27)).toLocaleUpperCase("tr").length`, 'trim': `(" ".repeat(2 ** 27)).trim().length`, 'at in a loop': 'const s = "x"; for (;;) s.at(0)',
  'template': 'const f = (s) => `${s}${s}${s}`; let s = "abc"; for (;;) s = f(s)', 'toWellFormed': '("\\ud800".repeat(2 ** 26)).toWellFormed().length',
})) programs[`string: ${name}`] = source;

for (const [name, source] of Object.entries({
  'nested quantifiers': '/(a+)+$/.test("a".repeat(40) + "b")', alternation: '/(a|a)*$/.test("a".repeat(40) + "b")', backreference: '/(.*)\\1{30}x/.test("a".repeat(5000))',
  lookahead: '/(?=(a+))*b/.test("a".repeat(3e4))', lookbehind: '/(?<=(a+)+)b/.test("a".repeat(40))', 'large class': 'new RegExp("[" + "a-z".repeat(1e6) + "]").test("x")',
  'large quantifier': '/((a{1000}){1000}){1000}/.test("a")', 'many groups': 'new RegExp("(a)?".repeat(30000)).test("b")', sticky: 'const r = /(x+x+)+y/y; r.test("x".repeat(40))',
  unicode: '/(\\p{L}+)+\\d/u.test("\\u00e9".repeat(40))', 'exec loop': 'const r = /x*/g; for (;;) r.exec("xxx")', 'symbol replace': '"a".repeat(1e6).replace(/(?:)/g, "b".repeat(1000)).length',
  'v flag': '/[\\p{L}--[a-z]]+$/v.test("\\u00e9".repeat(1e7) + "1")', 'compiling': 'for (let i = 0;; i++) new RegExp("(a|b|c" + i + ")+").test("abc")',
})) programs[`regexp: ${name}`] = source;

for (const [name, source] of Object.entries({
  power: '2n ** 1000000000n', 'power in a loop': 'let x = 3n; for (;;) x **= 3n', multiply: 'let x = 1n << 10000000n; for (;;) x = x * x', divide: '(1n << 30000000n) / 7n ** 1000000n',
  shift: '1n << 2n ** 30n', 'toString': '(7n ** 3000000n).toString().length', parse: 'BigInt("9".repeat(5e6))', modulo: '(3n ** 5000000n) % (7n ** 1000000n)', asUintN: 'BigInt.asUintN(2 ** 30, -1n)',
  xor: '(1n << 1000000000n) ^ 1n', 'toFixed': 'for (;;) (1e20).toFixed(100)', 'parseFloat': 'parseFloat("1".repeat(2 ** 27))',
})) programs[`number: ${name}`] = source;

for (const [name, source] of Object.entries({
  'array push': 'const a = []; for (;;) a.push({})', 'array index': 'const a = []; for (let i = 0;; i++) a[i] = i', 'fill 1e9': 'new Array(1e9).fill(0)', 'Array.from': 'Array.from({ length: 1e9 })',
  'Array.from iterator': 'Array.from((function* () { for (;;) yield {} })())', concat: 'let a = [1]; for (;;) a = a.concat(a)', flat: 'const a = []; for (let i = 0, b = a; i < 1e6; i++) b.push(b = []); a.flat(Infinity)',
  map: 'const m = new Map(); for (let i = 0;; i++) m.set(i, "x" + i)', set: 'const s = new Set(); for (let i = 0;; i++) s.add({})', weakmap: 'const k = [], w = new WeakMap(); for (;;) { const o = {}; k.push(o); w.set(o, {}) }',
  symbols: 'const a = []; for (let i = 0;; i++) a.push(Symbol.for("s" + i))', properties: 'const o = {}; for (let i = 0;; i++) o["p" + i] = i', closures: 'let f = () => 0; for (;;) { const g = f; f = () => g }',
  'proxy chain': 'let p = {}; for (;;) p = new Proxy(p, {})', 'proxy chain read': 'let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); p.x', 'bound chain': 'let f = () => 1; for (let i = 0; i < 1e6; i++) f = f.bind(); f()',
  prototypes: 'let o = {}; for (;;) o = Object.create(o)', 'prototype read': 'let o = {}; for (let i = 0; i < 1e5; i++) o = Object.create(o); for (;;) o.x', classes: 'const a = []; for (;;) a.push(class {})',
  'ArrayBuffer': 'const a = []; for (;;) a.push(new ArrayBuffer(1e5))', 'resizable': 'const b = new ArrayBuffer(1, { maxByteLength: 2 ** 31 }); b.resize(2 ** 31 - 1); new Uint8Array(b).fill(1)',
  'SharedArrayBuffer': 'const a = []; for (;;) { const b = new SharedArrayBuffer(1e6); new Uint8Array(b).fill(1); a.push(b) }', 'typed fill': 'const t = new Uint8Array(3e7); for (;;) t.fill(1)', 'typed sort': 'for (;;) new Float64Array(1e6).map(() => 3).sort()',
  'BigInt64Array': 'new BigInt64Array(2 ** 30)', 'string table': 'const a = []; for (let i = 0;; i++) a.push("k" + i + "v".repeat(100))', errors: 'const a = []; for (;;) a.push(new Error("x"))',
  dates: 'const a = []; for (;;) a.push(new Date())', generators: 'const a = []; for (;;) { const g = (function* () { yield 1 })(); g.next(); a.push(g) }', regexps: 'const a = []; for (let i = 0;; i++) a.push(new RegExp("x" + i))',
  'structured JSON': 'JSON.stringify(Array(3e6).fill([1, 2, 3])).length', 'JSON.parse deep': 'JSON.parse("[".repeat(1e6) + "]".repeat(1e6))', 'JSON.parse wide': 'JSON.parse("[" + "1,".repeat(1e7) + "1]").length',
  'JSON toJSON': 'const o = { toJSON() { return [o, o] } }; JSON.stringify(o)', 'JSON cycle by proxy': 'JSON.stringify(new Proxy({}, { ownKeys: () => ["a"], getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }), get: (t, k, r) => k === "a" ? r : undefined }))',
  'Object.assign': 'const o = Object.fromEntries(Array.from({ length: 1e6 }, (_, i) => [i, i])); for (;;) Object.assign({}, o)', 'entries': 'Object.entries(new Uint8Array(3e7)).length', 'groupBy': 'Object.groupBy(Array(1e7).fill(1), (_, i) => i)',
})) programs[`memory: ${name}`] = source;

for (const [name, source] of Object.entries({
  while: 'while (true);', 'do': 'do {} while (1)', 'for in': 'for (;;) for (const k in { a: 1 });', 'for of': 'for (const x of (function* () { for (;;) yield 1 })());', label: 'a: for (;;) { for (;;) continue a }',
  'optimised': 'let s = 0; for (let i = 0;; i = (i + 1) | 0) s = (s + i) | 0', 'new Array': 'let x; for (;;) { x = new Array(1000) }', 'try catch': 'for (;;) { try { throw 1 } catch {} }', 'catch of the end': 'for (;;) { try { for (;;); } catch { for (;;); } finally { for (;;); } }',
  getter: 'const o = { get x() { for (;;); } }; o.x', setter: 'const o = { set x(v) { for (;;); } }; o.x = 1', valueOf: '+{ valueOf() { for (;;); } }', toString: '`${{ toString() { for (;;); } }}`', iterator: '[...{ [Symbol.iterator]() { return { next: () => ({ value: 1, done: false }) } } }]',
  toPrimitive: '1 + { [Symbol.toPrimitive]() { for (;;); } }', hasInstance: '1 instanceof { [Symbol.hasInstance]() { for (;;); } }', comparator: '[3, 1, 2].sort(() => { for (;;); })', 'proxy trap': 'new Proxy({}, { get() { for (;;); } }).x',
  'static block': 'class A { static { for (;;); } }', 'default argument': '((a = (() => { for (;;); })()) => a)()', 'tagged template': '((s) => { for (;;); })`x`', 'reviver': 'JSON.parse("[1]", () => { for (;;); })',
  microtasks: 'Promise.resolve().then(function f() { return Promise.resolve().then(f) }); 1', thenable: 'Promise.resolve({ then() { for (;;); } }); 1', 'await loop': '(async () => { for (;;) await 1 })(); 1', 'async generator': '(async () => { for await (const x of (async function* () { for (;;) yield 1 })()); })(); 1',
  'async finally': '(async () => { try { await 1 } finally { for (;;); } })(); 1', 'Promise.all': 'Promise.all(Array(1e6).fill(Promise.resolve(1)))', 'many promises': 'for (;;) Promise.resolve(1).then(() => 1)', 'Array.fromAsync': 'Array.fromAsync((async function* () { for (;;) yield 1 })()); 1',
  recursion: '(function f() { f() })()', 'mutual recursion': 'const a = () => b(), b = () => a(); a()', 'recursion caught': '(function f() { try { f() } catch { f() } })()', 'recursion in finally': '(function f() { try { f() } finally { f() } })()', 'toString recursion': 'const a = []; a.push(a, a); const f = (x, d) => d ? x.map((y) => f(y, d - 1)) : 0; f(a, 40)',
  ackermann: '(function a(m, n) { return m === 0 ? n + 1 : n === 0 ? a(m - 1, 1) : a(m - 1, a(m, n - 1)) })(4, 2)', fibonacci: '(function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2) })(60)', eval: 'for (;;) eval("1")', Function: 'for (let i = 0;; i++) new Function("return " + i)()',
  'parse much': 'eval("1" + "+1".repeat(5e6))', 'parse deep': 'eval("(".repeat(1e5) + ")".repeat(1e5))', 'callbacks': 'for (;;) callback(1)', 'callbacks caught': 'for (;;) { try { callback({}) } catch {} }', 'callback recursion': '(function f() { callback(f); f() })()',
  'exposed much': 'callback("x".repeat(1e8))', 'many handles': 'const a = []; for (;;) callback(() => 1)', 'result too large': '"x".repeat(1e8)', 'result too deep': 'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; a', 'result endless': 'new Proxy([], { get: (t, k) => k === "length" ? 2 ** 32 - 1 : 1 })',
  'error too large': 'throw new Error("x".repeat(1e8))', 'Atomics.wait': 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)', 'Atomics.waitAsync': 'Atomics.waitAsync(new Int32Array(new SharedArrayBuffer(4)), 0, 0); 1',
  'finalizers': 'const r = new FinalizationRegistry(() => { for (;;); }); for (let i = 0; i < 1e5; i++) r.register({}, 1); 1', 'Intl': 'for (;;) new Intl.DateTimeFormat("de").format(0)', 'Segmenter': '[...new Intl.Segmenter().segment("a".repeat(1e7))].length', 'Date strings': 'for (;;) new Date("2020-01-01").toLocaleString()',
})) programs[`time: ${name}`] = source;

// (module (memory 1) (func (export "f") (loop (br 0)))), and one whose memory grows.
const looping = '[0,97,115,109,1,0,0,0,1,4,1,96,0,0,3,2,1,0,7,5,1,1,102,0,0,10,9,1,7,0,3,64,12,0,11,11]';
for (const [name, source] of Object.entries({
  loop: `new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(${looping}))).exports.f()`, 'many memories': 'const a = []; for (;;) { const m = new WebAssembly.Memory({ initial: 100 }); new Uint8Array(m.buffer).fill(1); a.push(m) }',
  'large memory': 'new WebAssembly.Memory({ initial: 65536 })', grow: 'const m = new WebAssembly.Memory({ initial: 1 }); for (;;) { m.grow(1); new Uint8Array(m.buffer).fill(1) }', table: 'const t = new WebAssembly.Table({ element: "anyfunc", initial: 1 }); for (;;) t.grow(1e6)', 'tables': 'const a = []; for (;;) a.push(new WebAssembly.Table({ element: "anyfunc", initial: 1e7 }))',
  'compile loop': `for (;;) new WebAssembly.Module(new Uint8Array(${looping}))`, 'validate much': 'WebAssembly.validate(new Uint8Array(2e7))',
})) programs[`WebAssembly: ${name}`] = source;

