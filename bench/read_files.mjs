// Reads 20,000 small files synchronously and prints the milliseconds that it took.
import fs from "node:fs";
import path from "node:path";

const folder = process.argv[2];
const names = fs.readdirSync(folder).map((name) => path.join(folder, name));
fs.readFileSync(names[0]);
const began = process.hrtime.bigint();
for (let i = 0; i < 20_000; i += 1) fs.readFileSync(names[i % names.length]);
console.log(Number(process.hrtime.bigint() - began) / 1e6);
