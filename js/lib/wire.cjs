'use strict';
// The numbers of the wire (README of src/membrane), and a cursor for each direction. Runs in the host
// and in every guest's own realm: everything that it uses of the language is taken before any
// guest's code runs (primordials.cjs).

const { StringCharCodeAt, TypedArraySet, DataViewOf, fixed, setPrototypeOf } = require('./primordials.cjs');

const HEADER = 16;

const Op = fixed({
  CREATE: 1, DISPOSE: 2,
  INIT: 3, RUN: 4, SETTLE: 5, EXPOSE: 6, GLOBAL: 7, STATS: 8, PUMP: 9,
  COMPILE: 10, MODULE: 11, IMPORT: 12, PROGRAM: 13, CACHE: 14, CODE: 15,
  GET: 16, SET: 17, HAS: 18, DELETE: 19, KEYS: 20, GET_PROTOTYPE: 21, SET_PROTOTYPE: 22,
  DESCRIBE: 23, DEFINE: 24, IS_EXTENSIBLE: 25, PREVENT_EXTENSIONS: 26, APPLY: 27, CONSTRUCT: 28,
  COPY: 29, INVOKE: 30, INTRINSIC: 31, COLLECT: 32, OUTLINE: 33,
  RETURN: 64, THROW: 65, ENDED: 66,
});

const End = fixed({ TIME: 1, MEMORY: 2, UNKNOWN: 3 });

// STALE: a code cache was of no use. UNHEARD: at its end are rejections that nothing in the guest handles.
const Flag = fixed({ BY_VALUE: 1, LIMIT: 2, SETTLED: 4, STALE: 8, UNHEARD: 16 });

// How a promise was settled; LIMIT: its value cannot be said, and why.
const Settle = fixed({ REJECTED: 0, FULFILLED: 1, NEVER: 2, LIMIT: 3 });

const Tag = fixed({
  UNDEFINED: 0, NULL: 1, TRUE: 2, FALSE: 3, INT: 4, NUMBER: 5, TEXT1: 6, TEXT2: 7, BIGINT: 8,
  KEY: 9,          // a property's name that was sent before
  NEW_KEY: 10,     // one that is to be remembered
  WELL_KNOWN: 11, REGISTERED: 12, MY_SYMBOL: 13, YOUR_SYMBOL: 14,
  MINE: 15, YOURS: 16, INTRINSIC: 17,
  ARRAY: 18, OBJECT: 19, HOLE: 20, BACK: 21, NUMBERS: 22,
  DATE: 23, REGEXP: 24, MAP: 25, SET: 26, ERROR: 27, VIEW: 28, BUFFER: 29, BOXED: 30,
  PROMISE: 31, SNAPSHOT: 32, INTS: 33,
  LIMIT: 34,       // to a guest: its own limit() (limited.cjs)
  TRANSFER: 35,    // the same of transfer() (transfer.cjs)
  JSON: 36,        // plain data as one text (plain.cjs)
});

// What an object is; the worker's natives.cc has the same numbers.
const Kind = fixed({
  OBJECT: 0, FUNCTION: 1, CONSTRUCTOR: 2, ARRAY: 3, DATE: 4, REGEXP: 5, ERROR: 6, PROMISE: 7, MAP: 8,
  SET: 9, VIEW: 10, BUFFER: 11, BOXED: 12,
});

// How an object with methods is gone through, where it is.
const Iterates = fixed({ SYNC: 1, ASYNC: 2 });

// The other side broke the protocol, or our reading of it: the host ends that worker.
class WireError extends Error {
  #ours;
  // By what no proxy answers: instanceof would run a guest's trap, or ask one across the membrane.
  static is(value) {
    return typeof value === 'object' && value !== null && #ours in value;
  }
}

// Reads one message. Every read is checked against the message's end; what is decoded is decoded
// before anybody's code runs, because the next message overwrites it.
class Reader {
  constructor() {
    this.bytes = null;
    this.view = null;
    this.at = 0;
    this.end = 0;
  }
  use(bytes) {
    this.bytes = bytes;
    this.view = DataViewOf(bytes);
  }
  open(length) {
    if (length < HEADER || length > this.bytes.length) throw new WireError('length');
    this.at = 0;
    this.end = length;
  }
  need(count) {
    if (count > this.end - this.at) throw new WireError('truncated');
  }
  u8() {
    this.need(1);
    return this.bytes[this.at++];
  }
  u16() {
    this.need(2);
    const value = this.view.getUint16(this.at, true);
    this.at += 2;
    return value;
  }
  u32() {
    this.need(4);
    const value = this.view.getUint32(this.at, true);
    this.at += 4;
    return value;
  }
  i32() {
    this.need(4);
    const value = this.view.getInt32(this.at, true);
    this.at += 4;
    return value;
  }
  f64() {
    this.need(8);
    const value = this.view.getFloat64(this.at, true);
    this.at += 8;
    return value;
  }
  // A count of things that take `least` bytes each at least.
  count(least) {
    const count = this.u32();
    if (count > (this.end - this.at) / least) throw new WireError('count');
    return count;
  }
}

// Writes one message. `room` makes more of it, or throws.
class Writer {
  constructor(room) {
    this.bytes = null;
    this.view = null;
    this.at = 0;
    this.room = room;
  }
  use(bytes) {
    this.bytes = bytes;
    this.view = DataViewOf(bytes);
  }
  need(count) {
    if (this.at + count > this.bytes.length) this.room(this.at + count);
  }
  u8(value) {
    this.need(1);
    this.bytes[this.at++] = value;
  }
  u16(value) {
    this.need(2);
    this.view.setUint16(this.at, value, true);
    this.at += 2;
  }
  u32(value) {
    this.need(4);
    this.view.setUint32(this.at, value, true);
    this.at += 4;
  }
  tagged32(tag, value) {
    this.need(5);
    this.bytes[this.at] = tag;
    this.view.setInt32(this.at + 1, value, true);
    this.at += 5;
  }
  tagged64(tag, value) {
    this.need(9);
    this.bytes[this.at] = tag;
    this.view.setFloat64(this.at + 1, value, true);
    this.at += 9;
  }
  f64(value) {
    this.need(8);
    this.view.setFloat64(this.at, value, true);
    this.at += 8;
  }
  raw(bytes) {
    this.need(bytes.length);
    TypedArraySet(this.bytes, bytes, this.at);
    this.at += bytes.length;
  }
  // A short text of one-byte characters, or false and nothing written.
  short(text) {
    const length = text.length;
    if (length > 24) return false;
    this.need(5 + length);
    const start = this.at + 5;
    for (let i = 0; i < length; i++) {
      const code = StringCharCodeAt(text, i);
      if (code > 255) return false;
      this.bytes[start + i] = code;
    }
    this.bytes[this.at] = Tag.TEXT1;
    this.view.setUint32(this.at + 1, length, true);
    this.at = start + length;
    return true;
  }
}

setPrototypeOf(Reader.prototype, null);
setPrototypeOf(Writer.prototype, null);

module.exports = { HEADER, Op, End, Flag, Settle, Tag, Kind, Iterates, WireError, Reader, Writer };
