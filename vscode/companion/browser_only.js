// Extensions that do not run, because all of their code is for the browser (workbench/edits.mjs).
"use strict";

const wording = require("./wording.js");

const TOLD = "browserOnly";
const WHY = "Code for the browser only does not run: no compartment could hold it there.";
/** Of which something is said at a time. */
const MOST = 3;

class BrowserOnly {
  #listener;

  /**
   * @param {{ allAcrossExtensionHosts: readonly { packageJSON: any, id: string }[], onDidChange: (heard: () => void) => { dispose(): void } }} extensions
   * @param {{ get(key: string): any, update(key: string, value: any): any }} memory of which ones a person was told
   * @param {Pick<typeof import("vscode").window, "showInformationMessage">} window
   * @param {(message: string | undefined) => void} show where it stands for as long as they are there
   */
  constructor(extensions, memory, window, show) {
    const look = () => {
      const found = extensions.allAcrossExtensionHosts
        .filter(({ packageJSON }) => packageJSON.bulkheadBrowserOnly === true)
        .map(({ id, packageJSON: { displayName, name, version } }) => ({ id, version: String(version), name: String(displayName ?? name ?? id), folder: "" }));
      const names = found.slice(0, MOST).map((one) => wording.shortName([one])).join(", ");
      show(found.length > 0 ? `Not started: ${names}${found.length > MOST ? ", …" : ""}. ${WHY}` : undefined);
      /** @type {string[]} */
      const told = memory.get(TOLD) ?? [];
      const fresh = found.filter(({ id }) => !told.includes(id));
      if (fresh.length === 0) return;
      void memory.update(TOLD, [...told, ...fresh.map(({ id }) => id)].slice(-100));
      for (const one of fresh.slice(0, MOST)) void window.showInformationMessage(`${wording.who([one])} is not started. ${WHY}`);
    };
    this.#listener = extensions.onDidChange(look);
    look();
  }

  dispose() {
    this.#listener.dispose();
  }
}

module.exports = { BrowserOnly };
