'use strict';
// What a guest may do to the host's objects, and what the host makes of a guest's: the half of the
// membrane that decides. A guest reaches what it was given and what that leads to by name; the
// structure behind it (prototypes, constructors, symbols, callers) shows what the language itself has,
// and of the host's own only what the guest already holds.

const { types } = require('node:util');
const { isMarkedAsUntransferable } = require('node:worker_threads');
const P = require('./primordials.cjs');
const { Op, Flag, Kind, Iterates, End, WireError } = require('./wire.cjs');
const { intrinsics } = require('./intrinsics.cjs');
const { View, reachOf } = require('./view.cjs');
const { LimitError } = require('./limit.cjs');
const { NATIVE, PROXY } = require('./encode.cjs');
const { beginStack, withoutStack } = require('./stack.cjs');
const { Import, LiveHandler, readValue } = require('./standin.cjs');
const { INSPECT } = require('./look.cjs');
const { transfer: transferBytes } = require('./transfer.cjs');
const { References, collectYoung, collectAll } = require('./weak.cjs');
const errors = require('./errors.cjs');

// live(), readonly() and their kind, for handing over.
class Box {
  #value;
  constructor(value, view, copying) {
    this.#value = value;
    this.view = view;
    this.copying = copying;
  }
  get value() {
    return this.#value;
  }
  // By what no proxy answers: asking a guest's object what it is would run the guest.
  static is(value) {
    return #value in value;
  }
}
const box = (view) => (value) => {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null)
    throw new TypeError('a view is of an object or a function');
  return new Box(Box.is(value) ? value.value : value, view, false);
};
const views = {
  live: box(View.LIVE),
  readonly: (value, { cached = false } = {}) => box(cached ? View.CACHED : View.READONLY)(value),
  protected_: box(View.PROTECTED),
  byValue: (value) => ((typeof value === 'object' && value !== null) ? new Box(value, View.READONLY, true) : value),
};

// Stands for what each guest has of its own.
const limit = () => {
  throw new TypeError('limit() is for guests: hand it over by expose or modules');
};

// Node's own pool is its to keep, whoever has a view of all of it.
const transfer = (value) => {
  const made = transferBytes(value);
  if (isMarkedAsUntransferable(ArrayBuffer.isView(value) ? value.buffer : value)) throw new TypeError('transfer: a buffer that is marked as untransferable');
  return made;
};

const revoked = new WeakSet();

// What guests put where they reach it under a view that permits more: by object, the view that they had of it.
const held = new WeakMap();

// Keys of a message's maps and sets, and what the engine needed for them: numbers can be chosen so that it compares each
// with all others.
const FEW = 64;
const MOST_FILLING = 100_000, MOST_OF_KEY = 2;  // microseconds
// Of a process where Node does not tell it of a thread (before 23.9): no thread has used more than the clock says.
const { threadCpuUsage = process.cpuUsage } = process;
const microseconds = (task) => {
  const begin = performance.now(), before = threadCpuUsage();
  task();
  const { user, system } = threadCpuUsage(before);
  return Math.min((performance.now() - begin) * 1000, user + system);
};
const noop = () => {};
// A rejection that nobody waits for is not the end of a host: JSON.stringify calls a guest's toJSON. It is told as what
// goes wrong in the background is. Whoever waits for a promise, by await, then or another promise, asks it for its
// `constructor` first, as the language has it.
const awaited = new WeakSet();
const asked = {
  get() {
    awaited.add(this);
    return Promise;
  },
  set(value) {
    P.defineProperty(this, 'constructor', { __proto__: null, value, writable: true, enumerable: true, configurable: true });
  },
  enumerable: false, configurable: true,
};
const watch = (promise) => {
  P.defineProperty(promise, 'constructor', asked);
  return promise;
};
const tend = (promise, tell) => {
  const before = awaited.has(promise);
  P.PromiseThen(promise, undefined, (error) => {
    // As late as Node looks, at the earliest.
    setImmediate(() => { if (!awaited.has(promise)) tell(error); });
  });
  if (!before) awaited.delete(promise);
  return promise;
};
const quiet = (promise) => {
  P.PromiseThen(promise, undefined, noop);
  return promise;
};
// Goes through what a guest's iterator gives, each by a call of its own.
async function* iterate(begin) {
  const iterator = await begin();
  let isDone = false;
  try {
    while (!isDone) {
      isDone = true;
      const step = await iterator.next();
      isDone = Boolean(step.done);
      if (isDone) return step.value;
      yield step.value;
    }
  } finally {
    if (!isDone && typeof iterator.return === 'function') await iterator.return();
  }
  return undefined;
}
const MOST_REJECTED = 16;
const makeNothing = { construct: () => ({}) };
const isConstructor = (value) => {
  try {
    // Constructs the proxy, and so nothing of the function's own.
    new (new Proxy(value, makeNothing))();
    return true;
  } catch {
    return false;
  }
};

function kindOf(value) {
  const proxy = types.isProxy(value) ? PROXY : 0;
  if (typeof value === 'function') return proxy | NATIVE | (isConstructor(value) ? Kind.CONSTRUCTOR : Kind.FUNCTION);
  if (proxy !== 0) return proxy | (Array.isArray(value) ? Kind.ARRAY : Kind.OBJECT);
  if (Array.isArray(value)) return Kind.ARRAY;
  const prototype = P.getPrototypeOf(value);
  if (prototype === P.ObjectPrototype || prototype === null) return Kind.OBJECT;
  if (types.isDate(value)) return Kind.DATE;
  if (types.isRegExp(value)) return Kind.REGEXP;
  if (types.isNativeError(value)) return Kind.ERROR;
  if (types.isPromise(value)) return Kind.PROMISE;
  if (types.isMap(value)) return Kind.MAP;
  if (types.isSet(value)) return Kind.SET;
  if (ArrayBuffer.isView(value)) return Kind.VIEW;
  if (types.isAnyArrayBuffer(value)) return Kind.BUFFER;
  if (types.isBoxedPrimitive(value)) return Kind.BOXED;
  return Kind.OBJECT;
}

// What the instances of a class inherit from, of which the guest has the class itself.
const isOfClass = (endpoint, prototype) => {
  const made = P.getOwnPropertyDescriptor(prototype, 'constructor')?.value;
  return typeof made === 'function' && endpoint.isExported(made) && P.getOwnPropertyDescriptor(made, 'prototype')?.value === prototype;
};
const ofCallers = (object, key) => typeof object === 'function' && (key === 'caller' || key === 'arguments');

// Of the guest's end of the membrane, in our words: what a worker says of its limits is kept in the journal.
const limitTexts = new Map([
  ['ERR_SANDBOX_OUTPUT', 'what the guest was to send is larger than a message may be (option output: raise it, or send less at once)'],
  ['ERR_SANDBOX_HANDLES', 'more objects than may be held across the membrane (option handles: raise it, or hold less)'],
]);
const MOST_TEXT = 600;

const NO_DATA = 'a protected object takes data alone, neither functions nor what holds them';
function copyOf(endpoint, record) {
  try {
    return endpoint.ask(Op.COPY, record.id, undefined, readValue, false);
  } catch (error) {
    throw error instanceof errors.GuestError ? new TypeError(NO_DATA) : error;
  }
}

// Who asks Node for a proxy's handler (%o does) is not shown all that we keep.
P.defineProperty(LiveHandler.prototype, INSPECT, { __proto__: null, value: () => '[asks the guest]' });

class HostPolicy {
  // sandbox: { failure(): Error, handles, isBusyWith…, post(…) } (sandbox.cjs)
  constructor(sandbox, handles) {
    this.isHost = true;
    this.sandbox = sandbox;
    this.handles = handles;
    this.rejected = [];  // promises of the guest's, and why, that nobody had waited for by then
    this.collectAt = 0;  // when all may be collected again
    this.limit = limit;
    this.transfer = transfer;
    this.look = undefined;  // of its endpoint
  }

  closedError() {
    return this.sandbox.failure();
  }
  endedError(endpoint, why) {
    const { reader } = endpoint.link;
    const where = reader.at < reader.end ? endpoint.decodeText() : '';
    const over = endpoint.link.over();
    if (over !== undefined && why !== End.MEMORY) return this.sandbox.ended(errors.endedAt(over, where));
    const error = this.sandbox.ended(this.whyEnded(why, where));
    // Most often because its stack was full. What it had heard of names is not sure any more.
    if (why !== End.MEMORY && why !== End.TIME) endpoint.forgetKeys();
    // With what was ended went all that it had put off.
    this.sandbox.endCall(endpoint.link.call, error);
    return error;
  }
  whyEnded(why, where) {
    if (why === End.MEMORY) return new errors.MemoryLimitError('the guest used more memory than its limit; what ran was ended');
    if (why === End.TIME) return errors.endedAt(new errors.TimeLimitError('the guest ran longer than its time limit; what ran was ended'), where);
    return new errors.SandboxError('ERR_SANDBOX_STACK', 'the guest could not answer; its stack may have been used up');
  }
  unheard(endpoint, list) {
    for (let i = 0; i < list.length; i++) this.sandbox.unheard(list[i], 'rejection');
  }
  // What is begun now for later is of a call of its own, however it was asked: its end ends nothing else.
  lasting({ link }) {
    return link.call = this.sandbox.lasting(link.call);
  }
  thrown(endpoint, header) {
    if ((header.flags & Flag.LIMIT) === 0) return endpoint.decode();
    return this.limitError(endpoint);
  }
  limitError(endpoint) {
    const code = endpoint.decodeText();
    const text = endpoint.decodeText();
    return errors.byCode(code, limitTexts.get(code) ?? (text.length <= MOST_TEXT ? text : `${text.slice(0, MOST_TEXT)}…`));
  }
  limitOf(error) {
    return LimitError.is(error) ? error : undefined;
  }

  // Node calls what it finds under its own symbols, with objects of the host's: guests have none such.
  hides(key) {
    return typeof key === 'symbol' && (P.SymbolKeyFor(key)?.startsWith('nodejs.') ?? false);
  }
  unwrap(value) {
    return Box.is(value) ? value : undefined;
  }
  copyError(text) {
    return new errors.SandboxError('ERR_SANDBOX_COPY', text);
  }
  isBuffer(value) {
    return value instanceof Buffer;
  }
  makeBuffer(bytes) {
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
  // What a call waits for, it waits for no longer than it goes on.
  onPromise(promise, record) {
    record.call = this.lasting(record.endpoint);
    record.call?.hold(record);
    this.sandbox.awaits(1);
    watch(promise);
  }
  settling(record, ok, value) {
    record.call?.letGo(record);
    this.sandbox.awaits(-1);
    // What is fulfilled has no reaction of ours, which would keep its value until the job is over.
    if (ok) return;
    const promise = record.endpoint.references.get(record);
    const isAwaited = awaited.has(promise);
    quiet(promise);
    if (isAwaited) return;
    awaited.delete(promise);
    if (this.rejected.length === MOST_REJECTED) return;
    if (this.rejected.length === 0) setImmediate(() => this.lookAfter(record.endpoint));
    this.rejected.push({ record, error: value });
  }
  // As tend(), of promises that a job of the host's may have made by the thousand.
  lookAfter(endpoint) {
    const { rejected } = this;
    this.rejected = [];
    for (const { record, error } of rejected) {
      const promise = endpoint.references.get(record);
      if (endpoint.standIns.get(promise) !== record || !awaited.has(promise)) this.sandbox.unheard(error, 'callback');
    }
  }
  tend(promise) {
    return tend(promise, (error) => this.sandbox.unheard(error, 'callback'));
  }
  // The target of a stand-in: what looks at proxies looks there.
  adorn(target) {
    target[INSPECT] = this.look;
  }
  // Its stack is the guest's, and the engine need not look ours up.
  makeError(make) {
    return withoutStack(make);
  }
  onError(error, className, name, message, stack) {
    errors.ofGuests.add(error);
    // Codes of the sandbox's own errors are not a guest's to give.
    if (typeof error.code === 'string' && error.code.startsWith('ERR_SANDBOX_')) P.deleteProperty(error, 'code');
    if (className === 'RangeError' && message === 'Maximum call stack size exceeded') errors.ofStacks.add(error);
    beginStack(error, name, message, stack);
  }
  onSettled(endpoint) {
    this.sandbox.sendSettled(endpoint);
  }
  onReleased(endpoint) {
    this.sandbox.sendReleases(endpoint);
  }
  references(dropped) {
    return new References(dropped);
  }
  // Most of what a guest gives is dropped soon, when a collection of young objects still finds it. One of all takes a
  // large host long: only where a limit would be said, and where the last one found little, for a tenth of the time.
  collect(endpoint, asked) {
    collectYoung();
    endpoint.references.sweep(endpoint);
    const quarter = this.handles >> 2;
    const before = endpoint.holding;
    const begin = performance.now();
    if (!asked || before <= quarter || begin < this.collectAt) return;
    collectAll();
    endpoint.references.sweep(endpoint);
    const end = performance.now();
    this.collectAt = endpoint.holding <= before - quarter ? 0 : end + 9 * (end - begin);
  }
  callable(record) {
    if (record.kind !== Kind.FUNCTION && record.kind !== Kind.CONSTRUCTOR) return Object.freeze({});
    const { sandbox } = this;
    const tended = (promise) => this.tend(watch(promise));
    const call = (args) => tended(sandbox.callRecord(record, undefined, args, undefined));
    if (record.kind === Kind.FUNCTION) return (...args) => call(args);
    // With `new` what is made comes by a promise, too.
    return function (...args) {
      return new.target === undefined ? call(args) : tended(sandbox.constructRecord(record, args));
    };
  }
  snapshot(endpoint, id, object, { methods, accessors, iterates }) {
    endpoint.admit(id, 1);
    const record = new Import(endpoint, id, Kind.OBJECT, 1);
    const { sandbox } = this;
    const { call } = endpoint.link;
    // The engine asks a `then` by itself where a promise is settled: within the call that gave it, and
    // with an answer whatever becomes of it.
    const then = (resolve, reject) => quiet(sandbox.invoke(record, 'then', [resolve, reject], call).catch((error) => {
      if (typeof reject === 'function') reject(error);
    }));
    const tended = (promise) => this.tend(watch(promise));
    const invoke = (name) => function (...args) {
      if (new.target === undefined) return tended(sandbox.invoke(record, name, args));
      return tended(sandbox.readRecord(record, name).then((Class) => new Class(...args)));
    };
    for (let i = 0; i < methods.length; i++)
      P.defineProperty(object, methods[i], { __proto__: null, value: methods[i] === 'then' ? then : invoke(methods[i]), enumerable: true });
    // Asked for when they are read: who prints or copies the object reads none of them.
    for (let i = 0; i < accessors.length; i++) {
      const name = accessors[i];
      if (name === 'then') throw new WireError('then');
      P.defineProperty(object, name, { __proto__: null, get: () => tended(sandbox.readRecord(record, name)), enumerable: false });
    }
    if (iterates !== 0) {
      const begin = invoke((iterates & Iterates.ASYNC) !== 0 ? Symbol.asyncIterator : Symbol.iterator);
      P.defineProperty(object, Symbol.asyncIterator, { __proto__: null, value: () => iterate(begin), enumerable: false });
    }
    P.ObjectFreeze(object);
    endpoint.adopt(record, object);
    return object;
  }

  // ------------------------------------------------------------------- what a guest asks

  perform() {
    return undefined;
  }
  beforeReply() {}
  finishReply() {}
  check(endpoint, object) {
    if (endpoint.withdrawn || revoked.has(object)) throw this.withdrawal();
  }
  withdrawal() {
    this.sandbox.note(false, 'revoked object', 'the host took it away (revoke)', '');
    return new TypeError('this object was revoked');
  }
  permits(view, key, item) {
    if ((view !== View.LIVE && view !== View.PROTECTED) || key === '__proto__') return false;
    return view === View.LIVE || typeof item !== 'function';
  }
  fill(endpoint, keys, task) {
    if (keys < FEW) return task();
    endpoint.filled += keys * MOST_OF_KEY - microseconds(task);
    if (endpoint.filled < -MOST_FILLING) throw new WireError('keys that collide');
  }
  // What a guest may only read it cannot write because it has put it, or handed it, where it may; and neither
  // that nor a function is data.
  handedBack(endpoint, { value, view }) {
    if (revoked.has(value)) endpoint.withdrawn = true;
    if (endpoint.reach === 0) return value;
    const isLess = reachOf(view) < endpoint.reach;
    if (isLess || typeof value === 'function') endpoint.heard++;
    const before = held.get(value);
    if (isLess && (before === undefined || reachOf(before) > reachOf(view))) held.set(value, view);
    return value;
  }
  viewOf(value, view) {
    const kept = held.get(value);
    return kept === undefined || reachOf(kept) >= reachOf(view) ? view : kept;
  }
  // What is set where data alone may be: of a guest's plain data a copy. heard: of as many there had been word before.
  dataFor(endpoint, view, item, heard) {
    if (view !== View.PROTECTED) return item;
    const record = endpoint.standIns.get(item);
    let before = heard;
    if (record instanceof LiveHandler) {
      before = endpoint.heard;
      item = copyOf(endpoint, record);
    }
    if (endpoint.heard !== before || typeof item === 'function')
      throw new TypeError(NO_DATA);
    return item;
  }
  get(endpoint, object, key, receiver) {
    if (key === '__proto__') return this.prototypeOf(endpoint, object);
    if (ofCallers(object, key) || this.hides(key)) return undefined;
    const found = P.reflectGet(object, key, receiver);
    if (key !== 'constructor' || typeof found !== 'function' || P.getOwnPropertyDescriptor(object, key) !== undefined) return found;
    if (intrinsics().paths.has(found) || endpoint.isExported(found)) return found;
    const prototype = this.prototypeOf(endpoint, object);
    return prototype === null ? undefined : P.getOwnPropertyDescriptor(prototype, 'constructor')?.value;
  }
  describe(object, key) {
    if (ofCallers(object, key)) return undefined;
    return P.getOwnPropertyDescriptor(object, key);
  }
  keys(endpoint, object) {
    return P.ownKeys(object).filter((key) => {
      if (ofCallers(object, key)) return false;
      if (typeof key === 'string' || endpoint.wellKnown.includes(key) || endpoint.mySymbols.has(key)) return true;
      const registered = P.SymbolKeyFor(key);
      return registered !== undefined && !registered.startsWith('nodejs.');
    });
  }
  // The next prototype that the language has or the guest holds already.
  prototypeOf(endpoint, object) {
    const { paths } = intrinsics();
    let prototype = P.getPrototypeOf(object);
    while (prototype !== null && !paths.has(prototype) && !endpoint.isExported(prototype) && !endpoint.standIns.has(prototype) && !isOfClass(endpoint, prototype))
      prototype = P.getPrototypeOf(prototype);
    return prototype;
  }
  copy() {
    throw new WireError('copy');
  }
}

P.setPrototypeOf(HostPolicy.prototype, null);

const revoke = (value) => {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) throw new TypeError('an object is revoked');
  revoked.add(Box.is(value) ? value.value : value);
};

module.exports = { HostPolicy, kindOf, views, revoke, limit, transfer };
