'use strict';
const {
  RangeError, ObjectFreeze, fixed, list, random, imul, ArrayJoin, SafeSet, StringIncludes, StringSplit, Uint32Array, defineProperty, setPrototypeOf,
} = require('./primordials.cjs');

// A bound of the membrane itself, met by whoever was writing a message.
class LimitError extends RangeError {
  #ours;
  code;
  // As WireError.is (wire.cjs).
  static is(value) {
    return typeof value === 'object' && value !== null && #ours in value;
  }
  constructor(code, message) {
    super(message);
    this.code = code;
    ObjectFreeze(this);
  }
}
// A guest that catches one neither makes another nor gives it words of its own.
defineProperty(LimitError.prototype, 'constructor', { __proto__: null, value: RangeError });
// More is held across than may be: perhaps of what the other side has dropped.
const isOfHandles = (error) => LimitError.is(error) && error.code === 'ERR_SANDBOX_HANDLES';

// What a message of a guest costs its host to read, in bytes of the host's heap: as many as the message itself may
// have (option output), and SLACK for what comes with it. What takes longer to make than 3 ns for each of its bytes
// weighs more than it has: so 16 MiB are read in 50 ms.
const Weight = fixed({
  TEXT: 64, OBJECT: 96, ITEM: 24, SHAPE: 400, DATE: 256, COLLECTION: 400, ENTRY: 64, BUFFER: 512, BOXED: 256, BIGINT: 256, SYMBOL: 512,
  HANDLE: 1024, PROMISE: 2048, ERROR: 8192, SNAPSHOT: 2048, METHOD: 256, REGEXP: 1536, SETTLED: 512,
});

const SLACK = 4096;

// A regular expression weighs what the engine takes to read it: by its length, by sets of Unicode's characters that it writes
// out (u, v), and by the tables that a property in it stands for, of which \p{RGI_Emoji} takes milliseconds.
function weightOfRegExp(source, flags) {
  const sets = StringIncludes(flags, 'v');
  const unicode = sets || StringIncludes(flags, 'u');
  const ofText = Weight.REGEXP + source.length * (unicode ? 512 : 64);
  if (!unicode || source.length > 1 << 20) return ofText;
  const properties = StringSplit(source, 'p{').length + StringSplit(source, 'P{').length - 2;
  return ofText + properties * (sets ? 1 << 19 : 1 << 14);
}

// The engine makes a map of its own for each order of names that an object has and no other one had: that is what objects
// cost whose names are all different. Names beyond MOST_NAMED are kept in another way.
const MOST_NAMED = 128;

// Whoever writes counts names of objects whose names it has not met in this message: no fewer than who reads.
class Shapes {
  constructor() {
    this.last = list();
    this.known = new SafeSet();
  }
  count(keys) {
    const { length } = keys;
    let same = length === this.last.length;
    for (let i = 0; same && i < length; i++) same = keys[i] === this.last[i];
    if (same) return 0;
    this.last = keys;
    const key = ArrayJoin(keys, '\n');
    if (this.known.has(key)) return 0;
    this.known.add(key);
    return length < MOST_NAMED ? length : MOST_NAMED;
  }
}

// Whoever reads knows them by hashes with secrets of its own, so that none are chosen to be alike.
const oddRandom = () => (random() * 2 ** 32) | 1;
class Hashes {
  constructor() {
    this.table = new Uint32Array(1 << 17);
    this.message = 0;
    this.byByte = oddRandom();
    this.byShape = oddRandom();
    this.fresh = 0;  // maps that were not there
  }
  // The shape with one name more, which such bytes are.
  next(shape, bytes, begin, end) {
    let hash = end - begin;
    for (let i = begin; i < end; i++) hash = imul(hash ^ bytes[i], this.byByte) + i - begin;
    hash = imul(hash ^ (hash >>> 15) ^ shape, this.byShape);
    hash ^= hash >>> 13;
    const at = hash >>> 15;
    if (this.table[at] !== this.message) {
      this.table[at] = this.message;
      this.fresh++;
    }
    return hash | 1;
  }
}
setPrototypeOf(Shapes.prototype, null);
setPrototypeOf(Hashes.prototype, null);
let hashes;
// For a message that is read from now on.
function hashesOf() {
  if (hashes === undefined) hashes = new Hashes();
  hashes.message = (hashes.message + 1) >>> 0;
  hashes.fresh = 0;
  return hashes;
}

const QUOTE = 34, COMMA = 44, BACKSLASH = 92, OPEN_LIST = 91, CLOSE_LIST = 93, OPEN = 123, CLOSE = 125;
const MAX_JSON_NESTING = 120;
const Json = fixed({ CONTAINER: 64, ITEM: 24, TEXT: 64, NAME: 24 });
// Shapes of what has no names, and of an object without any yet.
const LIST = 0, EMPTY = 1;
// What JSON.parse makes of such bytes, of one or two for each character: containers, texts and items of Json's weights, and maps.
// More than anything where they are nested too deeply.
function weightOfJson(known, bytes, begin, end, two) {
  const step = two ? 2 : 1;
  const shapes = list(), named = list();  // by depth
  const { fresh } = known;
  let weight = 0, depth = 0;
  let shape = LIST, names = 0;  // of the object that stands around
  let isName = false;           // a text that comes is one of its names
  for (let i = begin; i < end; i += step) {
    if (two && bytes[i + 1] !== 0) continue;
    switch (bytes[i]) {
      case QUOTE: {
        const start = i + step;
        for (i = start; i < end; i += step) {
          if (two && bytes[i + 1] !== 0) continue;
          const code = bytes[i];
          if (code === QUOTE) break;
          if (code === BACKSLASH) i += step;
        }
        weight += isName ? Json.NAME : Json.TEXT;
        if (isName && ++names <= MOST_NAMED) shape = known.next(shape, bytes, start, i < end ? i : end);
        isName = false;
        break;
      }
      case OPEN: case OPEN_LIST:
        weight += Json.CONTAINER;
        if (depth === MAX_JSON_NESTING) return Infinity;
        shapes[depth] = shape;
        named[depth++] = names;
        isName = bytes[i] === OPEN;
        shape = isName ? EMPTY : LIST;
        names = 0;
        break;
      case CLOSE: case CLOSE_LIST:
        if (depth > 0) {
          shape = shapes[--depth];
          names = named[depth];
        }
        isName = false;
        break;
      case COMMA:
        weight += Json.ITEM;
        isName = shape !== LIST;
        break;
    }
  }
  return weight + (known.fresh - fresh) * Weight.SHAPE;
}

module.exports = { LimitError, isOfHandles, SLACK, Weight, Shapes, hashesOf, weightOfRegExp, Json, weightOfJson, MOST_NAMED, EMPTY };
