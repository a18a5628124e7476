'use strict';
const { RangeError } = require('./primordials.cjs');

// A bound of the membrane itself, met by whoever was writing a message.
class LimitError extends RangeError {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}
module.exports = { LimitError };
