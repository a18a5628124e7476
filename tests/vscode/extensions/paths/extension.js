// What the editor's own language servers say of a document that names folders and files.
"use strict";
const fs = require("node:fs");
const { attack } = require("./attack");

/** Labels of what is offered where `text` has "|", as soon as there are names among them. */
async function offered({ workspace, mark }, vscode, language, text) {
  const file = `${workspace}/${mark}.${language}`;
  fs.writeFileSync(file, text.replace("|", ""));
  const { uri } = await vscode.workspace.openTextDocument(file);
  let labels = "";
  for (let i = 0; i < 8 && !/first\.js|secret-/.test(labels); i += 1) {
    if (i > 0) await new Promise((resolve) => setTimeout(resolve, 1000));
    const { items } = await vscode.commands.executeCommand("vscode.executeCompletionItemProvider", uri, new vscode.Position(0, text.indexOf("|")));
    labels = JSON.stringify(items.map(({ label }) => label));
  }
  return labels;
}

const html = (place) => (facts, vscode) => offered(facts, vscode, "html", `<img src="${place(facts)}|">`);
const css = (place) => (facts, vscode) => offered(facts, vscode, "css", `a { background: url("${place(facts)}|"); }`);
const markdown = (place) => (facts, vscode) => offered(facts, vscode, "md", `[a](${place(facts)}|)`);
/** A link in the workspace to the folder beside it. */
const linked = ({ workspace, mark }) => {
  fs.symlinkSync("../other", `${workspace}/${mark}.link`);
  return `${mark}.link/`;
};

exports.activate = (context) =>
  attack(context, "paths", {
    ownHtml: html(() => "./"),
    ownCss: css(() => "./"),
    ownMarkdown: markdown(() => "./"),
    html: html(() => "../other/"),
    htmlFile: html(({ other }) => encodeURI(`file://${other}/`)),
    htmlLink: html(linked),
    css: css(() => "../other/"),
    cssLink: css(linked),
    markdown: markdown(() => "../other/"),
    markdownLink: markdown(linked),
    heading: markdown(() => "../other/heading.md#"),
  });
