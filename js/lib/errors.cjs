'use strict';
// What the sandbox itself says, as classes.

const { withoutOurs, addCaller, addGuest } = require('./stack.cjs');

class SandboxError extends Error {
  #ours;
  // By what no proxy answers: what was thrown may be a guest's.
  static is(value) {
    return typeof value === 'object' && value !== null && #ours in value;
  }
  constructor(code, message) {
    super(message);
    this.code = code;
    withoutOurs(this, this.name, message);
  }
  get name() {
    return this.constructor.name;
  }
}
class TimeLimitError extends SandboxError {
  constructor(message, killed = false, limit = 'time') {
    super('ERR_SANDBOX_TIME', message);
    this.killed = killed;
    this.limit = limit;
  }
}
class MemoryLimitError extends SandboxError {
  constructor(message, killed = false) {
    super('ERR_SANDBOX_MEMORY', message);
    this.killed = killed;
  }
}
class OutputLimitError extends SandboxError {
  constructor(message) {
    super('ERR_SANDBOX_OUTPUT', message);
  }
}
class HandleLimitError extends SandboxError {
  constructor(message) {
    super('ERR_SANDBOX_HANDLES', message);
  }
}
class LostError extends SandboxError {
  constructor(message) {
    super('ERR_SANDBOX_LOST', message);
  }
}
class DisposedError extends SandboxError {
  constructor(message = 'the sandbox is disposed') {
    super('ERR_SANDBOX_DISPOSED', message);
  }
}

// Errors of guests are of the class that the guest threw; these two tell where they are from.
const ofGuests = new WeakSet();
const ofStacks = new WeakSet();
class GuestError extends Error {
  static [Symbol.hasInstance](value) {
    return typeof value === 'object' && value !== null && ofGuests.has(value);
  }
}
class StackLimitError extends SandboxError {
  static [Symbol.hasInstance](value) {
    return typeof value === 'object' && value !== null && ofStacks.has(value);
  }
}

// An error of a guest's or of ours, with who called (stack.cjs); others are not ours to change.
const calledFrom = (error, here) => (SandboxError.is(error) || error instanceof GuestError ? addCaller(error, here) : error);

// A limit's error with the frames of the guest that it ended. What a signal gave as its reason is not ours.
const endedAt = (error, where) => {
  if (error instanceof TimeLimitError) addGuest(error, error.name, error.message, where);
  return error;
};

const byCode = (code, message) => {
  switch (code) {
    case 'ERR_SANDBOX_OUTPUT': return new OutputLimitError(message);
    case 'ERR_SANDBOX_HANDLES': return new HandleLimitError(message);
    default: return new SandboxError('ERR_SANDBOX_COPY', message);
  }
};

module.exports = {
  SandboxError, TimeLimitError, MemoryLimitError, OutputLimitError, HandleLimitError, LostError, DisposedError, GuestError,
  StackLimitError, ofGuests, ofStacks, byCode, calledFrom, endedAt,
};
