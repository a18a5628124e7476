// Which questions are of one cause, so that a person is asked once: a folder and its files, a host's
// lookup and its connection, programs that start one another. An answer goes to those that were shown,
// and to no others. Pure functions.
"use strict";

const path = require("node:path");

/** @typedef {import("./protocol.js").Question} Question */

const FILES = new Set(["read", "write", "status", "read-status", "write-status"]);
const HOSTS = new Set(["connect", "lookup"]);

/** "api.example.org" of "api.example.org:443" and of "[::1]:443" what stands in the brackets. */
const hostOf = (/** @type {Question} */ { kind, resource }) =>
  kind === "lookup" ? resource : resource.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1");

/**
 * The folder that holds both, or is one of them; undefined where they have none in common but one in
 * which everything lies: the home folder, or one above.
 * @param {string} one
 * @param {string} other
 * @param {string | undefined} home
 */
function sharedFolder(one, other, home) {
  const within = (/** @type {string} */ name, /** @type {string} */ folder) => name === folder || name.startsWith(`${folder}/`);
  const folder = [one, other, path.dirname(one)].find((each) => within(one, each) && within(other, each));
  const holdsAll = folder === "/" || (folder !== undefined && home !== undefined && within(home, folder));
  return holdsAll ? undefined : folder;
}

/**
 * @param {Question} one
 * @param {Question} other
 * @param {string} [home]
 */
function isOfOneCause(one, other, home) {
  if (FILES.has(one.kind) && FILES.has(other.kind))
    return one.resource === other.resource || sharedFolder(one.resource, other.resource, home) !== undefined;
  if (HOSTS.has(one.kind) && HOSTS.has(other.kind)) return hostOf(one) === hostOf(other);
  return one.kind === "run" && other.kind === "run";
}

/**
 * The first question and those of its cause.
 * @param {Iterable<Question>} questions
 * @param {string} [home]
 * @returns {Question[]}
 */
function firstCause(questions, home) {
  const [first, ...rest] = questions;
  return [first, ...rest.filter((each) => isOfOneCause(first, each, home))];
}

module.exports = { firstCause, isOfOneCause };
