// Ends its host as soon as that has started, as long as the test wants it.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");

exports.activate = () => {
  const folder = path.join(vscode.workspace.workspaceFolders[0].uri.fsPath, ".proof");
  const check = () => {
    if (!fs.existsSync(path.join(folder, "crash.loop"))) return;
    fs.appendFileSync(path.join(folder, "crash.count"), `${Date.now()}\n`);
    // Every other time it goes as if it were done.
    if (fs.readFileSync(path.join(folder, "crash.count"), "utf8").split("\n").length % 2 === 1) process.reallyExit(0);
    process.kill(process.pid, "SIGKILL");
  };
  setInterval(check, 250);
  fs.writeFileSync(path.join(folder, "crash.ready"), String(process.pid));
};
