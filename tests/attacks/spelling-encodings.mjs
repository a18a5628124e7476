// Names the key by what is no string: Buffers, URLs, percent signs, broken UTF-8 before `..`.
// class: Node: Buffer and Uint8Array paths, URL forms; spelling: `node:` prefix, fs/promises besides fs
// plain: leak
// journal: read {KEY}
import fs from "fs";
import promises from "node:fs/promises";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const facts = Object.fromEntries(process.argv.slice(2).map((f) => [f.slice(0, f.indexOf("=")), f.slice(f.indexOf("=") + 1)]));
console.log("tried");
const ways = {
  buffer: () => fs.readFileSync(Buffer.from(facts.KEY)),
  uint8array: () => fs.readFileSync(new Uint8Array(Buffer.from(facts.KEY))),
  url: () => fs.readFileSync(pathToFileURL(facts.KEY)),
  "percent-encoded url": () => fs.readFileSync(new URL("file://" + facts.KEY.replace(/[a-z]/g, (c) => "%" + c.charCodeAt(0).toString(16)))),
  "broken UTF-8": () => {
    const folder = Buffer.concat([Buffer.from(facts.W + "/"), Buffer.from([0xff, 0xc0, 0xaf])]);
    fs.mkdirSync(folder);
    return fs.readFileSync(Buffer.concat([folder, Buffer.from("/../../home/.ssh/id_rsa")]));
  },
  "node: prefix": () => createRequire(import.meta.url)("node:fs").readFileSync(facts.KEY),
  "fs/promises": () => promises.readFile(facts.KEY),
  "file handle": async () => (await promises.open(facts.KEY)).readFile(),
};
for (const [name, way] of Object.entries(ways)) {
  try {
    console.log(name, String(await way()));
  } catch (error) {
    console.log("refused:", name, error.code ?? error.message);
  }
}
