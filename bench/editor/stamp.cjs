// Loaded into VS Code's server by NODE_OPTIONS, in both modes alike and before any other preload: notes when
// the server forks an extension host and when that fork calls itself ready. One JSON line each.
"use strict";

const childProcess = require("node:child_process");
const fs = require("node:fs");
const { syncBuiltinESMExports } = require("node:module");

const file = process.env.BULKHEAD_BENCH_FORKS;
const now = () => performance.timeOrigin + performance.now();

if (file && process.argv[1]?.endsWith("server-main.js")) {
  const { fork } = childProcess;
  childProcess.fork = (modulePath, args, options) => {
    // Innermost of the wrappers: whoever stands around it has said its word already.
    const forked = now();
    const child = fork(modulePath, args, options);
    if (!Array.isArray(args) || !args.includes("--type=extensionHost")) return child;
    const note = (what) => fs.appendFileSync(file, `${JSON.stringify({ pid: child.pid, ...what })}\n`);
    note({ forked });
    const listen = (message) => {
      if (message?.type !== "VSCODE_EXTHOST_IPC_READY") return;
      child.removeListener("message", listen);
      note({ told: now() });
    };
    child.on("message", listen);
    return child;
  };
  syncBuiltinESMExports();
}
