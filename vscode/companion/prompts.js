// Questions as notifications. One at a time for each host, for all of one cause (cause.js); more are
// counted in it and answered in the list. Who asked goes on without an answer after a moment; the
// question stays, and a yes then counts for what is tried later, or by the next compartment of the same
// extensions, which is offered. A notification cannot be taken back, so one whose question was withdrawn stays on the screen
// without effect, and hosts that leave many such get no further ones: the status bar and the view keep
// showing that there are questions. Closing a notification refuses.
"use strict";

const { firstCause } = require("./cause.js");
const text = require("./text.js");
const wording = require("./wording.js");

/** @typedef {import("./model.js").Compartment} Compartment */
/** @typedef {import("./protocol.js").Question} Question */
/** @typedef {import("./protocol.js").Answer} Answer */

/** Before the first of one host: what is asked together is counted together. */
const GATHER = 150;
/** Between two of one host: the second click of a double click must not answer the next question. */
const PAUSE = 800;
/** Notifications of one host at a time, withdrawn ones included, and of all hosts, where those without effect count for nothing:
 * whoever leaves some keeps no other from asking. */
const MAX_OF_HOST = 2;
const MAX_OPEN = 3;
/** Within a minute, of one host: beyond, the list only. */
const MAX_A_MINUTE = 5;
/** Late answers that are kept for the next compartments. */
const MAX_CARRIED = 1000;

/** @typedef {{ title: string, answer: Answer | undefined, detail?: string }} Button */

/** @type {Button[]} */
const ANSWERS = [
  { title: "Once", answer: "once", detail: "Allow it for the programs that are waiting now" },
  { title: "This Session", answer: "run", detail: "Allow it until the compartment ends" },
  { title: "Always", answer: "always", detail: "Allow it and remember that" },
  { title: "Never", answer: "never", detail: "Refuse it and remember that" },
];
/** @type {Button} */
const NO = { title: "No", answer: "no", detail: "Refuse it until the compartment ends" };
/** @type {Button} */
const NONE = { title: "No", answer: "no" };
/** Who has gone on without an answer is not waiting. */
const LATE_ANSWERS = ANSWERS.map((one) => (one.answer === "once" ? { ...one, detail: "Allow it the next time that it is tried" } : one));
/** A call to the editor waits all the same. */
const answersTo = (/** @type {Question[]} */ questions) => (questions.every((one) => one.later && one.kind !== "vscode") ? LATE_ANSWERS : ANSWERS);
/** The two that people need; the others stand with all that is known of the question. @type {Button} */
const ALWAYS = { title: "Always", answer: "always" };
/** @type {Button} */
const MORE = { title: "More…", answer: undefined };

/** A call to the editor, or of the editor: most of these come of a person's click or key. @param {Question} question */
const isAsked = ({ kind }) => kind === "vscode";
/** The next compartment of the same extensions, as they are now. @param {Compartment} compartment */
const successor = ({ extensions }) => JSON.stringify(extensions.map(({ id, version }) => `${id.toLowerCase()}@${version}`).sort());
const about = (/** @type {Question} */ { kind, resource, detail, about: what }) => `${kind}\0${resource}\0${kind === "vscode" ? detail : ""}\0${what}`;

/** @typedef {{ open: Set<number>, shown: number[], waiting: boolean, listed: boolean, missed: boolean, once: Set<string> }} Host once: late answers, for who is started anew */

class Prompts {
  /** @type {Map<Compartment, Host>} */
  #hosts = new Map();
  /** @type {Map<string, Answer>} "This Session" that came too late for the compartment that asked, and "Once" of one that a person restarts */
  #carried = new Map();

  /**
   * @param {import("./model.js").Model} model
   * @param {Pick<typeof import("vscode").window, "showWarningMessage" | "showInformationMessage" | "createQuickPick" | "showQuickPick">} window
   * @param {{ home?: string, gather?: number, pause?: number, now?: () => number }} [options]
   */
  constructor(model, window, { home, gather = GATHER, pause = PAUSE, now = Date.now } = {}) {
    this.model = model;
    this.window = window;
    this.home = home;
    this.pause = pause;
    this.now = now;
    model.on("question", (compartment, question) => {
      const key = `${successor(compartment)}\0${about(question)}`;
      const carried = this.#carried.get(key);
      if (carried === "once") this.#carried.delete(key);
      if (carried) model.answer(compartment, question.id, carried);
      else this.#later(compartment, gather);
    });
    // What lost its effect on the screen makes room there.
    model.on("withdrawn", (compartment) => {
      for (const one of model.compartments) if (one !== compartment && one.questions.size > 0) this.#later(one);
    });
    model.on("removed", (compartment) => this.#hosts.delete(compartment));
  }

  /** @param {Compartment} compartment */
  #of(compartment) {
    let host = this.#hosts.get(compartment);
    if (!host) {
      host = { open: new Set(), shown: [], waiting: false, listed: false, missed: false, once: new Set() };
      this.#hosts.set(compartment, host);
    }
    return host;
  }

  /** Notifications on the screen that can still answer something. */
  get #open() {
    let open = 0;
    for (const [compartment, host] of this.#hosts) {
      if (!this.model.has(compartment) || compartment.questions.size === 0) continue;
      open += [...host.open].filter((id) => compartment.questions.has(id)).length + (host.listed ? 1 : 0);
    }
    return open;
  }

  /** Shows the next question of a host where one may be shown now. */
  #next(/** @type {Compartment} */ compartment) {
    if (!this.model.has(compartment) || compartment.questions.size === 0) return;
    const host = this.#of(compartment);
    const shown = [...host.open].flatMap((id) => compartment.questions.get(id) ?? []);
    // What a person has just asked for does not wait behind what the extension does by itself.
    const live = shown.some(isAsked) || (shown.length > 0 && ![...compartment.questions.values()].some(isAsked));
    if (host.waiting || host.listed || live || host.open.size >= MAX_OF_HOST || this.#open >= MAX_OPEN) return;
    const now = this.now();
    host.shown = host.shown.filter((time) => now - time < 60_000);
    host.shown.push(now);
    if (host.shown.length > MAX_A_MINUTE) void this.#flood(compartment, host);
    else void this.#show(compartment, host, this.#group(compartment));
  }

  /**
   * @param {Compartment} compartment
   * @param {number} wait ms
   */
  #later(compartment, wait = this.pause) {
    const host = this.#of(compartment);
    if (host.waiting) return;
    host.waiting = true;
    const timer = setTimeout(() => {
      host.waiting = false;
      this.#next(compartment);
      // A place on the screen is free: others may wait for it.
      for (const other of this.model.compartments) if (other !== compartment) this.#next(other);
    }, wait);
    timer.unref?.();
  }

  /** The first question of a host with those of its cause: as many as a dialog can list. */
  #group(/** @type {Compartment} */ compartment) {
    const open = [...this.#of(compartment).open];
    const questions = [...compartment.questions.values()].filter(({ id }) => !open.includes(id));
    return firstCause([...questions.filter(isAsked), ...questions.filter((one) => !isAsked(one))], this.home).slice(0, wording.MAX_LISTED);
  }

  /**
   * @param {Compartment} compartment
   * @param {Host} host
   * @param {Question[]} questions of one cause: what is shown is what is answered
   */
  async #show(compartment, host, questions) {
    const [question] = questions;
    host.open.add(question.id);
    try {
      const message = wording.ask(compartment.extensions, questions, {
        home: this.home,
        more: compartment.questions.size - questions.length,
      });
      // Nobody says yes to what is only counted.
      const offered = wording.namesAll(questions) ? [ALWAYS, NONE] : [NONE];
      const chosen = await this.window.showWarningMessage(message, ...offered, MORE);
      if (chosen === MORE) await this.details(compartment, questions);
      else this.#answer(compartment, questions, chosen?.answer ?? "no", chosen !== undefined);
    } finally {
      host.open.delete(question.id);
      this.#later(compartment);
    }
  }

  /**
   * @param {Compartment} compartment
   * @param {{ listed: boolean }} host
   */
  async #flood(compartment, host) {
    host.listed = true;
    const list = { title: "Show Questions" };
    const none = { title: "Refuse All" };
    try {
      const message = `${wording.who(compartment.extensions)} keeps asking: ${text.counted(compartment.questions.size, "question")} waiting.`;
      const chosen = await this.window.showWarningMessage(message, list, none);
      if (chosen === list) await this.list();
      else if (chosen === none)
        for (const question of [...compartment.questions.values()]) this.#give(compartment, question, "no");
    } finally {
      host.listed = false;
      this.#later(compartment);
    }
  }

  /**
   * Everything about questions of one cause, in a dialog that takes the answer. The first button has the
   * focus: a stray Enter must allow nothing.
   * @param {Compartment} compartment
   * @param {Question[]} questions
   */
  async details(compartment, questions) {
    const open = questions.filter((one) => compartment.questions.get(one.id) === one);
    if (open.length === 0) return this.#late();
    const chosen = await this.window.showWarningMessage(
      wording.ask(compartment.extensions, open, { home: this.home }),
      { modal: true, detail: wording.details(compartment.extensions, open) },
      ...[NO, ...answersTo(open)],
    );
    this.#answer(compartment, open, chosen?.answer ?? "no", chosen !== undefined && chosen !== NO);
  }

  /** Every open question in a list, several answered at once. */
  async list() {
    const open = this.model.questions;
    if (open.length === 0) {
      void this.window.showInformationMessage("No extension is waiting for an answer.");
      return;
    }
    if (open.length === 1) return this.details(open[0].compartment, [open[0].question]);
    const rows = open.map(({ compartment, question }) => ({
      label: upperFirst(wording.wish(question, { home: this.home })),
      description: wording.named(wording.asker(compartment.extensions, question.extension)),
      detail: question.program ? text.plain(text.shorten(text.escape(question.program), 100)) : undefined,
      compartment,
      question,
    }));
    const chosen = await this.window.showQuickPick(rows, {
      canPickMany: true,
      title: "Questions of extensions (1 of 2)",
      placeHolder: "Choose those that get the same answer",
      matchOnDescription: true,
      matchOnDetail: true,
      ignoreFocusOut: true,
    });
    if (!chosen || chosen.length === 0) return;
    const offered = [NO, ...answersTo(chosen.map(({ question }) => question))];
    const answers = offered.map(({ title, answer, detail }) => ({ label: title, detail, answer }));
    const answer = await this.window.showQuickPick(answers, {
      title: "Questions of extensions (2 of 2)",
      placeHolder: `Answer to ${text.counted(chosen.length, "question")}`,
      ignoreFocusOut: true,
    });
    if (!answer?.answer) return;
    let late = 0;
    for (const { compartment, question } of chosen)
      if (!this.#give(compartment, question, answer.answer)) late += 1;
    if (late > 0)
      void this.window.showInformationMessage(
        `${text.counted(late, "question was", "questions were")} no longer open, and got no answer.`,
      );
  }

  /**
   * @param {Compartment} compartment
   * @param {Question[]} questions
   * @param {Answer} answer
   * @param {boolean} chosen whether a person chose it, who then wants to know that it was too late
   */
  #answer(compartment, questions, answer, chosen) {
    const given = questions.filter((one) => this.#give(compartment, one, answer)).length;
    if (given === 0 && chosen) this.#late();
  }

  /**
   * False where it is no longer open.
   * @param {Compartment} compartment
   * @param {Question} question
   * @param {Answer} answer
   */
  #give(compartment, question, answer) {
    // The number may have been given to another question since a reconnect.
    if (compartment.questions.get(question.id) !== question) return false;
    if (!this.model.answer(compartment, question.id, answer)) return false;
    const host = this.#of(compartment);
    // What waits for a permission happens by the answer.
    if (question.later && question.kind !== "vscode" && answer !== "no" && answer !== "never") {
      host.missed = true;
      const key = `${successor(compartment)}\0${about(question)}`;
      // The compartment that asked has "Once" too, for its next try.
      if (answer === "once" && host.once.size < MAX_CARRIED) host.once.add(key);
      if (answer === "run" && this.#carried.size < MAX_CARRIED) this.#carried.set(key, answer);
    }
    if (host.missed && compartment.questions.size === 0) void this.#offer(compartment, host);
    return true;
  }

  /**
   * What was allowed too late can be tried again by starting anew.
   * @param {Compartment} compartment
   * @param {Host} host
   */
  async #offer(compartment, host) {
    host.missed = false;
    const restart = { title: "Restart Extension" };
    const chosen = await this.window.showInformationMessage(wording.allowedLate(compartment.extensions), restart);
    if (chosen !== restart || !this.model.has(compartment)) return;
    for (const key of host.once) if (this.#carried.size < MAX_CARRIED) this.#carried.set(key, "once");
    this.model.end(compartment);
  }

  #late() {
    void this.window.showInformationMessage("That question was no longer open, and got no answer.");
  }
}

/** @param {string} words */
const upperFirst = (words) => words.charAt(0).toUpperCase() + words.slice(1);

module.exports = { Prompts };
