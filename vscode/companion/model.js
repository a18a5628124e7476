// What the companion knows of the compartments of this window, from what hosts said. No vscode here,
// no sockets: messages in, events out. Everything is bounded, because programs in compartments decide
// how much there is.
"use strict";

const { EventEmitter } = require("node:events");
const { isInOwnHome, unexpected } = require("./wording.js");

/** @typedef {import("./protocol.js").FromHost} FromHost */
/** @typedef {import("./protocol.js").ToHost} ToHost */

const MAX_REFUSALS = 500;
const MAX_QUESTIONS = 1000;
const MAX_PROGRAMS = 100;
const MAX_SERVERS = 5;
const HISTORY = 60;  // usage comes every 2 s: two minutes
const CRASH_WINDOW = 5 * 60 * 1000;
const MAX_ENDED = 20;
/** Refused to nearly every program at its start, without harm: counted, but nobody's "first". */
const QUIET = new Set(["environment", "status", "read-status"]);
/** Answered in advance, label() in src/policy/policy.cc. */
const TELEMETRY = "known telemetry";
/** A key or a password, looked for there: kUnseenBlocked in src/policy/judge.h. */
const UNSEEN_BLOCKED = "yours is blocked, and was not shown: it has a home folder of its own";
/** A look at what the real home folder has and the compartment's own has not: nobody loses or learns anything by it. */
const isUnseen = (/** @type {{ kind: string, rule: string }} */ refusal) => refusal.kind === "read" && isInOwnHome(refusal) && refusal.rule !== UNSEEN_BLOCKED;
/** Tools look for their settings in each folder above, and find those: of what else lies there they are told nothing. Of src/policy/compile_entries.cc. */
const ABOVE = "the folders above the workspace show only the files that tools read by name";
/** Registered by itself, and done without: drop() in src/vscode/broker.cc. */
const UNASKED = "not granted, and not asked about";
/** A call that VS Code makes by itself for an extension ("MainThread….$watch"), and does without. */
const isQuiet = (/** @type {{ kind: string, resource: string, rule: string }} */ { kind, resource, rule }) =>
  QUIET.has(kind) || rule.startsWith(TELEMETRY) || rule.includes(ABOVE) || rule === UNASKED || isUnseen({ kind, rule }) || (kind === "vscode" && /^MainThread\w+\.\$watch$/.test(resource));
/** How its rules begin, label() in src/policy/policy.cc. */
const BLOCKLIST = "built-in blocklist";

/** A key or a hook was tried, or the like. */
const isAlarming = (/** @type {Refusal} */ refusal) =>
  refusal.enforced && !isQuiet(refusal) && (refusal.rule === UNSEEN_BLOCKED || refusal.rule.startsWith(BLOCKLIST));

/**
 * @typedef {object} Refusal
 * @property {string} kind
 * @property {string} resource
 * @property {string} rule
 * @property {string} program of the last one
 * @property {boolean} enforced
 * @property {number} count
 * @property {Map<string, number>} counts by program, as the host counts them
 * @property {number} time of the first one, ms
 */

/** One host, its compartment and its extensions. Made by the Model only. */
class Compartment {
  /**
   * @param {import("./protocol.js").Hello} hello
   * @param {(message: ToHost) => boolean} send
   */
  constructor(hello, send) {
    this.pid = hello.pid;
    this.send = send;
    this.connected = true;
    /** @type {import("./protocol.js").Review | undefined} */
    this.review = undefined;
    /** The user saw the review and did not allow it. The host goes on without its extensions. */
    this.rejected = false;
    this.outcome = "";
    /** Whether its end is nothing to talk about. */
    this.expected = false;
    /** Whether it acknowledges what the editor tells it. */
    this.responds = true;
    /** @type {{ cpu: number, memory: number, processes: number, home?: number } | undefined} */
    this.usage = undefined;
    /** @type {number[]} percent of a core, oldest first */
    this.load = [];
    /** @type {number | undefined} CPU seconds at the last report */
    this.lastCpu = undefined;
    this.lastTime = 0;
    /** @type {number | undefined} undefined where the host does not count them */
    this.allowed = undefined;
    this.refused = 0;
    /** Refusals since the user last looked, of those that say something; and of these, what no extension gets. */
    this.unseen = 0;
    this.alarming = 0;
    /** Refusals beyond the bound. */
    this.further = 0;
    /** @type {Map<string, Refusal>} least recent first */
    this.refusals = new Map();
    /** @type {Map<number, import("./protocol.js").Question>} oldest first */
    this.questions = new Map();
    this.run = hello.run;
    this.extensions = hello.extensions;
    this.trace = hello.trace;
    this.state = hello.state;
    this.since = hello.since;
    this.workspace = hello.workspace;
    this.permits = hello.permits;
    this.cannot = hello.cannot;
    this.grants = hello.grants;
    /** What it usually has: it starts without a review, for the first time or in another version. */
    this.unasked = hello.unasked;
  }

  /** @param {import("./protocol.js").Hello} hello of the same run, after something changed */
  take(hello) {
    const { extensions, trace, state, since, workspace, permits, cannot, grants, unasked } = hello;
    Object.assign(this, { extensions, trace, state, since, workspace, permits, cannot, grants, unasked });
  }

  /** At work, but no longer answering. */
  get stuck() {
    return this.connected && this.state === "running" && !this.responds;
  }

  /** The same for the next host of the same extensions. */
  get key() {
    return this.extensions.map((one) => one.id.toLowerCase()).sort().join(",");
  }

  /** Percent of one core over the last report's time; undefined before there are two. */
  get cpuPercent() {
    return this.load.at(-1);
  }
}

/**
 * Events, each with the compartment: "added", "unasked" (it started without a review), "removed", "changed" (what is shown of it),
 * "question" (+ question), "later" (+ question), "withdrawn" (+ question), "review", "refusal" (+ Refusal, whether it is the
 * first of its resource, of its compartment's extensions, of what no extension gets), "stuck", "ended" (+ times within five
 * minutes), "complaint" (+ text).
 */
class Model extends EventEmitter {
  /** @type {Map<number, Compartment>} */
  #compartments = new Map();
  /** @type {Map<string, number[]>} key → when its compartments ended unexpectedly */
  #ends = new Map();
  /** @type {Map<string, Set<string>>} key → resources refused in this window so far */
  #known = new Map();
  /** @type {Map<string, Set<string>>} key → those of them that the built-in blocklist refused */
  #blocked = new Map();
  /** @type {Map<string, Set<number>>} by whose compartment it is: ports at which it was found listening */
  #served = new Map();
  #now;

  /** @param {() => number} [now] ms; tests give their own */
  constructor(now = Date.now) {
    super();
    this.#now = now;
  }

  /** In the order of their names. */
  get compartments() {
    const name = (/** @type {Compartment} */ one) => one.extensions[0]?.name ?? "";
    return [...this.#compartments.values()].sort((a, b) => name(a).localeCompare(name(b)) || a.pid - b.pid);
  }

  get questions() {
    return [...this.#compartments.values()].flatMap((compartment) =>
      [...compartment.questions.values()].map((question) => ({ compartment, question })));
  }

  get reviews() {
    return this.compartments.filter((one) => one.review && !one.rejected);
  }

  get unseen() {
    return [...this.#compartments.values()].reduce((sum, one) => sum + one.unseen, 0);
  }

  get alarming() {
    return [...this.#compartments.values()].reduce((sum, one) => sum + one.alarming, 0);
  }

  /** @param {number} pid */
  get(pid) {
    return this.#compartments.get(pid);
  }

  /** Whether this very object is a compartment of this window: nobody else can make one. */
  has(/** @type {unknown} */ one) {
    return one instanceof Compartment && this.#compartments.get(one.pid) === one;
  }

  /** The user looked at the refusals. */
  look() {
    for (const compartment of this.#compartments.values()) {
      if (compartment.unseen === 0) continue;
      compartment.unseen = 0;
      compartment.alarming = 0;
      this.emit("changed", compartment);
    }
  }

  /**
   * @param {import("./protocol.js").Hello} hello
   * @param {(message: ToHost) => boolean} send
   */
  hello(hello, send) {
    const known = this.#compartments.get(hello.pid);
    if (known && known.run === hello.run) {
      const before = known.unasked;
      known.take(hello);
      known.send = send;
      if (before === undefined && known.unasked !== undefined) this.emit("unasked", known);
      known.connected = true;
      if (known.state !== "review") known.review = undefined;
      this.#succeed(known);
      this.emit("changed", known);
      return;
    }
    if (known) this.#remove(known);  // the number belongs to another process now
    const compartment = new Compartment(hello, send);
    this.#compartments.set(hello.pid, compartment);
    this.#succeed(compartment);
    this.emit("added", compartment);
    if (compartment.unasked !== undefined) this.emit("unasked", compartment);
  }

  /**
   * Its predecessors, whose end is told, leave. A host learns its extensions a moment after hello.
   * @param {Compartment} compartment
   */
  #succeed(compartment) {
    if (compartment.extensions.length === 0) return;
    for (const other of [...this.#compartments.values()])
      if (other !== compartment && !other.connected && other.key === compartment.key) this.#remove(other);
  }

  /**
   * @param {number} pid
   * @param {FromHost} message anything but hello
   */
  message(pid, message) {
    const compartment = this.#compartments.get(pid);
    if (!compartment) return;
    switch (message.type) {
      case "review":
        if (compartment.review?.digest !== message.digest) compartment.rejected = false;
        compartment.review = message;
        compartment.state = "review";
        this.emit("changed", compartment);
        this.emit("review", compartment);
        return;
      case "state":
        this.#state(compartment, message);
        return;
      case "pulse":
        if (compartment.responds === message.responds) return;
        compartment.responds = message.responds;
        this.emit("changed", compartment);
        if (compartment.stuck) this.emit("stuck", compartment);
        return;
      case "usage":
        this.#usage(compartment, message);
        return;
      case "question":
        if (compartment.questions.size >= MAX_QUESTIONS) {
          compartment.send({ type: "answer", id: message.id, answer: "no" });
          return;
        }
        compartment.questions.set(message.id, message);
        this.emit("changed", compartment);
        this.emit("question", compartment, message);
        return;
      case "later": {
        const question = compartment.questions.get(message.id);
        if (!question || question.later) return;
        question.later = true;
        this.emit("changed", compartment);
        this.emit("later", compartment, question);
        return;
      }
      case "withdrawn": {
        const question = compartment.questions.get(message.id);
        if (question) this.#close(compartment, question);
        return;
      }
      case "decision":
        if (message.verdict === "deny") this.#refusal(compartment, message);
        return;
      case "counts":
        if (message.allowed !== undefined) compartment.allowed = message.allowed;
        compartment.refused = message.refused;
        this.emit("changed", compartment);
        return;
      case "error":
        this.emit("complaint", compartment, message.message);
    }
  }

  /** The connection broke; the host may come back. What it asked stays unanswered. */
  lost(/** @type {number} */ pid) {
    const compartment = this.#compartments.get(pid);
    if (!compartment) return;
    compartment.connected = false;
    for (const question of [...compartment.questions.values()]) this.#close(compartment, question);
    this.emit("changed", compartment);
  }

  /** The host is gone. One that ended by itself stays in sight until its successor comes. */
  gone(/** @type {number} */ pid) {
    const compartment = this.#compartments.get(pid);
    if (!compartment) return;
    if (compartment.connected) this.lost(pid);
    if (compartment.state !== "ended" || !this.#isUnexpected(compartment)) {
      this.#remove(compartment);
      return;
    }
    const ended = [...this.#compartments.values()].filter((one) => one.state === "ended");
    for (const old of ended.slice(0, Math.max(0, ended.length - MAX_ENDED))) this.#remove(old);
  }

  /**
   * Answers a question, once; false where it is no longer open.
   * @param {Compartment} compartment
   * @param {number} id
   * @param {import("./protocol.js").Answer} answer
   */
  answer(compartment, id, answer) {
    const question = compartment.questions.get(id);
    if (!question || this.#compartments.get(compartment.pid) !== compartment) return false;
    const sent = compartment.send({ type: "answer", id, answer });
    this.#close(compartment, question);
    return sent;
  }

  /**
   * @param {Compartment} compartment
   * @param {string} digest what the user saw
   * @param {boolean} approved
   */
  decide(compartment, digest, approved) {
    if (this.#compartments.get(compartment.pid) !== compartment || compartment.review?.digest !== digest) return false;
    const sent = compartment.send({ type: approved ? "approve" : "reject", digest });
    if (sent) {
      if (approved) compartment.review = undefined;
      compartment.rejected = !approved;
      this.emit("changed", compartment);
    }
    return sent;
  }

  /**
   * A rejected extension is up for review again.
   * @param {Compartment} compartment
   */
  reconsider(compartment) {
    if (!compartment.rejected || !compartment.review) return;
    compartment.rejected = false;
    this.emit("changed", compartment);
  }

  /** @param {Compartment} compartment */
  end(compartment) {
    compartment.expected = true;
    return compartment.send({ type: "end" });
  }

  /** @param {Compartment} compartment */
  #isUnexpected(compartment) {
    return !compartment.expected && unexpected(compartment.outcome);
  }

  /**
   * Whether this is what no extension gets, tried for the first time. Counted apart: who is refused five
   * hundred other things before is told of all the same, and beyond the bound each time.
   * @param {Compartment} compartment
   * @param {Refusal} refusal
   * @param {string} id
   */
  #isBlocked(compartment, refusal, id) {
    if (!isAlarming(refusal)) return false;
    const blocked = this.#blocked.get(compartment.key) ?? new Set();
    this.#blocked.set(compartment.key, blocked);
    if (blocked.has(id)) return false;
    if (blocked.size < MAX_REFUSALS) blocked.add(id);
    return true;
  }

  /** @param {Compartment} compartment */
  #remove(compartment) {
    for (const question of [...compartment.questions.values()]) this.#close(compartment, question);
    this.#compartments.delete(compartment.pid);
    this.emit("removed", compartment);
  }

  /**
   * @param {Compartment} compartment
   * @param {import("./protocol.js").Question} question
   */
  #close(compartment, question) {
    if (!compartment.questions.delete(question.id)) return;
    this.emit("changed", compartment);
    this.emit("withdrawn", compartment, question);
  }

  /**
   * @param {Compartment} compartment
   * @param {import("./protocol.js").StateChange} change
   */
  #state(compartment, { state, outcome, expected }) {
    const before = compartment.state;
    compartment.state = state;
    if (state !== "review") compartment.review = undefined;
    if (state === "ended") {
      compartment.outcome = outcome;
      compartment.expected ||= expected === true;
      compartment.usage = undefined;
      for (const question of [...compartment.questions.values()]) this.#close(compartment, question);
    }
    this.emit("changed", compartment);
    if (state !== "ended" || before === "ended" || !this.#isUnexpected(compartment)) return;
    const now = this.#now();
    const ends = (this.#ends.get(compartment.key) ?? []).filter((time) => now - time < CRASH_WINDOW);
    ends.push(now);
    this.#ends.set(compartment.key, ends.slice(-100));
    this.emit("ended", compartment, ends.length);
  }

  /**
   * @param {Compartment} compartment
   * @param {import("./protocol.js").Usage} usage
   */
  #usage(compartment, usage) {
    const now = this.#now();
    if (compartment.lastCpu !== undefined && now > compartment.lastTime) {
      const seconds = (now - compartment.lastTime) / 1000;
      compartment.load.push(Math.max(0, ((usage.cpu - compartment.lastCpu) / seconds) * 100));
      if (compartment.load.length > HISTORY) compartment.load.shift();
    }
    compartment.lastCpu = usage.cpu;
    compartment.lastTime = now;
    compartment.usage = { cpu: usage.cpu, memory: usage.memory, processes: usage.processes, home: usage.home, listens: usage.listens ?? [] };
    this.emit("changed", compartment);
    this.#serves(compartment, usage.listens ?? []);
  }

  /**
   * A server is told of once, by whose it is and its port.
   * @param {Compartment} compartment
   * @param {number[]} ports
   */
  #serves(compartment, ports) {
    const known = this.#served.get(compartment.key) ?? new Set();
    this.#served.set(compartment.key, known);
    for (const port of ports) {
      if (known.has(port) || known.size >= MAX_SERVERS) continue;
      known.add(port);
      this.emit("serves", compartment, port);
    }
  }

  /**
   * @param {Compartment} compartment
   * @param {import("./protocol.js").Decision} decision
   */
  #refusal(compartment, decision) {
    const id = `${decision.kind}\0${decision.resource}`;
    let refusal = compartment.refusals.get(id);
    if (refusal) {
      compartment.refusals.delete(id);  // and in again, as the most recent
    } else {
      refusal = { kind: decision.kind, resource: decision.resource, rule: "", program: "", enforced: true, count: 0, counts: new Map(), time: 0 };
      if (compartment.refusals.size >= MAX_REFUSALS) {
        const [oldest, { count: forgotten }] = /** @type {[string, Refusal]} */ (compartment.refusals.entries().next().value);
        compartment.refusals.delete(oldest);
        compartment.further += forgotten;
      }
    }
    // The host counts by program, and begins again with every program's total after a reconnect.
    const program = decision.program ?? "";
    const before = refusal.counts.get(program) ?? 0;
    const count = Math.max(0, decision.count - before);
    if (refusal.counts.size < MAX_PROGRAMS || refusal.counts.has(program)) refusal.counts.set(program, decision.count);
    refusal.count += count;
    refusal.rule = decision.rule;
    refusal.program = program;
    refusal.enforced = decision.enforced;
    refusal.time = refusal.time === 0 ? decision.time : Math.min(refusal.time, decision.time);
    compartment.refusals.set(id, refusal);
    if (count === 0) return;
    // What found its own home folder was not refused.
    if (!isInOwnHome(refusal) && !isQuiet(refusal)) compartment.unseen += count;
    if (isAlarming(refusal)) compartment.alarming += count;
    const known = this.#known.get(compartment.key) ?? new Set();
    this.#known.set(compartment.key, known);
    const told = refusal.enforced && !decision.asked && !isQuiet(refusal) && !known.has(id) && known.size < MAX_REFUSALS;
    const first = { ofExtension: told && known.size === 0, ofResource: told, ofBlocklist: this.#isBlocked(compartment, refusal, id) };
    if (told) known.add(id);
    this.emit("changed", compartment);
    this.emit("refusal", compartment, refusal, first);
  }
}

module.exports = { Compartment, Model };
