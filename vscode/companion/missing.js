// Extensions that are to run in a compartment, and for which none has come. The workbench knows of them
// (workbench/placement.js); silence would look as if they did.
"use strict";

const text = require("./text.js");
const wording = require("./wording.js");

/** @typedef {{ id: string, name: string, why: string }} Absent */

/** After the window was loaded or its extensions changed, and then now and then. */
const FIRST = 20_000;
const AGAIN = 60_000;
/** Of which something is said at a time. */
const MOST = 3;

class Missing {
  /** @type {NodeJS.Timeout | undefined} */
  #timer;
  /** @type {Set<string>} of which a person was told */
  #told = new Set();
  /** @type {Absent[]} */
  found = [];

  /**
   * @param {import("./model.js").Model} model
   * @param {Pick<typeof import("vscode").window, "showWarningMessage">} window
   * @param {object} to
   * @param {() => Thenable<Absent[] | undefined>} to.ask the workbench
   * @param {() => Thenable<unknown>} to.start those that are missing
   * @param {(one: Absent) => unknown} to.record in the journal
   * @param {() => void} to.changed
   * @param {{ first: number, again: number }} [times] ms
   */
  constructor(model, window, { ask, start, record, changed }, { first, again } = { first: FIRST, again: AGAIN }) {
    Object.assign(this, { model, window, ask, start, record, changed, first, again });
    this.soon();
  }

  dispose() {
    clearTimeout(this.#timer);
  }

  /** Looks when a host that was asked for now would be there. */
  soon() {
    this.#later(this.first);
  }

  /** @param {number} wait ms */
  #later(wait) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.look(), wait);
  }

  async look() {
    this.#later(this.again);
    const there = new Set(this.model.compartments.flatMap((one) => one.extensions.map(({ id }) => id.toLowerCase())));
    const all = (await this.ask()) ?? [];
    // One that ended, or waits for a review, is told of as that.
    this.found = all.filter(({ id }) => !there.has(id.toLowerCase()));
    this.changed();
    const ids = new Set(this.found.map(({ id }) => id));
    for (const id of this.#told) if (!ids.has(id)) this.#told.delete(id);
    const fresh = this.found.filter(({ id }) => !this.#told.has(id));
    if (fresh.length === 0) return;
    for (const one of fresh) {
      this.#told.add(one.id);
      void this.record(one);
    }
    await this.#tell(fresh);
  }

  /** @param {Absent[]} fresh */
  async #tell(fresh) {
    const who = (/** @type {Absent} */ one) => wording.named([{ ...one, version: "", folder: "" }]);
    const names = fresh.slice(0, MOST).map(who).join(", ");
    const why = text.plain(text.shorten(text.escape(fresh[0].why), 300));
    const message = `${names}${fresh.length > MOST ? ` and ${fresh.length - MOST} more` : ""} ${fresh.length > 1 ? "have" : "has"} not started: ${why}.`;
    if ((await this.window.showWarningMessage(message, "Start Anew")) !== "Start Anew") return;
    for (const { id } of fresh) this.#told.delete(id); // and is told again where it does not help
    await this.start();
    this.soon();
  }
}

module.exports = { Missing };
