'use strict';
// The language as it was before anybody else's code ran in this realm.

const { apply, getOwnPropertyDescriptor, ownKeys, defineProperty, getPrototypeOf, setPrototypeOf } = Reflect;
const { bind, call } = Function.prototype;
const uncurryThis = bind.bind(call);
const getter = (object, name) => uncurryThis(getOwnPropertyDescriptor(object, name).get);

// Without prototype. A literal that says so is a hash table to V8, which each read of it searches.
const fixed = (object) => {
  setPrototypeOf(object, null);
  return object;
};

// Map, Set and WeakMap whose methods are their own, whatever becomes of the prototypes.
const safe = (Class) => {
  class Safe extends Class {}
  for (const key of ownKeys(Class.prototype))
    if (key !== 'constructor')
      defineProperty(Safe.prototype, key, { __proto__: null, ...getOwnPropertyDescriptor(Class.prototype, key) });
  setPrototypeOf(Safe.prototype, null);
  return Safe;
};

// A list that no setter of a guest's on Object.prototype or Array.prototype hears of.
const list = () => {
  const made = [];
  setPrototypeOf(made, null);
  return made;
};

const TypedArrayPrototype = getPrototypeOf(Uint8Array.prototype);
const { DataView: RealDataView } = globalThis;
// Accessors stay out of reach of what is done to DataView.prototype later.
const dataViewMethods = {};
for (const name of ['getUint8', 'getUint16', 'getUint32', 'getInt32', 'getFloat64', 'setUint8', 'setUint16', 'setUint32',
  'setInt32', 'setFloat64'])
  dataViewMethods[name] = RealDataView.prototype[name];
const viewBuffer = getter(TypedArrayPrototype, 'buffer');
const viewOffset = getter(TypedArrayPrototype, 'byteOffset');
const viewLength = getter(TypedArrayPrototype, 'byteLength');
const viewName = getter(TypedArrayPrototype, Symbol.toStringTag);
class SafeDataView extends RealDataView {}
for (const name of ownKeys(dataViewMethods))
  defineProperty(SafeDataView.prototype, name, { __proto__: null, value: dataViewMethods[name] });
setPrototypeOf(SafeDataView.prototype, null);

module.exports = fixed({
  apply,
  construct: Reflect.construct,
  getOwnPropertyDescriptor,
  getOwnPropertySymbols: Object.getOwnPropertySymbols,
  ownKeys,
  defineProperty,
  getPrototypeOf,
  setPrototypeOf,
  isExtensible: Reflect.isExtensible,
  preventExtensions: Reflect.preventExtensions,
  reflectGet: Reflect.get,
  reflectSet: Reflect.set,
  reflectHas: Reflect.has,
  deleteProperty: Reflect.deleteProperty,
  uncurryThis,
  getter,
  fixed,
  list,
  ArrayIsArray: Array.isArray,
  ArrayPush: uncurryThis(Array.prototype.push),
  ArrayPop: uncurryThis(Array.prototype.pop),
  ArrayJoin: uncurryThis(Array.prototype.join),
  Array,
  ArrayPrototype: Array.prototype,
  BigInt,
  BigIntToString: uncurryThis(BigInt.prototype.toString),
  DataViewOf: (bytes) => new SafeDataView(viewBuffer(bytes), viewOffset(bytes), viewLength(bytes)),
  Date,
  DateGetTime: uncurryThis(Date.prototype.getTime),
  Error,
  ErrorPrototype: Error.prototype,
  Float64Array,
  FunctionPrototype: Function.prototype,
  imul: Math.imul,
  random: Math.random,
  JSONParse: JSON.parse,
  JSONStringify: JSON.stringify,
  MapForEach: uncurryThis(Map.prototype.forEach),
  Map,
  MapSet: uncurryThis(Map.prototype.set),
  NumberIsInteger: Number.isInteger,
  Number,
  Object,
  ObjectCreate: Object.create,
  ObjectFreeze: Object.freeze,
  ObjectKeys: Object.keys,
  ObjectIs: Object.is,
  ObjectPrototype: Object.prototype,
  Promise,
  PromisePrototype: Promise.prototype,
  PromiseThen: uncurryThis(Promise.prototype.then),
  Proxy,
  RangeError,
  RegExp,
  RegExpSource: getter(RegExp.prototype, 'source'),
  RegExpFlags: getter(RegExp.prototype, 'flags'),
  SafeFinalizationRegistry: safe(FinalizationRegistry),
  SafeMap: safe(Map),
  SafeSet: safe(Set),
  SafeWeakMap: safe(WeakMap),
  SafeWeakSet: safe(WeakSet),
  Set,
  SetAdd: uncurryThis(Set.prototype.add),
  SetForEach: uncurryThis(Set.prototype.forEach),
  String,
  StringCharCodeAt: uncurryThis(String.prototype.charCodeAt),
  StringSlice: uncurryThis(String.prototype.slice),
  StringEndsWith: uncurryThis(String.prototype.endsWith),
  StringStartsWith: uncurryThis(String.prototype.startsWith),
  StringIncludes: uncurryThis(String.prototype.includes),
  StringSplit: uncurryThis(String.prototype.split),
  Symbol,
  SymbolDescription: getter(Symbol.prototype, 'description'),
  SymbolFor: Symbol.for,
  SymbolKeyFor: Symbol.keyFor,
  SyntaxError,
  TypeError,
  TypedArraySet: uncurryThis(TypedArrayPrototype.set),
  TypedArraySubarray: uncurryThis(TypedArrayPrototype.subarray),
  Uint8Array,
  Uint32Array,
  WeakRef,
  WeakRefDeref: uncurryThis(WeakRef.prototype.deref),
  DataView: RealDataView,
  ArrayBuffer,
  ArrayBufferByteLength: getter(ArrayBuffer.prototype, 'byteLength'),
  ArrayBufferIsView: ArrayBuffer.isView,
  ArrayBufferDetached: getter(ArrayBuffer.prototype, 'detached'),
  ArrayBufferResizable: getter(ArrayBuffer.prototype, 'resizable'),
  ArrayBufferTransfer: uncurryThis(ArrayBuffer.prototype.transfer),
  viewBuffer,
  viewOffset,
  viewLength,
  viewName,
  dataViewBuffer: getter(RealDataView.prototype, 'buffer'),
  dataViewOffset: getter(RealDataView.prototype, 'byteOffset'),
  dataViewLength: getter(RealDataView.prototype, 'byteLength'),
  valueOfNumber: uncurryThis(Number.prototype.valueOf),
  valueOfString: uncurryThis(String.prototype.valueOf),
  valueOfBoolean: uncurryThis(Boolean.prototype.valueOf),
  valueOfBigInt: uncurryThis(BigInt.prototype.valueOf),
  valueOfSymbol: uncurryThis(Symbol.prototype.valueOf),
});
