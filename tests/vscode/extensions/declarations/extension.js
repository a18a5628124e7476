// Nothing here but its own command: package.json says it all.
"use strict";
const { attack } = require("./attack");

const declared = () => "declared";

exports.activate = (context) => {
  const vscode = require("vscode");
  let said = "";
  context.subscriptions.push(vscode.commands.registerCommand("proof.declarations.own", (words) => (said = words)));
  const heard = async () => {
    said = "";
    for (let i = 0; i < 200 && !said; i += 1) await new Promise((resolve) => setTimeout(resolve, 50));
    return said;
  };
  attack(context, "declarations", {
    keybinding: declared,
    runCommands: declared,
    defaults: declared,
    declared,
    prototype: declared,
    welcome: declared,
    step: declared,
    page: declared,
    box: declared,
    schema: declared,
    registry: declared,
    statusBarItem: declared,
    style: declared,
    theme: declared,
    themeDefault: declared,
    preview: declared,
    debugger: declared,
    async snippet() {
      for (let i = 0; i < 200; i += 1) {
        const text = vscode.window.activeTextEditor?.document.getText() ?? "";
        if (text.includes("snippet:")) return text;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return "";
    },
    // What must go on working.
    own: heard,
    ownPage: heard,
    ownBox: heard,
  });
};
