'use strict';
// Sandbox: what a user of the package holds. Workers are in pool.cjs, what crosses in membrane.cjs.

const { EventEmitter } = require('node:events');
const { inspect } = require('node:util');
const { Op, Flag, Tag, Kind, Settle } = require('./wire.cjs');
const { Endpoint } = require('./membrane.cjs');
const { HostPolicy } = require('./policy-host.cjs');
const { encodeArguments } = require('./standin.cjs');
const { readOptions, realmOptions, callOptions, duration } = require('./options.cjs');
const { webHost } = require('./web-host.cjs');
const { wantsBuffer, bufferProgram } = require('./node-host.cjs');
const { looker } = require('./look.cjs');
const { Call } = require('./call.cjs');
const { Post } = require('./link.cjs');
const { Modules, moduleName } = require('./modules.cjs');
const { SharedMemory } = require('./shared.cjs');
const codeCache = require('./code-cache.cjs');
const pool = require('./pool.cjs');
const errors = require('./errors.cjs');
const { caller } = require('./stack.cjs');

const secret = Symbol('Sandbox.create');
const nothing = () => undefined;
const MOST_WALL = 2 ** 30;  // a timer's; nobody waits for twelve days
const value = (endpoint) => endpoint.decode();
const cacheBytes = ({ link: { reader } }) => {
  const length = reader.count(1);
  reader.at += length;
  return Buffer.from(reader.bytes.subarray(reader.at - length, reader.at));
};

const alive = new Set();
const endpoints = new WeakMap();  // for tests of the membrane

class Sandbox extends EventEmitter {
  #options;
  #modules;
  #worker;
  #endpoint;
  #lost;
  #disposed = false;
  #budget = { used: 0 };  // processor time, of all realms
  #shared;
  #made = false;  // by the pool, in advance
  #life = new Call();  // ends with the sandbox
  #awaited = 0;        // promises of the guest's that are pending here
  #timers = 0;
  #keepsAlive;
  #warned = false;
  #heard = new WeakSet();  // errors that a caller was given
  #usual;              // limits of a turn
  #call;               // what a request that waits is of (link.cjs)
  #realms = new Set();
  #root;  // whose heap a realm is in
  #releasing = false;
  #making = true;
  #told = new WeakSet();  // errors that the journal has

  constructor(key, options) {
    if (key !== secret) throw new TypeError('a sandbox is made by Sandbox.create() or Sandbox.createSync()');
    super();
    this.#options = options;
    if (options.modules !== undefined) {
      this.#modules = new Modules(options.modules, (name, importer, allowed) => {
        this.note(allowed, `module ${name}`, allowed ? 'the host gave it (option modules)' : 'the host has none of that name (option modules)',
          importer === '' ? 'import' : `imported by ${importer}`);
        this.emit('module', name, importer, allowed);
      });
    }
  }

  static async create(given) {
    const options = readOptions(given);
    const sandbox = new Sandbox(secret, options);
    const worker = await pool.acquire(options);
    sandbox.#attach(worker);
    try {
      if (!sandbox.#made) await sandbox.#post(Op.CREATE, 0, pool.createMessage(options));
      await sandbox.#post(Op.INIT, 0, sandbox.#initMessage);
      worker.learn(sandbox.#endpoint);
    } catch (error) {
      sandbox.#tell(error);
      sandbox.disposeSync();
      throw error;
    }
    return sandbox.#begun('create');
  }
  static createSync(given) {
    const options = readOptions(given);
    const sandbox = new Sandbox(secret, options);
    sandbox.#attach(pool.acquireSync(options));
    try {
      if (!sandbox.#made) sandbox.#endpoint.ask(Op.CREATE, 0, pool.createMessage(options), nothing, true);
      sandbox.#endpoint.ask(Op.INIT, 0, sandbox.#initMessage, nothing, true);
      sandbox.#worker.learn(sandbox.#endpoint);
    } catch (error) {
      sandbox.#tell(error);
      sandbox.disposeSync();
      throw error;
    }
    return sandbox.#begun('create');
  }

  // Another realm in the same heap: a global object, intrinsics and handles of its own, and its own
  // `expose`; the limits are one for all realms.
  async realm(given) {
    const realm = this.#newRealm(given);
    try {
      await realm.#post(Op.CREATE, 0, pool.createMessage(realm.#options, realm.#root.#endpoint.number + 1));
      await realm.#post(Op.INIT, 0, realm.#initMessage);
    } catch (error) {
      realm.disposeSync();
      throw error;
    }
    return realm.#begun('realm');
  }
  realmSync(given) {
    const realm = this.#newRealm(given);
    try {
      realm.#endpoint.ask(Op.CREATE, 0, pool.createMessage(realm.#options, realm.#root.#endpoint.number + 1), nothing, true);
      realm.#endpoint.ask(Op.INIT, 0, realm.#initMessage, nothing, true);
    } catch (error) {
      realm.disposeSync();
      throw error;
    }
    return realm.#begun('realm');
  }
  #newRealm(given) {
    if (this.#gone) throw this.failure();
    const root = this.#root ?? this;
    const realm = new Sandbox(secret, realmOptions(root.#options, given));
    realm.#root = root;
    realm.#budget = root.#budget;
    root.#realms.add(realm);
    realm.#attach(root.#worker);
    return realm;
  }
  #begun(how) {
    this.#making = false;
    this.note(true, givenText(this.#options), 'what the host gave it', how);
    return this;
  }
  #attach(worker) {
    this.#worker = worker;
    const { number, made } = worker.join(this, this.#options);
    this.#made = made;
    if (this.#options.shared > 0 && !this.#options.realm) this.#shared = new SharedMemory(worker.link.native, worker.shared);
    this.#endpoint = new Endpoint(worker.link, number, new HostPolicy(this, this.#options.handles));
    this.#endpoint.policy.look = looker(this.#endpoint);
    worker.link.endpoints.set(number, this.#endpoint);
    endpoints.set(this, this.#endpoint);
    alive.add(this);
    worker.journal?.entered(this.#options.name);
    worker.journal?.belongs(worker.pid, this.#options.tenant ?? this.#options.name);
  }
  #initMessage = (endpoint) => {
    const { handles, output, frozen, globals, without, expose } = this.#options;
    const { writer } = endpoint.link;
    writer.u32(handles);
    writer.u32(output);
    writer.u8(frozen ? 1 : 0);
    endpoint.encode(globals);
    if (this.#modules === undefined) {
      writer.u8(Tag.UNDEFINED);
    } else {
      writer.u8(Tag.MINE);
      writer.u32(endpoint.exportHandle(this.#load, 0, Kind.FUNCTION));
      writer.u8(Kind.FUNCTION);
    }
    if (globals === 'ecmascript' || globals === 'none') {
      writer.u8(Tag.UNDEFINED);
    } else {
      writer.u8(Tag.MINE);
      writer.u32(endpoint.exportHandle(webHost(this), 0, Kind.OBJECT));
      writer.u8(Kind.OBJECT);
    }
    endpoint.encode(wantsBuffer(globals) ? bufferProgram() : undefined);
    endpoint.encode(without);
    const names = Object.keys(expose);
    writer.u32(names.length);
    for (const name of names) {
      endpoint.encodeText(name);
      endpoint.encode(expose[name]);
    }
  };

  // ------------------------------------------------------------------- running

  async run(source, given) {
    const options = callOptions('run', given);
    return this.#within(this.begin(options), Op.RUN, 0, this.#runMessage(source, options), this.#ran);
  }
  runSync(source, given) {
    const options = callOptions('run', given);
    return this.#withinSync(options, () => this.#endpoint.ask(Op.RUN, 0, this.#runMessage(source, options), this.#ran, false));
  }
  // What V8 makes of a script, for `run` with the option `cache`, of this process or, under a key of the
  // host's, of any.
  async cache(source, given) {
    const { filename = 'sandbox.js', ...options } = callOptions('cache', given);
    if (typeof source !== 'string' || typeof filename !== 'string') throw new TypeError('cache: the source is a text, and filename');
    const { cacheKey, tenant } = this.#cacheDomain('cache');
    const bytes = await this.#within(this.begin(options), Op.CACHE, 0, (endpoint) => {
      endpoint.encodeText(source);
      endpoint.encodeText(filename);
    }, cacheBytes);
    return codeCache.seal(cacheKey, tenant, source, bytes);
  }
  // Who a cache is of, and believed by: a worker that was taken over makes what native code it likes, for all
  // who take its caches. Sandboxes without a tenant trust nobody's.
  #cacheDomain(what) {
    if (this.#options.tenant === undefined) throw new TypeError(`${what}: code caches are of a tenant: name one by the option "tenant"`);
    return this.#options;
  }
  #opened(source, sealed) {
    if (sealed === undefined) return undefined;
    if (!(sealed instanceof Uint8Array)) throw new TypeError('run: cache is what sandbox.cache() gave');
    const { cacheKey, tenant } = this.#cacheDomain('run: cache');
    const bytes = codeCache.open(cacheKey, tenant, source, Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength));
    if (bytes === undefined) this.note(false, 'code cache', 'altered, or of another text, tenant or key; the text was compiled', 'run');
    return bytes;
  }
  // A value, and whether V8 took the cache: it refuses those of another version of its own, or other flags.
  #ran = (endpoint, header) => {
    if ((header.flags & Flag.STALE) !== 0) this.note(false, 'code cache', 'of another engine or other flags of it; the text was compiled', 'run');
    return endpoint.decode();
  };
  #runMessage(source, { filename = 'sandbox.js', lineOffset = 0, columnOffset = 0, cache }) {
    if (typeof source !== 'string') throw new TypeError('run: the source is a text');
    if (typeof filename !== 'string') throw new TypeError('run: filename is a text');
    const cached = this.#opened(source, cache);
    return (endpoint) => {
      endpoint.link.writer.u32(lineOffset >>> 0);
      endpoint.link.writer.u32(columnOffset >>> 0);
      endpoint.encodeText(source);
      endpoint.encodeText(filename);
      endpoint.link.writer.u32(cached?.length ?? 0);
      if (cached !== undefined) endpoint.link.writer.raw(cached);
    };
  }

  // The namespace of a module, and of all that it asks for, once they are evaluated.
  async import(specifier, given) {
    const options = callOptions('import', given);
    const name = this.#moduleOf(specifier);
    const call = this.begin(options);
    await this.#loadWithin(call, name, '');
    return this.#within(call, Op.IMPORT, 0, importMessage(name, false));
  }
  importSync(specifier, given) {
    const options = callOptions('import', given);
    const name = this.#moduleOf(specifier);
    return this.#withinSync(options, () => {
      this.#modules.loadSync(name, '', ({ op, write, read }) => this.#endpoint.ask(op, 0, write, read, false));
      return this.#endpoint.ask(Op.IMPORT, 0, importMessage(name, true), value, false);
    });
  }
  #moduleOf(specifier) {
    if (typeof specifier !== 'string') throw new TypeError('import: the specifier is a text');
    if (this.#modules === undefined) throw new errors.SandboxError('ERR_SANDBOX_MODULE', 'this sandbox has no modules: name them by the option "modules"');
    return moduleName(specifier, '');
  }
  #loadWithin(call, name, importer) {
    const ask = ({ op, write, read }) => this.#within(call, op, 0, write, read);
    ask.isOver = () => call.over() !== undefined;
    return call.wait(this.#modules.load(name, importer, ask));
  }
  // What a guest's import() asks for. Both are its words.
  #load = async (specifier, importer) => {
    const call = this.calling;
    if (typeof specifier !== 'string' || typeof importer !== 'string') throw new TypeError('import: a text');
    await this.#loadWithin(call, moduleName(specifier, importer), importer);
  };

  async call(target, args = [], given = undefined) {
    const options = callOptions('call', given);
    return this.callRecord(this.#recordOf(target), options.this, args, options);
  }
  callSync(target, args = [], given = undefined) {
    const options = callOptions('call', given);
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
    return this.#within(this.begin(options), Op.APPLY, record.id, applyMessage(self, args));
  }
  async constructRecord(record, args) {
    return this.#within(this.begin(), Op.CONSTRUCT, record.id, (endpoint) => {
      endpoint.link.writer.u8(Tag.UNDEFINED);
      encodeArguments(endpoint, args);
    });
  }
  async readRecord(record, name) {
    return this.#within(this.begin(), Op.GET, record.id, (endpoint) => endpoint.encodeText(name));
  }
  // What a call goes on with later: a timer's function.
  async resume(call, target) {
    return this.#goOn(this.#endpoint, Op.APPLY, this.#recordOf(target).id, applyMessage(undefined, []), value, call);
  }
  // What is begun now for later is of this.
  get calling() {
    return this.#endpoint.policy.lasting(this.#endpoint);
  }
  async invoke(record, name, args, call = this.begin()) {
    return this.#within(call, Op.INVOKE, record.id, (endpoint) => {
      endpoint.encode(name);
      encodeArguments(endpoint, args);
    });
  }

  get global() {
    return this.#endpoint.ask(Op.GLOBAL, 0, undefined, value, false);
  }
  // What look.cjs draws. While another call is under way nobody waits for that.
  outline(record, depth) {
    if (this.#worker.link.isBusy) throw new Error('busy');
    return this.#withinSync(undefined, () => this.#endpoint.ask(Op.OUTLINE, record.id, ({ link: { writer } }) => writer.u8(depth), value, false));
  }
  copySync(standIn) {
    const record = this.#endpoint.standIns.get(standIn);
    if (record === undefined) return standIn;
    return this.#endpoint.ask(Op.COPY, record.id, undefined, value, false);
  }
  async set(name, item) {
    await this.#post(Op.EXPOSE, 0, exposeMessage(name, item));
    this.note(true, `expose ${name}`, 'what the host gave it', 'set');
  }
  setSync(name, item) {
    this.#endpoint.ask(Op.EXPOSE, 0, exposeMessage(name, item), nothing, false);
    this.note(true, `expose ${name}`, 'what the host gave it', 'set');
  }

  // ------------------------------------------------------------------- the journal

  // A decision: whether it was allowed, what it was about, why, and by what.
  note(allowed, what, why, how) {
    this.#worker?.journal?.note(this.#options.name, allowed, what, why, how, this.#worker.pid);
  }
  // What of an error is a decision: limits, and the end of a worker. Once for each.
  #tell(error) {
    if (!errors.SandboxError.is(error)) return;
    const what = error instanceof errors.LostError ? 'worker' : limitOf(error);
    if (what === undefined || this.#told.has(error)) return;
    this.#told.add(error);
    this.note(false, what, error.message, '');
  }
  // To whoever called.
  #give(error) {
    this.#tell(error);
    if (errors.SandboxError.is(error)) this.#heard.add(error);
  }
  ended(error) {
    this.#tell(error);
    return error;
  }

  // ------------------------------------------------------------------- limits

  // What the turn that begins now may take (link.cjs).
  turnLimits(call) {
    // Of most calls, and then the same object each time (link.cjs).
    const plain = call === undefined || call === this.#life || (call.time === undefined && call.end === Infinity);
    if (plain && this.#usual !== undefined) return this.#usual;
    const { time, memory, buffers, wasm, cpu } = this.#options;
    let most = Math.min(time, call?.time ?? time);
    // What makes it is ours and no call, as long as no guest's code has run in the worker.
    const ours = this.#making && this.#worker.link.untouched;
    if (ours) most = Math.max(most, pool.MAKING.time);
    if (cpu > 0) most = Math.min(most, Math.max(1, cpu - this.#budget.used));
    const limits = { time: most, wall: call?.left() ?? 0, resident: this.#worker.resident(memory, buffers, wasm) };
    if (plain && cpu === 0 && !ours) this.#usual = limits;
    return limits;
  }
  // A call that begins; without limits of its own it is as long as the sandbox lets it.
  begin(options) {
    if (options === undefined && this.#options.wall === 0) return this.#life;
    const { time, wall, signal } = options ?? {};
    if (signal !== undefined && !(signal instanceof AbortSignal)) throw new TypeError('signal: an AbortSignal');
    const least = Math.min(wall === undefined ? Infinity : Math.min(Math.max(1, duration('wall', wall)), MOST_WALL), this.#options.wall || Infinity);
    if (time === undefined && signal === undefined && least === Infinity) return this.#life;
    return new Call({
      time: time === undefined ? undefined : Math.max(1, duration('time', time)),
      wall: least === Infinity ? undefined : least,
      background: this.#options.background,
      signal,
    }, this.#life);
  }
  // What goes on later of a call that has no limits of its own is of one all the same, which ends alone.
  lasting(call) {
    return call === undefined || call === this.#life ? new Call({ background: this.#options.background }, this.#life) : call;
  }
  // A turn of it was ended, and so it is over with all that waits for it.
  endCall(call, error) {
    if (call !== this.#life) call?.stop(error);
  }
  // The call that requests which wait are of.
  given() {
    return this.#call;
  }
  #withinSync(options, task) {
    const outer = this.#call;
    this.#call = this.begin(options);
    try {
      return task();
    } catch (error) {
      this.#give(error);
      throw error;
    } finally {
      this.#call = outer;
    }
  }
  async #within(call, op, target, write, read = value) {
    const over = call.over();
    if (over !== undefined && !this.#gone) throw over;
    const here = caller();
    const before = this.clock();
    try {
      return await call.wait(this.#worker.link.post(this.#endpoint, op, target, write, read, call));
    } catch (error) {
      this.#give(error);
      throw errors.calledFrom(error, here);
    } finally {
      this.count(before);
    }
  }
  #post(op, target, write, read = nothing) {
    return this.#worker.link.post(this.#endpoint, op, target, write, read, this.begin());
  }
  // Only where a sum of all calls is limited, which costs a system call each.
  clock() {
    if (this.#options.cpu === 0) return 0;
    if (this.#budget.used >= this.#options.cpu)
      throw this.ended(new errors.TimeLimitError('the guest has used all the processor time that it had', false, 'cpu'));
    return this.#processorTime();
  }
  count(before) {
    if (this.#options.cpu > 0 && this.#lost === undefined) this.#budget.used += this.#processorTime() - before;
  }
  #processorTime() {
    const { native, others } = this.#worker.link;
    return native.processorTime() + others;
  }

  async stats() {
    const { link } = this.#worker;
    const [heap, buffers] = await this.#post(Op.STATS, 0, undefined, ({ link: { reader } }) => [reader.f64(), reader.f64()]);
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
    for (const { id, ok, value: item, call } of settled) {
      const message = (how, what) => ({ link: { writer } }) => {
        writer.u32(id);
        writer.u8(how);
        endpoint.encode(what);
      };
      // Nothing waits for it any more: it may be forgotten inside.
      if (call.over() !== undefined) {
        this.#settle(endpoint, message(Settle.NEVER, undefined), this.begin()).catch(nothing);
        continue;
      }
      this.#settle(endpoint, message(ok ? Settle.FULFILLED : Settle.REJECTED, item), call)
        .catch((error) => {
          if (this.#gone || call.over() !== undefined) throw error;
          // It could not be said, and this is why.
          return this.#settle(endpoint, message(Settle.REJECTED, error), call);
        })
        .catch((error) => this.unheard(error, 'promise', call));
    }
  }
  #settle(endpoint, message, call) {
    return this.#goOn(endpoint, Op.SETTLE, 0, message, nothing, call);
  }
  // What waited goes on, in a turn of its own, which counts as a call does.
  async #goOn(endpoint, op, target, write, read, call) {
    let before;
    try {
      before = this.clock();
    } catch (error) {
      call.stop(error);
      throw error;
    }
    try {
      return await this.#worker.link.post(endpoint, op, target, write, read, call, Post.PATIENT | Post.BACKGROUND);
    } finally {
      this.count(before);
    }
  }

  // ------------------------------------------------------------------- in the background

  // Timers of the guest keep the program running where it was asked for, and while somebody may wait for what they
  // settle.
  timers(count) {
    this.#timers = count;
    this.#keep();
  }
  awaits(more) {
    this.#awaited += more;
    if (this.#timers > 0) this.#keep();
  }
  #keep() {
    const wanted = this.#timers > 0 && (this.#awaited > 0 || this.#options.keepAlive);
    if (wanted === (this.#keepsAlive !== undefined)) return;
    if (!wanted) clearInterval(this.#keepsAlive);
    this.#keepsAlive = wanted ? setInterval(nothing, MOST_WALL) : undefined;
  }
  // What went wrong where nobody waits for it. call: whose end it may be, of which those who wait were told.
  unheard(error, from, call = undefined) {
    if (this.#gone || call?.told) return;
    // From the event loop: what a listener throws is thrown to nobody's code, and callers have heard by then.
    setImmediate(() => { if (!this.#gone && !this.#heard.has(error)) this.#say(error, from); });
  }
  #say(error, from) {
    this.#tell(error);
    const { name, unheard } = this.#options;
    if (this.listenerCount('error') > 0) return void this.emit('error', error, { sandbox: name, from });
    if (unheard === 'throw') throw error;
    if (unheard === 'ignore' || this.#warned) return;
    this.#warned = true;
    process.emitWarning(`${harmless(`in the background of the sandbox "${name}" (${from}): ${textOf(error)}`)}\n` +
      "    (said once; sandbox.on('error', …) hears all of them, and the option unheard: 'throw' makes them fatal)", 'SandboxWarning');
  }

  // What was let go of is told with the next message, or by one of its own when there is none.
  sendReleases(endpoint) {
    if (this.#releasing || endpoint.unreleased < 64) return;
    this.#releasing = true;
    setTimeout(() => {
      this.#releasing = false;
      if (!this.#gone && endpoint.unreleased > 0) this.#post(Op.PUMP, 0, undefined).catch(nothing);
    }, 50).unref();
  }
  // The bytes that are the guest's `shared`.
  get shared() {
    return this.#shared;
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
    this.#tell(error);
    this.#endpoint.close();
    this.#life.stop(error);
    this.#leave();
    this.emit('lost', error);
  }
  #leave() {
    if (alive.delete(this)) this.#worker.journal?.left(this.#options.name);
  }
  async dispose() {
    this.disposeSync();
  }
  disposeSync() {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#leave();
    for (const realm of this.#realms) realm.disposeSync();
    this.#root?.#realms.delete(this);
    if (this.#worker === undefined) return;
    this.#worker.leave(this, this.#endpoint);
    this.#endpoint.close();
    this.#life.stop(new errors.DisposedError());
    this.emit('disposed');
  }
  async [Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')]() {
    return this.dispose();
  }
  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.disposeSync();
  }
}

// A limit as the journal calls it.
function limitOf(error) {
  if (error instanceof errors.TimeLimitError) return `limit ${error.limit}`;
  if (error instanceof errors.MemoryLimitError) return 'limit memory';
  if (error instanceof errors.OutputLimitError) return 'limit output';
  if (error instanceof errors.HandleLimitError) return 'limit handles';
  return error?.code === 'ERR_SANDBOX_STACK' && error instanceof errors.SandboxError ? 'limit stack' : undefined;
}
// What a sandbox has from the beginning.
function givenText({ globals, without, expose, modules, shared, realm, eval: evaluates, wasm, frozen }) {
  const names = Object.keys(expose).sort();
  return [
    `globals ${typeof globals === 'string' ? globals : globals.join(', ') || 'none'}`,
    without.length === 0 ? undefined : `without ${without.join(', ')}`,
    names.length === 0 ? undefined : `expose ${names.join(', ')}`,
    modules === undefined ? undefined : 'modules',
    shared === 0 || realm ? undefined : `${shared} bytes of shared memory`,
    evaluates ? undefined : 'no eval',
    wasm > 0 ? undefined : 'no WebAssembly',
    frozen ? 'frozen' : undefined,
  ].filter((text) => text !== undefined).join('; ');
}

// A guest's words, at a terminal: nothing that it obeys, or that hides what stands there.
const harmless = (text) => text.replace(/[^\P{C}\n]|[\u2028\u2029]/gu, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
const textOf = (error) => {
  const text = error instanceof Error ? error.stack : inspect(error, { customInspect: false, depth: 1 });
  return String(text).slice(0, 4000).toWellFormed();
};

const applyMessage = (self, args) => (endpoint) => {
  endpoint.encode(self);
  encodeArguments(endpoint, args);
};
const importMessage = (name, atOnce) => (endpoint) => {
  endpoint.encodeText(name);
  endpoint.link.writer.u8(atOnce ? 1 : 0);
};
const exposeMessage = (name, item) => {
  if (typeof name !== 'string') throw new TypeError('set: a name is a text');
  return (endpoint) => {
    endpoint.encodeText(name);
    endpoint.encode(item);
  };
};

function isGuest(item) {
  if ((typeof item !== 'object' && typeof item !== 'function') || item === null) return false;
  for (const sandbox of alive) if (sandbox.holds(item)) return true;
  return false;
}

module.exports = { Sandbox, isGuest, endpoints };
