'use strict';
// Link: a worker as the host sees it. Two sides that take turns: while the worker has the word, the
// host may wait for it (exchange) or be told by the event loop (post); while the host has it, it may
// ask again, nested, until it answers.

const { HEADER, Op, Flag, Tag, WireError, Reader, Writer } = require('./wire.cjs');
const { LimitError, SLACK, isOfHandles } = require('./limit.cjs');
const { readValue } = require('./standin.cjs');
const { MOST_ASKED } = require('./membrane.cjs');
const { kindOf } = require('./policy-host.cjs');
const { serve } = require('./serve.cjs');
const P = require('./primordials.cjs');
const errors = require('./errors.cjs');
const { caller } = require('./stack.cjs');

const FIRST_BUFFER = 64 << 10;
const Code = { TIME: -1, MEMORY: -2, GONE: -3, BROKEN: -4 };
const LAST_WORDS_MEMORY = 1;
// PATIENT: where more would be held than may be, the guest lets go of what it has dropped first. BACKGROUND: what a call
// goes on with, and pays for.
const Post = { PATIENT: 1, BACKGROUND: 2 };
const LAST_TURN = 0xfffffffe;
// What the worker answers without any code of a guest's.
const isOurs = (op) => op === Op.CREATE || op === Op.INIT || op === Op.CODE;
const encoder = new TextEncoder();
const clone = structuredClone;

// Of the guest that has called the function of the host which runs now: its call, and its link.
let calling, asking;
// In a function of the host that a guest called, before it first waits: ends when that call does.
const callSignal = () => calling?.signal;

class Link {
  // native: js/native/host.cc; limit: the largest message.
  constructor(native, limit) {
    this.native = native;
    this.limit = limit;
    this.most = limit + 2 * SLACK;  // weight of a message of the worker's
    this.endpoints = new Map();
    this.lost = undefined;
    this.turn = 0;
    this.number = 0;       // of the last turn
    this.inners = [];      // calls with limits of their own in the middle of the turn
    this.outer = undefined;  // the link in the middle of whose turn this one's is
    this.others = 0;       // milliseconds of processor time that other workers used for this one's guests
    this.fresh = false;    // the turn begins with the next message
    this.untouched = true;  // no guest's code has run in the worker
    this.limits = undefined;
    this.level = 0;        // requests of ours that wait, or host code that a guest called
    this.serving = false;  // the event loop called host code on behalf of a guest
    this.flight = null;    // what the event loop waits for
    this.queue = [];
    this.skip = 0;         // calls of the listener that come too late
    this.encoding = null;
    this.call = undefined;  // what the turn is of (call.cjs), or what is said now
    this.sandbox = undefined;  // whose call that is
    this.calls = [];        // those in the middle of which that is, whose, and what they had used
    this.onlost = () => {};
    this.reader = new Reader();
    this.writer = new Writer((size) => this.grow(size));
    this.useBuffers(Buffer.alloc(FIRST_BUFFER), new Uint8Array(FIRST_BUFFER));
    this.kind = kindOf;
    native.listener(() => {
      if (this.skip > 0) this.skip--;
      else if (this.flight !== null) this.arrived(native.heard(), false);
    });
  }
  // Whoever asks now waits for another's call first.
  get isBusy() {
    return this.level === 0 && this.flight !== null && !this.serving;
  }
  useBuffers(input, output) {
    this.input = input;
    this.reader.use(input);
    this.writer.use(output);
    this.native.useBuffers(new Uint8Array(input.buffer, input.byteOffset, input.byteLength), output);
  }
  grow(size) {
    if (size > this.limit) throw new LimitError('ERR_SANDBOX_OUTPUT', `a message of more than ${this.limit} bytes, which is the option output: raise it, or send less at once`);
    const { at } = this.writer;
    const larger = new Uint8Array(Math.min(this.limit, Math.max(size, 2 * this.writer.bytes.length)));
    larger.set(this.writer.bytes);
    this.useBuffers(this.input, larger);
    this.writer.at = at;
  }

  putText(text) {
    const { writer } = this;
    const { length } = text;
    writer.need(5 + length);
    const start = writer.at + 5;
    const { read, written } = encoder.encodeInto(text, writer.bytes.subarray(start, start + length));
    if (read === length && written === length) {
      writer.tagged32(Tag.TEXT1, length);
      writer.at += length;
      return;
    }
    writer.need(5 + 2 * length);
    Buffer.from(writer.bytes.buffer, writer.bytes.byteOffset, writer.bytes.byteLength).ucs2Write(text, start, 2 * length);
    writer.tagged32(Tag.TEXT2, 2 * length);
    writer.at += 2 * length;
  }
  getText(bytes, two) {
    const { reader } = this;
    const text = two ? this.input.ucs2Slice(reader.at, reader.at + bytes) : this.input.latin1Slice(reader.at, reader.at + bytes);
    reader.at += bytes;
    return text;
  }
  whenSettled(promise, fulfilled, rejected) {
    P.PromiseThen(promise, fulfilled, rejected);
  }

  // Only a worker can tell; here detach() shows it.
  isDetachable() {
    return true;
  }
  detach(buffers) {
    const transfer = [];
    for (let i = 0; i < buffers.length; i++) P.ArrayPush(transfer, buffers[i]);
    try {
      // Which looks at all of them first.
      clone(undefined, { __proto__: null, transfer });
      return true;
    } catch {
      return false;
    }
  }

  // Only a worker can tell without waiting.
  outcome() {
    return undefined;
  }

  // ------------------------------------------------------------------- turns

  begin(sandbox, call) {
    this.turn = this.newNumber();
    this.fresh = true;
    this.call = call;
    this.sandbox = sandbox;
    const limits = sandbox.turnLimits(call);
    if (limits === this.limits) return;
    this.limits = limits;
    this.native.limits(limits.time, limits.wall, limits.resident);
  }
  newNumber() {
    return this.number = this.number === LAST_TURN ? 1 : this.number + 1;
  }
  // A call in the middle of this turn that may take less than what is in force.
  beginInner(limits) {
    const outer = this.inners.length === 0 ? this.limits : this.inners[this.inners.length - 1].limits;
    if (limits.wall === 0 && limits.time >= outer.time) return;
    this.inners.push({ level: this.level, turn: this.turn, limits });
    this.turn = this.newNumber();
    this.native.beginInner(this.turn, limits.time, limits.wall);
  }
  endInner() {
    this.turn = this.inners.pop().turn;
    this.native.endInner();
  }
  // This turn is in the middle of another worker's: it has no more than that has left, which pays for it.
  beginWithin(outer) {
    const { time, wall, resident } = this.limits;
    const [timeLeft, wallLeft] = outer.native.left();
    const most = Math.max(1, Math.min(time, timeLeft));
    this.outer = outer;
    this.limits = { time: most, wall: Math.max(1, Math.min(wall === 0 ? 10 * time + 1000 : wall, wallLeft)), resident };
    this.native.limits(most, this.limits.wall, resident);
  }
  endWithin() {
    const { outer } = this;
    const used = this.native.used();
    this.outer = undefined;
    outer.others += used;
    outer.native.add(used);
  }
  // What natives are told of a message: its length, negative where a turn begins with it.
  told(length) {
    if (!this.fresh) return length;
    this.fresh = false;
    return -length;
  }

  // Before a request that waits: the word is ours.
  enter(endpoint) {
    if (this.lost !== undefined) throw this.lost;
    if (this.encoding !== null) throw new TypeError('a getter called into the membrane while its value was copied');
    if (this.level === 0 && this.flight !== null && !this.serving) this.finishFlight();
    if (this.lost !== undefined) throw this.lost;
    const { sandbox } = endpoint.policy;
    const begins = this.level === 0 && !this.serving;
    const others = begins || sandbox !== this.sandbox;
    // In the middle of another's turn it has limits of its own all the same, and pays for itself.
    const call = sandbox.given() ?? (others ? sandbox.begin() : undefined);
    const payer = others ? sandbox : undefined;
    const before = payer?.clock();
    this.calls.push({ call: begins ? undefined : this.call, sandbox: this.sandbox, payer, before });
    if (begins) {
      this.begin(sandbox, call);
      if (asking !== undefined && asking !== this) this.beginWithin(asking);
    } else if (call !== undefined && (others || call !== this.call)) {
      this.call = call;
      this.sandbox = sandbox;
      this.beginInner(sandbox.turnLimits(call));
    }
    this.level++;
  }
  leave() {
    this.level--;
    const { call, sandbox, payer, before } = this.calls.pop();
    this.call = call;
    this.sandbox = sandbox;
    payer?.count(before);
    if (this.inners.length > 0 && this.inners[this.inners.length - 1].level === this.level) this.endInner();
    if (this.level > 0 || this.serving) return;
    if (this.outer !== undefined) this.endWithin();
    this.next();
  }

  // Not on behalf of a guest that the event loop serves.
  mayWait() {
    return !this.serving && (this.level > 0 || this.flight === null);
  }

  // Sends and waits for the answer; serves what is asked of us meanwhile.
  exchange(endpoint, length) {
    this.stamp();
    let received = this.received(this.native.exchange(this.told(length)));
    while (this.input[0] < Op.RETURN) received = this.received(this.native.exchange(this.serve(received)));
    if (this.reader.view.getUint32(4, true) !== endpoint.number) throw this.broken(new WireError('sandbox'));
    return received;
  }
  stamp() {
    const { writer } = this;
    writer.view.setUint32(8, this.turn, true);
    if (this.untouched) this.untouched = isOurs(writer.bytes[0]);
  }

  // A length that is one, and the message where it is read; or throws why there is none.
  received(length) {
    if (length < 0) throw this.lose(this.errorOf(length));
    if (length <= this.input.length) return length;
    this.useBuffers(Buffer.alloc(length), this.writer.bytes);
    if (!this.native.fetch()) throw this.lose(this.errorOf(Code.BROKEN));
    return length;
  }
  serve(length) {
    const endpoint = this.endpoints.get(this.reader.view.getUint32(4, true));
    if (endpoint === undefined) throw this.broken(new WireError('sandbox'));
    this.level++;
    const outer = calling;
    const before = asking;
    calling = this.call;
    asking = this;
    try {
      // Read all the same: it may tell what was let go of.
      const header = endpoint.closed ? undefined : endpoint.open(length);
      const reply = header === undefined || this.over() !== undefined ? this.ended(endpoint) : serve(endpoint, header);
      if (this.lost !== undefined) throw this.lost;
      this.stamp();
      return reply;
    } catch (error) {
      if (this.lost !== undefined) throw this.lost;
      if (WireError.is(error)) throw this.broken(error);
      // Disposed by what it called: others of its worker go on.
      if (endpoint.closed) return this.ended(endpoint);
      // A request without an answer would leave the worker, and all who wait for it, waiting.
      throw this.lose(new errors.LostError('a request of the guest could not be answered'));
    } finally {
      calling = outer;
      asking = before;
      this.level--;
    }
  }

  // Why nothing of this turn may go on, or undefined: its call, or one that it is in the middle of, is over.
  over() {
    let over = this.call?.over();
    for (let i = this.calls.length - 1; over === undefined && i >= 0; i--) over = this.calls[i].call?.over();
    return over;
  }
  // The answer to a guest whose call is over or whose sandbox is there no more: no code of its turn
  // runs on.
  ended(endpoint) {
    endpoint.begin(Op.ENDED, 0, 0);
    const length = endpoint.finish();
    this.stamp();
    return length;
  }

  // ------------------------------------------------------------------- without waiting

  // One request whose answer the event loop brings: a promise of what `read` makes of it.
  // how: see Post.
  post(endpoint, op, target, write, read, call, how = Post.PATIENT) {
    return new Promise((resolve, reject) => {
      if (this.lost !== undefined) throw this.lost;
      let length;
      const saved = this.call;
      const ids = P.list();
      this.call = call;
      endpoint.mentioned = ids;
      try {
        endpoint.mention(target);
        length = endpoint.say(op, target, write, Flag.BY_VALUE);
      } catch (error) {
        endpoint.unmention(ids);
        if ((how & Post.PATIENT) !== 0 && isOfHandles(error)) return resolve(this.postAgain(endpoint, op, target, write, read, call, how & ~Post.PATIENT));
        throw LimitError.is(error) ? errors.byCode(error.code, error.message) : error;
      } finally {
        this.call = saved;
        endpoint.mentioned = null;
      }
      const job = { endpoint, ids, background: (how & Post.BACKGROUND) !== 0, read, resolve, reject, length, call, bytes: null, lent: null, saved: false };
      if (this.flight === null && this.level === 0 && !this.serving && this.queue.length === 0) return this.start(job);
      job.bytes = this.writer.bytes.slice(0, length);
      job.lent = endpoint.said();
      this.queue.push(job);
    });
  }
  // More would be held than may be: once the guest has let go of what it has dropped.
  async postAgain(endpoint, op, target, write, read, call, how) {
    for (let more = true, i = 0; more === true && i < MOST_ASKED; i++) more = await this.post(endpoint, Op.COLLECT, 0, undefined, readValue, call, 0);
    return this.post(endpoint, op, target, write, read, call, how);
  }
  start(job) {
    this.flight = job;
    job.endpoint.unmention(job.ids);
    job.saved = job.endpoint.byValue;
    job.endpoint.byValue = true;
    if (job.bytes !== null) {
      if (job.bytes.length > this.writer.bytes.length) this.grow(job.bytes.length);
      this.writer.bytes.set(job.bytes);
    }
    this.begin(job.endpoint.policy.sandbox, job.call);
    if (job.call !== undefined) job.call.onstop = () => this.native.stop();
    this.stamp();
    if (!this.native.send(this.told(job.length))) this.lose(new errors.LostError('the worker of the sandbox could not be asked: the host has no thread that would wait for its answer'));
  }
  next() {
    if (this.lost !== undefined || this.flight !== null || this.level > 0 || this.serving) return;
    for (;;) {
      const job = this.queue.shift();
      if (job === undefined) return void this.native.idle();
      const over = job.call?.over();
      if (over === undefined) return this.start(job);
      job.endpoint.unmention(job.ids);
      job.endpoint.unsay(job.bytes, job.lent);
      job.reject(over);
    }
  }

  // Something has come for what is in flight. `waiting`: the caller waits until it is done.
  arrived(length, waiting) {
    for (;;) {
      let received;
      try {
        received = this.received(length);
        if (this.input[0] >= Op.RETURN) return void this.landed(received);
        this.serving = true;
        const reply = this.serve(received);
        this.serving = false;
        if (!waiting) return void (this.native.send(reply) || this.lose(this.errorOf(Code.BROKEN)));
        length = this.native.exchange(reply);
      } catch {
        // Whoever waits was told by lose().
        this.serving = false;
        return;
      }
    }
  }
  landed(received) {
    const job = this.flight;
    this.flight = null;
    const { endpoint } = job;
    if (job.call !== undefined) job.call.onstop = undefined;
    let settle;
    try {
      if (this.reader.view.getUint32(4, true) !== endpoint.number) throw new WireError('sandbox');
      const result = endpoint.hear(received, job.read);
      settle = () => job.resolve(result);
    } catch (thrown) {
      const error = WireError.is(thrown) ? this.broken(thrown) : thrown;
      settle = () => job.reject(error);
    } finally {
      endpoint.byValue = job.saved;
    }
    const spent = job.background && this.lost === undefined ? job.call.spend(this.native.used()) : undefined;
    if (spent === undefined) settle();
    else job.reject(endpoint.policy.sandbox.ended(spent));
    this.next();
  }
  // A request that waits finds another one in flight: that is waited for first. In the middle of another
  // worker's turn for no longer than that has left, which pays for it as for what it asks itself.
  finishFlight() {
    while (this.flight !== null && this.lost === undefined) {
      let length;
      if (asking !== undefined && asking !== this) {
        this.waitWithin(asking);
        this.skip++;
        this.arrived(this.native.heard(), false);
        continue;
      }
      if (this.native.takeBack()) {
        length = this.native.wait();
      } else {
        this.skip++;
        length = this.native.heard();
      }
      this.arrived(length, true);
    }
  }

  waitWithin(outer) {
    for (let told = false; !told;) {
      const left = Math.min(...outer.native.left());
      if (left <= 0) throw new errors.TimeLimitError('the call in the middle of which this one is has no time left');
      const before = this.native.processorTime();
      told = this.native.waitTold(left);
      const used = Math.max(0, this.native.processorTime() - before);
      outer.others += used;
      outer.native.add(used);
    }
  }

  // ------------------------------------------------------------------- the end

  errorOf(code) {
    const isFull = code !== Code.BROKEN && this.native.lastWords() === LAST_WORDS_MEMORY;
    if (code === Code.TIME && !isFull)
      return new errors.TimeLimitError('the guest did not end in time; its worker was killed', true, this.over()?.limit ?? 'time');
    if (code === Code.MEMORY || isFull)
      return new errors.MemoryLimitError('the guest used more memory than its worker may; the worker was killed', true);
    if (code === Code.GONE) return new errors.LostError('the worker of the sandbox ended');
    return new errors.LostError('the worker of the sandbox broke the protocol');
  }
  // What was thrown while a message was read: a lie of the worker's is its end.
  broken(error) {
    if (LimitError.is(error) && this.level <= 1 && !this.serving) return errors.byCode(error.code, error.message);
    if (!WireError.is(error)) return errors.calledFrom(error, caller());
    return this.lose(new errors.LostError(`the worker of the sandbox broke the protocol (${error.message})`));
  }
  lose(error) {
    if (this.lost !== undefined) return this.lost;
    this.lost = error;
    const jobs = this.flight === null ? this.queue : [this.flight, ...this.queue];
    this.flight = null;
    this.queue = [];
    for (const job of jobs) job.reject(error);
    this.native.close();
    this.onlost(error);
    return error;
  }
}

module.exports = { Link, Post, HEADER, callSignal };
