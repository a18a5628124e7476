'use strict';
// Memory that a guest has as its global `shared` and the host copies out of and into: what the host decides by
// is a copy, which no guest changes any more.

const { DisposedError } = require('./errors.cjs');

class SharedMemory {
  #native;
  #size;
  // native: the link's functions; size: bytes, in whole pages.
  constructor(native, size) {
    this.#native = native;
    this.#size = size;
  }
  get size() {
    return this.#size;
  }
  read(offset = 0, length = this.#size - offset) {
    this.#within(offset, length);
    const bytes = new Uint8Array(length);
    this.#copy(bytes, offset, false);
    return bytes;
  }
  write(bytes, offset = 0) {
    if (!ArrayBuffer.isView(bytes)) throw new TypeError('write: a Buffer, a typed array or a DataView');
    this.#within(offset, bytes.byteLength);
    this.#copy(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset, true);
  }
  #within(offset, length) {
    if (!Number.isInteger(offset) || !Number.isInteger(length) || offset < 0 || length < 0 || offset + length > this.#size)
      throw new RangeError(`bytes ${offset} to ${offset + length} are not within the ${this.#size} that are shared`);
  }
  #copy(bytes, offset, write) {
    if (!this.#native.copyShared(bytes, offset, write))
      throw new DisposedError('the sandbox has ended, and with it the memory that it shared');
  }
}

module.exports = { SharedMemory };
