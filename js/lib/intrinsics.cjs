'use strict';
// Every object and function that the language itself has, by the path that leads to it. Both ends
// name them by path: an intrinsic of the host is the guest's own, or nothing, and never a handle, because
// through one method of the host everything else of the host is reached. A guest's own become the host's
// only as prototypes; handed over they are handles, because a host that is given its own `eval` to call
// or its own Object.prototype to fill runs and changes what the guest says.

const {
  SafeMap, SafeSet, ObjectPrototype, getPrototypeOf, getOwnPropertyDescriptor, ownKeys, SymbolDescription, ArrayPush, StringStartsWith,
  StringEndsWith, list,
} = require('./primordials.cjs');

const names = [
  'Object', 'Function', 'Array', 'String', 'Number', 'Boolean', 'Symbol', 'BigInt', 'Math', 'JSON', 'Reflect', 'Atomics', 'Proxy',
  'Error', 'TypeError', 'RangeError', 'SyntaxError', 'ReferenceError', 'EvalError', 'URIError', 'AggregateError',
  'SuppressedError', 'Promise', 'Map', 'Set', 'WeakMap', 'WeakSet', 'WeakRef', 'FinalizationRegistry', 'Date', 'RegExp',
  'ArrayBuffer', 'SharedArrayBuffer', 'DataView', 'Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array',
  'Int32Array', 'Uint32Array', 'Float16Array', 'Float32Array', 'Float64Array', 'BigInt64Array', 'BigUint64Array', 'Iterator',
  'AsyncIterator', 'Intl', 'WebAssembly', 'Temporal', 'DisposableStack', 'AsyncDisposableStack', 'parseInt', 'parseFloat', 'isNaN',
  'isFinite', 'decodeURI', 'decodeURIComponent', 'encodeURI', 'encodeURIComponent', 'escape', 'unescape', 'eval',
];

// What no global leads to. Taken before anybody's code runs; the walk itself waits until it is needed.
const others = (() => {
  const out = { __proto__: null };
  out.TypedArray = getPrototypeOf(Uint8Array);
  out.Generator = getPrototypeOf(function* () {});
  out.AsyncFunction = getPrototypeOf(async function () {});
  out.AsyncGenerator = getPrototypeOf(async function* () {});
  out.ArrayIterator = getPrototypeOf([][Symbol.iterator]());
  out.MapIterator = getPrototypeOf(new Map()[Symbol.iterator]());
  out.SetIterator = getPrototypeOf(new Set()[Symbol.iterator]());
  out.StringIterator = getPrototypeOf(''[Symbol.iterator]());
  out.RegExpStringIterator = getPrototypeOf(''.matchAll(/a/g));
  out.ThrowTypeError = getOwnPropertyDescriptor((function () { 'use strict'; return arguments; })(), 'callee').get;
  try {
    out.IteratorHelper = getPrototypeOf([].values().map((x) => x));
    out.WrapForValidIterator = getPrototypeOf(Iterator.from({ next() {} }));
  } catch { /* not in every version */ }
  return out;
})();
// Of these the first alone costs more than all the rest.
const addSegments = () => {
  try {
    const segments = new Intl.Segmenter().segment('');
    others.Segments = getPrototypeOf(segments);
    others.SegmentIterator = getPrototypeOf(segments[Symbol.iterator]());
  } catch { /* not in every version */ }
};

const step = (path, key) => path + (typeof key === 'symbol' ? `[${SymbolDescription(key)}]` : '.' + key);

// What Node adds to the language's own objects is Node's, and withheld.
const foreign = (path) => path === 'Error.prepareStackTrace' || path === 'Error.stackTraceLimit' || path === 'Intl.v8BreakIterator';

// { paths: of objects, objects: by path, withheld: objects without a path }
function walk(global) {
  const paths = new SafeMap();
  const objects = new SafeMap();
  const withheld = new SafeSet();
  const queue = list();
  const meet = (value, path) => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null || value === global) return;
    if (paths.has(value) || withheld.has(value)) return;
    if (foreign(path)) return void withheld.add(value);
    paths.set(value, path);
    objects.set(path, value);
    ArrayPush(queue, value);
  };
  for (let i = 0; i < names.length; i++) {
    const found = getOwnPropertyDescriptor(global, names[i]);
    if (found !== undefined && 'value' in found) meet(found.value, names[i]);
  }
  addSegments();
  for (const name in others) meet(others[name], '%' + name);
  for (let i = 0; i < queue.length; i++) {
    const object = queue[i];
    const path = paths.get(object);
    const keys = ownKeys(object);
    for (let k = 0; k < keys.length; k++) {
      const found = getOwnPropertyDescriptor(object, keys[k]);
      const next = step(path, keys[k]);
      if ('value' in found) meet(found.value, next);
      else {
        meet(found.get, next + '<get>');
        meet(found.set, next + '<set>');
      }
    }
    const prototype = getPrototypeOf(object);
    if (prototype !== ObjectPrototype) meet(prototype, path + '<prototype>');
  }
  return { paths, objects, withheld };
}

// Methods that ask for slots which a stand-in does not have: they run where the object is.
const forwarded = [
  '%Generator.prototype.', '%AsyncGenerator.prototype.', '%ArrayIterator.', '%MapIterator.', '%SetIterator.', '%StringIterator.',
  '%RegExpStringIterator.', '%IteratorHelper.', '%WrapForValidIterator.', '%Segments.', '%SegmentIterator.',
  'Intl.DateTimeFormat.prototype.', 'Intl.NumberFormat.prototype.', 'Intl.Collator.prototype.', 'Intl.PluralRules.prototype.',
  'Intl.RelativeTimeFormat.prototype.', 'Intl.ListFormat.prototype.', 'Intl.Segmenter.prototype.', 'WeakMap.prototype.',
  'WeakSet.prototype.', 'WeakRef.prototype.',
];
function isForwarded(path) {
  if (StringEndsWith(path, '.constructor')) return false;
  for (let i = 0; i < forwarded.length; i++) if (StringStartsWith(path, forwarded[i])) return true;
  return false;
}

// Of them, those that change what they are called on.
const changing = ['WeakMap.prototype.set', 'WeakMap.prototype.delete', 'WeakSet.prototype.add', 'WeakSet.prototype.delete'];
function changes(path) {
  for (let i = 0; i < changing.length; i++) if (changing[i] === path) return true;
  return false;
}

// What makes code of a text is nobody's prototype.
const evaluators = ['eval', 'Function', '%Generator.constructor', '%AsyncFunction.constructor', '%AsyncGenerator.constructor'];
function isEvaluator(path) {
  for (let i = 0; i < evaluators.length; i++) if (evaluators[i] === path) return true;
  return false;
}

let made;
module.exports = { names, isForwarded, changes, isEvaluator, intrinsics: () => (made ??= walk(globalThis)) };
