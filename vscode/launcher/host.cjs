// Loaded into an extension host in a compartment before VS Code's own code. It keeps the host from
// attempts that cannot succeed in there and would only be asked about. It guards nothing: the code
// beside it may undo it at will.
"use strict";

const childProcess = require("node:child_process");
const { syncBuiltinESMExports } = require("node:module");

// VS Code looks for listening ports of the machine by listing the sockets of every process. A
// compartment sees its own network only, whose ports nobody outside can reach.
const PORT_SCANS = new Set(["ls -l /proc/[0-9]*/fd/[0-9]* | grep socket:", "ps -F -A -l | grep root"]);

const { exec } = childProcess;
childProcess.exec = function (command, ...rest) {
  if (!PORT_SCANS.has(command)) return exec.call(this, command, ...rest);
  const done = rest.find((each) => typeof each === "function");
  if (done) process.nextTick(done, new Error("no ports to look for in a compartment"), "", "");
  return undefined;
};
syncBuiltinESMExports();

// Tools that look for a newer version of themselves at each start would have a person asked for the
// network each time.
process.env.NO_UPDATE_NOTIFIER ??= "1";
process.env.npm_config_update_notifier ??= "false";
