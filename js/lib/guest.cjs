'use strict';
// The guest's end, in the guest's realm: `io` are the worker's natives. Nothing here protects the host;
// a guest that breaks it harms itself.

const P = require('./primordials.cjs');
const { Op, Flag, Tag, Kind, WireError, Reader, Writer } = require('./wire.cjs');
const { Endpoint } = require('./membrane.cjs');
const { LimitError } = require('./limit.cjs');
const { serve } = require('./serve.cjs');
const { installWeb, freezeAll, keepGlobals } = require('./globals.cjs');

const noop = () => {};

class GuestPolicy {
  constructor(guest) {
    this.isHost = false;
    this.handles = 65536;
    this.guest = guest;
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
  copyError(text) {
    return new P.TypeError(text);
  }
  isBuffer() {
    return false;
  }
  makeBuffer(bytes) {
    return bytes;
  }
  onPromise(promise) {
    this.guest.io.whenSettled(promise, noop, noop);
  }
  onError(error, className, name, message) {
    // Made by us, but thrown where the guest's code stands.
    P.defineProperty(error, 'stack', {
      __proto__: null, value: `${name}: ${message}`, writable: true, enumerable: false, configurable: true,
    });
  }
  onSettled() {}
  onReleased() {}
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
    if (this.guest.outermost) this.guest.io.runMicrotasks();
  }
  finishReply(endpoint) {
    endpoint.saySettled();
  }
  check() {}
  permits() {
    return true;
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
  constructor(io) {
    this.io = io;
    this.reader = new Reader();
    this.reader.use(io.in);
    this.writer = new Writer(() => {
      throw new LimitError('ERR_SANDBOX_OUTPUT', 'what is to cross the membrane is larger than a message may be');
    });
    this.writer.use(io.out);
    this.kind = io.kind;
    this.whenSettled = io.whenSettled;
    this.outcome = io.outcome;
    this.encoding = null;
  }
  broken(error) {
    return error;
  }
  enter() {}
  leave() {}
  exchange(endpoint, length) {
    return this.io.exchange(length);
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
    this.link = new GuestLink(io);
    this.endpoint = new Endpoint(this.link, 0, new GuestPolicy(this));
  }
  serve(length, outermost) {
    const { endpoint } = this;
    const saved = this.outermost;
    // An ended turn leaves behind whatever it was in the middle of.
    if (outermost) {
      endpoint.journal = this.link.encoding = null;
      endpoint.depth = endpoint.nesting = 0;
      endpoint.byValue = false;
    }
    const header = endpoint.open(length);
    endpoint.number = header.sandbox;
    this.outermost = outermost;
    const { copying } = endpoint;
    endpoint.copying = (header.flags & Flag.BY_VALUE) !== 0;
    try {
      return serve(endpoint, header);
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
        endpoint.policy.handles = handles;
        if (output < this.io.out.length) this.link.writer.use(P.TypedArraySubarray(this.io.out, 0, output));
        const exposed = this.exposed();
        if (globals !== 'ecmascript') keepGlobals(globals, installWeb, exposed.host);
        for (const [name, value] of exposed.list) define(name, value);
        if (frozen) freezeAll();
        return nothing;
      }
      case Op.RUN: {
        const line = reader.u32();
        const column = reader.u32();
        const source = endpoint.decodeText();
        const file = endpoint.decodeText();
        const result = this.io.run(source, file, line, column);
        return (again) => again.encode(result);
      }
      case Op.SETTLE: {
        const id = reader.u32();
        const ok = reader.u8() !== 0;
        endpoint.settle(id, ok, endpoint.decode());
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
      case Op.PUMP:
        return nothing;
    }
    return undefined;
  }
  exposed() {
    const { endpoint } = this;
    const host = endpoint.decode();
    const count = this.link.reader.count(2);
    const list = [];
    for (let i = 0; i < count; i++) P.ArrayPush(list, [endpoint.decodeText(), endpoint.decode()]);
    return { host, list };
  }
}

for (const { prototype } of [GuestPolicy, GuestLink, Guest]) P.setPrototypeOf(prototype, null);

const nothing = () => {};
const define = (name, value) =>
  P.defineProperty(globalThis, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });

module.exports = (io) => {
  // V8's own, which says nothing to anybody here.
  P.deleteProperty(globalThis, 'console');
  const guest = new Guest(io);
  return (length, outermost) => guest.serve(length, outermost);
};
