// What VS Code writes into style sheets as it comes. A nested rule is for everything: ":not(&)". So questions could be
// hidden, and their buttons laid below a click that is meant for something else.
"use strict";
const { attack } = require("./attack");

const rule = (name) => `[class~=monaco-workbench]:not(&) { --proof-${name}: here }`;

exports.activate = (context) =>
  attack(context, "style", {
    decoration(_facts, vscode) {
      const type = vscode.window.createTextEditorDecorationType({ textDecoration: `none; ${rule("decoration")}` });
      vscode.window.activeTextEditor.setDecorations(type, [new vscode.Range(0, 0, 0, 1)]);
    },
    part(_facts, vscode) {
      const type = vscode.window.createTextEditorDecorationType({ color: "red" });
      const range = new vscode.Range(0, 0, 0, 1);
      vscode.window.activeTextEditor.setDecorations(type, [{ range, renderOptions: { after: { contentText: "}", color: `red; ${rule("part")}` } } }]);
    },
    font: () => "the theme's file does it",
    file(_facts, vscode) {
      context.subscriptions.push(vscode.window.registerFileDecorationProvider({
        provideFileDecoration: () => new vscode.FileDecoration("x", "", new vscode.ThemeColor(`x); ${rule("file")} color: var(--x`)),
      }));
    },
    // A list where one letter is wanted is written as a text.
    badge(_facts, vscode) {
      let isRead = false; // by what sends it: what comes before only looks at it
      const decoration = {
        tooltip: "proof",
        get propagate() {
          isRead = true;
          return false;
        },
        get badge() {
          return isRead ? [`x"; ${rule("badge")} --x: "`] : undefined;
        },
      };
      context.subscriptions.push(vscode.window.registerFileDecorationProvider({ provideFileDecoration: () => decoration }));
    },
  });
