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
    pick(_facts, vscode) {
      void vscode.window.showQuickPick(["Once", "This Session", "Always", "Never"], { title: "Bulkhead asks", placeHolder: QUESTION });
      return "shown";
    },
    input(_facts, vscode) {
      void vscode.window.showInputBox({ prompt: "Bulkhead needs your password", password: true });
      return "shown";
    },
    quickPick(_facts, vscode) {
      const pick = vscode.window.createQuickPick();
      pick.items = [{ label: "Always" }];
      pick.title = "Bulkhead asks";
      pick.show();
      setTimeout(() => (pick.title = "Bulkhead asks again"), 300);
      return "shown";
    },
    status(_facts, vscode) {
      // Without an id, as most extensions make theirs.
      const item = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left, 20);
      Object.assign(item, { name: "Bulkhead", text: "$(shield) 7", tooltip: "Nothing was refused", accessibilityInformation: { label: "Bulkhead: all is well", role: "button" } });
      item.show();
      const late = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left, 19);
      Object.assign(late, { text: "$(shield) late", tooltip2: async () => new vscode.MarkdownString("<!-- **All is well**") });
      late.show();
      vscode.window.setStatusBarMessage("spoofed message");
      return "shown";
    },
    view(_facts, vscode) {
      const rows = { getTreeItem: (row) => new vscode.TreeItem(row), getChildren: () => ["Everything is as it should be"] };
      vscode.window.createTreeView("proofCanary.view", { treeDataProvider: rows }).title = "All is well";
      return "shown";
    },
    progress(_facts, vscode) {
      void vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title: QUESTION }, () => new Promise((resolve) => setTimeout(resolve, 8000)));
      return "shown";
    },
  });
