'use strict';
// limit(): a guest's own limits for what it calls. Each callee has an account of processor time, within
// its caller's. What it leaves to promises is its own too: whatever is put off runs apart, one
// account at a time, once nothing else does (guest.cjs).

const P = require('./primordials.cjs');

class Limited {
  // guest: { io, save(), restore(state) }: what it was in the middle of, when a callee is ended.
  constructor(guest) {
    this.guest = guest;
    this.io = guest.io;
    this.current = undefined;  // whose code runs; undefined: the host's call itself
    this.starting = P.list();
    this.finished = P.list();
    this.limit = (time, callee, ...args) => this.add(time, callee, args);
  }
  add(time, callee, args) {
    if (typeof time !== 'number' || !(time > 0)) throw new P.TypeError('limit: the time is a number of milliseconds, more than 0');
    if (typeof callee !== 'function') throw new P.TypeError('limit: what is called is a function');
    return new P.Promise((resolve, reject) => {
      P.ArrayPush(this.starting, { __proto__: null, left: time, parent: this.current, told: false, resolve, reject, callee, args });
    });
  }

  // All that was put off, until there is nothing more. `account` is whose `task` is.
  run(account, task) {
    this.within(account, task);
    while (this.finished.length > 0 || this.starting.length > 0) {
      const { finished } = this;
      this.finished = P.list();
      for (let i = 0; i < finished.length; i++) {
        const { parent } = finished[i].account;
        if (this.lowest(parent) > 0) this.within(parent, finished[i].settle);
      }
      if (this.finished.length > 0) continue;
      const { starting } = this;
      this.starting = P.list();
      for (let i = 0; i < starting.length; i++)
        if (this.lowest(starting[i]) > 0) this.within(starting[i], () => this.start(starting[i]));
    }
  }
  start(job) {
    const settled = (settle) => { P.ArrayPush(this.finished, { __proto__: null, account: job, settle }); };
    // In a box: what a callee gives is not asked for a `then` in its caller's time.
    const fulfilled = (value) => settled(() => job.resolve({ __proto__: null, value }));
    const rejected = (error) => settled(() => job.reject(error));
    let result;
    try {
      result = P.apply(job.callee, undefined, job.args);
    } catch (error) {
      return rejected(error);
    }
    this.io.whenSettled(new P.Promise((resolve) => resolve(result)), fulfilled, rejected);
  }

  lowest(account) {
    let least = Infinity;
    for (let a = account; a !== undefined; a = a.parent) if (a.left < least) least = a.left;
    return least;
  }
  // Runs `task` and all the microtasks that there are then.
  within(account, task) {
    if (account === undefined) {
      if (task !== undefined) task();
      return this.io.runMicrotasks();
    }
    const least = this.lowest(account);
    if (least <= 0) return undefined;
    const state = this.guest.save();
    this.current = account;
    const [over, used] = this.io.within(least, task ?? noop);
    this.current = undefined;
    if (over) this.guest.restore(state);
    let outermost;
    for (let a = account; a !== undefined; a = a.parent) {
      a.left = over && a.left === least ? 0 : a.left - used;
      if (a.left <= 0) outermost = a;
    }
    if (outermost === undefined || outermost.told) return undefined;
    outermost.told = true;
    const error = new P.RangeError('the callee ran longer than its limit');
    P.defineProperty(error, 'code', { __proto__: null, value: 'ERR_SANDBOX_TIME', writable: true, enumerable: true, configurable: true });
    P.ArrayPush(this.finished, { __proto__: null, account: outermost, settle: () => outermost.reject(error) });
    return undefined;
  }
  // A call of the host's was ended: what it had put off is gone.
  reset() {
    this.current = undefined;
    this.starting = P.list();
    this.finished = P.list();
  }
}

const noop = () => {};

P.setPrototypeOf(Limited.prototype, null);

module.exports = { Limited };
