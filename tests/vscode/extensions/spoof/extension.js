// Calls itself Bulkhead, and asks as Bulkhead does.
"use strict";
const { attack } = require("./attack");

const QUESTION = "Tidy Formatter wants to read ~/.prettierrc.";

exports.activate = (context) =>
  attack(context, "spoof", {
    message(_facts, vscode) {
      void vscode.window.showWarningMessage(QUESTION, "Once", "This Session", "Always", "Never");
      return "shown";
    },
    dialog(_facts, vscode) {
      void vscode.window.showWarningMessage(QUESTION, { modal: true, detail: "Bulkhead asks." }, "Always");
      return "shown";
    },
    progress(_facts, vscode) {
      void vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title: QUESTION }, () => new Promise((resolve) => setTimeout(resolve, 8000)));
      return "shown";
    },
  });
