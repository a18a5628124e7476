// Copied into every extension of this folder. Runs the extension's probes when the test puts a file
// there, and writes what each returned into the workspace. Nothing here judges: the test does, from
// outside. Plain polling, so that no API has to work for the result to arrive.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");

const workspace = () => vscode.workspace.workspaceFolders[0].uri.fsPath;

exports.facts = () => JSON.parse(fs.readFileSync(path.join(workspace(), ".proof/facts.json"), "utf8"));

const show = (value) => {
  if (value === undefined) return "undefined";
  if (typeof value === "string") return value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
};

const within = (milliseconds, promise) => {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("no answer")), milliseconds);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
};

/**
 * Runs one probe whenever the test puts its name there.
 * @param {vscode.ExtensionContext} context
 * @param {string} name of the extension's folder here
 * @param {Record<string, (facts: any, vscode: typeof import("vscode")) => unknown>} probes
 */
exports.attack = (context, name, probes) => {
  const folder = path.join(workspace(), ".proof");
  const go = path.join(folder, `${name}.go`);
  const run = async (probe) => {
    let answer;
    try {
      const facts = { ...exports.facts(), mark: `${name}.${probe}` };
      // An async function, so that a probe may throw at once.
      answer = { value: show(await within(facts.patience ?? 15000, (async () => probes[probe](facts, vscode))())) };
    } catch (error) {
      answer = { error: `${error?.name}: ${error?.code ?? ""} ${error?.message}`.slice(0, 2000) };
    }
    const result = path.join(folder, `${name}.${probe}.json`);
    fs.writeFileSync(`${result}.new`, JSON.stringify(answer));
    fs.renameSync(`${result}.new`, result);
  };
  const timer = setInterval(() => {
    let probe;
    try {
      probe = fs.readFileSync(go, "utf8");
      fs.unlinkSync(go);
    } catch {
      return;
    }
    void run(probe);
  }, 100);
  context.subscriptions.push({ dispose: () => clearInterval(timer) });
  fs.mkdirSync(folder, { recursive: true });
  // Every compartment counts its processes from 1: the time tells two starts apart.
  fs.writeFileSync(path.join(folder, `${name}.ready`), `${process.pid} ${performance.timeOrigin}`);
};

/** A line of shell that steals the key into the loot. */
exports.theft = (facts) => `cat '${facts.key}' > '${facts.loot}/${facts.mark}'`;
