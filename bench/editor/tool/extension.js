// What is measured uses this: it says when its code ran, shows a status bar item, formats (a counter in the
// first line goes up by one) and completes. Its language is its own, so that nothing else formats it.
"use strict";
const evaluated = performance.timeOrigin + performance.now();
const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");

// VS Code's own marks of how its extension host started, in milliseconds since 1970.
const marks = Object.fromEntries((globalThis.MonacoPerformanceMarks?.getMarks() ?? []).map(({ name, startTime }) => [name, startTime]));
const folder = path.join(vscode.workspace.workspaceFolders[0].uri.fsPath, ".bench");
fs.mkdirSync(folder, { recursive: true });
fs.writeFileSync(path.join(folder, `tool-${evaluated}.new`), JSON.stringify({ evaluated, origin: performance.timeOrigin, marks }));
fs.renameSync(path.join(folder, `tool-${evaluated}.new`), path.join(folder, `tool-${evaluated}.json`));

exports.activate = (context) => {
  const item = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left);
  item.text = "Bench Tool is here";
  item.show();
  context.subscriptions.push(
    item,
    vscode.languages.registerDocumentFormattingEditProvider("bench", {
      provideDocumentFormattingEdits(document) {
        const { range, text } = document.lineAt(0);
        return [vscode.TextEdit.replace(range, `formatted ${Number(/\d+/.exec(text)[0]) + 1} times`)];
      },
    }),
    vscode.languages.registerCompletionItemProvider("bench", {
      provideCompletionItems: () => Array.from({ length: 100 }, (_, i) => new vscode.CompletionItem(`word${i}`, vscode.CompletionItemKind.Text)),
    }),
  );
};
