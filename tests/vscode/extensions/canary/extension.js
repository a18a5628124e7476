// Harmless: shows that the host which it shares, or does not share, with an attack is alive.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");

exports.activate = (context) => {
  const file = path.join(vscode.workspace.workspaceFolders[0].uri.fsPath, ".proof/canary");
  fs.mkdirSync(path.dirname(file), { recursive: true });
  let beats = 0;
  const beat = () => {
    beats += 1;
    fs.writeFileSync(`${file}.new`, JSON.stringify({ pid: process.pid, beats, started: Math.round(performance.timeOrigin) }));
    fs.renameSync(`${file}.new`, file);
  };
  beat();
  const item = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left, 21);
  Object.assign(item, { text: "canary sings", tooltip: "tweet" });
  item.show();
  const rows = { getTreeItem: (row) => new vscode.TreeItem(row), getChildren: () => ["tweet"] };
  context.subscriptions.push(item, vscode.window.createTreeView("proofCanary.view", { treeDataProvider: rows }));
  const timer = setInterval(beat, 200);
  context.subscriptions.push({ dispose: () => clearInterval(timer) });
};
