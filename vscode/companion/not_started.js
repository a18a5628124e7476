// Extensions that do not run in compartments, nor elsewhere. The workbench tells of those that were there when the window
// was loaded (workbench/declarations.js).
"use strict";

const wording = require("./wording.js");

/** @typedef {import("./protocol.js").Extension & { why: string }} NotStarted */

const TOLD = "browserOnly";
const WHY = new Map([
  ["browser", "Code for the browser only does not run: no compartment could hold it there."],
  ["impostor", "An extension that comes with VS Code has the same id, and VS Code loads one of them: uninstall this one and reload the window to have that one back."],
]);
/** Of which something is said at a time. */
const MOST = 3;

/**
 * Says so once of each, and gives what is to be read for as long as they are there.
 * @param {NotStarted[]} found
 * @param {{ get(key: string): any, update(key: string, value: any): any }} memory of which ones a person was told
 * @param {Pick<typeof import("vscode").window, "showInformationMessage">} window
 */
function notStarted(found, memory, window) {
  /** @type {string[]} */
  const told = memory.get(TOLD) ?? [];
  const fresh = found.filter(({ id }) => !told.includes(id));
  if (fresh.length > 0) void memory.update(TOLD, [...told, ...fresh.map(({ id }) => id)].slice(-100));
  for (const one of fresh.slice(0, MOST))
    void window.showInformationMessage(`${wording.who([one])} is not started. ${WHY.get(one.why)}`);
  const sentences = [...WHY].flatMap(([why, sentence]) => {
    const those = found.filter((one) => one.why === why);
    const names = those.slice(0, MOST).map((one) => wording.shortName([one])).join(", ");
    return those.length > 0 ? [`Not started: ${names}${those.length > MOST ? ", …" : ""}. ${sentence}`] : [];
  });
  return sentences.length > 0 ? sentences.join(" ") : undefined;
}

module.exports = { notStarted };
