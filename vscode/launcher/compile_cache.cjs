// Node's compiled code, kept from start to start: compiling VS Code's own scripts anew would be a quarter of a
// host's start. Node writes it as it ends by itself, but these processes are mostly ended from outside, so it
// is also written some time after the start.
//
// Loaded before VS Code's own code (node --require), it keeps what it finds named in BULKHEAD_COMPILE_CACHE: a
// folder for this process and others of equal trust (src/sandbox/plan/node_cache.h, prepare.mjs).
"use strict";

const { enableCompileCache, flushCompileCache } = require("node:module");

const AFTER_SECONDS = [10, 60, 600];

/** @param {string} folder */
exports.keep = (folder) => {
  enableCompileCache(folder);
  for (const seconds of AFTER_SECONDS) setTimeout(flushCompileCache, seconds * 1000).unref();
};

const named = process.env.BULKHEAD_COMPILE_CACHE;
delete process.env.BULKHEAD_COMPILE_CACHE;
if (named) exports.keep(named);
