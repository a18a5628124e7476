'use strict';
const { RangeError } = require('./primordials.cjs');

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
  }
}
// Objects that one message may make, whatever its bytes: so long a host that reads it does nothing else.
const MAX_OBJECTS = 1 << 20;
module.exports = { LimitError, MAX_OBJECTS };
