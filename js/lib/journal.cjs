'use strict';
// Journal: what sandboxes decided, told to the process that keeps it where `bulkhead log` looks
// (src/trace/packets.h). Never waits: what is new is told at once, by one system call; how often it came
// again, every second at most. One process keeps a journal for all sandboxes of a program, from the first
// worker until two seconds after the last.

const fs = require('node:fs');
const path = require('node:path');
const { native, startKeeper } = require('./launcher.cjs');

const MOST_NAMES = 200;
const MOST_OF_NAME = 80;  // different decisions; as many modules, whose names are a guest's words
const MOST_TEXT = 600;
const PAUSE = 1000;
const LINGER = 2000;
const FULL = 1;

// What the kernel keeps of a packet is in bytes; of characters each has three at most.
// Cut first: a text may be a worker's, of megabytes, and what is joined holds nothing of it.
const packet = (...texts) => texts.map((text) => {
  const whole = String(text);
  const cut = whole.length <= MOST_TEXT ? whole : `${whole.slice(0, MOST_TEXT)}…`;
  return cut.toWellFormed().replaceAll('\0', '\ufffd');
}).join('\0');

// This program, as `bulkhead log --runs` shows it.
let named;
const callProgram = (subject, command) => { named = { subject, command }; };
function program() {
  if (named !== undefined) return packet('R', named.subject, named.command, workingFolder());
  const [, script, ...args] = process.argv;
  let subject = script ?? process.execPath;
  try {
    subject = fs.realpathSync(subject);
  } catch { /* it was no file */ }
  const words = script === undefined ? [path.basename(process.execPath)] : [path.basename(process.execPath), script, ...args];
  return packet('R', subject, words.join(' '), workingFolder());
}
function workingFolder() {
  try {
    return process.cwd();
  } catch {
    return '';  // it is gone
  }
}

class Journal {
  #file;
  #packets;
  #socket = -1;
  #theirs = -1;
  #keeper;
  #users = 0;
  #linger;
  #timer;
  #names = new Map();  // by name: modules, and others: by decision: how often it is still to be told
  #alive = new Map();  // by name: how many sandboxes

  constructor(file) {
    this.#file = file;
  }
  // For a worker that is about to start: the descriptor that its supervisor tells.
  enter() {
    this.#users++;
    clearTimeout(this.#linger);
    if (this.#socket < 0) {
      this.#packets ??= native().packets();
      [this.#socket, this.#theirs] = this.#packets.open();
      this.#packets.send(program());
    }
    return this.#socket;
  }
  // Once a worker is on its way: starting a process takes a millisecond.
  start() {
    if (this.#keeper !== undefined || this.#socket < 0) return;
    this.#keeper = startKeeper(this.#theirs, this.#file);
    this.#packets.started();
  }
  leave() {
    if (--this.#users > 0) return;
    // The program may be about to end.
    this.#tell();
    this.#linger = setTimeout(() => { this.#close()?.exited({ waiting: false }); }, LINGER).unref();
  }
  #close() {
    this.#tell();
    clearTimeout(this.#timer);
    clearTimeout(this.#linger);
    this.#timer = undefined;
    this.#names.clear();
    this.#packets?.close();
    this.#socket = -1;
    const keeper = this.#keeper;
    this.#keeper = undefined;
    return keeper;
  }
  // For a program that is about to end: all of it is kept then.
  async closed() {
    const keeper = this.#close();
    if (keeper === undefined) return;
    const late = setTimeout(() => { keeper.stop(); }, LINGER);
    await keeper.exited({ waiting: true });
    clearTimeout(late);
  }

  // What is decided in the worker `pid` is `name`'s.
  belongs(pid, name) {
    if (this.#socket >= 0 && pid > 0) this.#packets.send(packet('W', pid, name));
  }
  entered(name) {
    this.#alive.set(name, (this.#alive.get(name) ?? 0) + 1);
  }
  left(name) {
    const others = this.#alive.get(name) - 1;
    if (others > 0) this.#alive.set(name, others);
    else this.#alive.delete(name);
  }
  // Room for another name: that of one without sandboxes, of which all is told.
  #makeRoom() {
    for (const [name, known] of this.#names) {
      if (this.#alive.has(name) || name === FURTHER) continue;
      this.#tellOf(known);
      this.#names.delete(name);
      return true;
    }
    return false;
  }
  // allowed: boolean; what, why, how: texts; pid: of the worker.
  note(name, allowed, what, why, how, pid = 0) {
    if (this.#socket < 0) return;
    let rooms = this.#names.get(name);
    if (rooms === undefined) {
      if (this.#names.size >= MOST_NAMES && name !== FURTHER && !this.#makeRoom()) return void this.note(FURTHER, allowed, what, why, how);
      this.#names.set(name, rooms = { modules: new Map(), others: new Map() });
    }
    // Apart: what a guest can name without end takes no limit's place.
    const known = what.startsWith('module ') ? rooms.modules : rooms.others;
    let key = packet('D', 'system', allowed ? 'allow' : 'deny', `sandbox ${what}`, why, pid, name, how);
    // Of many workers one decision: whose it was first, and where.
    const same = packet(allowed, what, why);
    let entry = known.get(same);
    if (entry === undefined && known.size >= MOST_OF_NAME) {
      key = packet('D', 'system', allowed ? 'allow' : 'deny', `sandbox ${FURTHER}`, 'more different decisions than the journal keeps of one name', 0, name, '');
      entry = known.get(key);
      if (entry === undefined) known.set(key, entry = { key, count: 0 });
    }
    if (entry !== undefined) {
      entry.count++;
      this.#timer ??= setTimeout(() => { this.#timer = undefined; this.#tell(); }, PAUSE).unref();
      return;
    }
    entry = { key, count: 1 };
    known.set(same, entry);
    this.#send(entry);
  }
  #tell() {
    for (const rooms of this.#names.values()) this.#tellOf(rooms);
  }
  #tellOf({ modules, others }) {
    for (const known of [modules, others]) for (const entry of known.values()) if (entry.count > 0) this.#send(entry);
  }
  #send(entry) {
    // Full: whoever keeps it is behind. Later, with what comes till then.
    if (this.#packets.send(`${entry.key}\0${entry.count}`) === FULL) this.#timer ??= setTimeout(() => { this.#timer = undefined; this.#tell(); }, PAUSE).unref();
    else entry.count = 0;
  }
}
const FURTHER = '(further)';

const journals = new Map();
// named: true, false or a path (options.cjs).
function journalOf(named) {
  if (named === false) return undefined;
  const file = named === true ? '' : named;
  let journal = journals.get(file);
  if (journal === undefined) journals.set(file, journal = new Journal(file));
  return journal;
}
const journalsClosed = () => Promise.all([...journals.values()].map((journal) => journal.closed()));

module.exports = { journalOf, journalsClosed, callProgram };
