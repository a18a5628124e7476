'use strict';
// console.log and util.inspect of a live stand-in: what it stands for, drawn of an outline that the guest's end gives
// (outline.cjs). What comes is the guest's word: bounded, and written without what a terminal obeys.

const { inspect } = require('node:util');
const { Op } = require('./wire.cjs');
const { Shown, MAX_ITEMS } = require('./outline.cjs');
const { withoutUnseen } = require('./unseen.cjs');

const MOST_DEPTH = 4;
const INSPECT = inspect.custom;

const define = (object, key, descriptor) => Object.defineProperty(object, key, { __proto__: null, enumerable: true, configurable: true, ...descriptor });
const textOf = (item) => (typeof item === 'string' ? withoutUnseen(item) : '');
const named = (name) => Object.create(define(function () {}, 'name', { value: name }).prototype);

class Drawing {
  #things = [];
  #draw(item) {
    if (!Array.isArray(item)) return typeof item === 'string' ? textOf(item) : typeof item === 'object' ? null : item;
    const [kind, first, second] = item;
    if (kind === Shown.AGAIN) return this.#things[first];
    if (kind === Shown.SYMBOL) return Symbol(textOf(first));
    const thing = this.#begin(kind, first, second);
    this.#things.push(thing);
    return this.#fill(thing, kind, item);
  }
  #begin(kind, first, second) {
    switch (kind) {
      case Shown.ARRAY: return [];
      case Shown.MAP: return new Map();
      case Shown.SET: return new Set();
      case Shown.FUNCTION: return define(() => {}, 'name', { value: textOf(first), enumerable: false });
      case Shown.CLASS: return define(class {}, 'name', { value: textOf(first), enumerable: false });
      case Shown.DATE: return new Date(typeof first === 'number' ? first : NaN);
      case Shown.ERROR: {
        const name = textOf(first), message = textOf(second);
        return define(new Error(message), 'stack', { value: message === '' ? name : `${name}: ${message}`, enumerable: false });
      }
      // Of which no more is shown.
      case Shown.DEEPER: return define(named(textOf(first) || 'Object'), '...', { value: 0 });
      case Shown.OBJECT: return first === 'Object' ? {} : first === '' ? Object.create(null) : named(textOf(first));
      default: return named(textOf(first) || 'Object');
    }
  }
  #fill(thing, kind, item) {
    if (kind === Shown.ARRAY) {
      for (let i = 2; i < item.length && i < MAX_ITEMS + 2; i++) this.#put(thing, i - 2, item[i]);
      if (Number.isInteger(item[1]) && item[1] >= thing.length && item[1] < 2 ** 32) thing.length = item[1];
    } else if (kind === Shown.SET) {
      for (let i = 1; i < item.length; i++) thing.add(this.#draw(item[i]));
    } else if (kind === Shown.MAP) {
      for (let i = 1; i + 1 < item.length; i += 2) thing.set(this.#draw(item[i]), this.#draw(item[i + 1]));
    } else if (kind === Shown.OBJECT) {
      for (let i = 3; i + 1 < item.length; i += 2) this.#put(thing, textOf(item[i]), item[i + 1]);
      if (item[2] > MAX_ITEMS) define(thing, '...', { value: `${item[2] - MAX_ITEMS} more` });
    }
    return thing;
  }
  #put(thing, key, item) {
    if (Array.isArray(item) && item[0] === Shown.HOLE) {
      if (Array.isArray(thing)) thing.length = key + 1;
    } else if (Array.isArray(item) && item[0] === Shown.ACCESSOR) {
      define(thing, key, { get: item[1] === true ? () => undefined : undefined, set: item[2] === true ? () => {} : undefined });
    } else {
      define(thing, key, { value: this.#draw(item) });
    }
  }
  static of(item) {
    return new Drawing().#draw(item);
  }
}

// What Node calls for a stand-in of `endpoint`: it finds it at the proxy's target. Node's assertions call nothing and show
// what they find there, so its name says what to compare instead.
const looker = (endpoint) => define(function (depth, options) {
  const record = endpoint.standIns.get(this);
  if (record === undefined) return '[guest]';
  // Without a limit of its own Node says Infinity or null.
  const most = typeof depth === 'number' ? Math.min(depth, MOST_DEPTH) : MOST_DEPTH;
  let outline;
  try {
    outline = endpoint.policy.sandbox.outline(record, Math.max(most, 0));
  } catch {
    return '[guest, which does not answer]';
  }
  return `[guest] ${inspect(Drawing.of(outline), { ...options, depth: most, customInspect: false, getters: false, showHidden: false, showProxy: false })}`;
}, 'name', { value: 'of a guest: compare sandbox.copySync(it)', enumerable: false });

module.exports = { INSPECT, looker, Drawing };
