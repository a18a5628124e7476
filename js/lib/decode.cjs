'use strict';
// From the wire to a value. Believes nothing: what cannot be is a WireError, and the host ends that
// worker. No code but ours runs here.

const P = require('./primordials.cjs');
const { Tag, WireError } = require('./wire.cjs');
const { Weight, weightOfRegExp, weightOfJson, MOST_NAMED, EMPTY } = require('./limit.cjs');
const { errorClasses, viewClasses, isOfErrors, CACHED } = require('./encode.cjs');

const MAX_NESTING = 120;
const MAX_BIGINT = 1 << 20;
const MAX_ERROR_CLASSES = 200;

const errorConstructors = [];
for (let i = 0; i < errorClasses.length; i++) P.ArrayPush(errorConstructors, globalThis[errorClasses[i]]);
const viewConstructors = [];
for (let i = 0; i < viewClasses.length; i++) P.ArrayPush(viewConstructors, globalThis[viewClasses[i]]);

const define = (object, key, value) =>
  P.defineProperty(object, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
const hide = (object, key, value) =>
  P.defineProperty(object, key, { __proto__: null, value, writable: true, enumerable: false, configurable: true });

function decodeTagged(endpoint, tag) {
  const { link } = endpoint;
  const { reader } = link;
  switch (tag) {
    case Tag.UNDEFINED: return undefined;
    case Tag.NULL: return null;
    case Tag.TRUE: return true;
    case Tag.FALSE: return false;
    case Tag.INT: return reader.i32();
    case Tag.NUMBER: return reader.f64();
    case Tag.TEXT1: {
      const bytes = reader.count(1);
      endpoint.weighHeard(Weight.TEXT + bytes);
      return link.getText(bytes, false);
    }
    case Tag.TEXT2: {
      const bytes = reader.count(1);
      if (bytes % 2 !== 0) throw new WireError('text');
      endpoint.weighHeard(Weight.TEXT + bytes / 2);
      return link.getText(bytes, true);
    }
    case Tag.KEY: {
      const key = endpoint.keys.get(reader.u16());
      if (key === undefined) throw new WireError('key');
      return key;
    }
    case Tag.NEW_KEY: return endpoint.rememberKey();
    case Tag.MINE: {
      endpoint.heard++;
      const id = reader.u32();
      let kind = reader.u8();
      const cached = !endpoint.policy.isHost && (kind & CACHED) !== 0;
      if (cached) kind &= ~CACHED;
      if (id >= 1 << 30 || kind > 3) throw new WireError('handle');
      endpoint.weighHeard(Weight.HANDLE);
      return endpoint.importHandle(id, kind, cached);
    }
    case Tag.YOURS: return endpoint.policy.handedBack(endpoint, endpoint.entryOf(reader.u32()));
    case Tag.INTRINSIC:
      endpoint.heard++;
      return endpoint.decodeIntrinsic();
    case Tag.WELL_KNOWN: {
      const number = reader.u8();
      if (number >= endpoint.wellKnown.length) throw new WireError('symbol');
      return endpoint.wellKnown[number];
    }
    case Tag.REGISTERED: {
      const name = endpoint.decodeText();
      if (P.StringStartsWith(name, 'nodejs.')) throw new WireError('symbol');
      endpoint.countRegistered(name, true);
      return P.SymbolFor(name);
    }
    case Tag.MY_SYMBOL: return endpoint.decodeSymbol(false);
    case Tag.YOUR_SYMBOL: return endpoint.decodeSymbol(true);
    case Tag.BIGINT: return decodeBigInt(endpoint);
    case Tag.LIMIT:
      if (endpoint.policy.isHost) throw new WireError('limit');
      return endpoint.policy.limit;
    case Tag.TRANSFER:
      if (endpoint.policy.isHost) throw new WireError('transfer');
      return endpoint.policy.transfer;
    default: return decodeNested(endpoint, tag);
  }
}

function decodeBigInt(endpoint) {
  const digits = endpoint.decodeText();
  endpoint.weighHeard(Weight.BIGINT);
  if (digits.length === 0 || digits.length > MAX_BIGINT) throw new WireError('bigint');
  const negative = P.StringCharCodeAt(digits, 0) === 45;
  const bare = negative ? P.StringSlice(digits, 1) : digits;
  for (let i = 0; i < bare.length; i++) {
    const code = P.StringCharCodeAt(bare, i);
    if (!((code >= 48 && code <= 57) || (code >= 97 && code <= 102))) throw new WireError('bigint');
  }
  if (bare.length === 0) throw new WireError('bigint');
  const value = P.BigInt('0x' + bare);
  return negative ? -value : value;
}

function decodeNested(endpoint, tag) {
  if (++endpoint.nesting > MAX_NESTING) {
    endpoint.nesting = 0;
    throw new WireError('nesting');
  }
  const value = decodeDeep(endpoint, tag);
  endpoint.nesting--;
  return value;
}

function remember(endpoint, value) {
  if (endpoint.backs === null) endpoint.backs = P.list();
  P.ArrayPush(endpoint.backs, value);
  return value;
}

// While a guest's realm fills a list, no setter of the guest's on a prototype hears of it.
function beginList(endpoint, array) {
  if (!endpoint.policy.isHost) P.setPrototypeOf(array, null);
  return remember(endpoint, array);
}
function endList(endpoint, array) {
  if (!endpoint.policy.isHost) P.setPrototypeOf(array, P.ArrayPrototype);
  return array;
}

// An even number of items, which are put into a map or a set at once.
const FILLED = 512;
function put(collection, tag, items, begin, end) {
  if (tag === Tag.SET) for (let i = begin; i < end; i++) P.SetAdd(collection, items[i]);
  else for (let i = begin; i < end; i += 2) P.MapSet(collection, items[i], items[i + 1]);
}

function decodeDeep(endpoint, tag) {
  const { reader } = endpoint.link;
  switch (tag) {
    case Tag.ARRAY: {
      const length = reader.count(1);
      endpoint.weighHeard(Weight.OBJECT + Weight.ITEM * length);
      const array = beginList(endpoint, []);
      for (let i = 0; i < length; i++) {
        const item = reader.u8();
        if (item === Tag.HOLE) array.length = i + 1;
        else P.ArrayPush(array, decodeTagged(endpoint, item));
      }
      return endList(endpoint, array);
    }
    case Tag.INTS: {
      const length = reader.count(4);
      endpoint.weighHeard(Weight.OBJECT + 8 * length);
      const array = beginList(endpoint, new P.Array(length));
      const { view } = reader;
      let { at } = reader;
      for (let i = 0; i < length; i++, at += 4) array[i] = view.getInt32(at, true);
      reader.at = at;
      return endList(endpoint, array);
    }
    case Tag.NUMBERS: {
      const length = reader.count(8);
      endpoint.weighHeard(Weight.OBJECT + 8 * length);
      const array = beginList(endpoint, new P.Array(length));
      const { view } = reader;
      let { at } = reader;
      for (let i = 0; i < length; i++, at += 8) array[i] = view.getFloat64(at, true);
      reader.at = at;
      return endList(endpoint, array);
    }
    case Tag.OBJECT: return decodeObject(endpoint);
    case Tag.BACK: {
      const number = reader.u32();
      if (endpoint.backs === null || number >= endpoint.backs.length) throw new WireError('back');
      return endpoint.backs[number];
    }
    case Tag.MAP:
    case Tag.SET: {
      const count = reader.count(1);
      if (tag === Tag.MAP && count % 2 !== 0) throw new WireError('map');
      endpoint.weighHeard(Weight.COLLECTION + Weight.ENTRY * count);
      const collection = remember(endpoint, tag === Tag.MAP ? new P.Map() : new P.Set());
      const items = P.list();
      for (let i = 0; i < count; i++) P.ArrayPush(items, endpoint.decode());
      for (let i = 0; i < count; i += FILLED) {
        const end = i + FILLED < count ? i + FILLED : count;
        endpoint.policy.fill(endpoint, end - i, () => put(collection, tag, items, i, end));
      }
      return collection;
    }
    case Tag.DATE:
      endpoint.weighHeard(Weight.DATE);
      return new P.Date(reader.f64());
    case Tag.JSON: return decodeJson(endpoint);
    case Tag.REGEXP: return decodeRegExp(endpoint);
    case Tag.ERROR: return decodeError(endpoint);
    case Tag.VIEW: return decodeView(endpoint);
    case Tag.BUFFER: {
      const bytes = takeBytes(endpoint);
      return P.viewBuffer(bytes);
    }
    case Tag.BOXED: {
      endpoint.weighHeard(Weight.BOXED);
      const value = endpoint.decode();
      if (value === null || typeof value === 'object' || typeof value === 'function') return P.ObjectCreate(null);
      return P.Object(value);
    }
    case Tag.PROMISE: return decodePromise(endpoint);
    case Tag.SNAPSHOT: return decodeSnapshot(endpoint);
  }
  throw new WireError(`tag ${tag}`);
}

function decodeObject(endpoint) {
  const { reader } = endpoint.link;
  const { isHost } = endpoint.policy;
  const count = reader.count(2);
  endpoint.weighHeard(Weight.OBJECT + Weight.ITEM * count);
  const object = remember(endpoint, {});
  let shape = EMPTY;
  for (let i = 0; i < count; i++) {
    const { at } = reader;
    const key = endpoint.decodeText();
    if (isHost && i < MOST_NAMED) {
      const known = endpoint.heardShapes();
      const { fresh } = known;
      shape = known.next(shape, reader.bytes, at + 5, reader.at);
      if (known.fresh !== fresh) endpoint.weighHeard(Weight.SHAPE);
    }
    const value = endpoint.decode();
    // Plain data has no functions, and this one the engine would call by itself.
    if (isHost && key === 'then' && typeof value === 'function') throw new WireError('then');
    if (P.reflectHas(P.ObjectPrototype, key)) define(object, key, value);
    else object[key] = value;
  }
  return object;
}

// Plain data. A text of a host's is the host's; one of a guest's is looked through before anything is made of it.
function decodeJson(endpoint) {
  const { reader } = endpoint.link;
  const two = reader.u8() === Tag.TEXT2;
  const length = reader.count(1);
  if (endpoint.policy.isHost) endpoint.weighHeard(weightOfJson(endpoint.heardShapes(), reader.bytes, reader.at, reader.at + length, two));
  reader.at -= 5;
  const text = endpoint.decodeText();
  let value;
  try {
    value = P.JSONParse(text);
  } catch {
    throw new WireError('json');
  }
  if (typeof value !== 'object' || value === null) throw new WireError('json');
  return value;
}

function decodeRegExp(endpoint) {
  const source = endpoint.decodeText();
  const flags = endpoint.decodeText();
  endpoint.weighHeard(weightOfRegExp(source, flags));
  try {
    return new P.RegExp(source, flags);
  } catch {
    // Another version of the engine may know what this one does not.
    return undefined;
  }
}

function takeBytes(endpoint) {
  const { reader } = endpoint.link;
  const length = reader.count(1);
  endpoint.weighHeard(Weight.BUFFER + length);
  const bytes = new P.Uint8Array(length);
  P.TypedArraySet(bytes, P.TypedArraySubarray(reader.bytes, reader.at, reader.at + length));
  reader.at += length;
  return bytes;
}

function decodeView(endpoint) {
  const { reader } = endpoint.link;
  const number = reader.u8();
  if (number >= viewClasses.length) throw new WireError('view');
  const bytes = takeBytes(endpoint);
  const name = viewClasses[number];
  if (name === 'Uint8Array') return bytes;
  if (name === 'Buffer') return endpoint.policy.makeBuffer(bytes);
  const View = viewConstructors[number];
  if (View === undefined) return bytes;
  const size = View.BYTES_PER_ELEMENT ?? 1;
  if (P.viewLength(bytes) % size !== 0) throw new WireError('view');
  return new View(P.viewBuffer(bytes));
}

function decodeError(endpoint) {
  const { reader } = endpoint.link;
  endpoint.weighHeard(Weight.ERROR);
  const id = reader.u32();
  const number = reader.u8();
  if (id >= 1 << 30 || number >= errorClasses.length) throw new WireError('error');
  const className = endpoint.decodeText();
  const name = endpoint.decodeText();
  const message = endpoint.decodeText();
  const stack = endpoint.decodeText();
  const code = endpoint.decode();
  const rest = P.list();
  for (let i = 0; i < 2; i++) {
    const tag = reader.u8();
    P.ArrayPush(rest, tag === Tag.HOLE ? rest : decodeTagged(endpoint, tag));
  }
  const data = P.list();
  let left = reader.u8();
  endpoint.weighHeard(Weight.SHAPE * left);
  for (; left > 0; left--) {
    P.ArrayPush(data, endpoint.decodeText());
    const value = endpoint.decode();
    if (typeof value === 'function') throw new WireError('error');
    P.ArrayPush(data, value);
  }
  return endpoint.importCopy(id, 0, () => {
    const Class = errorConstructors[number];
    const error = endpoint.policy.makeError(() => (errorClasses[number] === 'AggregateError' ? new Class([], message) : new Class(message)));
    if (className !== '') nameClass(endpoint, error, number, className);
    for (let i = 0; i < data.length; i += 2) if (!isOfErrors(data[i]) && !P.reflectHas(P.ErrorPrototype, data[i])) define(error, data[i], data[i + 1]);
    if (name !== errorClasses[number]) hide(error, 'name', name);
    if (typeof code === 'string') define(error, 'code', code);
    if (rest[0] !== rest) hide(error, 'cause', rest[0]);
    if (rest[1] !== rest) hide(error, 'errors', rest[1]);
    endpoint.policy.onError(error, errorClasses[number], name, message, stack);
    return error;
  });
}

// The class of an error is not the other side's to hand over; one of its name is made here, once.
function nameClass(endpoint, error, number, name) {
  const { errorClasses: known } = endpoint;
  const key = `${number} ${name}`;
  let prototype = known.get(key);
  if (prototype === undefined) {
    if (known.size >= MAX_ERROR_CLASSES || !isName(name)) return;
    const Class = class extends errorConstructors[number] {};
    hide(Class, 'name', name);
    ({ prototype } = Class);
    known.set(key, prototype);
  }
  P.setPrototypeOf(error, prototype);
}
// Of letters, digits, _ and $: it is printed.
function isName(name) {
  if (name.length > 100) return false;
  for (let i = 0; i < name.length; i++) {
    const code = P.StringCharCodeAt(name, i);
    if (!((code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95 || code === 36)) return false;
  }
  return true;
}

function decodePromise(endpoint) {
  const id = endpoint.link.reader.u32();
  if (id >= 1 << 30) throw new WireError('promise');
  endpoint.weighHeard(Weight.PROMISE);
  endpoint.heard++;
  return endpoint.importCopy(id, 0, (record) => {
    const promise = new P.Promise((resolve, reject) => {
      record.resolve = resolve;
      record.reject = reject;
    });
    // A rejection that nobody waits for is not the end of a host.
    endpoint.policy.onPromise(promise, record);
    return promise;
  });
}

function decodeSnapshot(endpoint) {
  const { reader } = endpoint.link;
  const id = reader.u32();
  if (id >= 1 << 30) throw new WireError('snapshot');
  endpoint.heard++;
  const iterates = reader.u8();
  endpoint.weighHeard(Weight.SNAPSHOT);
  const methods = decodeNames(endpoint);
  const accessors = decodeNames(endpoint);
  const properties = reader.count(2);
  endpoint.weighHeard(properties * Weight.SHAPE);
  const object = {};
  for (let i = 0; i < properties; i++) {
    const key = endpoint.decodeText();
    const value = endpoint.decode();
    if (key === 'then' && typeof value === 'function') throw new WireError('then');
    define(object, key, value);
  }
  // Its data may be newer than that of the copy that was given before: each crossing has its own.
  return endpoint.policy.snapshot(endpoint, id, object, { methods, accessors, iterates });
}
function decodeNames(endpoint) {
  const names = P.list();
  const count = endpoint.link.reader.count(5);
  endpoint.weighHeard(count * Weight.METHOD);
  for (let i = 0; i < count; i++) P.ArrayPush(names, endpoint.decodeText());
  return names;
}

module.exports = { decodeTagged };
