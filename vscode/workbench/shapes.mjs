// What an edit of VS Code's code is: a shape of the minified code, which it is anchored by, with names captured, never names or
// offsets; how often it must occur; and what stands in its place. Where one shape of a list is not found exactly as often as
// expected, none of them is applied.

/** @typedef {{name: string, what: string, times: number, shape: RegExp, text: (...groups: string[]) => string}} Edit */

const NAME = "([A-Za-z_$][\\w$]*)";
/** A shape of minified code: NAME stands for a name, and captures it. */
export const shape = (/** @type {string} */ text) => new RegExp(text.replaceAll("NAME", NAME), "g");

/** Thrown where VS Code is not of a shape that we know. */
export class EditError extends Error {
  /** @param {{name: string, what: string, found: number, wanted: number}[]} failed */
  constructor(failed) {
    const lines = failed.map((f) => `  ${f.name}: found ${f.found} times, expected ${f.wanted} (${f.what})`);
    super(`this version of VS Code cannot be edited:\n${lines.join("\n")}`);
    this.name = "EditError";
    this.failed = failed;
  }
}

/** What a pattern is made of: escapes, classes, groups' beginnings, how often something stands there, and characters. */
const PART = /\\(?:x([0-9a-f]{2})|([^]))|(\[(?:\\.|[^\]\\])*\])|(\((?:\?(?:[:=!]|<[=!]|<\w+>))?)|((?:[?*+]|\{\d+(?:,\d*)?\})\??)|([^])/g;

/**
 * The longest text that stands in all that the pattern matches; "" where none can be told.
 * @param {RegExp} pattern
 */
export function anchorOf({ source }) {
  const texts = [""];
  const groups = [{ from: 0, sure: true }];
  let last = 0; // what a following "*" would be about: the texts from there on, or a character
  for (const [, hex, escaped, kind, group, often, plain] of source.matchAll(PART)) {
    const letter = hex ? String.fromCharCode(parseInt(hex, 16)) : escaped && /\W/.test(escaped) ? escaped : plain && !".^$|)".includes(plain) ? plain : "";
    if (letter) {
      texts[texts.length - 1] += letter;
      last = -1;
      continue;
    }
    if (often && last < 0) texts.push(/** @type {string} */ (texts.pop()).slice(0, -1));
    else if (often) texts.length = last;
    if (group) groups.push({ from: texts.length, sure: !/[=!]$/.test(group) });
    if (plain === "|") groups[groups.length - 1].sure = false;
    const { from, sure } = (plain === ")" && groups.pop()) || { from: texts.length, sure: true };
    if (!sure) texts.length = from;
    last = from;
    texts.push("");
  }
  return groups[0].sure ? texts.reduce((longest, text) => (text.length > longest.length ? text : longest), "") : "";
}

/** No match is longer. */
const REACH = 8192;

/**
 * Where a shape is found. Its text is looked for first: a pattern that begins with a name takes half a second on its way through
 * the workbench.
 * @param {string} source
 * @param {RegExp} pattern
 */
export function find(source, pattern) {
  const anchor = anchorOf(pattern);
  if (anchor === "") return [...source.matchAll(pattern)];
  const found = [];
  for (let at = source.indexOf(anchor), end = 0; at >= 0; at = source.indexOf(anchor, Math.max(at + 1, end))) {
    let from = Math.max(end, at - REACH);
    while (from > end && /[\w$]/.test(source[from - 1])) from -= 1;  // a name is captured whole
    const near = source.slice(0, at + REACH);
    const again = new RegExp(pattern);
    again.lastIndex = from;
    const match = again.exec(near);
    if (!match || match.index > at) continue;
    found.push(match);
    end = match.index + match[0].length;
  }
  return found;
}

/**
 * How often each edit's shape occurs.
 * @param {string} source
 * @param {Edit[]} edits
 */
export const count = (source, edits) => edits.map((edit) => ({ name: edit.name, what: edit.what, wanted: edit.times, found: find(source, edit.shape).length }));

/**
 * The source with all edits. Throws EditError and edits nothing where one does not fit.
 * @param {string} source
 * @param {Edit[]} edits
 */
export function apply(source, edits) {
  const found = edits.map((edit) => ({ name: edit.name, what: edit.what, wanted: edit.times, edit, matches: find(source, edit.shape) }));
  const failed = found.map(({ matches, ...rest }) => ({ ...rest, found: matches.length })).filter((each) => each.found !== each.wanted);
  if (failed.length > 0) throw new EditError(failed);
  const parts = [];
  let end = 0;
  for (const { name, edit, match } of found.flatMap(({ name, edit, matches }) => matches.map((match) => ({ name, edit, match }))).sort((a, b) => a.match.index - b.match.index)) {
    if (match.index < end) throw new Error(`the edit ${name} is about what another one has changed`);
    parts.push(source.slice(end, match.index), edit.text(...match.slice(1)));
    end = match.index + match[0].length;
  }
  return parts.concat(source.slice(end)).join("");
}
