// Looks for refusals in what `bulkhead log --json` tells.

const pattern = (glob) => new RegExp(`^${glob.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*")}$`);

/**
 * Whether a refusal of this kind and resource is among the lines.
 * @param {any[]} lines of the journal
 * @param {string} wanted "KIND GLOB", either may be "*"
 */
export function names(lines, wanted) {
  const [kind, ...rest] = wanted.split(" ");
  const resource = pattern(rest.join(" "));
  return lines.some((line) => line.verdict === "deny" && (kind === "*" || line.kind === kind) && resource.test(line.resource));
}
