// What the schemas in schema/ say about documents: for schema_test.cc.
//
//   node schema_test.mjs SCHEMA_FOLDER   < [{"schema": "manifest", "document": "…"}, …]
//
// prints one JSON array of true and false. ajv comes with eslint (package-lock.json).
import Ajv from "ajv";
import fs from "node:fs";
import path from "node:path";

const folder = process.argv[2];
const ajv = new Ajv({ allErrors: true, strictKeywords: true });
const validators = {};
for (const name of ["manifest", "blocklist", "set"]) {
  const schema = JSON.parse(fs.readFileSync(path.join(folder, `${name}.schema.json`), "utf8"));
  validators[name] = ajv.compile(schema);
}
const cases = JSON.parse(fs.readFileSync(0, "utf8"));
const verdicts = cases.map(({ schema, document }) => {
  try {
    return validators[schema](JSON.parse(document));
  } catch {
    return false;
  }
});
console.log(JSON.stringify(verdicts));
