'use strict';
const { RangeError, ObjectFreeze, fixed, StringIncludes, StringSplit, defineProperty } = require('./primordials.cjs');

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
// Objects that one message may make, whatever its bytes: so long a host that reads it does nothing else.
const MAX_OBJECTS = 1 << 20;
// What takes longer than an object counts as more: an error, with the stack that the engine looks up for it; an object
// with methods, and each of them, for the asynchronous face.
const Weight = fixed({ ERROR: 64, SNAPSHOT: 16, METHOD: 4 });
// A regular expression counts as the objects that could be made while the engine reads it: by its length, by sets of
// Unicode's characters that it writes out (u, v), and by the tables that a property in it stands for, of which \p{RGI_Emoji}
// takes milliseconds.
function weightOf(source, flags) {
  const sets = StringIncludes(flags, 'v');
  const unicode = sets || StringIncludes(flags, 'u');
  const ofText = 64 + source.length * (unicode ? 32 : 4);
  if (!unicode || ofText > MAX_OBJECTS) return ofText;
  const properties = StringSplit(source, 'p{').length + StringSplit(source, 'P{').length - 2;
  return ofText + properties * (sets ? 1 << 15 : 1 << 10);
}
module.exports = { LimitError, isOfHandles, MAX_OBJECTS, Weight, weightOf };
