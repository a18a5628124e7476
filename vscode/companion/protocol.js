// The lines between `bulkhead host` and the companion, read strictly. The host is trusted; what it
// passes on (resources, names, programs) is not, and is escaped where it is shown. A line that does
// not have its form ends the connection: half a message must not become a question.
"use strict";

/**
 * @typedef {{ id: string, version: string, name: string, folder: string, manifest?: string }} Extension
 * @typedef {{ kind: string, resource: string, remembered: boolean, allowed: boolean }} Grant
 *   a remembered answer; resource: as the manifest's language writes it
 * @typedef {{ type: "hello", protocol: 1, run: string, pid: number, extensions: Extension[], trace: boolean,
 *   state: State, since: number, workspace: string[], permits: string[], cannot: string[], grants: Grant[], unasked?: string }} Hello
 *   unasked: what it usually gets, where it starts without a review, once
 * @typedef {"review" | "starting" | "running" | "ended"} State
 * @typedef {{ type: "review", digest: string, reason: string, extensions: Extension[], usual: string, notable: string[],
 *   permits: string[], cannot: string[], unusual: string[], widened: string[] }} Review
 * @typedef {{ type: "state", state: State, outcome: string, expected?: boolean }} StateChange
 * @typedef {{ type: "pulse", responds: boolean }} Pulse
 * @typedef {{ type: "usage", cpu: number, memory: number, processes: number, home?: number, listens?: number[] }} Usage
 * @typedef {{ type: "question", id: number, kind: string, resource: string, extension: string, program: string,
 *   process: number, detail: string, about: string, later: boolean }} Question
 *   about: what was asked of the editor, for one permission; later: who asked has gone on without an answer
 * @typedef {{ type: "later", id: number }} Later the same of a question that was told before
 * @typedef {{ type: "withdrawn", id: number }} Withdrawn
 * @typedef {{ type: "decision", time: number, kind: string, resource: string, verdict: string, rule: string,
 *   program: string, count: number, enforced: boolean, asked?: boolean }} Decision
 *   count: so far, of this kind, resource and program; asked: a person, who knows of it
 * @typedef {{ type: "counts", allowed?: number, refused: number }} Counts
 * @typedef {{ type: "error", message: string }} Complaint
 * @typedef {Hello | Review | StateChange | Pulse | Usage | Question | Later | Withdrawn | Decision | Counts | Complaint} FromHost
 *
 * @typedef {"once" | "run" | "always" | "never" | "no"} Answer
 * @typedef {{ type: "answer", id: number, answer: Answer } | { type: "approve" | "reject", digest: string }
 *   | { type: "grant" | "revoke", kind: string, resource: string } | { type: "end" }} ToHost
 */

/** A line of either side, in bytes. */
const MAX_LINE = 1 << 20;
const MAX_LIST = 10_000;

/** @param {unknown} value */
const isText = (value) => typeof value === "string";
/** @param {unknown} value */
const isCount = (value) => typeof value === "number" && Number.isFinite(value) && value >= 0;
/** @param {unknown} value */
const isWhole = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
/** @param {unknown} value */
const isFlag = (value) => typeof value === "boolean";
/** @param {...string} words */
const isOneOf = (...words) => (/** @type {unknown} */ value) => words.includes(/** @type {string} */ (value));
/** @param {(value: unknown) => boolean} test */
const isList = (test) => (/** @type {unknown} */ value) =>
  Array.isArray(value) && value.length <= MAX_LIST && value.every(test);
/** @param {(value: unknown) => boolean} test */
const isOptional = (test) => (/** @type {unknown} */ value) => value === undefined || test(value);
/**
 * @param {Record<string, (value: unknown) => boolean>} members
 * @returns {(value: unknown) => boolean}
 */
const isObject = (members) => (value) =>
  typeof value === "object" && value !== null && !Array.isArray(value) && misfit(members, value) === undefined;

/**
 * @param {Record<string, (value: unknown) => boolean>} members
 * @param {object} value
 */
const misfit = (members, value) =>
  Object.keys(members).find((name) => !members[name](/** @type {Record<string, unknown>} */ (value)[name]));

const isState = isOneOf("review", "starting", "running", "ended");
const extension = isObject({ id: isText, version: isText, name: isText, folder: isOptional(isText), manifest: isOptional(isText) });

/** @type {Record<string, Record<string, (value: unknown) => boolean>>} */
const FORMS = Object.assign(Object.create(null), {
  hello: {
    protocol: isOneOf(/** @type {any} */ (1)),
    run: isText,
    pid: isWhole,
    extensions: isList(extension),
    trace: isFlag,
    state: isState,
    since: isCount,
    workspace: isList(isText),
    permits: isList(isText),
    cannot: isList(isText),
    unasked: isOptional(isText),
    grants: isList(isObject({ kind: isText, resource: isText, remembered: isFlag, allowed: isOptional(isFlag) })),
  },
  review: {
    digest: isText,
    reason: isText,
    extensions: isList(extension),
    usual: isText,
    notable: isList(isText),
    permits: isList(isText),
    cannot: isList(isText),
    unusual: isList(isText),
    widened: isList(isText),
  },
  state: { state: isState, outcome: isOptional(isText), expected: isOptional(isFlag) },
  pulse: { responds: isFlag },
  usage: { cpu: isCount, memory: isCount, processes: isWhole, home: isOptional(isCount), listens: isOptional(isList(isWhole)) },
  question: {
    id: isWhole,
    kind: isText,
    resource: isText,
    extension: isOptional(isText),
    program: isOptional(isText),
    process: isOptional(isWhole),
    detail: isOptional(isText),
    about: isOptional(isText),
    later: isOptional(isFlag),
  },
  later: { id: isWhole },
  withdrawn: { id: isWhole },
  decision: {
    time: isCount,
    kind: isText,
    resource: isText,
    verdict: isOneOf("deny", "allow"),
    rule: isText,
    program: isOptional(isText),
    count: isWhole,
    enforced: isFlag,
    asked: isOptional(isFlag),
  },
  counts: { allowed: isOptional(isWhole), refused: isWhole },
  error: { message: isText },
});

const OPTIONAL = /** @type {Record<string, unknown>} */ ({
  outcome: "", extension: "", program: "", process: 0, detail: "", about: "", later: false,
});

/**
 * @param {string} line
 * @returns {{ message: FromHost } | { fault: string } | { unknown: string }}
 */
function parse(line) {
  let value;
  try {
    value = JSON.parse(line);
  } catch {
    return { fault: "a line that is no JSON" };
  }
  if (typeof value !== "object" || value === null || typeof value.type !== "string")
    return { fault: "a line without a type" };
  const form = FORMS[value.type];
  // A newer host may say more; what it says is not ours to act on.
  if (!form) return { unknown: value.type };
  const wrong = misfit(form, value);
  if (wrong !== undefined) return { fault: `${value.type}.${wrong} is missing or has the wrong form` };
  for (const [name, otherwise] of Object.entries(OPTIONAL))
    if (name in form && value[name] === undefined) value[name] = otherwise;
  return { message: value };
}

module.exports = { MAX_LINE, parse };
