"use strict";
const { attack } = require("./attack");

exports.activate = (context) =>
  attack(context, "message", {
    async one({ message }, vscode) {
      const text = "x".repeat(message << 20);
      await vscode.commands.executeCommand("setContext", "proof.huge", text);
      return "sent";
    },
  });
