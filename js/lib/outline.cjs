'use strict';
// What of an object is shown to whoever looks at its stand-in: its shape, to a small depth and size. Read inside, of
// descriptors alone: no getter, trap or other code of the guest's runs for it.

const P = require('./primordials.cjs');
const { Kind } = require('./wire.cjs');

const MAX_ITEMS = 100;      // of one thing
const MAX_THINGS = 1000;
const MAX_TEXT = 10_000;    // characters of one
const MAX_CHARACTERS = 100_000;
const KIND = 15, PROXY = 32;
// What an item of an outline is: a list that begins with one of these. All others are values as they are.
const Shown = P.fixed({
  OBJECT: 0, ARRAY: 1, MAP: 2, SET: 3, FUNCTION: 4, CLASS: 5, DATE: 6, ERROR: 7, OTHER: 8, SYMBOL: 9, AGAIN: 10, DEEPER: 11, ACCESSOR: 12, HOLE: 13,
});

class Outline {
  constructor(endpoint) {
    this.endpoint = endpoint;
    this.met = new P.SafeMap();
    this.characters = MAX_CHARACTERS;
  }
  text(text) {
    const most = this.characters < MAX_TEXT ? this.characters : MAX_TEXT;
    const shown = text.length > most ? `${P.StringSlice(text, 0, most)}...` : text;
    this.characters -= shown.length;
    return shown;
  }
  list(...items) {
    P.setPrototypeOf(items, null);
    return items;
  }
  item(value, depth) {
    switch (typeof value) {
      case 'string': return this.text(value);
      case 'bigint': {
        const digits = P.BigIntToString(value, 16);
        return digits.length > 256 ? this.text(`0x${digits}n`) : value;
      }
      case 'symbol': return this.list(Shown.SYMBOL, this.text(P.SymbolDescription(value) ?? ''));
      case 'function': case 'object': return value === null ? null : this.thing(value, depth);
      default: return value;
    }
  }
  // The name of its class, by no getter.
  className(value) {
    let object = value;
    for (let depth = 0; depth < 8 && object !== null && !this.isProxy(object); depth++) {
      const made = P.getOwnPropertyDescriptor(object, 'constructor')?.value;
      if (typeof made === 'function' && !this.isProxy(made)) return this.nameOf(made);
      object = P.getPrototypeOf(object);
    }
    return '';
  }
  nameOf(made) {
    const name = P.getOwnPropertyDescriptor(made, 'name')?.value;
    return typeof name === 'string' ? this.text(P.StringSlice(name, 0, 100)) : '';
  }
  isProxy(value) {
    return (this.endpoint.link.kind(value) & PROXY) !== 0;
  }
  thing(value, depth) {
    const again = this.met.get(value);
    if (again !== undefined) return this.list(Shown.AGAIN, again);
    // Whoever draws numbers things in the same order.
    this.met.set(value, this.met.size);
    const told = this.endpoint.link.kind(value);
    if (this.endpoint.standIns.has(value)) return this.list(Shown.OTHER, typeof value === 'function' ? 'function of the host' : 'object of the host');
    if ((told & PROXY) !== 0) return this.list(Shown.OTHER, 'Proxy');
    if (this.met.size > MAX_THINGS || this.characters <= 0) return this.list(Shown.DEEPER, '');
    switch (told & KIND) {
      case Kind.FUNCTION: case Kind.CONSTRUCTOR: {
        const isClass = P.getOwnPropertyDescriptor(value, 'prototype')?.writable === false;
        return this.list(isClass ? Shown.CLASS : Shown.FUNCTION, this.nameOf(value));
      }
      case Kind.DATE: return this.list(Shown.DATE, P.DateGetTime(value));
      case Kind.ERROR: return this.list(Shown.ERROR, this.className(value), this.textOf(value, 'message'));
      case Kind.ARRAY: return this.array(value, depth);
      case Kind.MAP: case Kind.SET: return this.collection(value, told & KIND, depth);
      case Kind.OBJECT: return this.object(value, depth);
      default: return this.list(Shown.OTHER, this.className(value));
    }
  }
  textOf(object, name) {
    const text = P.getOwnPropertyDescriptor(object, name)?.value;
    return typeof text === 'string' ? this.text(text) : '';
  }
  property(object, key, depth) {
    const found = P.getOwnPropertyDescriptor(object, key);
    if (found === undefined) return this.list(Shown.HOLE);
    return 'value' in found ? this.item(found.value, depth) : this.list(Shown.ACCESSOR, found.get !== undefined, found.set !== undefined);
  }
  array(array, depth) {
    const { length } = array;
    if (depth < 0) return this.list(Shown.DEEPER, 'Array');
    const shown = this.list(Shown.ARRAY, length);
    for (let i = 0; i < length && i < MAX_ITEMS; i++) P.ArrayPush(shown, this.property(array, i, depth - 1));
    return shown;
  }
  collection(collection, kind, depth) {
    if (depth < 0) return this.list(Shown.DEEPER, kind === Kind.MAP ? 'Map' : 'Set');
    const shown = this.list(kind === Kind.MAP ? Shown.MAP : Shown.SET);
    const add = (value, key) => {
      if (shown.length > MAX_ITEMS) return;
      if (kind === Kind.MAP) P.ArrayPush(shown, this.item(key, depth - 1));
      P.ArrayPush(shown, this.item(value, depth - 1));
    };
    if (kind === Kind.MAP) P.MapForEach(collection, add);
    else P.SetForEach(collection, add);
    return shown;
  }
  object(object, depth) {
    const name = this.className(object);
    const keys = P.ObjectKeys(object);
    if (depth < 0 && keys.length > 0) return this.list(Shown.DEEPER, name === '' ? 'Object' : name);
    const shown = this.list(Shown.OBJECT, name, keys.length);
    for (let i = 0; i < keys.length && i < MAX_ITEMS; i++) {
      P.ArrayPush(shown, this.text(keys[i]));
      P.ArrayPush(shown, this.property(object, keys[i], depth - 1));
    }
    return shown;
  }
}
P.setPrototypeOf(Outline.prototype, null);

const outlineOf = (endpoint, object, depth) => new Outline(endpoint).item(object, depth);

module.exports = { Shown, outlineOf, MAX_ITEMS };
