"use strict";
const { attack } = require("./attack");

exports.activate = (context) =>
  attack(context, "loop", {
    spin({ seconds }) {
      const end = Date.now() + seconds * 1000;
      while (Date.now() < end);
      return "done";
    },
    // Whether the window still answers this extension.
    ask: (_, vscode) => vscode.commands.executeCommand("setContext", "proof.asked", true).then(() => "answered"),
  });
