// Which installed extensions a window will want a compartment for, told to its page before the workbench has read any
// package: workbench/foreseen.js asks for the first ones at once. It decides nothing, so what cannot be read is left out.
"use strict";

const fs = require("node:fs");
const path = require("node:path");

/** Bytes of a package.json; larger ones are not waited for. */
const LONGEST = 1 << 20;
/** No window asks for more at once. */
const MOST = 16;
/** What begins with the window. */
const EAGER = new Set(["*", "onStartupFinished"]);

/** @typedef {{ id: string, path: string }} Installed "Publisher.name" as its package spells it; its folder */

/**
 * @param {string} folder of one extension
 * @returns {Promise<(Installed & { eager: boolean }) | undefined>} nothing where it shares a host, or has no code
 */
async function packageIn(folder) {
  try {
    const file = path.join(folder, "package.json");
    if ((await fs.promises.stat(file)).size > LONGEST) return undefined;
    const { publisher, name, main, activationEvents, extensionDependencies } = JSON.parse(await fs.promises.readFile(file, "utf8"));
    if (![publisher, name, main].every((text) => typeof text === "string") || extensionDependencies?.length > 0) return undefined;
    return { id: `${publisher}.${name}`, path: folder, eager: Array.isArray(activationEvents) && activationEvents.some((event) => EAGER.has(event)) };
  } catch {
    return undefined;
  }
}

/**
 * @param {string} folder of all extensions, with the server's own list of them (extensions.json)
 * @returns {Promise<Installed[]>} those that begin with the window first
 */
async function installed(folder) {
  try {
    const list = JSON.parse(await fs.promises.readFile(path.join(folder, "extensions.json"), "utf8"));
    const names = list.map((/** @type {any} */ { relativeLocation }) => relativeLocation).filter((/** @type {unknown} */ name) => typeof name === "string" && name === path.basename(name));
    const found = (await Promise.all(names.map((/** @type {string} */ name) => packageIn(path.join(folder, name))))).filter((one) => one !== undefined);
    return found.sort((a, b) => Number(b.eager) - Number(a.eager)).slice(0, MOST).map(({ id, path: place }) => ({ id, path: place }));
  } catch {
    return []; // nothing was installed yet
  }
}

/** For an attribute of a page. @param {unknown} value */
const attribute = (value) => JSON.stringify(value).replace(/[&"<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);

module.exports = { installed, attribute };
