// An extension that asks for files, for looking at what Bulkhead says of it.
import fs from "node:fs";
import path from "node:path";

const FILES = ["once", "session", "always", "never", "refused", "child"];
const FOLDER = "papers";

/**
 * @param {import("./world.mjs").World} world
 * @returns {string} the folder of an extension that reads a file for each command, one through a child, or a folder, and says in
 *   the status bar what came of it
 */
export function writeAsker(world) {
  const folder = path.join(world.other, "..");
  const files = Object.fromEntries(FILES.map((name) => [name, path.join(folder, `${name}.txt`)]));
  for (const file of Object.values(files)) fs.writeFileSync(file, "text\n");
  files[FOLDER] = path.join(folder, FOLDER);
  files.inside = path.join(folder, FOLDER, "inside.txt");
  fs.mkdirSync(files[FOLDER]);
  fs.writeFileSync(files.inside, "text\n");
  const packaged = {
    publisher: "proof", name: "asker", displayName: "Asker", version: "1.0.0", engines: { vscode: "^1.90.0" }, main: "./extension.js",
    activationEvents: ["onStartupFinished"],
    contributes: { commands: Object.keys(files).map((name) => ({ command: `asker.${name}`, title: `Ask for ${name}` })) },
  };
  const manifest = {
    manifest: 1, extension: "proof.asker", files: { read: ["${workspace}", "${extension}", "@system", "@node"], write: ["${storage}"] },
    run: ["cat"], vscode: ["@editor", "@commands"], otherwise: "ask",
  };
  world.write("made/asker/package.json", JSON.stringify(packaged));
  world.write("made/asker/bulkhead.json", JSON.stringify(manifest));
  world.write("made/asker/extension.js", `"use strict";
const { execFile } = require("node:child_process");
const fs = require("node:fs");
const vscode = require("vscode");
exports.activate = (context) => {
  const ready = vscode.window.createStatusBarItem("ready", vscode.StatusBarAlignment.Left);
  ready.text = "asker is ready";
  ready.show();
  context.subscriptions.push(ready);
  for (const [name, file] of Object.entries(${JSON.stringify(files)})) {
    const item = vscode.window.createStatusBarItem(name, vscode.StatusBarAlignment.Left);
    let count = 0;
    const done = (error) => {
      item.text = name + " " + (error ? "refused" : "allowed") + " " + ++count;
      item.show();
    };
    context.subscriptions.push(item, vscode.commands.registerCommand("asker." + name, () => {
      if (name === "child") execFile("cat", [file], done);
      else if (name === ${JSON.stringify(FOLDER)}) fs.readdir(file, done);
      else fs.readFile(file, done);
    }));
  }
};
`);
  return world.path("made/asker");
}
