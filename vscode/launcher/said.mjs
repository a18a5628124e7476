// What a host's supervisor says, out of what VS Code's server logs of that host. The compartment writes there too, and
// what it writes may look like anything: the supervisor's lines begin with a mark that it does not know.

/**
 * @param {string} mark
 * @param {string} line of the server's output
 * @returns {string | undefined}
 */
export function saidBy(mark, line) {
  const at = line.indexOf(mark);
  // eslint-disable-next-line no-control-regex
  return at < 0 ? undefined : line.slice(at + mark.length).replace(/[\x00-\x1f\x7f-\x9f]/g, "?");
}
