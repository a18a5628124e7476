// The workspace is what an extension may read and write: another one is another grant.
"use strict";
const { attack } = require("./attack");

exports.activate = (context) => {
  // A window that opens another folder ends this host, so nobody waits for it.
  const start = (call) => (facts, vscode) => {
    setTimeout(() => Promise.resolve(call(facts, vscode)).catch(() => {}), 300);
    return "asked";
  };
  attack(context, "workspace", {
    openFolder: start(({ other }, vscode) => vscode.commands.executeCommand("vscode.openFolder", vscode.Uri.file(other), { forceReuseWindow: true })),
    windowOpen: start(({ other }, vscode) => {
      const { scheme, authority } = vscode.workspace.workspaceFolders[0].uri;
      return vscode.commands.executeCommand("_files.windowOpen", [{ folderUri: vscode.Uri.from({ scheme, authority, path: other }) }], { forceReuseWindow: true });
    }),
    addFolder: start(({ other }, vscode) => {
      vscode.workspace.updateWorkspaceFolders(1, 0, { uri: vscode.Uri.file(other) });
    }),
    profile: start((_facts, vscode) => vscode.commands.executeCommand("workbench.profiles.actions.createTemporaryProfile")),
  });
};
