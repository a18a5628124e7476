import { createHash } from "node:crypto";

// What a host's supervisor says, out of what VS Code's server logs of that host. The compartment writes there too, and
// what it writes may look like anything: the supervisor's lines are sealed with a key that it does not know.

/**
 * @param {string} key
 * @param {string} line of the server's output
 * @returns {string | undefined}
 */
export function saidBy(key, line) {
  const [, seal, text] = /^[^]*([0-9a-f]{64})(bulkhead(?: host)?: [^]*)$/.exec(line) ?? [];
  if (!seal || createHash("sha256").update(key + text).digest("hex") !== seal) return undefined;
  // eslint-disable-next-line no-control-regex
  return text.replace(/[\x00-\x1f\x7f-\x9f]/g, "?");
}
