'use strict';
// From an object to the wire: what is known is copied, what is the language's is named, the rest is a
// handle.

const P = require('./primordials.cjs');
const { Tag, Kind, Iterates } = require('./wire.cjs');
const { View } = require('./view.cjs');
const { Weight, weightOfRegExp } = require('./limit.cjs');
const { AGAIN, Texts, MANY, textOf: jsonOf, isInText, isIterated } = require('./plain.cjs');
const { intrinsics } = require('./intrinsics.cjs');
const { isTransfer, takeTransfer } = require('./transfer.cjs');

const MAX_NESTING = 100;
const MAX_STACK_TEXT = 8 << 10;
// Of an error: properties, and things in one of them.
const MAX_ERROR_DATA = 100;
const MAX_CLASS_NAME = 100;
// What the wire says of each error apart.
const ofErrors = ['name', 'message', 'stack', 'cause', 'errors'];
const isOfErrors = (name) => numberOf(ofErrors, name) >= 0;
const errorClasses = ['Error', 'TypeError', 'RangeError', 'SyntaxError', 'ReferenceError', 'EvalError', 'URIError', 'AggregateError'];
const viewClasses = ['DataView', 'Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array',
  'Uint32Array', 'Float32Array', 'Float64Array', 'BigInt64Array', 'BigUint64Array', 'Buffer', 'Float16Array'];
const numberOf = (list, name) => {
  for (let i = 0; i < list.length; i++) if (list[i] === name) return i;
  return -1;
};
// kind() says besides what an object is:
const NATIVE = 16;  // a function that no script defines
const PROXY = 32;
const KIND = 15;
// On the wire, to a guest: what is read of it stays as it is.
const CACHED = 16;

const errorPrototypes = [];
for (let i = 0; i < errorClasses.length; i++) P.ArrayPush(errorPrototypes, globalThis[errorClasses[i]].prototype);

function encodeObject(endpoint, value) {
  const { link, policy } = endpoint;
  const { writer } = link;
  const record = endpoint.standIns.get(value);
  if (record !== undefined) return encodeYours(endpoint, record, value);
  if (policy.isHost) {
    if (value === policy.limit) return writer.u8(Tag.LIMIT);
    if (value === policy.transfer) return writer.u8(Tag.TRANSFER);
  }
  let { view, copying } = endpoint;
  const wrapped = policy.unwrap(value);
  if (wrapped !== undefined) {
    if (wrapped.copying) return encodeCopy(endpoint, wrapped.value);
    value = wrapped.value;
    const again = endpoint.standIns.get(value);
    if (again !== undefined) return encodeYours(endpoint, again, value);
    view = wrapped.view;
    copying = false;
  }
  if (isTransfer(value)) value = takeTransfer(endpoint, value);
  if (value === globalThis && policy.isHost) return writer.u8(Tag.UNDEFINED);
  const told = link.kind(value);
  const kind = told & KIND;
  switch (kind) {
    case Kind.DATE:
      endpoint.weigh(Weight.DATE);
      return writer.tagged64(Tag.DATE, P.DateGetTime(value));
    case Kind.REGEXP:
      return encodeRegExp(endpoint, value);
    case Kind.ERROR:
      return encodeError(endpoint, value, view);
    case Kind.PROMISE:
      endpoint.weigh(Weight.PROMISE);
      writer.u8(Tag.PROMISE);
      return writer.u32(endpoint.exportPromise(value));
    case Kind.MAP:
    case Kind.SET:
      return encodeCollection(endpoint, value, kind);
    case Kind.VIEW:
      return encodeView(endpoint, value);
    case Kind.BUFFER:
      return encodeBuffer(endpoint, value);
    case Kind.BOXED:
      return encodeBoxed(endpoint, value);
  }
  const isProxy = (told & PROXY) !== 0;
  if (copying && !isProxy) {
    if (kind === Kind.ARRAY) return encodeArray(endpoint, value);
    if (kind === Kind.OBJECT && isData(value)) return encodeData(endpoint, value);
  }
  const isFunction = kind === Kind.FUNCTION || kind === Kind.CONSTRUCTOR;
  const forwarded = isFunction ? endpoint.forwarded.get(value) : undefined;
  if (forwarded !== undefined) return endpoint.encodeIntrinsic(forwarded);
  // A guest's is a handle like everything else of it: what it hands over must not become the host's.
  if (policy.isHost || (isFunction && (told & NATIVE) !== 0)) {
    const table = intrinsics();
    const path = policy.isHost ? table.paths.get(value) : undefined;
    if (path !== undefined) return endpoint.encodeIntrinsic(path);
    if (table.withheld.has(value)) return writer.u8(Tag.UNDEFINED);
  }
  if (wrapped === undefined && endpoint.strict) throw policy.copyError('what is not plain data cannot be copied');
  if (copying && !policy.isHost && isProxy && !isFunction)
    throw new P.TypeError('a Proxy has no copy for the asynchronous face: hand over what it stands for, or use the synchronous one (runSync, callSync)');
  if (copying && !policy.isHost && kind === Kind.OBJECT) return encodeSnapshot(endpoint, value);
  if (policy.isHost && view !== View.READONLY && wrapped === undefined) view = policy.viewOf(value, view);
  endpoint.weigh(Weight.HANDLE);
  writer.u8(Tag.MINE);
  writer.u32(endpoint.exportHandle(value, view, kind));
  writer.u8(view === View.CACHED ? kind | CACHED : kind);
}

function encodeYours(endpoint, { id, isPromise }, value) {
  const { writer } = endpoint.link;
  if (isPromise) endpoint.policy.handBack(value);
  endpoint.mention(id);
  writer.u8(Tag.YOURS);
  writer.u32(id);
}

// All of it, however it is reached.
function encodeCopy(endpoint, value) {
  const { copying, strict } = endpoint;
  endpoint.copying = endpoint.strict = true;
  try {
    endpoint.encode(value);
  } finally {
    endpoint.copying = copying;
    endpoint.strict = strict;
  }
}

// A plain object without methods of its own: what JSON would call an object.
function isData(value) {
  const prototype = P.getPrototypeOf(value);
  if (prototype !== P.ObjectPrototype && prototype !== null) return false;
  const keys = P.ObjectKeys(value);
  for (let i = 0; i < keys.length; i++) if (typeof value[keys[i]] === 'function') return false;
  return !isIterated(value);
}

// Has this container been written already, in this message?
function isBack(endpoint, value) {
  if (isInText(endpoint, value)) throw AGAIN;
  const number = endpoint.seen === null ? undefined : endpoint.seen.get(value);
  if (number === undefined) return false;
  endpoint.link.writer.u8(Tag.BACK);
  endpoint.link.writer.u32(number);
  return true;
}
// From now on it has been.
function remember(endpoint, value) {
  if (endpoint.seen === null) endpoint.seen = new P.SafeMap();
  endpoint.seen.set(value, endpoint.seen.size);
}

function nest(endpoint) {
  if (++endpoint.nesting > MAX_NESTING) {
    endpoint.nesting = 0;
    throw new P.RangeError('a value is nested too deeply to be copied');
  }
}

// As one text, where that is less work and says the same.
function encodeText(endpoint, value, size) {
  const text = jsonOf(endpoint, value, size);
  if (text === undefined) {
    // Many small ones, of which none is tried by itself.
    if (endpoint.way === Texts.LARGE && ++endpoint.small > MANY) throw AGAIN;
    return false;
  }
  endpoint.link.writer.u8(Tag.JSON);
  endpoint.encodeText(text);
  return true;
}

// Numbers alone, and not few: in four bytes each where all are integers of so many, else in eight.
function encodeNumbers(endpoint, array) {
  const { length } = array;
  if (length < 8) return false;
  let integers = true;
  for (let i = 0; i < length; i++) {
    const item = array[i];
    if (typeof item !== 'number') return false;
    if ((item | 0) !== item || (item === 0 && P.ObjectIs(item, -0))) integers = false;
  }
  remember(endpoint, array);
  endpoint.weigh(Weight.OBJECT + 8 * length);
  const { writer } = endpoint.link;
  writer.u8(integers ? Tag.INTS : Tag.NUMBERS);
  writer.u32(length);
  writer.need((integers ? 4 : 8) * length);
  const { view } = writer;
  let { at } = writer;
  if (integers) for (let i = 0; i < length; i++, at += 4) view.setInt32(at, array[i], true);
  else for (let i = 0; i < length; i++, at += 8) view.setFloat64(at, array[i], true);
  writer.at = at;
  return true;
}

function encodeArray(endpoint, array) {
  const { length } = array;
  if (isBack(endpoint, array) || encodeNumbers(endpoint, array) || encodeText(endpoint, array, length)) return;
  remember(endpoint, array);
  endpoint.weigh(Weight.OBJECT + Weight.ITEM * length);
  const { writer } = endpoint.link;
  nest(endpoint);
  writer.u8(Tag.ARRAY);
  writer.u32(length);
  for (let i = 0; i < length; i++) {
    const item = array[i];
    if (item === undefined && P.getOwnPropertyDescriptor(array, i) === undefined) writer.u8(Tag.HOLE);
    else endpoint.encode(item);
  }
  endpoint.nesting--;
}

function encodeData(endpoint, object) {
  const keys = P.ObjectKeys(object);
  if (isBack(endpoint, object) || encodeText(endpoint, object, keys.length)) return;
  remember(endpoint, object);
  nest(endpoint);
  endpoint.weigh(Weight.OBJECT + Weight.ITEM * keys.length);
  endpoint.weighNames(keys);
  const { writer } = endpoint.link;
  writer.u8(Tag.OBJECT);
  writer.u32(keys.length);
  for (let i = 0; i < keys.length; i++) {
    endpoint.encodeText(keys[i]);
    endpoint.encode(object[keys[i]]);
  }
  endpoint.nesting--;
}

function encodeCollection(endpoint, collection, kind) {
  if (isBack(endpoint, collection)) return;
  remember(endpoint, collection);
  nest(endpoint);
  const { writer } = endpoint.link;
  const items = P.list();
  if (kind === Kind.MAP) {
    P.MapForEach(collection, (value, key) => {
      P.ArrayPush(items, key);
      P.ArrayPush(items, value);
    });
  } else {
    P.SetForEach(collection, (value) => { P.ArrayPush(items, value); });
  }
  endpoint.weigh(Weight.COLLECTION + Weight.ENTRY * items.length);
  writer.u8(kind === Kind.MAP ? Tag.MAP : Tag.SET);
  writer.u32(items.length);
  for (let i = 0; i < items.length; i++) endpoint.encode(items[i]);
  endpoint.nesting--;
}

// A property that may be anybody's getter, as a text of bounded length.
function textOf(object, name, fallback) {
  let text;
  try {
    text = object[name];
  } catch { /* whoever threw is copied without */ }
  if (typeof text !== 'string') return fallback;
  return text.length > MAX_STACK_TEXT ? P.StringSlice(text, 0, MAX_STACK_TEXT) : text;
}

function classOf(error) {
  let prototype = error;
  for (let depth = 0; depth < 16; depth++) {
    prototype = P.getPrototypeOf(prototype);
    if (prototype === null) return 0;
    const number = numberOf(errorPrototypes, prototype);
    if (number >= 0) return number;
  }
  return 0;
}

// What its class is called, by no getter of anybody's; '' where that says nothing new.
function classNameOf(error, number) {
  try {
    const made = P.getOwnPropertyDescriptor(P.getPrototypeOf(error), 'constructor')?.value;
    const name = typeof made === 'function' ? P.getOwnPropertyDescriptor(made, 'name')?.value : undefined;
    return typeof name === 'string' && name !== errorClasses[number] && name.length <= MAX_CLASS_NAME ? name : '';
  } catch {
    return '';
  }
}

// Are these data alone, and few? What else an error holds (a request, its socket) was not meant for who hears of the error.
function isSmallData(value, depth, left) {
  switch (typeof value) {
    case 'function': case 'symbol': return -1;
    case 'string': return left - 1 - (value.length >> 6);
    case 'object': break;
    default: return left - 1;
  }
  if (value === null) return left - 1;
  if (depth === 0) return -1;
  const isArray = P.ArrayIsArray(value);
  const prototype = P.getPrototypeOf(value);
  if (prototype !== null && prototype !== (isArray ? P.ArrayPrototype : P.ObjectPrototype)) return -1;
  const keys = P.ObjectKeys(value);
  left--;
  for (let i = 0; left > 0 && i < keys.length; i++) {
    const found = P.getOwnPropertyDescriptor(value, keys[i]);
    if (found === undefined || !('value' in found)) return -1;
    left = isSmallData(found.value, depth - 1, left);
  }
  return left;
}

// The names of its own data, by which a program tells errors apart: `status`, `errno`, `details`.
function dataOf(endpoint, error, hasCode) {
  const names = P.list();
  // At a depth where cycles through causes end.
  if (endpoint.nesting > 8) return names;
  const own = P.ObjectKeys(error);
  for (let i = 0; i < own.length && names.length < MAX_ERROR_DATA; i++) {
    const name = own[i];
    if (isOfErrors(name) || (name === 'code' && hasCode)) continue;
    const found = P.getOwnPropertyDescriptor(error, name);
    if (found === undefined || !('value' in found)) continue;
    try {
      const { value } = found;
      // A proxy among them would be asked, and so run somebody's code.
      if (typeof value === 'object' && value !== null && (endpoint.link.kind(value) & PROXY) !== 0) continue;
      if (isSmallData(value, 4, MAX_ERROR_DATA) > 0) P.ArrayPush(names, name);
    } catch { /* what cannot be looked at is no data */ }
  }
  return names;
}

function encodeError(endpoint, error, view) {
  const { link, policy } = endpoint;
  const { writer } = link;
  const number = classOf(error);
  endpoint.weigh(Weight.ERROR);
  nest(endpoint);
  writer.u8(Tag.ERROR);
  writer.u32(endpoint.exportHandle(error, view, Kind.ERROR));
  writer.u8(number);
  endpoint.encodeText(classNameOf(error, number));
  endpoint.encodeText(textOf(error, 'name', errorClasses[number]));
  endpoint.encodeText(textOf(error, 'message', ''));
  // Where the host's code stands is nobody's business inside.
  endpoint.encodeText(policy.isHost ? '' : textOf(error, 'stack', ''));
  const code = textOf(error, 'code', undefined);
  if (code === undefined) writer.u8(Tag.UNDEFINED);
  else endpoint.encodeText(code);
  for (let i = 0; i < 2; i++) {
    const found = P.getOwnPropertyDescriptor(error, i === 0 ? 'cause' : 'errors');
    // At a depth where cycles through causes end.
    if (found === undefined || !('value' in found) || endpoint.nesting > 8) writer.u8(Tag.HOLE);
    else endpoint.encode(found.value);
  }
  const names = dataOf(endpoint, error, code !== undefined);
  endpoint.weigh(Weight.SHAPE * names.length);
  writer.u8(names.length);
  const { copying } = endpoint;
  endpoint.copying = true;
  for (let i = 0; i < names.length; i++) {
    endpoint.encodeText(names[i]);
    endpoint.encode(P.getOwnPropertyDescriptor(error, names[i]).value);
  }
  endpoint.copying = copying;
  endpoint.nesting--;
}

function encodeView(endpoint, value) {
  const { writer } = endpoint.link;
  const name = endpoint.policy.isBuffer(value) ? 'Buffer' : P.viewName(value) ?? 'DataView';
  const isDataView = name === 'DataView';
  const length = isDataView ? P.dataViewLength(value) : P.viewLength(value);
  const bytes = new P.Uint8Array(
    isDataView ? P.dataViewBuffer(value) : P.viewBuffer(value),
    isDataView ? P.dataViewOffset(value) : P.viewOffset(value), length);
  writer.u8(Tag.VIEW);
  writer.u8(numberOf(viewClasses, name));
  putBytes(endpoint, bytes, length);
}

function encodeBuffer(endpoint, value) {
  const { writer } = endpoint.link;
  const bytes = new P.Uint8Array(value);
  writer.u8(Tag.BUFFER);
  putBytes(endpoint, bytes, P.viewLength(bytes));
}

function putBytes(endpoint, bytes, length) {
  const { writer } = endpoint.link;
  endpoint.weigh(Weight.BUFFER + length);
  writer.u32(length);
  writer.need(length);
  P.TypedArraySet(writer.bytes, bytes, writer.at);
  writer.at += length;
}

function encodeRegExp(endpoint, value) {
  const source = P.RegExpSource(value);
  const flags = P.RegExpFlags(value);
  endpoint.weigh(weightOfRegExp(source, flags));
  endpoint.link.writer.u8(Tag.REGEXP);
  endpoint.encodeText(source);
  endpoint.encodeText(flags);
}

const unboxers = [P.valueOfNumber, P.valueOfString, P.valueOfBoolean, P.valueOfBigInt, P.valueOfSymbol];
function encodeBoxed(endpoint, value) {
  endpoint.weigh(Weight.BOXED);
  endpoint.link.writer.u8(Tag.BOXED);
  for (let i = 0; i < unboxers.length; i++) {
    try {
      return endpoint.encode(unboxers[i](value));
    } catch (error) {
      if (!(error instanceof P.TypeError)) throw error;
    }
  }
  endpoint.encode(null);
}

// By what the language says of a class and of no other function.
const isClass = (value) => P.getOwnPropertyDescriptor(value, 'prototype')?.writable === false;

// What of an object, and of the prototypes that it has besides Object's, there is to be called or asked for by name.
class Members {
  constructor() {
    this.methods = P.list();
    this.accessors = P.list();
    this.data = P.list();
    this.iterates = 0;
  }
  // `own`: data are the object's alone.
  add(object, names, own) {
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      if (typeof name === 'symbol') {
        this.iterates |= name === P.Symbol.asyncIterator ? Iterates.ASYNC : name === P.Symbol.iterator ? Iterates.SYNC : 0;
        continue;
      }
      if (!own && (name === 'constructor' || this.has(name))) continue;
      const found = P.getOwnPropertyDescriptor(object, name);
      if (found === undefined) continue;
      if ('value' in found) {
        const isMethod = typeof found.value === 'function' && (!own || name === 'then' || !isClass(found.value));
        if (isMethod) P.ArrayPush(this.methods, name);
        else if (own) P.ArrayPush(this.data, name);
        // The engine would ask for a `then` wherever a promise is settled.
      } else if (found.get !== undefined && name !== 'then') {
        P.ArrayPush(this.accessors, name);
      }
    }
  }
  has(name) {
    return numberOf(this.methods, name) >= 0 || numberOf(this.accessors, name) >= 0 || numberOf(this.data, name) >= 0;
  }
}
P.setPrototypeOf(Members.prototype, null);

// An object with methods, for the asynchronous face: its data, and the names of what can be called and asked for.
function encodeSnapshot(endpoint, object) {
  const { writer } = endpoint.link;
  const members = new Members();
  members.add(object, P.ObjectKeys(object), true);
  members.add(object, P.getOwnPropertySymbols(object), true);
  let prototype = object;
  for (let depth = 0; depth < 16; depth++) {
    prototype = P.getPrototypeOf(prototype);
    if (prototype === null || prototype === P.ObjectPrototype || (endpoint.link.kind(prototype) & PROXY) !== 0) break;
    members.add(prototype, P.ownKeys(prototype), false);
  }
  const { methods, accessors, data, iterates } = members;
  endpoint.weigh(Weight.SNAPSHOT + (methods.length + accessors.length) * Weight.METHOD + data.length * Weight.SHAPE);
  nest(endpoint);
  writer.u8(Tag.SNAPSHOT);
  writer.u32(endpoint.exportHandle(object, endpoint.view, Kind.OBJECT));
  writer.u8(iterates);
  encodeNames(endpoint, methods);
  encodeNames(endpoint, accessors);
  writer.u32(data.length);
  for (let i = 0; i < data.length; i++) {
    endpoint.encodeText(data[i]);
    endpoint.encode(object[data[i]]);
  }
  endpoint.nesting--;
}
function encodeNames(endpoint, names) {
  endpoint.link.writer.u32(names.length);
  for (let i = 0; i < names.length; i++) endpoint.encodeText(names[i]);
}

module.exports = { encodeObject, errorClasses, isOfErrors, viewClasses, NATIVE, PROXY, CACHED };
