"use strict";
const { attack } = require("./attack");

exports.activate = (context) =>
  attack(context, "search", {
    async find({ other }, vscode) {
      const found = await vscode.workspace.findFiles(new vscode.RelativePattern(vscode.Uri.file(other), "**/*"));
      return found.map((uri) => uri.fsPath);
    },
    // Another extension reads the file, and tells of what is in it.
    symbols: (_facts, vscode) => vscode.commands.executeCommand("vscode.executeWorkspaceSymbolProvider", "secret"),
  });
