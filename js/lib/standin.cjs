'use strict';
// Stand-ins: what one side holds for an object of the other. A live one is a Proxy, whose every trap
// asks; its target is ours, empty, and only there for what the language demands of a proxy.

const P = require('./primordials.cjs');
const { Op, Kind, Tag, WireError } = require('./wire.cjs');

const MAX_ARGUMENTS = 60000;
// Each is a request.
const MAX_LOCKED = 10000;
const MAX_CACHED = 10000;

const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';

class Import {
  constructor(endpoint, id, kind, face) {
    this.endpoint = endpoint;
    this.id = id;
    this.kind = kind;
    this.face = face;
    this.received = 0;
    this.ref = undefined;
    this.cache = undefined;  // where what is read stays as it is
    this.resolve = undefined;
    this.reject = undefined;
    this.isPromise = false;
    this.call = undefined;   // of the host's, what the promise is waited for by
    this.byValue = endpoint.byValue;  // what it gives, where it is a promise
  }
}

// A constructor's target without properties that cannot be configured away: what `prototype` is, the
// other side says.
const constructible = (function () {}).bind;
const base = function () {};
const makeTarget = (kind) => {
  switch (kind) {
    case Kind.ARRAY: return [];
    case Kind.CONSTRUCTOR: return P.apply(constructible, base, []);
    case Kind.FUNCTION: return () => {};
    default: return {};
  }
};

// Flags of a descriptor on the wire.
const HAS_VALUE = 1, HAS_WRITABLE = 2, WRITABLE = 4, HAS_ENUMERABLE = 8, ENUMERABLE = 16, HAS_CONFIGURABLE = 32,
  CONFIGURABLE = 64, HAS_GET = 128, HAS_SET = 256;

function encodeDescriptor(endpoint, descriptor) {
  const has = (name) => P.reflectHas(descriptor, name);
  let flags = 0;
  if (has('value')) flags |= HAS_VALUE;
  if (has('writable')) flags |= HAS_WRITABLE | (descriptor.writable ? WRITABLE : 0);
  if (has('enumerable')) flags |= HAS_ENUMERABLE | (descriptor.enumerable ? ENUMERABLE : 0);
  if (has('configurable')) flags |= HAS_CONFIGURABLE | (descriptor.configurable ? CONFIGURABLE : 0);
  if (has('get')) flags |= HAS_GET;
  if (has('set')) flags |= HAS_SET;
  endpoint.link.writer.u16(flags);
  if ((flags & HAS_VALUE) !== 0) endpoint.encode(descriptor.value);
  if ((flags & HAS_GET) !== 0) endpoint.encode(descriptor.get);
  if ((flags & HAS_SET) !== 0) endpoint.encode(descriptor.set);
}

const isAccessor = (value) => value === undefined || typeof value === 'function';
function decodeDescriptor(endpoint) {
  const flags = endpoint.link.reader.u16();
  const descriptor = { __proto__: null };
  if ((flags & HAS_VALUE) !== 0) descriptor.value = endpoint.decode();
  if ((flags & HAS_WRITABLE) !== 0) descriptor.writable = (flags & WRITABLE) !== 0;
  if ((flags & HAS_ENUMERABLE) !== 0) descriptor.enumerable = (flags & ENUMERABLE) !== 0;
  if ((flags & HAS_CONFIGURABLE) !== 0) descriptor.configurable = (flags & CONFIGURABLE) !== 0;
  if ((flags & HAS_GET) !== 0) descriptor.get = endpoint.decode();
  if ((flags & HAS_SET) !== 0) descriptor.set = endpoint.decode();
  if (!isAccessor(descriptor.get) || !isAccessor(descriptor.set)) throw new WireError('accessor');
  if ((flags & (HAS_GET | HAS_SET)) !== 0 && (flags & (HAS_VALUE | HAS_WRITABLE)) !== 0) throw new WireError('descriptor');
  return descriptor;
}

P.setPrototypeOf(Import.prototype, null);

const readValue = (endpoint) => endpoint.decode();
const readPrototype = (endpoint) => (endpoint.policy.isHost ? endpoint.decodePrototype() : endpoint.decode());
const readDescriptor = (endpoint) => (endpoint.link.reader.u8() === 0 ? undefined : decodeDescriptor(endpoint));
const readKeys = (endpoint) => {
  const count = endpoint.link.reader.count(1);
  const keys = P.list();
  for (let i = 0; i < count; i++) P.ArrayPush(keys, endpoint.decodeKey());
  return keys;
};

class LiveHandler extends Import {
  make() {
    if (this.face === 1) return this.endpoint.policy.callable(this);
    const target = makeTarget(this.kind);
    this.endpoint.policy.adorn(target);
    return new P.Proxy(target, this);
  }
  value(op, write) {
    return this.endpoint.ask(op, this.id, write, readValue, false);
  }
  prototype() {
    return this.endpoint.ask(Op.GET_PROTOTYPE, this.id, undefined, readPrototype, false);
  }
  truth(op, write) {
    return this.value(op, write) === true;
  }

  // Is it the stand-in itself that the language gives us as receiver or as new.target?
  isSelf(value) {
    return this.endpoint.standIns.get(value) === this;
  }

  hides(key) {
    return this.endpoint.policy.hides(key);
  }
  get(target, key, receiver) {
    if (this.hides(key)) return undefined;
    // By which the language makes what map, filter and concat give: the host's is the host's own.
    if (key === 'constructor' && this.kind === Kind.ARRAY && this.endpoint.policy.isHost) return undefined;
    const self = this.isSelf(receiver);
    if (this.cache !== undefined && self) return this.getOnce(key);
    return this.value(Op.GET, (endpoint) => {
      endpoint.encodeKey(key);
      if (!self) endpoint.encode(receiver);
    });
  }
  getOnce(key) {
    const { cache } = this;
    const known = cache.get(key);
    if (known !== undefined || cache.has(key)) return known;
    const found = this.value(Op.GET, (endpoint) => endpoint.encodeKey(key));
    if (cache.size < MAX_CACHED) cache.set(key, found);
    return found;
  }
  set(target, key, value, receiver) {
    if (this.hides(key)) return false;
    if (!this.isSelf(receiver)) return this.setFor(key, value, receiver);
    return this.truth(Op.SET, (endpoint) => {
      endpoint.encodeKey(key);
      endpoint.encode(value);
    });
  }
  // An object that inherits from the stand-in is written to: the language's own steps, by which what we
  // stand for is not changed.
  setFor(key, value, receiver) {
    const found = this.describe(key);
    if (found === undefined) {
      const prototype = this.prototype();
      if (isObject(prototype)) return P.reflectSet(prototype, key, value, receiver);
    } else if (found.get !== undefined || found.set !== undefined) {
      if (found.set === undefined) return false;
      P.apply(found.set, receiver, [value]);
      return true;
    } else if (!found.writable) {
      return false;
    }
    if (!isObject(receiver)) return false;
    const own = P.getOwnPropertyDescriptor(receiver, key);
    if (own === undefined)
      return P.defineProperty(receiver, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
    if (!('value' in own) || !own.writable) return false;
    return P.defineProperty(receiver, key, { __proto__: null, value });
  }
  has(target, key) {
    if (this.hides(key)) return false;
    return this.truth(Op.HAS, (endpoint) => endpoint.encodeKey(key));
  }
  deleteProperty(target, key) {
    if (this.hides(key)) return true;
    return this.truth(Op.DELETE, (endpoint) => endpoint.encodeKey(key));
  }
  keys() {
    return this.endpoint.ask(Op.KEYS, this.id, undefined, readKeys, false);
  }
  ownKeys() {
    return this.keys();
  }
  getPrototypeOf(target) {
    const prototype = this.prototype();
    if (!P.isExtensible(target)) return P.getPrototypeOf(target);
    return isObject(prototype) ? prototype : null;
  }
  setPrototypeOf(target, prototype) {
    return this.truth(Op.SET_PROTOTYPE, (endpoint) => endpoint.encode(prototype));
  }
  describe(key) {
    if (this.hides(key)) return undefined;
    return this.endpoint.ask(Op.DESCRIBE, this.id, (endpoint) => endpoint.encodeKey(key), readDescriptor, false);
  }
  getOwnPropertyDescriptor(target, key) {
    const descriptor = this.describe(key);
    // What cannot be configured must be so in the target too, or the language calls it a lie.
    if (descriptor !== undefined && !descriptor.configurable) P.defineProperty(target, key, descriptor);
    return descriptor;
  }
  defineProperty(target, key, descriptor) {
    if (this.hides(key)) return false;
    const done = this.truth(Op.DEFINE, (endpoint) => {
      endpoint.encodeKey(key);
      encodeDescriptor(endpoint, descriptor);
    });
    if (done && P.reflectHas(descriptor, 'configurable') && !descriptor.configurable) {
      const now = this.describe(key);
      if (now !== undefined && !now.configurable) P.defineProperty(target, key, now);
    }
    return done;
  }
  isExtensible(target) {
    if (!P.isExtensible(target)) return false;
    const extensible = this.truth(Op.IS_EXTENSIBLE);
    if (!extensible) this.lock(target);
    return extensible;
  }
  preventExtensions(target) {
    const done = this.truth(Op.PREVENT_EXTENSIONS);
    if (done) this.lock(target);
    return done;
  }
  // The target becomes what it stands for: the language compares the two from now on.
  lock(target) {
    const keys = this.keys();
    if (keys.length > MAX_LOCKED) throw new P.RangeError('an object of too many properties is frozen across the membrane');
    for (let i = 0; i < keys.length; i++) {
      const descriptor = this.describe(keys[i]);
      if (descriptor !== undefined) P.defineProperty(target, keys[i], descriptor);
    }
    const prototype = this.prototype();
    P.setPrototypeOf(target, isObject(prototype) ? prototype : null);
    // An arrow function has a name and a length, and a target of ours must not have what it does not.
    const own = P.ownKeys(target);
    const known = new P.SafeSet();
    for (let i = 0; i < keys.length; i++) known.add(keys[i]);
    for (let i = 0; i < own.length; i++) if (!known.has(own[i])) P.deleteProperty(target, own[i]);
    P.preventExtensions(target);
  }
  apply(target, self, args) {
    return this.value(Op.APPLY, (endpoint) => {
      endpoint.encode(self);
      encodeArguments(endpoint, args);
    });
  }
  construct(target, args, newTarget) {
    const self = this.isSelf(newTarget);
    const made = this.value(Op.CONSTRUCT, (endpoint) => {
      if (self) endpoint.link.writer.u8(Tag.UNDEFINED);
      else endpoint.encode(newTarget);
      encodeArguments(endpoint, args);
    });
    if (!isObject(made))
      throw new P.TypeError('a constructor of the other side gave no object');
    return made;
  }
}

function encodeArguments(endpoint, args) {
  const count = args.length;
  if (count > MAX_ARGUMENTS) throw new P.RangeError('too many arguments');
  endpoint.link.writer.u16(count);
  for (let i = 0; i < count; i++) endpoint.encode(args[i]);
}
function decodeArguments(endpoint) {
  const count = endpoint.link.reader.u16();
  // Literals define what they hold; a push would ask the prototypes.
  switch (count) {
    case 0: return [];
    case 1: return [endpoint.decode()];
    case 2: return [endpoint.decode(), endpoint.decode()];
    case 3: return [endpoint.decode(), endpoint.decode(), endpoint.decode()];
  }
  const args = P.list();
  for (let i = 0; i < count; i++) P.ArrayPush(args, endpoint.decode());
  return args;
}

module.exports = { Import, LiveHandler, encodeArguments, decodeArguments, encodeDescriptor, decodeDescriptor, readValue };
