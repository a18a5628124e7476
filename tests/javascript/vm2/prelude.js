// What vm2's guests find besides the language: `global`, and a Buffer of their own.
((limit) => {
  globalThis.global = globalThis;
  Object.setPrototypeOf(globalThis, Object.prototype);
  class VMError extends Error {
    constructor(message, code) {
      super(message);
      this.name = 'VMError';
      this.code = code;
    }
  }
  Object.defineProperty(globalThis, 'VMError', { value: VMError, writable: true, configurable: true });

  const { defineProperty } = Object;
  const { construct, apply } = Reflect;
  const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'));
  const utf8 = (text) => Array.from(unescape(encodeURIComponent(text)), (character) => character.charCodeAt(0));
  const check = (size) => {
    if (size > limit) throw new RangeError(`Buffer allocation size ${size} exceeds bufferAllocLimit ${limit}`);
    return size;
  };
  class Bytes extends Uint8Array {
    static from(value, encoding) {
      if (typeof value === 'number') throw new TypeError('The first argument must not be a number');
      const list = typeof value !== 'string' ? (value instanceof ArrayBuffer ? new Uint8Array(value) : value)
        : encoding === 'hex' ? value.match(/../g)?.map((pair) => parseInt(pair, 16)) ?? []
        : encoding === 'latin1' ? Array.from(value, (character) => character.charCodeAt(0)) : utf8(value);
      const made = new this(check(list.length));
      for (let i = 0; i < list.length; i++) made[i] = list[i];
      return made;
    }
    static alloc(size, fill) {
      const made = new this(check(size));
      return fill === undefined ? made : made.fill(fill);
    }
    static allocUnsafe(size) { return this.alloc(size); }
    static allocUnsafeSlow(size) { return this.alloc(size); }
    static isBuffer(value) { return value instanceof Bytes; }
    static byteLength(text) { return utf8(text).length; }
    static concat(list) { return this.from(list.flatMap((bytes) => Array.from(bytes))); }
    toString(encoding) {
      if (encoding === 'hex') return hex(this).join('');
      return decodeURIComponent(escape(String.fromCharCode(...this)));
    }
    inspect() { return `<Buffer ${hex(this).join(' ')}>`; }
  }
  // Called without `new` as well, as Node's is.
  globalThis.Buffer = new Proxy(Bytes, {
    construct(target, [first, ...rest], made) {
      if (typeof first === 'string') return Bytes.from(first, ...rest);
      if (typeof first === 'number') check(first);
      return construct(target, [first, ...rest], made);
    },
    apply: (target, self, [first, ...rest]) => (typeof first === 'number' ? Bytes.alloc(first) : apply(Bytes.from, Bytes, [first, ...rest])),
  });
  defineProperty(Bytes.prototype, 'constructor', { value: globalThis.Buffer, writable: true, configurable: true });
})
