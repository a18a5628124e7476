'use strict';
// What a guest finds besides the language, and what of the language it does not find.

const P = require('./primordials.cjs');
const { intrinsics } = require('./intrinsics.cjs');

const hide = (name, value) =>
  P.defineProperty(globalThis, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });

const makers = { __proto__: null };

makers.console = (host) => {
  const console = {};
  for (const level of ['log', 'info', 'warn', 'error', 'debug', 'trace', 'dir'])
    console[level] = (...args) => { host.console(level, ...args); };
  console.assert = (truth, ...args) => { if (!truth) host.console('error', 'Assertion failed', ...args); };
  return console;
};
makers.queueMicrotask = () => {
  const resolved = P.Promise.resolve();
  return (task) => {
    if (typeof task !== 'function') throw new P.TypeError('queueMicrotask: a function is needed');
    P.PromiseThen(resolved, () => task());
  };
};
const timer = (repeat) => (host) => (task, delay, ...args) => {
  if (typeof task !== 'function') throw new P.TypeError('a timer needs a function');
  return host.setTimer(() => { P.apply(task, undefined, args); }, +delay || 0, repeat);
};
const clear = (host) => (id) => { if (typeof id === 'number') host.clearTimer(id); };
makers.setTimeout = timer(false);
makers.setInterval = timer(true);
makers.clearTimeout = clear;
makers.clearInterval = clear;
makers.atob = (host) => (text) => host.atob(`${text}`);
makers.btoa = (host) => (text) => host.btoa(`${text}`);
makers.structuredClone = (host) => (value) => host.clone(value);
makers.TextEncoder = (host) => class TextEncoder {
  get encoding() { return 'utf-8'; }
  encode(text = '') { return host.utf8(`${text}`); }
};
makers.TextDecoder = (host) => class TextDecoder {
  #label;
  constructor(label = 'utf-8') { this.#label = `${label}`; }
  get encoding() { return this.#label; }
  decode(bytes) { return bytes === undefined ? '' : host.decodeText(bytes, this.#label); }
};

// What programs of Node's expect besides; its Buffer is made by guest.cjs.
const ofNode = { __proto__: null };
ofNode.global = () => globalThis;
ofNode.setImmediate = (host) => (task, ...args) => timer(false)(host)(task, 0, ...args);
ofNode.clearImmediate = clear;

const installWeb = (names, host) => {
  for (let i = 0; i < names.length; i++) {
    const make = makers[names[i]] ?? ofNode[names[i]];
    if (make !== undefined) hide(names[i], make(host));
  }
};

// globals: 'none', 'web', 'node', or the names of those that are wanted.
function keepGlobals(globals, install, host) {
  if (globals === 'node') install(P.ownKeys(ofNode), host);
  if (globals === 'web' || globals === 'node') return install(P.ownKeys(makers), host);
  // While every path still leads to what it names.
  intrinsics();
  const wanted = globals === 'none' ? [] : globals;
  const keep = new P.SafeSet();
  for (let i = 0; i < wanted.length; i++) keep.add(wanted[i]);
  const own = P.ownKeys(globalThis);
  for (let i = 0; i < own.length; i++)
    if (own[i] !== 'globalThis' && !keep.has(own[i])) P.deleteProperty(globalThis, own[i]);
  return install(wanted, host);
}

// Takes away what paths lead to ('eval', 'Array.prototype.sort'): a name that is not there is a mistake.
function takeAway(paths) {
  if (paths.length === 0) return;
  intrinsics();
  for (let i = 0; i < paths.length; i++) {
    const names = P.StringSplit(paths[i], '.');
    let object = globalThis;
    for (let j = 0; j < names.length - 1 && isObject(object); j++) object = P.getOwnPropertyDescriptor(object, names[j])?.value;
    const name = names[names.length - 1];
    if (!isObject(object) || P.getOwnPropertyDescriptor(object, name) === undefined) throw new P.TypeError(`without: there is no ${paths[i]}`);
    if (!P.deleteProperty(object, name)) throw new P.TypeError(`without: ${paths[i]} cannot be taken away`);
  }
}
const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';

// Nothing of the language can be changed any more, for whoever shares this realm.
function freezeAll() {
  intrinsics().objects.forEach((object) => { P.ObjectFreeze(object); });
}

const names = [...P.ownKeys(makers), ...P.ownKeys(ofNode), 'Buffer'];

module.exports = { names, hide, installWeb, keepGlobals, takeAway, freezeAll };
