'use strict';
// Stacks of errors as a user of the package reads them: where a guest's code stood, then who called it, and
// none of our own frames.

const { sep } = require('node:path');

const MOST_FRAMES = 50;
const MOST_TEXT = 8 << 10;
const OURS = __dirname + sep;
const isFrame = (line) => /^\s+at /.test(line);
const isOurs = (line) => line.includes(OURS) || line.includes('(node:internal/') || line.includes('at node:internal/');

// Lines of a guest's stack, without those of its end of the membrane. A worker may say more than an honest one does.
const guestFrames = (stack) => stack.slice(0, MOST_TEXT).split('\n').filter((line) => isFrame(line) && !line.includes('bulkhead:')).slice(0, MOST_FRAMES);
// A program may format its stacks in a way of its own, and then we have nothing to say.
const hostFrames = (stack) => (typeof stack === 'string' ? stack.split('\n').filter((line) => isFrame(line) && !isOurs(line)) : []);

// Who calls now: { stack }, which the engine makes a text of where somebody asks.
function caller() {
  const here = {};
  Error.captureStackTrace(here, caller);
  return here;
}

// Makes an error whose stack is to be another's.
function withoutStack(make) {
  const { stackTraceLimit } = Error;
  try {
    Error.stackTraceLimit = 0;
  } catch { /* frozen by the program: it takes longer */ }
  try {
    return make();
  } finally {
    if (Error.stackTraceLimit !== stackTraceLimit) Error.stackTraceLimit = stackTraceLimit;
  }
}

const stacked = new WeakSet();
const setStack = (error, lines) => Object.defineProperty(error, 'stack', {
  __proto__: null, value: lines.join('\n'), writable: true, enumerable: false, configurable: true,
});
// Begins the stack of an error: what it says, and frames of a guest.
function beginStack(error, name, message, stack) {
  setStack(error, [message === '' ? name : `${name}: ${message}`, ...guestFrames(stack)]);
}
// Who called, behind that, once for each error: it may end more than one call.
function addCaller(error, here) {
  if (stacked.has(error)) return error;
  const { stack } = error;
  const frames = hostFrames(here.stack).filter((line) => !stack.includes(line));
  if (frames.length === 0) return error;
  stacked.add(error);
  setStack(error, [stack, ...frames]);
  return error;
}
// Where the guest's code stood that a limit ended, before who called.
function addGuest(error, name, message, stack) {
  const frames = guestFrames(stack);
  if (frames.length > 0) setStack(error, [`${name}: ${message}`, ...frames, ...hostFrames(error.stack)]);
}
// Of an error that was made here.
function withoutOurs(error, name, message) {
  setStack(error, [`${name}: ${message}`, ...hostFrames(error.stack)]);
}

module.exports = { addGuest, withoutStack, beginStack, addCaller, withoutOurs, caller, MOST_TEXT };
