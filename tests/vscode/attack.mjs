// The test's side of extensions/attack.js.
import { until } from "./editor.mjs";

const file = (name) => `home/projects/app/.proof/${name}`;

export const started = (world, name, patience = 120_000) => until(`${name} to start`, () => world.read(file(`${name}.ready`)), patience);

/** Lets one extension run one probe. */
export function provoke(world, name, probe) {
  world.write(file(`${name}.go.new`), probe);
  world.rename(file(`${name}.go.new`), file(`${name}.go`));
}

/** Runs one probe of one extension and gives its answer. */
export async function attack(world, name, probe, patience = 60_000) {
  provoke(world, name, probe);
  return JSON.parse(await until(`${name}.${probe} to finish`, () => world.read(file(`${name}.${probe}.json`)), patience));
}
