// What is told without being asked: the first refusal of an extension, and ends that nobody wanted.
// Later refusals count in the status bar and the view only.
"use strict";

const wording = require("./wording.js");

/** @typedef {import("./model.js").Compartment} Compartment */

/** Between two messages about the ends of the same extensions. */
const END_PAUSE = 30_000;

class Notices {
  #open = false;
  /** @type {Map<string, number>} key → when its end was last told */
  #ends = new Map();

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
   */
  constructor(model, window, { refusals, ends, show, journal, home, now = Date.now }) {
    model.on("refusal", async (compartment, refusal, first) => {
      const wanted = refusals();
      const due = wanted === "firstOfResource" ? first.ofResource : wanted === "firstOfExtension" && first.ofExtension;
      if (!due || this.#open) return;
      this.#open = true;
      const message = wording.refused(compartment.extensions, refusal, { home });
      const chosen = await window.showInformationMessage(message, "Show");
      this.#open = false;
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
    model.on("complaint", (compartment, words) => {
      void window.showErrorMessage(wording.complaint(compartment.extensions, words));
    });
  }
}

module.exports = { Notices };
