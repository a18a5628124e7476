'use strict';
// What globals of the web need of the host. Functions alone, each of which takes and gives plain values.

const MOST_TIMERS = 1000;

function webHost(sandbox) {
  const timers = new Map();
  let next = 1;
  const stop = (id) => {
    const timer = timers.get(id);
    timers.delete(id);
    clearTimeout(timer);
  };
  sandbox.once('lost', () => { for (const id of [...timers.keys()]) stop(id); });
  sandbox.once('disposed', () => { for (const id of [...timers.keys()]) stop(id); });
  return {
    console: (level, ...args) => { sandbox.emit('console', String(level), args); },
    setTimer: (task, delay, repeat) => {
      if (timers.size >= MOST_TIMERS) throw new RangeError('too many timers');
      const id = next++;
      const wait = Math.min(Math.max(Number(delay) || 0, 0), 2 ** 31 - 1);
      const least = repeat ? Math.max(wait, 4) : wait;
      // The next time begins when this one has ended: calls that take longer than their interval do not pile up.
      const run = () => {
        sandbox.call(task).catch(() => {}).finally(() => {
          if (!timers.has(id)) return;
          if (repeat) timers.set(id, setTimeout(run, least));
          else timers.delete(id);
        });
      };
      timers.set(id, setTimeout(run, least));
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
