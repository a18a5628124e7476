'use strict';
// Sandbox: what a user of the package holds. Workers are in pool.cjs, what crosses in membrane.cjs.

const { EventEmitter } = require('node:events');
const { Op, Tag, Kind } = require('./wire.cjs');
const { Endpoint } = require('./membrane.cjs');
const { HostPolicy } = require('./policy-host.cjs');
const { encodeArguments } = require('./standin.cjs');
const { readOptions, duration } = require('./options.cjs');
const { webHost } = require('./web-host.cjs');
const pool = require('./pool.cjs');
const errors = require('./errors.cjs');

const secret = Symbol('Sandbox.create');
const nothing = () => undefined;
const value = (endpoint) => endpoint.decode();

const alive = new Set();
const endpoints = new WeakMap();  // for tests of the membrane

class Sandbox extends EventEmitter {
  #options;
  #worker;
  #endpoint;
  #lost;
  #disposed = false;
  #used = 0;
  #made = false;  // by the pool, in advance
  #call;        // limits of the call that is about to begin
  #releasing = false;

  constructor(key, options) {
    if (key !== secret) throw new TypeError('a sandbox is made by Sandbox.create() or Sandbox.createSync()');
    super();
    this.#options = options;
  }

  static async create(given) {
    const options = readOptions(given);
    const sandbox = new Sandbox(secret, options);
    const worker = await pool.acquire(options);
    sandbox.#attach(worker);
    try {
      if (!sandbox.#made) await worker.link.post(sandbox.#endpoint, Op.CREATE, 0, pool.createMessage(options), nothing);
      await worker.link.post(sandbox.#endpoint, Op.INIT, 0, sandbox.#initMessage, nothing);
    } catch (error) {
      sandbox.disposeSync();
      throw error;
    }
    return sandbox;
  }
  static createSync(given) {
    const options = readOptions(given);
    const sandbox = new Sandbox(secret, options);
    sandbox.#attach(pool.acquireSync(options));
    try {
      if (!sandbox.#made) sandbox.#endpoint.ask(Op.CREATE, 0, pool.createMessage(options), nothing, true);
      sandbox.#endpoint.ask(Op.INIT, 0, sandbox.#initMessage, nothing, true);
    } catch (error) {
      sandbox.disposeSync();
      throw error;
    }
    return sandbox;
  }
  #attach(worker) {
    this.#worker = worker;
    const { number, made } = worker.join(this, this.#options);
    this.#made = made;
    this.#endpoint = new Endpoint(worker.link, number, new HostPolicy(this, this.#options.handles));
    worker.link.endpoints.set(number, this.#endpoint);
    endpoints.set(this, this.#endpoint);
    alive.add(this);
  }
  #initMessage = (endpoint) => {
    const { handles, output, frozen, globals, expose } = this.#options;
    const { writer } = endpoint.link;
    writer.u32(handles);
    writer.u32(output);
    writer.u8(frozen ? 1 : 0);
    endpoint.encode(globals);
    if (globals === 'ecmascript' || globals === 'none') {
      writer.u8(Tag.UNDEFINED);
    } else {
      writer.u8(Tag.MINE);
      writer.u32(endpoint.exportHandle(webHost(this), 0, Kind.OBJECT));
      writer.u8(Kind.OBJECT);
    }
    const names = Object.keys(expose);
    writer.u32(names.length);
    for (const name of names) {
      endpoint.encodeText(name);
      endpoint.encode(expose[name]);
    }
  };

  // ------------------------------------------------------------------- running

  async run(source, options = {}) {
    return this.#within(options, Op.RUN, 0, this.#runMessage(source, options));
  }
  runSync(source, options = {}) {
    return this.#withinSync(options, () => this.#endpoint.ask(Op.RUN, 0, this.#runMessage(source, options), value, false));
  }
  #runMessage(source, { filename = 'sandbox.js', lineOffset = 0, columnOffset = 0 }) {
    if (typeof source !== 'string') throw new TypeError('run: the source is a text');
    if (typeof filename !== 'string') throw new TypeError('run: filename is a text');
    return (endpoint) => {
      endpoint.link.writer.u32(lineOffset >>> 0);
      endpoint.link.writer.u32(columnOffset >>> 0);
      endpoint.encodeText(source);
      endpoint.encodeText(filename);
    };
  }

  async call(target, args = [], options = {}) {
    return this.callRecord(this.#recordOf(target), options.this, args, options);
  }
  callSync(target, args = [], options = {}) {
    const record = this.#recordOf(target);
    return this.#withinSync(options, () =>
      this.#endpoint.ask(Op.APPLY, record.id, applyMessage(options.this, args), value, false));
  }
  #recordOf(target) {
    const record = this.#endpoint.standIns.get(target);
    if (typeof target !== 'function' || record === undefined) throw new TypeError('call: not a function of this sandbox');
    return record;
  }
  // For the membrane: a guest's function is called from the asynchronous face.
  async callRecord(record, self, args, options = {}) {
    return this.#within(options, Op.APPLY, record.id, applyMessage(self, args));
  }
  async invoke(record, name, args) {
    return this.#within({}, Op.INVOKE, record.id, (endpoint) => {
      endpoint.encodeText(name);
      encodeArguments(endpoint, args);
    });
  }

  get global() {
    return this.#endpoint.ask(Op.GLOBAL, 0, undefined, value, false);
  }
  copySync(standIn) {
    const record = this.#endpoint.standIns.get(standIn);
    if (record === undefined) return standIn;
    return this.#endpoint.ask(Op.COPY, record.id, undefined, value, false);
  }
  async set(name, item) {
    return this.#worker.link.post(this.#endpoint, Op.EXPOSE, 0, exposeMessage(name, item), nothing);
  }
  setSync(name, item) {
    this.#endpoint.ask(Op.EXPOSE, 0, exposeMessage(name, item), nothing, false);
  }

  // ------------------------------------------------------------------- limits

  // What the turn that begins now may take (link.cjs).
  turnLimits(call = this.#call) {
    const { time, wall, memory, buffers, wasm, cpu } = this.#options;
    let most = Math.min(time, call?.time ?? time);
    if (cpu > 0) most = Math.min(most, Math.max(1, cpu - this.#used));
    const least = Math.min(wall === 0 ? Infinity : wall, call?.wall ?? Infinity);
    return {
      time: most,
      wall: least === Infinity ? 0 : least,
      resident: this.#worker.resident(memory, buffers, wasm),
    };
  }
  #limitsOf(options) {
    if (options.time === undefined && options.wall === undefined) return undefined;
    return {
      time: options.time === undefined ? undefined : Math.max(1, duration('time', options.time)),
      wall: options.wall === undefined ? undefined : Math.max(1, duration('wall', options.wall)),
    };
  }
  #withinSync(options, task) {
    this.#call = this.#limitsOf(options);
    const before = this.#clock();
    try {
      return task();
    } finally {
      this.#call = undefined;
      this.#count(before);
    }
  }
  async #within(options, op, target, write) {
    const limits = this.#limitsOf(options);
    const before = this.#clock();
    const pending = this.#worker.link.post(this.#endpoint, op, target, write, value, limits);
    const wall = Math.min(limits?.wall ?? Infinity, this.#options.wall || Infinity);
    try {
      return wall === Infinity ? await pending : await deadline(pending, wall);
    } finally {
      this.#count(before);
    }
  }
  // Only where a sum of all calls is limited, which costs a system call each.
  #clock() {
    if (this.#options.cpu === 0) return 0;
    if (this.#used >= this.#options.cpu)
      throw new errors.TimeLimitError('the guest has used all the processor time that it had');
    return this.#worker.link.native.processorTime();
  }
  #count(before) {
    if (this.#options.cpu > 0 && this.#lost === undefined) this.#used += this.#worker.link.native.processorTime() - before;
  }

  async stats() {
    const { link } = this.#worker;
    const [heap, buffers] = await link.post(this.#endpoint, Op.STATS, 0, undefined, ({ link: { reader } }) => [reader.f64(), reader.f64()]);
    return {
      heap, buffers, cpu: link.native.processorTime(), exported: this.#endpoint.count,
      imported: this.#endpoint.imports[0].size + this.#endpoint.imports[1].size,
    };
  }

  // ------------------------------------------------------------------- for the membrane

  failure() {
    return this.#lost ?? new errors.DisposedError();
  }
  // Promises of the host that guests wait for.
  sendSettled(endpoint) {
    const { settled } = endpoint;
    endpoint.settled = [];
    for (const { id, ok, value: item } of settled) {
      const message = (okay, what) => ({ link: { writer } }) => {
        writer.u32(id);
        writer.u8(okay ? 1 : 0);
        endpoint.encode(what);
      };
      this.#settle(endpoint, message(ok, item))
        .catch((error) => {
          // What waits for it waits for ever once all processor time is used.
          if (!this.#gone && !(error instanceof errors.TimeLimitError)) return this.#settle(endpoint, message(false, String(error?.message)));
        })
        .catch(nothing);
    }
  }
  // What waited goes on, in a turn of its own, which counts as a call does.
  async #settle(endpoint, message) {
    const before = this.#clock();
    try {
      await this.#worker.link.post(endpoint, Op.SETTLE, 0, message, nothing);
    } finally {
      this.#count(before);
    }
  }
  // What was let go of is told with the next message, or by one of its own when there is none.
  sendReleases(endpoint) {
    if (this.#releasing || endpoint.releases.length < 128) return;
    this.#releasing = true;
    setTimeout(() => {
      this.#releasing = false;
      if (!this.#gone && endpoint.releases.length > 0) this.#worker.link.post(endpoint, Op.PUMP, 0, undefined, nothing).catch(nothing);
    }, 50).unref();
  }
  holds(standIn) {
    return this.#endpoint.standIns.has(standIn);
  }
  get #gone() {
    return this.#lost !== undefined || this.#disposed;
  }

  // ------------------------------------------------------------------- the end

  get pid() {
    return this.#worker.pid;
  }
  get disposed() {
    return this.#disposed;
  }
  get lost() {
    return this.#lost;
  }
  workerLost(error) {
    if (this.#gone) return;
    this.#lost = error;
    this.#endpoint.close();
    alive.delete(this);
    this.emit('lost', error);
  }
  async dispose() {
    this.disposeSync();
  }
  disposeSync() {
    if (this.#disposed) return;
    this.#disposed = true;
    alive.delete(this);
    if (this.#worker === undefined) return;
    this.#worker.leave(this, this.#endpoint);
    this.#endpoint.close();
    this.emit('disposed');
  }
  async [Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')]() {
    return this.dispose();
  }
  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.disposeSync();
  }
}

const applyMessage = (self, args) => (endpoint) => {
  endpoint.encode(self);
  encodeArguments(endpoint, args);
};
const exposeMessage = (name, item) => {
  if (typeof name !== 'string') throw new TypeError('set: a name is a text');
  return (endpoint) => {
    endpoint.encodeText(name);
    endpoint.encode(item);
  };
};

function deadline(pending, wall) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new errors.TimeLimitError(`no answer within ${wall} ms`)), wall + 20);
    pending.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function isGuest(item) {
  if ((typeof item !== 'object' && typeof item !== 'function') || item === null) return false;
  for (const sandbox of alive) if (sandbox.holds(item)) return true;
  return false;
}

module.exports = { Sandbox, isGuest, endpoints };
