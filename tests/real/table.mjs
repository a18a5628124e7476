// What the runs came to, as lines and as a table.

/** More than this over plain is felt. */
const LATER = 0.5;

const seconds = (one) => (one?.seconds === undefined ? "–" : one.seconds.toFixed(1));

/** Whether a row is what is to be had: the same and unasked, or asked once for what only a person can grant. */
export function judge(row) {
  const { plain, compartments } = row;
  if (row.missing.length > 0) return { word: `no ${row.missing.join(", ")} in the folder`, ok: undefined };
  if (!plain || !compartments) return { word: plain?.error ?? compartments?.error ?? "not compared", ok: undefined };
  if (plain.error) return { word: `plain: ${plain.error}`, ok: false };
  const same = !compartments.error && plain.result === compartments.result;
  const word = same ? "same" : compartments.error ? "no result" : "another result";
  // Nothing and no question would leave a person with an extension that does not work and no word about it.
  if (row.needs && !same) {
    const word = compartments.questions > 0 ? `waits for ${row.needs}` : `not without ${row.needs}, ${compartments.told ? "and the window says so" : "and nobody is told"}`;
    return { word, ok: compartments.questions === 1 || compartments.told };
  }
  return { word, ok: same && compartments.questions === 0 };
}

export function summary(row) {
  const { word, ok } = judge(row);
  row.ok = ok;
  const lines = [`${ok === undefined ? "?" : ok ? "✓" : "✗"} ${row.name} ${row.version ?? ""}: ${word}, ${seconds(row.plain)} s plain, ${seconds(row.compartments)} s in its compartment, ${row.compartments?.questions ?? "–"} questions`];
  if (row.plain && row.compartments && word === "another result") lines.push(`    plain: ${JSON.stringify(row.plain.result)}`, `    compartment: ${JSON.stringify(row.compartments.result)}`);
  if (row.compartments?.error) lines.push(`    ${row.compartments.error}`);
  for (const question of row.compartments?.asked ?? []) lines.push(`    asked: ${question}`);
  if (row.compartments?.seconds > row.plain?.seconds + LATER) lines.push(`    ${(row.compartments.seconds - row.plain.seconds).toFixed(1)} s later than plain`);
  return lines.join("\n");
}

export function markdown(rows) {
  const head = "| extension | its job here | in its compartment | plain, s | compartment, s | questions |\n|---|---|---|---|---|---|";
  return [head, ...rows.map((row) => `| ${row.name} ${row.version ?? ""} | ${row.job} | ${judge(row).word} | ${seconds(row.plain)} | ${seconds(row.compartments)} | ${row.compartments?.questions ?? "–"} |`)].join("\n");
}
