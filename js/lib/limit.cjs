'use strict';
const { RangeError, ObjectFreeze, defineProperty } = require('./primordials.cjs');

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
// Objects that one message may make, whatever its bytes: so long a host that reads it does nothing else.
const MAX_OBJECTS = 1 << 20;
module.exports = { LimitError, MAX_OBJECTS };
