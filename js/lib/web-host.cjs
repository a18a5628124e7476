'use strict';
// What globals of the web need of the host. Functions alone, each of which takes and gives plain values.

const MOST_TIMERS = 1000;

function webHost(sandbox) {
  const timers = new Map();
  let next = 1;
  // What runs a timer of a guest's keeps no program running but by the sandbox's word.
  const wait = (run, delay) => setTimeout(run, delay).unref();
  const stop = (id) => {
    const timer = timers.get(id);
    if (timer === undefined) return;
    timers.delete(id);
    sandbox.timers(timers.size);
    clearTimeout(timer.timeout);
    timer.call.offOver(timer.end);
  };
  return {
    console: (level, ...args) => { sandbox.emit('console', String(level), args); },
    setTimer: (task, delay, repeat) => {
      if (timers.size >= MOST_TIMERS) throw new RangeError('too many timers');
      const id = next++;
      const asked = Math.min(Math.max(Number(delay) || 0, 0), 2 ** 31 - 1);
      const least = repeat ? Math.max(asked, 4) : asked;
      // It ends with the call that set it, and with its sandbox.
      const timer = { call: sandbox.calling, end: () => stop(id), timeout: undefined };
      // The next time begins when this one has ended: calls that take longer than their interval do not pile up.
      const run = () => {
        sandbox.resume(timer.call, task).catch((error) => sandbox.unheard(error, 'timer', timer.call)).finally(() => {
          if (!timers.has(id)) return;
          if (repeat) timer.timeout = wait(run, least);
          else stop(id);
        });
      };
      timers.set(id, timer);
      sandbox.timers(timers.size);
      timer.timeout = wait(run, least);
      timer.call.onOver(timer.end);
      return id;
    },
    clearTimer: (id) => { stop(id); },
    atob: (text) => atob(String(text)),
    btoa: (text) => btoa(String(text)),
    clone: (value) => value,
    utf8: (text) => new TextEncoder().encode(String(text)),
    decodeText: (bytes, label) => new TextDecoder(String(label)).decode(bytes),
  };
}

module.exports = { webHost };
