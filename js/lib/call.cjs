'use strict';
// Call: what the host asked of a guest, with all that goes on because of it: its turns, the host's
// promises that it waits for, its timers. Once it is over nothing of it goes on.

const { TimeLimitError } = require('./errors.cjs');

// What the worker says of its own end is the better answer, where it comes in time.
const GRACE = 20;
// Of the clock, what goes on in the background may use besides its budget; and what a turn of it costs the host.
const SHARE = 0.1, TURN = 0.1;

const nothing = () => {};

class Call {
  #error;
  #parent;
  #listeners;
  #timer;
  #given;  // to functions of the host
  #signal;
  #late;  // of its own wall clock
  #held;  // promises of the guest's that are pending (standin.cjs)

  #spent = 0;  // milliseconds of processor time, of turns after its first
  #since;

  // time, wall, background: milliseconds or undefined; signal: an AbortSignal or undefined. It ends with its parent.
  constructor({ time, wall, background = Infinity, signal } = {}, parent = undefined) {
    this.time = time;
    this.background = background;
    this.told = false;  // whoever waited for it knows why it ended
    this.wall = wall;
    this.end = wall === undefined ? Infinity : performance.now() + wall;
    this.bounded = wall !== undefined || signal !== undefined;
    this.onstop = undefined;  // the link's, while a turn of this call is under way
    this.#parent = parent;
    this.#signal = signal;
  }
  // Why nothing of it may go on, or undefined.
  over() {
    if (this.#error !== undefined) return this.#error;
    if (this.#signal?.aborted) this.#stopAsWanted(this.#signal.reason);
    if (this.end !== Infinity && performance.now() >= this.end) this.#stopAsWanted(this.#late = new TimeLimitError(`not done within ${this.wall} ms`, false, 'wall'));
    return this.#error ?? this.#parent?.over();
  }
  // Milliseconds that are left for a turn of it; 0 where there is no end.
  left() {
    return this.end === Infinity ? 0 : Math.max(1, this.end - performance.now());
  }
  stop(error) {
    if (this.#error !== undefined) return;
    this.#error = error;
    this.onstop?.();
    const listeners = [...(this.#listeners ?? [])];
    const held = [...(this.#held ?? [])];
    this.#unlisten();
    this.told = held.length > 0;
    for (const listener of listeners) listener(error);
    for (const record of held) record.endpoint.finishPromise(record, false, error);
  }

  // By whoever made the call, who knows.
  #stopAsWanted(error) {
    this.stop(error);
    this.told = true;
  }

  // `listener` is told of its end, once. Whoever only listens keeps no event loop going.
  onOver(listener) {
    const over = this.over();
    if (over !== undefined) return void listener(over);
    if (this.#listeners === undefined) {
      this.#listeners = new Set();
      this.#parent?.onOver(this.#stopped);
      this.#signal?.addEventListener('abort', this.#aborted);
      if (this.end !== Infinity) this.#timer = setTimeout(() => this.over(), Math.ceil(this.left())).unref();
    }
    this.#listeners.add(listener);
  }
  offOver(listener) {
    this.#listeners?.delete(listener);
    if (this.#listeners?.size === 0) this.#unlisten();
  }
  #stopped = (error) => this.stop(error);
  #aborted = () => this.#stopAsWanted(this.#signal.reason);
  #unlisten() {
    clearTimeout(this.#timer);
    this.#parent?.offOver(this.#stopped);
    this.#signal?.removeEventListener('abort', this.#aborted);
    this.#listeners = undefined;
  }

  // One more turn of what it goes on with has used so much. Why it is over, where that was too much.
  spend(milliseconds) {
    const now = performance.now();
    this.#since ??= now;
    this.#spent += milliseconds + TURN;
    if (this.#spent <= this.background + SHARE * (now - this.#since) || this.over() !== undefined) return undefined;
    const error = new TimeLimitError('what the call goes on with used more processor time than it may (option background)', false, 'background');
    this.stop(error);
    return error;
  }

  // A promise of a guest's that somebody may wait for: it is rejected when the call is over.
  hold(record) {
    const over = this.over();
    // Later: it is being read, and has no stand-in yet.
    if (over !== undefined) return queueMicrotask(() => { if (record.reject !== undefined) record.endpoint.finishPromise(record, false, over); });
    this.#held ??= new Set();
    this.#held.add(record);
    if (this.#held.size === 1 && this.bounded) this.onOver(nothing);
  }
  letGo(record) {
    if (this.#held?.delete(record) && this.#held.size === 0 && this.bounded) this.offOver(nothing);
  }

  // For functions of the host that a guest called, and what they do besides. Nothing tells when a call
  // without a wall clock will not go on, so nothing that outlives it may hold what it gave: it has the
  // signal of what it ends with, or one that follows those weakly.
  get signal() {
    if (!this.bounded && this.#parent !== undefined) return this.#parent.signal;
    if (this.#given !== undefined) return this.#given;
    if (this.wall === undefined && this.#parent !== undefined) return this.#given = AbortSignal.any([this.#signal, this.#parent.signal]);
    const controller = new AbortController();
    this.#given = controller.signal;
    this.onOver((error) => controller.abort(error));
    return this.#given;
  }

  // What `pending` gives, or why it is not waited for any longer.
  wait(pending) {
    return new Promise((resolve, reject) => {
      const stopped = (error) => { if (error !== this.#late) reject(error); };
      const timer = this.end === Infinity ? undefined : setTimeout(() => reject(this.over()), Math.ceil(this.left()) + GRACE);
      this.onOver(stopped);
      pending.then((value) => {
        const over = this.over();
        if (over === undefined) resolve(value);
        else reject(over);
      }, reject).finally(() => {
        clearTimeout(timer);
        this.offOver(stopped);
      });
    });
  }
}

module.exports = { Call };
