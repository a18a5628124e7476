'use strict';
// Large plain data go as one text of JSON, which engines write and read faster than anything here does: where JSON has all
// of it. What has identity, holes, undefined, -0 or more than JSON says goes item by item (encode.cjs).

const P = require('./primordials.cjs');
const { Kind } = require('./wire.cjs');
const { Json } = require('./limit.cjs');

const FEW = 32;       // items of a container, from which on it is tried
const MANY = 256;     // small objects of a message, from which on the whole is
const MAX_NESTING = 100;
const MAX_TEXTS = 16;      // of a message
const MAX_WASTED = 1 << 14;  // items that were looked at for nothing, in a message

// Thrown where a message is to be written once more, in another way (membrane.cjs).
const AGAIN = P.fixed({});
// How it is written: large lists as texts; the whole, where that can be; nothing.
const Texts = P.fixed({ LARGE: 0, ALL: 1, NONE: 2 });

// Methods by symbols are methods, too.
const isIterated = (object) => P.reflectHas(object, P.Symbol.iterator) || P.reflectHas(object, P.Symbol.asyncIterator);

class Walk {
  constructor(endpoint) {
    this.endpoint = endpoint;
    this.met = new P.SafeSet();
    this.containers = 0;
    this.items = 0;
    this.strings = 0;
    this.names = 0;
    this.nesting = 0;
  }
  isPlain(value) {
    switch (typeof value) {
      case 'string':
        this.strings++;
        return true;
      case 'boolean': return true;
      case 'number': return value - value === 0 && (value !== 0 || 1 / value > 0);
      case 'object': return value === null || this.isContainer(value);
      default: return false;
    }
  }
  isContainer(value) {
    const { endpoint, met } = this;
    const kind = endpoint.link.kind(value);
    if (kind !== Kind.ARRAY && kind !== Kind.OBJECT) return false;
    // Of one that is there twice the other side has one, too.
    met.add(value);
    if (met.size !== ++this.containers || endpoint.isStandIn(value) || isWritten(endpoint, value) || ++this.nesting > MAX_NESTING) return false;
    if (!(kind === Kind.ARRAY ? this.isList(value) : this.isRecord(value))) return false;
    this.nesting--;
    return true;
  }
  isList(list) {
    if (P.getPrototypeOf(list) !== P.ArrayPrototype) return false;
    const { length } = list;
    this.items += length;
    for (let i = 0; i < length; i++) if (!this.isPlain(list[i])) return false;
    return true;
  }
  isRecord(object) {
    const prototype = P.getPrototypeOf(object);
    if (prototype !== P.ObjectPrototype && prototype !== null) return false;
    if (isIterated(object)) return false;
    const keys = P.ObjectKeys(object);
    this.items += keys.length;
    this.names += keys.length;
    this.endpoint.weighNames(keys);
    for (let i = 0; i < keys.length; i++) if (!this.isPlain(object[keys[i]])) return false;
    return true;
  }
}
P.setPrototypeOf(Walk.prototype, null);
// No less than what whoever reads it finds.
const weightOf = ({ containers, items, strings, names }) =>
  containers * Json.CONTAINER + items * Json.ITEM + strings * Json.TEXT + names * Json.NAME;

// In this message, whichever way.
function isWritten(endpoint, value) {
  return (endpoint.seen !== null && endpoint.seen.has(value)) || isInText(endpoint, value);
}
function isInText(endpoint, value) {
  const { texts } = endpoint;
  if (texts !== null) for (let i = 0; i < texts.length; i++) if (texts[i].has(value)) return true;
  return false;
}

// Its JSON, or undefined where it is no text's to say. `size`: of its items.
function textOf(endpoint, value, size) {
  const { way, texts } = endpoint;
  if (way === Texts.NONE || endpoint.wasted > MAX_WASTED || (texts !== null && texts.length === MAX_TEXTS)) return undefined;
  if (size < FEW && (way !== Texts.ALL || endpoint.nesting > 0)) return undefined;
  // Of anybody's, it would say something else.
  if (P.reflectHas(P.ArrayPrototype, 'toJSON')) return undefined;
  const walk = new Walk(endpoint);
  if (!walk.isContainer(value)) {
    endpoint.wasted += walk.items + walk.containers;
    return undefined;
  }
  endpoint.weigh(weightOf(walk));
  const text = P.JSONStringify(value);
  // A getter may have given something else since.
  if (typeof text !== 'string') return undefined;
  if (texts === null) endpoint.texts = P.list();
  P.ArrayPush(endpoint.texts, walk.met);
  return text;
}

module.exports = { AGAIN, Texts, MANY, textOf, isInText, isIterated };
