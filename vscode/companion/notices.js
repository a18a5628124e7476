// What is told without being asked: an extension's first refusal, each thing that no extension gets, ends
// that nobody wanted, and who does not respond. Other refusals count in the status bar and the view only.
"use strict";

const wording = require("./wording.js");

/** @typedef {import("./model.js").Compartment} Compartment */
/** @typedef {import("./model.js").Refusal} Refusal */

/** Between two messages about the ends, or the silence, of the same extensions. */
const END_PAUSE = 30_000;
/** Of the refusals of the same extensions, so many are told one by one in this time; then some at once. */
const ALONE = 3;
const ALONE_TIME = 60_000;
const GATHER = 5_000;

/** What is told of one group of extensions. A message that nobody has closed is no reason to be silent. */
class Pace {
  /** @type {number[]} when refusals were told alone */
  #told = [];
  #count = 0;
  /** @type {[Compartment, Refusal] | undefined} */
  #last;
  #waiting = false;
  /** A message about several is on the screen, and speaks for those that come meanwhile. */
  #open = false;

  /**
   * @param {(compartment: Compartment, refusal: Refusal, count: number) => Promise<void>} gathered tells of several
   * @param {(act: () => void, pause: number) => void} later
   * @param {() => number} now
   */
  constructor(gathered, later, now) {
    this.gathered = gathered;
    this.later = later;
    this.now = now;
  }

  /** Whether this one is told by itself. Otherwise it is told with others. */
  take(/** @type {Compartment} */ compartment, /** @type {Refusal} */ refusal) {
    const now = this.now();
    this.#told = this.#told.filter((time) => now - time < ALONE_TIME);
    if (this.#told.length < ALONE && this.#count === 0) {
      this.#told.push(now);
      return true;
    }
    this.#count += 1;
    // The copy is what was true then: the model goes on counting in its own.
    this.#last = [compartment, { ...refusal }];
    this.#gather();
    return false;
  }

  #gather() {
    if (this.#waiting || this.#open) return;
    this.#waiting = true;
    this.later(async () => {
      this.#waiting = false;
      if (!this.#last) return;
      const [compartment, refusal] = this.#last;
      const count = this.#count;
      this.#count = 0;
      this.#last = undefined;
      this.#open = true;
      await this.gathered(compartment, refusal, count);
      this.#open = false;
      if (this.#count > 0) this.#gather();
    }, GATHER);
  }
}

class Notices {
  /** @type {Map<string, Pace>} key → what is told of its refusals */
  #paces = new Map();
  /** @type {Map<string, number>} key → when its end was last told */
  #ends = new Map();
  /** @type {Map<string, number>} key → when it was last told that it does not respond */
  #stuck = new Map();
  /** @type {WeakSet<Compartment>} those whose message about that is on the screen */
  #open = new WeakSet();

  /**
   * @param {import("./model.js").Model} model
   * @param {Pick<typeof import("vscode").window, "showInformationMessage" | "showWarningMessage" | "showErrorMessage">} window
   * @param {object} options
   * @param {() => string} options.refusals the setting bulkhead.notifyRefusals
   * @param {() => boolean} options.ends the setting bulkhead.notifyEnds
   * @param {(compartment: Compartment) => void} options.show
   * @param {(compartment: Compartment) => void} options.journal
   * @param {string} [options.home]
   * @param {() => number} [options.now]
   * @param {(act: () => void, pause: number) => void} [options.later]
   */
  constructor(model, window, { refusals, ends, show, journal, home, now = Date.now, later = (act, pause) => void setTimeout(act, pause) }) {
    const gathered = async (/** @type {Compartment} */ compartment, /** @type {Refusal} */ refusal, /** @type {number} */ count) => {
      const message = wording.further(compartment.extensions, count, refusal, { home });
      if ((await window.showWarningMessage(message, "Show")) === "Show") show(compartment);
    };
    model.on("refusal", async (compartment, refusal, first) => {
      const wanted = refusals();
      if (wanted === "never") return;
      const due = first.ofBlocklist || (wanted === "firstOfResource" ? first.ofResource : first.ofExtension);
      if (!due) return;
      let pace = this.#paces.get(compartment.key);
      if (!pace) this.#paces.set(compartment.key, (pace = new Pace(gathered, later, now)));
      if (!pace.take(compartment, refusal)) return;
      const chosen = first.ofBlocklist
        ? await window.showWarningMessage(wording.blocked(compartment.extensions, refusal, { home }), "Show")
        : await window.showInformationMessage(wording.refused(compartment.extensions, refusal, { home }), "Show");
      if (chosen === "Show") show(compartment);
    });
    model.on("ended", async (compartment, times) => {
      const last = this.#ends.get(compartment.key);
      if (!ends() || (last !== undefined && now() - last < END_PAUSE)) return;
      this.#ends.set(compartment.key, now());
      const message = wording.endMessage(compartment.extensions, compartment.outcome, times);
      const chosen = await window.showWarningMessage(message, "Show Journal");
      if (chosen === "Show Journal") journal(compartment);
    });
    model.on("stuck", async (compartment) => {
      const { key } = compartment;
      const last = this.#stuck.get(key);
      // A message on the screen speaks for the next spell too: its button works again.
      if (!ends() || this.#open.has(compartment) || (last !== undefined && now() - last < END_PAUSE)) return;
      this.#stuck.set(key, now());
      this.#open.add(compartment);
      const chosen = await window.showWarningMessage(wording.stuck(compartment.extensions), "Restart");
      this.#open.delete(compartment);
      if (chosen !== "Restart") return;
      this.#stuck.delete(key);  // whether that helped is worth a message
      if (!model.has(compartment) || !compartment.stuck || !model.end(compartment))
        void window.showInformationMessage(wording.unstuck(compartment.extensions));
    });
    model.on("serves", async (compartment, port) => {
      // With a button, because a message without one is cut off after its first line.
      if ((await window.showInformationMessage(wording.serves(compartment.extensions, port), "Show")) === "Show") show(compartment);
    });
    /** @type {Compartment[]} */
    let started = [];
    model.on("unasked", (compartment) => {
      started.push(compartment);
      // A window has many: one message.
      if (started.length === 1)
        later(async () => {
          const all = started;
          started = [];
          const chosen = await window.showInformationMessage(wording.unasked(all), "What Is Usual?");
          if (chosen === "What Is Usual?") await window.showInformationMessage("What these extensions get", { modal: true, detail: wording.usual(all) });
        }, GATHER);
    });
    model.on("complaint", (compartment, words) => {
      void window.showErrorMessage(wording.complaint(compartment.extensions, words));
    });
  }
}

module.exports = { Notices };
