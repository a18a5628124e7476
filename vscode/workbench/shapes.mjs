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

/**
 * How often each edit's shape occurs.
 * @param {string} source
 * @param {Edit[]} edits
 */
export const count = (source, edits) =>
  edits.map((edit) => ({ name: edit.name, what: edit.what, wanted: edit.times, found: [...source.matchAll(edit.shape)].length }));

/**
 * The source with all edits. Throws EditError and edits nothing where one does not fit.
 * @param {string} source
 * @param {Edit[]} edits
 */
export function apply(source, edits) {
  const failed = count(source, edits).filter((found) => found.found !== found.wanted);
  if (failed.length > 0) throw new EditError(failed);
  return edits.reduce((text, one) => text.replace(one.shape, (_whole, ...rest) => one.text(...rest.slice(0, -2))), source);
}
