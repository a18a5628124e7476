'use strict';
// Endpoint: one end of the membrane of one sandbox. The same code runs in the host and in every guest's
// own realm; `policy` is what makes them differ, and the host's is the one that counts.

const P = require('./primordials.cjs');
const { HEADER, Op, Flag, Settle, Tag, Kind, WireError } = require('./wire.cjs');
const { intrinsics, isForwarded, isEvaluator, changes } = require('./intrinsics.cjs');
const { LiveHandler, Import, encodeArguments, readValue } = require('./standin.cjs');
const { View } = require('./view.cjs');
const { LimitError, isOfHandles, Weight, Shapes, hashesOf } = require('./limit.cjs');
const { AGAIN, Texts } = require('./plain.cjs');
const { encodeObject } = require('./encode.cjs');
const { decodeTagged } = require('./decode.cjs');
const { detachAll } = require('./transfer.cjs');

const MAX_DEPTH = 100;
const MAX_KEYS = 4000;
const INDEX_BITS = 20;
const INDEX_MASK = (1 << INDEX_BITS) - 1;
const GENERATIONS = 1 << 10;
const MAX_RELEASES = 4000;
// Each gives back so many: all that may be held.
const MOST_ASKED = 256;
const MAX_REGISTERED = 1000;
const MAX_SYMBOL_TEXT = 256;

const wellKnown = [];
for (const name of ['iterator', 'asyncIterator', 'hasInstance', 'isConcatSpreadable', 'toPrimitive', 'toStringTag',
  'unscopables', 'match', 'replace', 'search', 'split', 'matchAll', 'species', 'dispose', 'asyncDispose'])
  P.ArrayPush(wellKnown, P.Symbol[name]);

// What is made for each message or handle: with a class of its own, because a literal without prototype
// is a hash table to V8, which takes longer to make than the rest of a message.
class Header {
  constructor(op, flags, sandbox, target) {
    this.op = op;
    this.flags = flags;
    this.sandbox = sandbox;
    this.target = target;
  }
}
class Entry {
  constructor(index) {
    this.index = index;
    this.generation = 0;
    this.id = 0;
    this.value = undefined;
    this.view = 0;
    this.kind = 0;
    this.sent = 0;
    this.call = undefined;
  }
}
// A getter of a guest's on Object.prototype would be handed the membrane as `this`.
P.setPrototypeOf(Header.prototype, null);
P.setPrototypeOf(Entry.prototype, null);

// What the other side holds, under each View.
const byView = () => [new P.SafeMap(), new P.SafeMap(), new P.SafeMap(), new P.SafeMap()];

class Endpoint {
  // link: { reader, writer, kind(value), putText(text), getText(bytes, two), transact(endpoint, length),
  //         whenSettled(promise, fulfilled, rejected), isDetachable(buffer), detach(buffers): all, or none and false }
  // policy: { isHost, handles, and more } (host.cjs, guest.cjs)
  constructor(link, number, policy) {
    this.link = link;
    this.number = number;
    this.policy = policy;
    this.closed = false;
    // What the other side holds of ours.
    this.entries = P.list();
    this.freed = P.list();
    this.exported = byView();
    this.count = 0;
    this.mySymbols = new P.SafeMap();
    this.symbols = P.list();
    this.settled = this.policy.isHost ? [] : P.list();
    // What we hold of the other's: live stand-ins, and those of the asynchronous face.
    this.imports = [new P.SafeMap(), new P.SafeMap()];
    this.standIns = new P.SafeWeakMap();
    this.yourSymbols = new P.SafeMap();
    this.theirSymbols = new P.SafeMap();
    this.registered = new P.SafeSet();
    this.errorClasses = new P.SafeMap();  // prototypes of those that are named like the other side's
    this.releases = P.list();  // numbers, and how often each is given back
    this.mentioned = null;     // numbers of the other side's that a message names which is to wait in a queue
    this.mentions = new P.SafeMap();  // by number: how many such messages there are
    this.late = P.list();      // what was dropped meanwhile
    this.references = policy.references((record) => this.dropped(record));
    this.roomAt = policy.handles >> 1;  // a collection is asked for where so many are held
    this.asked = P.list();  // by depth: whom a request of ours that waits is about
    // Property names that were sent, and received.
    this.keyNumbers = new P.SafeMap();
    this.keys = new P.SafeMap();
    // How what we say now is said: plain data copied, the rest under a view; and whether what we hear
    // now is for the asynchronous face.
    this.copying = policy.isHost;
    this.view = policy.isHost ? View.READONLY : View.LIVE;
    this.byValue = false;
    this.strict = false;  // what cannot be copied is an error
    this.reach = 0;  // what the views permit through which the other side reaches what runs now
    this.journal = P.list();
    this.journaled = 0;
    this.newKeys = null;
    this.patient = false;  // what is said may be said once more
    this.seen = null;
    this.backs = null;
    this.transfers = null;  // buffers that go with the message
    this.depth = 0;
    this.nesting = 0;
    this.weight = 0;  // of the message (limit.cjs)
    this.way = Texts.LARGE;  // how plain data are written (plain.cjs)
    this.texts = null;
    this.wasted = 0;
    this.small = 0;
    this.shapes = null;  // of objects in the message
    this.filled = 0;  // microseconds that maps and sets of the message had more than they needed
    this.withdrawn = false;  // the message has what was taken away from the other side
    this.heard = 0;  // functions, promises and objects of the other side that were heard of, ever, and what else is no data
    this.wellKnown = wellKnown;
    // Methods of the language that run on the other side, by path, and their paths.
    this.forwarders = undefined;
    this.forwarded = new P.SafeWeakMap();
  }

  // ------------------------------------------------------------------- messages

  // Begins a message of ours. Between this and send() no code of anybody else may come back here.
  begin(op, target, flags) {
    const { writer } = this.link;
    const { view } = writer;
    view.setUint32(0, op | (flags << 8), true);
    view.setUint32(4, this.number, true);
    view.setUint32(8, 0, true);
    view.setUint32(12, target, true);
    writer.at = HEADER;
    this.nesting = 0;
    this.weight = 0;
    this.newKeys = null;
    this.seen = null;
    this.texts = null;
    this.wasted = 0;
    this.small = 0;
    this.shapes = null;
    this.transfers = null;
    this.journaled = 0;
    this.link.encoding = this;
  }

  // The message will not be sent: nothing that it said counts.
  abort() {
    const { journal, journaled, newKeys } = this;
    this.journaled = 0;
    for (let i = 0; i < journaled; i++) this.release(journal[i], 1);
    if (newKeys !== null) for (let i = 0; i < newKeys.length; i++) this.keyNumbers.delete(newKeys[i]);
    this.newKeys = null;
  }

  // Its length, with what we let go of meanwhile.
  finish() {
    if (this.transfers !== null) detachAll(this);
    const { writer } = this.link;
    writer.view.setUint16(2, this.sayReleases(), true);
    this.link.encoding = null;
    this.newKeys = null;
    return writer.at;
  }
  // What a message names that waits in a queue is not given back before it is sent.
  mention(id) {
    if (this.mentioned === null) return;
    P.ArrayPush(this.mentioned, id);
    this.mentions.set(id, (this.mentions.get(id) ?? 0) + 1);
  }
  unmention(ids) {
    for (let i = 0; i < ids.length; i++) {
      const count = this.mentions.get(ids[i]) - 1;
      if (count > 0) this.mentions.set(ids[i], count);
      else this.mentions.delete(ids[i]);
    }
    const { late } = this;
    if (late.length === 0) return;
    this.late = P.list();
    for (let i = 0; i < late.length; i++) this.dropped(late[i]);
  }
  get unreleased() {
    return this.releases.length / 2;
  }
  sayReleases() {
    const { releases } = this;
    const { writer } = this.link;
    const count = this.unreleased < MAX_RELEASES ? this.unreleased : MAX_RELEASES;
    try {
      writer.need(8 * count);
    } catch {
      return 0;  // with a message that has room
    }
    for (let i = 0; i < count; i++) {
      const received = P.ArrayPop(releases);
      writer.u32(P.ArrayPop(releases));
      writer.u32(received);
    }
    return count;
  }
  // What the last message lent and let go of, for unsay().
  said() {
    const lent = P.list();
    for (let i = 0; i < this.journaled; i++) P.ArrayPush(lent, this.journal[i]);
    return lent;
  }
  // A message that was written is not sent after all.
  unsay(bytes, lent) {
    if (this.closed) return;
    for (let i = 0; i < lent.length; i++) this.release(lent[i], 1);
    const view = P.DataViewOf(bytes);
    const releases = view.getUint16(2, true);
    for (let at = bytes.length - 8 * releases; at < bytes.length; at += 4) P.ArrayPush(this.releases, view.getUint32(at, true));
  }

  // Reads the header of what was received, and the releases at its end.
  open(length) {
    const { reader } = this.link;
    reader.open(length);
    const { view } = reader;
    const word = view.getUint32(0, true);
    const releases = word >>> 16;
    const header = new Header(word & 255, (word >>> 8) & 255, view.getUint32(4, true), view.getUint32(12, true));
    reader.at = HEADER;
    const start = length - 8 * releases;
    if (start < HEADER) throw new WireError('releases');
    for (let i = 0; i < releases; i++) this.release(view.getUint32(start + 8 * i, true), view.getUint32(start + 8 * i + 4, true));
    reader.end = start;
    this.backs = null;
    this.nesting = 0;
    this.weight = 0;
    this.shapes = null;
    this.filled = 0;
    this.withdrawn = false;
    return header;
  }

  // One request: `write` encodes what it has to say, `read` takes what comes back; `byValue`: the
  // answer is for the asynchronous face.
  ask(op, target, write, read, byValue) {
    if (this.depth >= MAX_DEPTH) throw new P.RangeError('Maximum call stack size exceeded');
    const saved = this.byValue;
    this.link.enter(this);
    this.asked[this.depth++] = target;
    try {
      const length = this.sayPatiently(op, target, write, byValue ? Flag.BY_VALUE : 0);
      this.byValue = byValue;
      return this.hear(this.link.exchange(this, length), read);
    } catch (error) {
      throw this.link.broken(error);
    } finally {
      this.depth--;
      this.byValue = saved;
      this.link.leave(this);
    }
  }
  // Where more would be held than may be, the other side is asked to let go of what it has dropped first. write may be
  // called twice.
  sayPatiently(op, target, write, flags) {
    if (this.patient || !this.link.mayWait()) return this.say(op, target, write, flags);
    this.patient = true;
    try {
      return this.say(op, target, write, flags);
    } catch (error) {
      if (!isOfHandles(error) || this.depth >= MAX_DEPTH) throw error;
      for (let i = 0; i < MOST_ASKED && this.ask(Op.COLLECT, 0, undefined, readValue, false) === true; i++);
      this.patient = false;
      return this.say(op, target, write, flags);
    } finally {
      this.patient = false;
    }
  }
  say(op, target, write, flags) {
    const { link } = this;
    if (this.closed) throw this.policy.closedError();
    if (link.encoding !== null) throw new P.TypeError('a getter called into the membrane while its value was copied');
    if (this.holding >= this.roomAt) this.makeRoom();
    for (this.way = Texts.LARGE; ; this.way++) {
      try {
        return this.write(op, target, write, flags);
      } catch (error) {
        if (error !== AGAIN) throw error;
      }
    }
  }
  write(op, target, write, flags) {
    const { link, settled } = this;
    const { length } = settled;
    try {
      this.begin(op, target, flags);
      if (write !== undefined) write(this);
      // By a getter of what was copied.
      if (this.closed) throw this.policy.closedError();
      return this.finish();
    } catch (error) {
      // Before anything that needs stack, which may be what there is none of.
      link.encoding = null;
      this.abort();
      settled.length = length;
      this.settled = settled;
      throw error;
    }
  }
  // An answer. What it says besides of promises is told once all of it is read.
  hear(length, read) {
    if (this.closed) throw this.policy.closedError();
    const header = this.open(length);
    if (header.op === Op.ENDED) throw this.policy.endedError(this, header.flags);
    if (header.op !== Op.RETURN && header.op !== Op.THROW) throw new WireError('answer');
    const threw = header.op === Op.THROW;
    const result = threw ? this.policy.thrown(this, header) : read(this, header);
    const { withdrawn } = this;
    const settled = (header.flags & Flag.SETTLED) !== 0 ? this.hearSettled() : undefined;
    if ((header.flags & Flag.UNHEARD) !== 0) this.policy.unheard(this, this.hearUnheard());
    if (settled !== undefined) for (let i = 0; i < settled.length; i++) this.settle(settled[i].id, settled[i].ok, settled[i].value);
    if (withdrawn) throw this.policy.withdrawal();
    if (threw) throw result;
    return result;
  }
  hearSettled() {
    const { reader } = this.link;
    const count = reader.count(6);
    this.weighHeard(Weight.SETTLED * count);
    const list = P.list();
    const { byValue } = this;
    for (let i = 0; i < count; i++) {
      const id = reader.u32();
      const how = reader.u8();
      if (how === Settle.LIMIT) {
        P.ArrayPush(list, { __proto__: null, id, ok: false, value: this.policy.limitError(this) });
        continue;
      }
      const ok = how === Settle.FULFILLED;
      this.byValue = this.record(id, 0)?.byValue ?? byValue;
      this.withdrawn = false;
      const value = this.decode();
      P.ArrayPush(list, this.withdrawn ? { __proto__: null, id, ok: false, value: this.policy.withdrawal() } : { __proto__: null, id, ok, value });
    }
    this.byValue = byValue;
    return list;
  }
  hearUnheard() {
    const count = this.link.reader.count(1);
    const list = P.list();
    for (let i = 0; i < count; i++) P.ArrayPush(list, this.decode());
    return list;
  }
  // To the end of an answer: the promises of ours that were settled meanwhile.
  saySettled() {
    if (this.settled.length === 0) return;
    const { writer } = this.link;
    const { settled } = this;
    writer.bytes[1] |= Flag.SETTLED;
    const start = writer.at;
    writer.u32(0);
    // What a promise gives may hold promises again.
    let count = 0;
    for (; count < settled.length; count++) {
      writer.u32(settled[count].id);
      const error = this.tryTo(() => {
        this.copying = settled[count].copying;
        this.weigh(Weight.SETTLED);
        writer.u8(settled[count].ok ? Settle.FULFILLED : Settle.REJECTED);
        this.encode(settled[count].value);
      });
      if (error === undefined) continue;
      const limit = this.policy.limitOf(error);
      writer.u8(Settle.LIMIT);
      this.encodeText(limit?.code ?? 'ERR_SANDBOX_COPY');
      this.encodeText(limit?.message ?? 'the value of a promise cannot cross the membrane: it cannot be copied');
    }
    writer.view.setUint32(start, count, true);
    this.settled = this.policy.isHost ? [] : P.list();
  }

  // A part of a message that it may do without: undefined, or why it is not there.
  tryTo(write) {
    const { at } = this.link.writer;
    const { copying, weight, journaled: lent } = this;
    const seen = this.seen?.size ?? 0;
    const going = this.transfers?.length ?? 0;
    try {
      write();
      return undefined;
    } catch (error) {
      if (error === AGAIN || (this.patient && isOfHandles(error))) throw error;
      this.link.writer.at = at;
      this.weight = weight;
      this.seen?.forEach((number, value) => { if (number >= seen) this.seen.delete(value); });
      if (this.transfers !== null) this.transfers.length = going;
      while (this.journaled > lent) this.release(this.journal[--this.journaled], 1);
      return error ?? null;
    } finally {
      this.copying = copying;
    }
  }
  // Rejections that nothing handles, likewise: so many of them as are told.
  sayUnheard(values) {
    const { writer } = this.link;
    writer.bytes[1] |= Flag.UNHEARD;
    writer.u32(values.length);
    for (let i = 0; i < values.length; i++) {
      const error = this.tryTo(() => {
        this.copying = true;
        this.encode(values[i]);
      });
      if (error !== undefined) this.encodeText('an error that cannot cross the membrane');
    }
  }

  // ------------------------------------------------------------------- what we export

  exportHandle(value, view, kind) {
    const map = this.exported[view];
    let id = map.get(value);
    if (id === undefined) {
      if (this.count >= this.policy.handles)
        throw new LimitError('ERR_SANDBOX_HANDLES', `more than ${this.policy.handles} objects are held across the membrane`);
      let entry = P.ArrayPop(this.freed);
      if (entry === undefined) {
        entry = new Entry(this.entries.length);
        if (entry.index > INDEX_MASK) throw new LimitError('ERR_SANDBOX_HANDLES', 'too many objects are held across the membrane');
        P.ArrayPush(this.entries, entry);
      }
      id = entry.id = entry.index | (entry.generation << INDEX_BITS);
      entry.value = value;
      entry.view = view;
      entry.kind = kind;
      entry.sent = 0;
      map.set(value, id);
      this.count++;
    }
    this.entries[id & INDEX_MASK].sent++;
    this.journal[this.journaled++] = id;
    return id;
  }
  isExported(value) {
    for (let view = 0; view < this.exported.length; view++) if (this.exported[view].has(value)) return true;
    return false;
  }
  entryOf(id) {
    const entry = this.entries[id & INDEX_MASK];
    if (entry === undefined || entry.id !== id || entry.sent === 0) throw new WireError('handle');
    return entry;
  }
  release(id, count) {
    const entry = this.entryOf(id);
    if (count > entry.sent) throw new WireError('released more than was sent');
    entry.sent -= count;
    if (entry.sent !== 0) return;
    this.exported[entry.view].delete(entry.value);
    entry.value = entry.call = undefined;
    entry.generation = (entry.generation + 1) % GENERATIONS;
    this.count--;
    P.ArrayPush(this.freed, entry);
  }

  // A promise of ours that the other side waits for.
  exportPromise(promise) {
    const known = this.exported[View.READONLY].has(promise);
    const id = this.exportHandle(promise, View.READONLY, Kind.PROMISE);
    const entry = this.entries[id & INDEX_MASK];
    // Who waits for it: of several calls of the host the one that goes on for longer.
    const call = this.policy.lasting(this);
    if (!known || (entry.call !== undefined && (call === undefined || call.end > entry.call.end))) entry.call = call;
    if (known) return id;
    const outcome = this.link.outcome(promise);
    if (outcome !== undefined) {
      P.ArrayPush(this.settled, { __proto__: null, id, ok: outcome[0], value: outcome[1], call, copying: this.copying });
      return id;
    }
    // What it gives is for the face that was given it, whoever is answered when it comes.
    const { copying } = this;
    const settle = (ok) => (value) => {
      if (this.closed || entry.id !== id || entry.sent === 0) return;
      P.ArrayPush(this.settled, { __proto__: null, id, ok, value, call: entry.call, copying });
      this.policy.onSettled(this);
    };
    this.link.whenSettled(promise, settle(true), settle(false));
    return id;
  }

  // ------------------------------------------------------------------- what we import

  importHandle(id, kind, cached) {
    const face = this.byValue ? 1 : 0;
    const known = this.imported(id, face);
    if (known !== undefined) return known;
    const record = new LiveHandler(this, id, kind, face);
    if (cached) record.cache = new P.SafeMap();
    const standIn = record.make();
    this.adopt(record, standIn);
    return standIn;
  }
  // By index: of numbers that the other side chooses as it likes, the engine would compare each with all others.
  record(id, face) {
    const record = this.imports[face].get(id & INDEX_MASK);
    return record?.id === id ? record : undefined;
  }
  // What stands for it, counted once more; or undefined, and there is room for it.
  imported(id, face) {
    const record = this.record(id, face);
    const alive = record === undefined ? undefined : this.references.get(record);
    if (alive === undefined) this.admit(id, face);
    else record.received++;
    return alive;
  }
  admit(id, face) {
    const imports = this.imports[face];
    const known = imports.get(id & INDEX_MASK);
    // A number is given anew once we have let go of what had it.
    if (known === undefined ? imports.size >= this.policy.handles + 16 : known.id !== id) throw new WireError('handles');
  }
  adopt(record, standIn) {
    record.received = 1;
    this.imports[record.face].set(record.id & INDEX_MASK, record);
    this.standIns.set(standIn, record);
    this.references.hold(record, standIn);
  }
  // A real object of ours (an error, a snapshot, a promise) that stands for one of the other side.
  importCopy(id, face, makeCopy) {
    const known = this.imported(id, face);
    if (known !== undefined) return known;
    const record = new Import(this, id, Kind.OBJECT, face);
    const copy = makeCopy(record);
    this.adopt(record, copy);
    return copy;
  }
  // Its stand-in was collected; told by the engine, or found by sweep() before.
  dropped(record) {
    const { id, received } = record;
    if (received === 0) return;
    if (this.mentions.has(id)) return void P.ArrayPush(this.late, record);
    record.received = 0;
    const imports = this.imports[record.face];
    const index = id & INDEX_MASK;
    if (imports.get(index) === record) imports.delete(index);
    if (this.closed) return;
    P.ArrayPush(this.releases, id);
    P.ArrayPush(this.releases, received);
    this.policy.onReleased(this);
  }
  // Traps know what they stand for, and not the stand-in, which may be collected while they ask: not in that message.
  isAsked(id) {
    for (let i = 0; i < this.depth; i++) if (this.asked[i] === id) return true;
    return false;
  }
  get holding() {
    return this.imports[0].size + this.imports[1].size;
  }
  // Much of what is held may be dropped, by code that has it no more: the engine finds it when it collects garbage,
  // which it may do much later than the other side meets its limit.
  makeRoom(asked = false) {
    const { handles } = this.policy;
    const most = asked ? 0 : handles >> 1;
    this.references.sweep(this);
    if (this.holding > most) this.policy.collect(this, asked);
    const free = handles - this.holding;
    this.roomAt = this.holding + (free > 16 ? free >> 1 : handles >> 7 || 1);
  }
  // Asked for by the other side, which can hold no more: whether there is more to let go of than a message says.
  collect() {
    this.makeRoom(true);
    return this.unreleased > MAX_RELEASES;
  }
  settle(id, ok, value) {
    const record = this.record(id, 0);
    if (record?.resolve !== undefined) this.finishPromise(record, ok, value);
  }
  // A promise of ours that stands for one of the other side has its outcome.
  finishPromise(record, ok, value) {
    this.policy.settling(record, ok, value);
    const { resolve, reject } = record;
    record.resolve = record.reject = undefined;
    (ok ? resolve : reject)(value);
  }
  // Who waits for a promise of the other side, once.
  waiting(id) {
    const record = this.record(id, 0);
    if (record === undefined || record.resolve === undefined) return undefined;
    const { resolve, reject } = record;
    record.resolve = record.reject = undefined;
    return { __proto__: null, resolve, reject, account: record.account };
  }

  // ------------------------------------------------------------------- values

  // Besides proxies, which it is known by that they are such, a host holds copies of a guest's objects.
  isStandIn(value) {
    return this.policy.isHost && this.standIns.has(value);
  }
  // What a guest says costs its host. What a host says is its own to weigh.
  weigh(weight) {
    if (!this.policy.isHost && (this.weight += weight) > this.link.most)
      throw new LimitError('ERR_SANDBOX_OUTPUT', 'what is to cross the membrane takes more to read than a message may (option output of the sandbox)');
  }
  // Names of an object.
  weighNames(keys) {
    if (this.policy.isHost) return;
    if (this.shapes === null) this.shapes = new Shapes();
    this.weigh(this.shapes.count(keys) * Weight.SHAPE);
  }
  heardShapes() {
    if (this.shapes === null) this.shapes = hashesOf();
    return this.shapes;
  }
  weighHeard(weight) {
    if (this.policy.isHost && (this.weight += weight) > this.link.most) throw new WireError('weight');
  }

  encode(value) {
    const { writer } = this.link;
    switch (typeof value) {
      case 'string': return this.encodeText(value);
      case 'number':
        if ((value | 0) === value && !P.ObjectIs(value, -0)) return writer.tagged32(Tag.INT, value);
        return writer.tagged64(Tag.NUMBER, value);
      case 'undefined': return writer.u8(Tag.UNDEFINED);
      case 'boolean': return writer.u8(value ? Tag.TRUE : Tag.FALSE);
      case 'bigint': return this.encodeBigInt(value);
      case 'symbol': return this.encodeSymbol(value);
      default:
        if (value === null) return writer.u8(Tag.NULL);
        return encodeObject(this, value);
    }
  }
  encodeText(text) {
    this.weigh(Weight.TEXT + text.length);
    if (!this.link.writer.short(text)) this.link.putText(text);
  }
  encodeBigInt(value) {
    const digits = P.BigIntToString(value, 16);
    this.weigh(Weight.BIGINT);
    this.link.writer.u8(Tag.BIGINT);
    this.encodeText(digits);
  }
  encodeSymbol(symbol) {
    const { writer } = this.link;
    for (let i = 0; i < wellKnown.length; i++) {
      if (wellKnown[i] === symbol) {
        writer.u8(Tag.WELL_KNOWN);
        return writer.u8(i);
      }
    }
    const registered = P.SymbolKeyFor(symbol);
    if (this.policy.hides(symbol)) return writer.u8(Tag.UNDEFINED);
    this.weigh(Weight.SYMBOL);
    if (registered !== undefined && !P.StringStartsWith(registered, 'nodejs.')) {
      this.countRegistered(registered, false);
      writer.u8(Tag.REGISTERED);
      return this.encodeText(registered);
    }
    const yours = this.yourSymbols.get(symbol);
    if (yours !== undefined) {
      writer.u8(Tag.YOUR_SYMBOL);
      return writer.u32(yours);
    }
    let mine = this.mySymbols.get(symbol);
    if (mine === undefined) {
      mine = this.symbols.length;
      if (mine >= this.policy.handles) throw new LimitError('ERR_SANDBOX_HANDLES', 'too many symbols cross the membrane');
      P.ArrayPush(this.symbols, symbol);
      this.mySymbols.set(symbol, mine);
    }
    writer.u8(Tag.MY_SYMBOL);
    writer.u32(mine);
    const description = P.SymbolDescription(symbol);
    if (description !== undefined) this.boundSymbol(description, false);
    if (description === undefined) writer.u8(Tag.UNDEFINED);
    else this.encodeText(description);
  }

  boundSymbol(name, heard) {
    if (name.length <= MAX_SYMBOL_TEXT) return;
    if (heard) throw new WireError('symbol');
    throw new LimitError('ERR_SANDBOX_HANDLES', `a symbol's text of more than ${MAX_SYMBOL_TEXT} characters crosses the membrane`);
  }
  // The engine keeps what is registered for ever, in the realm of whoever hears of it.
  countRegistered(name, heard) {
    this.boundSymbol(name, heard);
    if (this.registered.has(name)) return;
    if (this.registered.size >= MAX_REGISTERED) {
      if (heard) throw new WireError('symbols');
      throw new LimitError('ERR_SANDBOX_HANDLES', 'too many registered symbols cross the membrane');
    }
    this.registered.add(name);
  }

  // A property's name, of which most are said again and again.
  encodeKey(key) {
    if (typeof key === 'symbol') return this.encodeSymbol(key);
    const { writer } = this.link;
    const number = this.keyNumbers.get(key);
    if (number !== undefined) {
      writer.u8(Tag.KEY);
      return writer.u16(number);
    }
    const first = key.length > 0 ? P.StringCharCodeAt(key, 0) : 0;
    const lasting = key.length <= 64 && (first < 48 || first > 57) && this.keyNumbers.size < MAX_KEYS;
    if (lasting) {
      writer.u8(Tag.NEW_KEY);
      writer.u16(this.keyNumbers.size);
      this.keyNumbers.set(key, this.keyNumbers.size);
      if (this.newKeys === null) this.newKeys = P.list();
      P.ArrayPush(this.newKeys, key);
    }
    this.encodeText(key);
  }
  encodeIntrinsic(path) {
    this.link.writer.u8(Tag.INTRINSIC);
    this.encodeText(path);
  }

  decode() {
    return decodeTagged(this, this.link.reader.u8());
  }
  decodeText() {
    return this.decodeTextOf(this.link.reader.u8());
  }
  // By these tags alone: others lead back here, deeper than nesting counts.
  decodeTextOf(tag) {
    if (tag !== Tag.TEXT1 && tag !== Tag.TEXT2) throw new WireError('text');
    return decodeTagged(this, tag);
  }
  decodeKey() {
    const key = this.decode();
    if (typeof key !== 'string' && typeof key !== 'symbol') throw new WireError('key');
    return key;
  }
  // With its number: whoever lost count, because a stack was full, is told again.
  rememberKey() {
    const number = this.link.reader.u16();
    const key = this.decodeText();
    if (number >= MAX_KEYS || key.length > 64) throw new WireError('keys');
    this.keys.set(number, key);
    return key;
  }
  forgetKeys() {
    this.keyNumbers = new P.SafeMap();
  }
  decodeSymbol(mine) {
    const { reader } = this.link;
    const id = reader.u32();
    this.weighHeard(Weight.SYMBOL);
    if (mine) {
      if (id >= this.symbols.length) throw new WireError('symbol');
      return this.symbols[id];
    }
    const tag = reader.u8();
    const description = tag === Tag.UNDEFINED ? undefined : this.decodeTextOf(tag);
    if (description !== undefined) this.boundSymbol(description, true);
    let symbol;
    symbol = this.theirSymbols.get(id);
    if (symbol === undefined) {
      if (id >= this.policy.handles) throw new WireError('symbols');
      symbol = P.Symbol(description);
      this.theirSymbols.set(id, symbol);
      this.yourSymbols.set(symbol, id);
    }
    return symbol;
  }
  decodeIntrinsic() {
    const path = this.decodeText();
    const found = intrinsics().objects.get(path);
    if (typeof found === 'function' && isForwarded(path)) return this.forwarder(path, found);
    if (this.policy.isHost && found !== undefined) throw new WireError('intrinsic');
    return found;
  }
  // The one place where an intrinsic of a guest is the host's: what an object inherits from.
  encodePrototype(prototype) {
    const path = prototype === null ? undefined : intrinsics().paths.get(prototype);
    if (path === undefined || isEvaluator(path)) return this.encode(prototype);
    this.encodeIntrinsic(path);
  }
  decodePrototype() {
    const tag = this.link.reader.u8();
    if (tag !== Tag.INTRINSIC) return decodeTagged(this, tag);
    const path = this.decodeText();
    if (isEvaluator(path)) throw new WireError('intrinsic');
    return intrinsics().objects.get(path);
  }
  // Runs where the object is that it is called on.
  forwarder(path, method) {
    if (this.forwarders === undefined) this.forwarders = new P.SafeMap();
    let made = this.forwarders.get(path);
    if (made === undefined) {
      const endpoint = this;
      made = { method(...args) {
        if (!endpoint.standIns.has(this)) {
          // Handed to a host as a callback it would change what is the host's.
          if (endpoint.policy.isHost && changes(path)) throw new P.TypeError('a method of the guest is for what is the guest\'s');
          return P.apply(method, this, args);
        }
        return endpoint.ask(Op.INTRINSIC, 0, () => {
          endpoint.encodeText(path);
          endpoint.encode(this);
          encodeArguments(endpoint, args);
        }, readValue, false);
      } }.method;
      this.forwarders.set(path, made);
      this.forwarded.set(made, path);
    }
    return made;
  }

  close() {
    this.closed = true;
    const error = this.policy.closedError();
    for (const face of this.imports)
      face.forEach((record) => { if (record.reject !== undefined) this.finishPromise(record, false, error); });
    this.entries = P.list();
    this.freed = P.list();
    this.exported = byView();
    this.imports = [new P.SafeMap(), new P.SafeMap()];
    this.mySymbols = new P.SafeMap();
    this.symbols = P.list();
    this.settled = this.policy.isHost ? [] : P.list();
    this.releases = P.list();
    this.late = P.list();
    this.count = 0;
    this.journaled = 0;
    this.newKeys = null;
  }
}

// Object.prototype is the guest's to change: a getter there would be handed the membrane as `this`.
P.setPrototypeOf(Endpoint.prototype, null);

module.exports = { Endpoint, MOST_ASKED };
