'use strict';
// What the host knows its stand-ins by: references that keep none of them (js/native/weak.cc), and a collection
// that is asked for where too many are held that nobody has any more.

const v8 = require('node:v8');
const vm = require('node:vm');
const { native } = require('./launcher.cjs');

// By slot: whose it is, as a WeakRef, for a stand-in that only its own sandbox leads to keeps neither.
const owners = [];
let references;

// Finalizers come from the event loop, which may be busy with the guest that makes what is dropped: dead() is not
// asked before the loop comes round, and sweep() does not wait for it.
function drain() {
  for (const slot of references.dead()) {
    owners[slot].deref()?.gone(slot);
    owners[slot] = undefined;
  }
}

// The stand-ins of one end of the membrane, by slot.
class References {
  #records = new Map();
  #self = new WeakRef(this);
  #dropped;

  // dropped(record): its stand-in was collected. Once for each.
  constructor(dropped) {
    this.#dropped = dropped;
  }
  hold(record, standIn) {
    references ??= native().weak(() => { setImmediate(drain).unref(); });
    record.ref = references.hold(standIn);
    owners[record.ref] = this.#self;
    this.#records.set(record.ref, record);
  }
  get(record) {
    return references.get(record.ref);
  }
  gone(slot) {
    const record = this.#records.get(slot);
    if (record === undefined) return;
    this.#records.delete(slot);
    this.#dropped(record);
  }
  sweep(endpoint) {
    for (const [slot, { id }] of this.#records) if (references.get(slot) === undefined && !endpoint.isAsked(id)) this.gone(slot);
  }
}

// As Node gives it to whoever starts it with --expose-gc; undefined where it does not.
let gc;
function collector() {
  if (gc !== undefined) return gc;
  try {
    gc = vm.runInNewContext('globalThis.gc');
    if (gc === undefined) {
      // Contexts are made with it while the flag is set: nobody else's are.
      v8.setFlagsFromString('--expose-gc');
      gc = vm.runInNewContext('globalThis.gc');
      v8.setFlagsFromString('--no-expose-gc');
    }
  } catch { /* a host without V8's flags collects when it likes */ }
  return gc ??= () => {};
}
// Young objects alone: a millisecond.
const collectYoung = () => collector()({ type: 'minor' });
const collectAll = () => collector()();

module.exports = { References, collectYoung, collectAll };
