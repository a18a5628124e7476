'use strict';
// Workers: one for each sandbox, shared by sandboxes of one tenant alone, and some kept warm.

const { launch, native, whyNot } = require('./launcher.cjs');
const { journalOf } = require('./journal.cjs');
const { program } = require('./program.cjs');
const { Link } = require('./link.cjs');
const { HEADER, Op, Writer } = require('./wire.cjs');
const { Endpoint } = require('./membrane.cjs');
const errors = require('./errors.cjs');

const MiB = 2 ** 20;
// What a worker's process takes before any guest, and while it collects its garbage.
const BASE = 160 * MiB;
const START = 10_000;
const WASM_PAGE = 65536;

const EVAL = 1;
const WASM = 2;
const SHARED = 4;
// What a sandbox is made with, before anything of it is known: equal ones can be made in advance.
// heap: of which sandbox's it is, its number and one; 0: its own.
const createMessage = ({ memory, buffers, stack, wasm, shared, eval: evaluates }, heap = 0) => ({ link: { writer } }) => {
  writer.f64(memory);
  writer.f64(buffers);
  writer.f64(stack);
  writer.u32((evaluates ? EVAL : 0) | (wasm > 0 ? WASM : 0) | (shared > 0 && heap === 0 ? SHARED : 0));
  writer.u32(heap);
};
// The first message: the guests' program and what V8 made of it in another worker, with the sandbox that
// is made at once, number 0.
function programMessage(options, code) {
  const text = program();
  const writer = new Writer();
  writer.use(new Uint8Array(HEADER + 40 + text.length + code.length));
  writer.u8(Op.PROGRAM);
  writer.at = HEADER;
  createMessage(options)({ link: { writer } });
  writer.u32(text.length);
  writer.u32(0);
  writer.raw(text);
  writer.raw(code);
  return writer.bytes;
}
// What V8 made of the guests' program, by the flags that differ. Of workers in which no guest's code had
// run: who takes a worker over gets nothing into another one's.
const codes = new Map();
const LARGE = 2 ** 28;  // bytes of a heap
const NONE = new Uint8Array(0);
const keyOf = ({ memory, buffers, stack, wasm, eval: evaluates }) => [memory, buffers, stack, wasm > 0, evaluates].join();
// Whose turn it is while a sandbox is made that is nobody's yet, or ended that is nobody's any more.
const absent = new errors.LostError('there is no such sandbox');
const nobody = (limits) => ({ isHost: true, handles: 16, references() {}, endedError: () => absent, sandbox: { turnLimits: () => limits, given() {}, begin() {}, clock() {}, count() {} } });
const MAKING = { time: 5000, wall: 0 };
// Short: a host that asks another sandbox of the worker waits for so long.
const ENDING = { time: 100, wall: 500 };

class Worker {
  constructor({ output, most, wasm, shared, journal }, options) {
    this.output = output;
    this.shared = shared;
    this.most = most;
    this.wasm = wasm;
    this.named = journal;
    this.journal = journalOf(journal);
    this.sandboxes = new Map();
    this.free = [];
    this.next = 1;
    this.claims = 0;           // who took it and has not joined yet
    this.joined = 0;           // how many sandboxes it has had
    this.following = false;
    this.follower = undefined;  // who takes new ones in its place
    this.tenant = undefined;
    this.prepared = keyOf(options);
    this.wasmPages = Math.max(1, Math.min(65536, Math.floor(wasm / WASM_PAGE)));
    const large = options.memory >= LARGE;
    this.flags = `${this.wasmPages} ${large}`;
    this.native = native().link(output + 4096, programMessage(options, codes.get(this.flags) ?? NONE), shared);
    this.process = launch(this.native, { most, large, wasmPages: this.wasmPages, journal: this.journal?.enter() });
    this.journal?.start();
    this.native.watch(this.process.pid, 0);
    this.link = new Link(this.native, output);
    this.link.onlost = (error) => this.onlost(error);
    this.pid = 0;
  }
  readySync() {
    if (this.pid !== 0) return this;
    if (this.process.pid === 0 || !this.native.ready(START)) throw this.failed();
    this.pid = this.process.worker();
    this.native.watch(this.process.pid, this.pid);
    return this;
  }
  async ready() {
    const end = Date.now() + START;
    // Short steps: a worker is there in tens of milliseconds, and nothing tells of it.
    while (!this.native.ready(0)) {
      // By cool(), which is no failure of its own.
      if (this.link.lost !== undefined) throw this.link.lost;
      if (this.process.pid === 0 || this.native.isGone() || Date.now() > end) throw this.failed();
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    return this.readySync();
  }
  failed() {
    const error = new errors.LostError(`a worker did not start: ${whyNot()}`);
    this.link.lose(error);
    return error;
  }
  // Its number, and whether it is made already.
  join(sandbox, options) {
    const made = !options.realm && this.prepared === keyOf(options);
    const number = made ? 0 : this.free.pop() ?? this.next++;
    if (made) this.prepared = undefined;
    this.sandboxes.set(number, sandbox);
    if (!options.realm) this.claims--;
    this.joined++;
    return { number, made };
  }
  // What later workers save: once for all, of one where nothing but our own has run.
  learn(endpoint) {
    if (codes.has(this.flags) || !this.link.untouched) return;
    codes.set(this.flags, NONE);
    const read = ({ link: { reader, untouched } }) => {
      const code = Buffer.from(reader.bytes.subarray(reader.at, reader.end));
      if (untouched && code.length > 0) codes.set(this.flags, code);
      else codes.delete(this.flags);
    };
    this.link.post(new Endpoint(this.link, endpoint.number, nobody({ ...MAKING, resident: this.resident() })), Op.CODE, 0, undefined, read)
      .catch(() => codes.delete(this.flags));
  }
  // The last sandbox takes the worker with it.
  leave(sandbox, endpoint) {
    if (!this.sandboxes.delete(endpoint.number)) return;
    if (this.unused) {
      forget(this);
      this.link.lose(new errors.DisposedError());
      return;
    }
    // In the middle of a message nothing else is said.
    if (this.link.encoding === null) this.letGo(endpoint);
    else queueMicrotask(() => this.letGo(endpoint));
  }
  // By an end of its own: what is in flight for this one ends first, and is heard by nobody. A worker that
  // does not do even that is not asked for more.
  letGo(endpoint) {
    this.link.post(new Endpoint(this.link, endpoint.number, nobody({ ...ENDING, resident: this.resident() })), Op.DISPOSE, 0, undefined, () => undefined).catch((error) => {
      // It was not made yet, or could not be.
      if (error !== absent) throw error;
    }).then(() => {
      this.link.endpoints.delete(endpoint.number);
      this.free.push(endpoint.number);
    }, () => { this.link.lose(new errors.LostError('the worker did not let go of a sandbox in time')); });
  }
  get unused() {
    return this.sandboxes.size === 0 && this.claims === 0;
  }
  onlost(error) {
    forget(this);
    this.journal?.leave();
    const told = [...this.sandboxes.values()];
    this.sandboxes.clear();
    for (const sandbox of told) {
      try {
        sandbox.workerLost(error);
      } catch (thrown) {
        // By a listener of the host's: the others are told all the same.
        queueMicrotask(() => { throw thrown; });
      }
    }
  }
  // Bytes that the process may have resident: its own, and each sandbox's.
  resident() {
    return this.most;
  }
}

const tenants = new Map();
const warmed = [];
let wanted = 0;
let pattern;
let likely;

const forget = (worker) => {
  if (worker.tenant !== undefined && tenants.get(worker.tenant) === worker) tenants.delete(worker.tenant);
  const at = warmed.indexOf(worker);
  if (at >= 0) warmed.splice(at, 1);
  // The tenant has gone with its last sandbox.
  if (worker.follower?.unused) end(worker.follower);
};
const shapeOf = ({ output, memory, buffers, wasm, shared, journal }) => ({ output, wasm, shared, journal, most: Math.ceil(BASE + memory * 1.5 + buffers + wasm + shared) });
const fits = (worker, shape) => worker.output >= shape.output && worker.wasm === shape.wasm && worker.shared === shape.shared && worker.named === shape.journal && worker.most >= shape.most && worker.most <= 2 * shape.most;

// A worker for these options: of the tenant, a warm one, or a new one. It stays until whoever took it has joined.
function take(options) {
  const worker = find(options);
  worker.claims++;
  return worker;
}
function find(options) {
  const shape = shapeOf(options);
  // Memory is shared with one sandbox alone, which so has a worker of its own.
  const tenant = shape.shared > 0 ? undefined : options.tenant;
  if (tenant !== undefined) {
    const known = tenants.get(tenant);
    if (known !== undefined && fits(known, shape)) {
      if (known.joined >= lives.most) follow(known, options);
      return known;
    }
  }
  const at = warmed.findIndex((worker) => fits(worker, shape) && worker.link.lost === undefined);
  const worker = at >= 0 ? warmed.splice(at, 1)[0] : new Worker(shape, options);
  if (tenant !== undefined) {
    worker.tenant = tenant;
    // Tenants share by name: the newest worker takes what comes.
    tenants.set(tenant, worker);
  }
  // Not now: starting a process takes longer than whoever waits for this one should.
  if (warmed.length < wanted) setTimeout(refill, 20).unref();
  return worker;
}
// V8 never gives back a little of every isolate that was (docs/benchmarks.md): after so many sandboxes another
// worker takes the tenant's next ones, once it is ready. This one goes on with those that it has.
const lives = { most: 2000 };
function follow(worker, options) {
  if (worker.following) return;
  worker.following = true;
  const { output, most, wasm, shared, named, tenant } = worker;
  const start = async () => {
    if (tenants.get(tenant) !== worker) return;
    const next = await new Worker({ output, most, wasm, shared, journal: named }, options).ready();
    if (tenants.get(tenant) !== worker) return void end(next);
    worker.follower = next;
    next.tenant = tenant;
    tenants.set(tenant, next);
  };
  // Where it cannot be started, after as many more.
  const failed = () => {
    worker.following = false;
    worker.joined = 0;
  };
  setTimeout(() => { start().catch(failed); }, 20).unref();
}
function refill() {
  while (warmed.length < wanted) {
    const worker = new Worker(pattern, likely);
    warmed.push(worker);
    worker.warming = worker.ready().catch(() => forget(worker));
  }
}

async function acquire(options) {
  return take(options).ready();
}
function acquireSync(options) {
  return take(options).readySync();
}
async function warm(count, options = {}) {
  const { readOptions } = require('./options.cjs');
  wanted = count;
  likely = readOptions(options);
  pattern = shapeOf(likely);
  while (warmed.length > wanted) end(warmed.pop());
  refill();
  await Promise.all(warmed.map((worker) => worker.warming));
}
function cool() {
  wanted = 0;
  while (warmed.length > 0) end(warmed.pop());
}
const end = (worker) => worker.link.lose(new errors.DisposedError());

// The last three for tests.
module.exports = { MAKING, createMessage, acquire, acquireSync, warm, cool, codes, lives, tenants };
