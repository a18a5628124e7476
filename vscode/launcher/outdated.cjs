// Started in the place of `bulkhead host` once the installed bulkhead is no longer the one that this editor came with
// (preload.cjs): the two need not understand each other, and a compartment that is half understood is none.
"use strict";

const { createHash } = require("node:crypto");

const text = "bulkhead host: bulkhead was upgraded or removed while this editor ran, so it starts no more compartments: end `bulkhead code` and start it again";
// Sealed as what a supervisor says is (said.mjs).
const seal = createHash("sha256").update(`${process.env.BULKHEAD_MARK ?? ""}${text}`).digest("hex");
process.stderr.write(`${seal}${text}\n`, () => process.exit(125));
