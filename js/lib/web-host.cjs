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
    clearInterval(timer);
  };
  sandbox.once('lost', () => { for (const id of [...timers.keys()]) stop(id); });
  sandbox.once('disposed', () => { for (const id of [...timers.keys()]) stop(id); });
  return {
    console: (level, ...args) => { sandbox.emit('console', String(level), args); },
    setTimer: (task, delay, repeat) => {
      if (timers.size >= MOST_TIMERS) throw new RangeError('too many timers');
      const id = next++;
      const wait = Math.min(Math.max(Number(delay) || 0, 0), 2 ** 31 - 1);
      const run = () => {
        if (!repeat) timers.delete(id);
        sandbox.call(task).catch(() => {});
      };
      timers.set(id, repeat ? setInterval(run, Math.max(wait, 4)) : setTimeout(run, wait));
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
