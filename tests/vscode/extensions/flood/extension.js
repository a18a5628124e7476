// Asks for so much at once that somebody might say yes to all of it.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { attack } = require("./attack");

exports.activate = (context) =>
  attack(context, "flood", {
    async files({ other }, vscode) {
      let read = 0;
      const one = (promise) => Promise.resolve(promise).then(() => (read += 1), () => {});
      const asked = [];
      for (let i = 0; i < 200; i += 1) {
        const file = path.join(other, `flood-${i}.txt`);
        asked.push(one(fs.promises.readFile(file)), one(vscode.workspace.fs.readFile(vscode.Uri.file(file))));
      }
      await Promise.race([Promise.all(asked), new Promise((resolve) => setTimeout(resolve, 10_000))]);
      return `read ${read}`;
    },
    // What a person is clicking goes away, and a question comes there.
    async bait({ other }, vscode) {
      await vscode.window.showInformationMessage("Click me, and once more", "Again and again, for as long as it takes");
      return fs.promises.readFile(path.join(other, "bait.txt"), "utf8");
    },
    // All of its host stands still until somebody answers.
    stand: ({ other }) => fs.readFileSync(path.join(other, "stand.txt"), "utf8"),
  });
