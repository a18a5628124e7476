// The output of `bulkhead check --json`, with places in the text. Pure.
"use strict";

/**
 * The offset of a line and column as bulkhead counts them: from 1, columns in bytes of UTF-8.
 * @param {string[]} lines
 * @param {number} line
 * @param {number} column
 */
function offset(lines, line, column) {
  const before = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  const words = lines[line - 1] ?? "";
  const inside = Buffer.from(words, "utf8").subarray(0, Math.max(0, column - 1)).toString("utf8").length;
  return before + Math.min(inside, words.length);
}

/** What a finding underlines: the JSON token at its place. */
const TOKEN = /"(?:[^"\\\n]|\\.)*"?|[-+.\w]+|[[\]{}:,]|\S/y;

/**
 * @param {string} output
 * @param {string} source the document's text
 * @returns {{ start: number, end: number, severity: string, field: string, message: string }[]}
 */
function findings(output, source) {
  const list = JSON.parse(output);
  if (!Array.isArray(list)) throw new Error("bulkhead check printed no list");
  const lines = source.split("\n");
  return list.slice(0, 1000).map((one) => {
    const placed = Number.isSafeInteger(one.line) && one.line > 0;
    const start = placed ? offset(lines, one.line, Number(one.column) || 1) : 0;
    TOKEN.lastIndex = start;
    const token = placed ? TOKEN.exec(source) : null;
    const fix = one.fix ? `\nFix: ${one.fix}` : "";
    return {
      start,
      end: start + (token ? token[0].length : placed ? 1 : (lines[0]?.length ?? 0)),
      severity: String(one.severity),
      field: String(one.field ?? ""),
      message: `${one.message}${fix}`,
    };
  });
}

module.exports = { findings };
