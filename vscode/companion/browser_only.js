// Extensions that do not run, because all of their code is for the browser. The workbench tells of those that were
// there when the window was loaded (workbench/declarations.js).
"use strict";

const wording = require("./wording.js");

/** @typedef {import("./protocol.js").Extension} Extension */

const TOLD = "browserOnly";
const WHY = "Code for the browser only does not run: no compartment could hold it there.";
/** Of which something is said at a time. */
const MOST = 3;

/**
 * Says so once of each, and gives what is to be read for as long as they are there.
 * @param {Extension[]} found
 * @param {{ get(key: string): any, update(key: string, value: any): any }} memory of which ones a person was told
 * @param {Pick<typeof import("vscode").window, "showInformationMessage">} window
 */
function browserOnly(found, memory, window) {
  /** @type {string[]} */
  const told = memory.get(TOLD) ?? [];
  const fresh = found.filter(({ id }) => !told.includes(id));
  if (fresh.length > 0) void memory.update(TOLD, [...told, ...fresh.map(({ id }) => id)].slice(-100));
  for (const one of fresh.slice(0, MOST)) void window.showInformationMessage(`${wording.who([one])} is not started. ${WHY}`);
  const names = found.slice(0, MOST).map((one) => wording.shortName([one])).join(", ");
  return found.length > 0 ? `Not started: ${names}${found.length > MOST ? ", …" : ""}. ${WHY}` : undefined;
}

module.exports = { browserOnly };
