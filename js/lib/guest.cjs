'use strict';
// The guest's end, in the guest's realm: `io` are the worker's natives. Nothing here protects the host;
// a guest that breaks it harms itself.

const P = require('./primordials.cjs');
const { Op, Flag, Settle, Tag, Kind, WireError, Reader, Writer } = require('./wire.cjs');
const { Endpoint } = require('./membrane.cjs');
const { LimitError, SLACK } = require('./limit.cjs');
const { serve } = require('./serve.cjs');
const { Limited } = require('./limited.cjs');
const { transfer } = require('./transfer.cjs');
const { moduleName } = require('./specifier.cjs');
const { hide, installWeb, freezeAll, keepGlobals, takeAway } = require('./globals.cjs');

const noop = () => {};

// By the language's own means: finalizers come with the end of a turn, and sweep() before.
class References {
  constructor(dropped) {
    this.registry = new P.SafeFinalizationRegistry(dropped);
  }
  hold(record, standIn) {
    record.ref = new P.WeakRef(standIn);
    this.registry.register(standIn, record);
  }
  get(record) {
    return P.WeakRefDeref(record.ref);
  }
  sweep(endpoint) {
    const gone = P.list();
    for (let face = 0; face < endpoint.imports.length; face++)
      endpoint.imports[face].forEach((record) => { if (this.get(record) === undefined && !endpoint.isAsked(record.id)) P.ArrayPush(gone, record); });
    for (let i = 0; i < gone.length; i++) endpoint.dropped(gone[i]);
  }
}

class GuestPolicy {
  constructor(guest) {
    this.isHost = false;
    this.handles = 65536;
    this.guest = guest;
    this.limit = guest.limited.limit;
    // One of each realm's, which `this` is nothing to.
    this.transfer = (value) => transfer(value);
    this.buffers = undefined;  // what a Buffer inherits from, where it has one
  }
  closedError() {
    return new P.Error('the sandbox is closed');
  }
  endedError() {
    return new P.Error('the host ended this call');
  }
  thrown(endpoint, header) {
    if ((header.flags & Flag.LIMIT) === 0) return endpoint.decode();
    endpoint.decodeText();
    return new P.RangeError(endpoint.decodeText());
  }
  limitOf(error) {
    return LimitError.is(error) ? error : undefined;
  }
  hides() {
    return false;
  }
  unwrap() {
    return undefined;
  }
  handedBack(endpoint, { value }) {
    return value;
  }
  fill(endpoint, keys, task) {
    task();
  }
  copyError(text) {
    return new P.TypeError(text);
  }
  isBuffer(value) {
    return this.buffers !== undefined && P.getPrototypeOf(value) === this.buffers;
  }
  makeBuffer(bytes) {
    if (this.buffers !== undefined) P.setPrototypeOf(bytes, this.buffers);
    return bytes;
  }
  onPromise(promise, record) {
    record.account = this.guest.limited.current;
    record.isPromise = true;
  }
  // It is the host's again to look whether it fails.
  handBack(promise) {
    this.guest.io.whenSettled(promise, noop, noop);
  }
  settling() {}
  adorn() {}
  makeError(make) {
    return make();
  }
  lasting() {}
  onError(error, className, name, message) {
    // Made by us, but thrown where the guest's code stands.
    P.defineProperty(error, 'stack', {
      __proto__: null, value: `${name}: ${message}`, writable: true, enumerable: false, configurable: true,
    });
  }
  onSettled() {}
  onReleased() {}
  references(dropped) {
    return new References(dropped);
  }
  collect(endpoint) {
    this.guest.io.collect();
    endpoint.references.sweep(endpoint);
  }
  callable(record) {
    return record;
  }
  snapshot() {
    throw new WireError('snapshot');
  }
  perform(endpoint, header) {
    return this.guest.perform(endpoint, header);
  }
  beforeReply() {
    if (this.guest.outermost) this.guest.goOn();
  }
  finishReply(endpoint) {
    endpoint.saySettled();
    if (this.guest.outermost) this.guest.sayUnheard();
  }
  check() {}
  permits() {
    return true;
  }
  dataFor(endpoint, view, item) {
    return item;
  }
  get(endpoint, object, key, receiver) {
    return P.reflectGet(object, key, receiver);
  }
  describe(object, key) {
    return P.getOwnPropertyDescriptor(object, key);
  }
  keys(endpoint, object) {
    return P.ownKeys(object);
  }
  prototypeOf(endpoint, object) {
    return P.getPrototypeOf(object);
  }
  copy(endpoint, object) {
    return () => {
      endpoint.copying = true;
      endpoint.encode(object);
    };
  }
}

class GuestLink {
  constructor(guest, io) {
    this.guest = guest;
    this.io = io;
    this.reader = new Reader();
    this.reader.use(io.in);
    this.writer = new Writer(() => {
      throw new LimitError('ERR_SANDBOX_OUTPUT', 'what is to cross the membrane is larger than a message may be (option output of the sandbox)');
    });
    this.writer.use(io.out);
    this.most = io.out.length + SLACK;  // a message's weight
    this.kind = io.kind;
    this.whenSettled = io.whenSettled;
    this.outcome = io.outcome;
    this.isDetachable = io.isDetachable;
    this.encoding = null;
    this.flushing = io.flushing;
  }
  broken(error) {
    return error;
  }
  // A finalizer runs when the turn's reply is written, which a request would overwrite.
  enter() {
    if (this.flushing[0] !== 0) throw new P.Error('a finalizer cannot call what is outside');
  }
  leave() {}
  mayWait() {
    return this.flushing[0] === 0;
  }
  exchange(endpoint, length) {
    // Calls in the middle of this one may be ended, and leave no trace.
    const { guest } = this;
    const { depth, byValue, copying } = endpoint;
    const { outermost } = guest;
    const received = this.io.exchange(length);
    if (this.encoding !== null) guest.forgetMessage();
    endpoint.depth = depth;
    endpoint.byValue = byValue;
    endpoint.copying = copying;
    guest.outermost = outermost;
    return received;
  }
  detach(buffers) {
    for (let i = 0; i < buffers.length; i++) if (!this.isDetachable(buffers[i])) return false;
    for (let i = 0; i < buffers.length; i++) P.ArrayBufferTransfer(buffers[i], 0);
    return true;
  }
  putText(text) {
    const { writer } = this;
    writer.need(5);
    const size = this.io.putString(text, writer.at + 5, writer.bytes.length);
    if (size === undefined || writer.at + 5 + (size < 0 ? -size : size) > writer.bytes.length) writer.room();
    writer.u8(size < 0 ? Tag.TEXT2 : Tag.TEXT1);
    const bytes = size < 0 ? -size : size;
    writer.u32(bytes);
    writer.at += bytes;
  }
  getText(bytes, two) {
    const text = this.io.getString(this.reader.at, bytes, two);
    if (text === undefined) throw new WireError('text');
    this.reader.at += bytes;
    return text;
  }
}

class Guest {
  constructor(io) {
    this.io = io;
    this.outermost = false;
    this.limited = new Limited(this);
    this.ended = false;      // the turn before this one was
    this.reasons = undefined;  // of rejections that nothing handles
    this.settled = undefined;  // by this request: a promise of the host's
    this.modules = new P.SafeMap();  // by name: { number, wanted }
    this.names = [];                 // by number
    this.load = undefined;           // the host's, where it has modules
    this.resolve = (from, specifier) => this.modules.get(moduleName(specifier, this.names[from]))?.number;
    io.useImporter((specifier, from, attributes) => this.import(specifier, from, attributes));
    this.link = new GuestLink(this, io);
    this.endpoint = new Endpoint(this.link, 0, new GuestPolicy(this));
  }
  // outermost: nothing of this worker's waits; alone: nothing of this guest's does.
  serve(length, outermost, alone) {
    const { endpoint } = this;
    const saved = this.outermost;
    // A call that was ended leaves behind whatever it was in the middle of.
    if (alone) {
      this.forgetMessage();
      endpoint.depth = endpoint.nesting = 0;
      endpoint.byValue = false;
      if (this.ended) this.limited.reset();
      this.ended = true;
    }
    const header = endpoint.open(length);
    endpoint.number = header.sandbox;
    this.outermost = outermost;
    const { copying } = endpoint;
    endpoint.copying = (header.flags & Flag.BY_VALUE) !== 0;
    try {
      const reply = serve(endpoint, header);
      if (alone) this.ended = false;
      return reply;
    } finally {
      this.outermost = saved;
      endpoint.copying = copying;
    }
  }
  perform(endpoint, header) {
    const { reader } = this.link;
    switch (header.op) {
      case Op.INIT: {
        const handles = reader.u32();
        const output = reader.u32();
        const frozen = reader.u8() !== 0;
        const globals = endpoint.decode();
        this.load = endpoint.decode();
        endpoint.policy.handles = handles;
        endpoint.roomAt = handles >> 1;
        if (output < this.io.out.length) this.link.writer.use(P.TypedArraySubarray(this.io.out, 0, output));
        this.link.most = output + SLACK;
        const exposed = this.exposed();
        // While the language has all that it is made of.
        const Buffer = exposed.program === undefined ? undefined : this.io.run(exposed.program, 'bulkhead:buffer', 0, 0);
        if (globals !== 'ecmascript') keepGlobals(globals, installWeb, exposed.host);
        if (Buffer !== undefined) this.useBuffer(Buffer, frozen);
        takeAway(exposed.without);
        if (this.io.shared !== undefined) define('shared', this.io.shared);
        for (const [name, value] of exposed.list) define(name, value);
        if (frozen) freezeAll();
        return nothing;
      }
      case Op.RUN: {
        const line = reader.u32();
        const column = reader.u32();
        const source = endpoint.decodeText();
        const file = endpoint.decodeText();
        const cached = reader.u32();
        const result = this.io.run(source, file, line, column, reader.at, cached <= reader.end - reader.at ? cached : 0);
        const stale = cached !== 0 && this.io.cacheRejected();
        return (again) => {
          if (stale) this.link.writer.bytes[1] |= Flag.STALE;
          again.encode(result);
        };
      }
      case Op.SETTLE: {
        const id = reader.u32();
        const how = reader.u8();
        const item = endpoint.decode();
        const waiting = endpoint.waiting(id);
        if (waiting !== undefined && how !== Settle.NEVER) {
          const settle = how === Settle.FULFILLED ? waiting.resolve : waiting.reject;
          this.settled = { __proto__: null, account: waiting.account, settle: () => settle(item) };
        }
        return nothing;
      }
      case Op.EXPOSE: {
        const name = endpoint.decodeText();
        define(name, endpoint.decode());
        return nothing;
      }
      case Op.GLOBAL:
        return () => {
          const { writer } = this.link;
          writer.u8(Tag.MINE);
          writer.u32(endpoint.exportHandle(globalThis, endpoint.view, Kind.OBJECT));
          writer.u8(Kind.OBJECT);
        };
      case Op.STATS: {
        const numbers = this.io.memory();
        return () => {
          this.link.writer.f64(numbers[0]);
          this.link.writer.f64(numbers[1]);
        };
      }
      case Op.CACHE: {
        const source = endpoint.decodeText();
        const file = endpoint.decodeText();
        return () => {
          const { writer } = this.link;
          writer.need(4);
          const size = this.io.codeCache(source, file, writer.at + 4, writer.bytes.length);
          if (size === undefined) writer.room();
          writer.u32(size);
          writer.at += size;
        };
      }
      case Op.PUMP:
        return nothing;
      case Op.COMPILE: {
        const name = endpoint.decodeText();
        return this.compile(name, endpoint.decodeText());
      }
      case Op.MODULE: {
        const name = endpoint.decodeText();
        return this.make(name);
      }
      case Op.IMPORT: {
        const name = endpoint.decodeText();
        const result = reader.u8() === 0 ? this.evaluate(name) : this.evaluateNow(name);
        return (again) => again.encode(result);
      }
    }
    return undefined;
  }

  // What was put off: microtasks, callees with limits of their own, and what a promise of the host's let go on.
  goOn() {
    const { settled } = this;
    this.settled = undefined;
    // What is there already is nobody's but the host's call.
    if (settled !== undefined) this.io.runMicrotasks();
    this.limited.run(settled?.account, settled?.settle);
  }

  // Rejections that nothing handles, once nothing is put off any more.
  sayUnheard() {
    if (this.io.rejected[0] !== 0) this.reasons = this.io.rejections();
    if (this.reasons === undefined) return;
    if (this.reasons.length > 0) this.endpoint.sayUnheard(this.reasons);
    this.reasons = undefined;
  }
  // What was being written and will not be sent.
  forgetMessage() {
    const { endpoint, link } = this;
    const { encoding } = link;
    link.encoding = null;
    if (encoding !== null) endpoint.abort();
    endpoint.journaled = 0;
    endpoint.patient = false;
  }
  save() {
    const { depth, byValue, copying, view } = this.endpoint;
    return { __proto__: null, depth, byValue, copying, view, outermost: this.outermost };
  }
  restore({ depth, byValue, copying, view, outermost }) {
    const { endpoint } = this;
    this.outermost = outermost;
    this.forgetMessage();
    endpoint.depth = depth;
    endpoint.nesting = 0;
    endpoint.byValue = byValue;
    endpoint.copying = copying;
    endpoint.view = view;
  }

  // ------------------------------------------------------------------- modules

  compile(name, source) {
    let known = this.modules.get(name);
    if (known === undefined) {
      const found = this.io.compileModule(source, name);
      known = { __proto__: null, number: found[0], wanted: found };
      this.remember(name, known);
    }
    return () => {
      const { wanted } = known;
      this.link.writer.u32(wanted.length - 1);
      for (let i = 1; i < wanted.length; i++) this.endpoint.encodeText(wanted[i]);
    };
  }
  make(name) {
    const { endpoint } = this;
    const count = this.link.reader.count(2);
    const names = [];
    const values = [];
    for (let i = 0; i < count; i++) {
      P.ArrayPush(names, endpoint.decodeText());
      P.ArrayPush(values, endpoint.decode());
    }
    if (!this.modules.has(name)) this.remember(name, { __proto__: null, number: this.io.makeModule(name, names, values), wanted: [] });
    return nothing;
  }
  remember(name, module) {
    this.modules.set(name, module);
    this.names[module.number] = name;
  }
  // A promise of the namespace, once everything that it asks for is there.
  evaluate(name) {
    return new P.Promise((resolve, reject) => {
      const { number } = this.modules.get(name);
      const done = this.io.evaluateModule(number, this.resolve);
      // V8 keeps null for what a limit ended.
      this.io.whenSettled(done, () => resolve(this.io.moduleNamespace(number)),
        (error) => reject(error === null ? new P.Error('a module that it needs was ended while it was evaluated') : error));
    });
  }
  evaluateNow(name) {
    const { number } = this.modules.get(name);
    const outcome = this.io.outcome(this.io.evaluateModule(number, this.resolve));
    if (outcome === undefined) throw new P.TypeError(`module "${name}" awaits something: it cannot be imported at once`);
    if (!outcome[0]) throw outcome[1];
    return this.io.moduleNamespace(number);
  }
  // import() of a guest.
  import(specifier, from, attributes) {
    const { load } = this;
    return new P.Promise((resolve, reject) => {
      if (load === undefined) throw new P.TypeError('this sandbox has no modules: the host gives none');
      if (attributes) throw new P.TypeError('import attributes are not supported in a sandbox');
      const importer = typeof from === 'string' ? from : '';
      this.io.whenSettled(load(specifier, importer), () => resolve(this.evaluate(moduleName(specifier, importer))), reject);
    });
  }
  // A Buffer of its own: what comes as one from the host is one, and back.
  useBuffer(Buffer, frozen) {
    const { prototype } = Buffer;
    hide('Buffer', Buffer);
    this.endpoint.policy.buffers = prototype;
    if (!frozen) return;
    P.ObjectFreeze(Buffer);
    P.ObjectFreeze(prototype);
  }
  exposed() {
    const { endpoint } = this;
    const host = endpoint.decode();
    const program = endpoint.decode();
    const without = endpoint.decode();
    const count = this.link.reader.count(2);
    const list = [];
    for (let i = 0; i < count; i++) P.ArrayPush(list, [endpoint.decodeText(), endpoint.decode()]);
    return { __proto__: null, host, program, without, list };
  }
}

for (const { prototype } of [References, GuestPolicy, GuestLink, Guest]) P.setPrototypeOf(prototype, null);

const nothing = () => {};
const define = (name, value) =>
  P.defineProperty(globalThis, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });

module.exports = (io) => {
  // V8's own, which says nothing to anybody here.
  P.deleteProperty(globalThis, 'console');
  const guest = new Guest(io);
  return (length, outermost, alone) => guest.serve(length, outermost, alone);
};
