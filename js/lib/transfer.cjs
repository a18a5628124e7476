'use strict';
// transfer(): bytes that cross and are gone where they were. They are not shared: what arrives is a buffer of
// the receiver's own, under its own limits; the sender's is detached once the message is written.

const P = require('./primordials.cjs');

let isTransfer, transferred;
class Transfer {
  #value;
  constructor(value) {
    this.#value = value;
  }
  static {
    // By what no proxy answers, as WireError.is (wire.cjs).
    isTransfer = (value) => #value in value;
    transferred = (value) => value.#value;
  }
}
P.setPrototypeOf(Transfer.prototype, null);
P.deleteProperty(Transfer.prototype, 'constructor');

const UNDETACHABLE = 'a buffer that cannot be detached, such as a WebAssembly memory\'s; nothing of the message was given away';

const isObject = (value) => (typeof value === 'object' || typeof value === 'function') && value !== null;

// The whole buffer that a value is, or is a view of. Slots answer, so that no code of anybody's runs.
function bufferOf(value) {
  if (!P.ArrayBufferIsView(value)) return value;
  return P.viewName(value) === undefined ? P.dataViewBuffer(value) : P.viewBuffer(value);
}
function lengthOf(value) {
  if (!P.ArrayBufferIsView(value)) return P.ArrayBufferByteLength(value);
  return P.viewName(value) === undefined ? P.dataViewLength(value) : P.viewLength(value);
}

// Throws where it is nothing to be given away as a whole.
function check(value) {
  const buffer = bufferOf(value);
  let length;
  try {
    length = P.ArrayBufferByteLength(buffer);
  } catch {
    throw new P.TypeError('transfer: an ArrayBuffer, or a view of all of one; shared memory is nobody\'s to give away');
  }
  if (P.ArrayBufferDetached(buffer)) throw new P.TypeError('transfer: the buffer is detached; what was transferred once is there no more');
  if (P.ArrayBufferResizable(buffer)) throw new P.TypeError('transfer: a resizable buffer, or a view that follows its length, is not transferred: give away buffer.transferToFixedLength()');
  if (lengthOf(value) !== length) throw new P.TypeError('transfer: a view of a part would take the rest along: give away a copy, view.slice()');
  return buffer;
}

function transfer(value) {
  if (!isObject(value)) throw new P.TypeError('transfer: an ArrayBuffer, or a view of all of one');
  if (isTransfer(value)) return value;
  check(value);
  return new Transfer(value);
}

// What a Transfer in a message stands for; its buffer goes once that is written.
function takeTransfer(endpoint, box) {
  const value = transferred(box);
  const buffer = check(value);
  if (endpoint.transfers === null) endpoint.transfers = P.list();
  const { transfers } = endpoint;
  for (let i = 0; i < transfers.length; i++)
    if (transfers[i] === buffer) throw new P.TypeError('transfer: the same buffer twice in one message');
  if (!endpoint.link.isDetachable(buffer)) throw new P.TypeError(`transfer: ${UNDETACHABLE}`);
  P.ArrayPush(transfers, buffer);
  return value;
}

// All of them or, with an error by which their message is not sent, none: one may be a WebAssembly memory's, or have
// been detached by a getter meanwhile.
function detachAll(endpoint) {
  if (!endpoint.link.detach(endpoint.transfers))
    throw new P.TypeError(`transfer: ${UNDETACHABLE}`);
}

module.exports = { transfer, isTransfer, takeTransfer, detachAll };
