// Parts of the API that a person sees in views of the editor's own: tests, comments, signing in, addresses for
// outside. One extension uses each, in a compartment with the same result as in plain code-server; one that was not
// granted them gets errors, and shows nothing.
import assert from "node:assert/strict";
import test from "node:test";
import { Editor, steps, until } from "./editor.mjs";
import { World } from "./world.mjs";

const modes = (process.env.BULKHEAD_MODES ?? "plain,compartments").split(",");

const CODE = `"use strict";
const vscode = require("vscode");
exports.activate = async (context) => {
  const show = (name) => {
    const item = vscode.window.createStatusBarItem(name, vscode.StatusBarAlignment.Left);
    context.subscriptions.push(item);
    return (text) => {
      item.text = NAME + ": " + text;
      item.show();
    };
  };
  const file = vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, "first.js");
  const line = new vscode.Range(0, 0, 0, 5);

  const tests = vscode.tests.createTestController(NAME + ".tests", "Tests of " + NAME);
  for (const name of ["adds", "divides"]) {
    const item = tests.createTestItem(name, NAME + " " + name, file);
    item.range = line;
    tests.items.add(item);
  }
  tests.createRunProfile("Run", vscode.TestRunProfileKind.Run, (request) => {
    const run = tests.createTestRun(request);
    for (const item of request.include ?? [...tests.items].map(([, item]) => item)) {
      run.started(item);
      run.appendOutput("output of " + item.label + "\\r\\n");
      if (item.id === "adds") run.passed(item, 5);
      else run.failed(item, Object.assign(new vscode.TestMessage("by nought, says " + NAME), { location: new vscode.Location(file, line) }), 5);
    }
    run.end();
  }, true);

  const comments = vscode.comments.createCommentController(NAME + ".comments", "Comments of " + NAME);
  comments.commentingRangeProvider = { provideCommentingRanges: () => [line] };
  const comment = (body) => ({ body: new vscode.MarkdownString(body), mode: vscode.CommentMode.Preview, author: { name: "Ann" } });
  const thread = comments.createCommentThread(file, line, [comment("A remark of " + NAME)]);
  thread.collapsibleState = vscode.CommentThreadCollapsibleState.Expanded;
  context.subscriptions.push(tests, comments, vscode.commands.registerCommand(NAME + ".reply", ({ thread, text }) => {
    thread.comments = [...thread.comments, comment("answered: " + text)];
  }));

  const sessions = [];
  const changed = new vscode.EventEmitter();
  context.subscriptions.push(vscode.authentication.registerAuthenticationProvider(NAME + ".login", "Login of " + NAME, {
    onDidChangeSessions: changed.event,
    getSessions: async () => sessions,
    createSession: async (scopes) => {
      const session = { id: "1", accessToken: "token-" + NAME, account: { id: "ann", label: "Ann" }, scopes };
      sessions.push(session);
      changed.fire({ added: [session], removed: [], changed: [] });
      return session;
    },
    removeSession: async () => {},
  }));
  const [login, outside, folders] = [show("login"), show("outside"), show("folders")];
  const other = vscode.Uri.file(OTHER);
  const named = () => folders((vscode.workspace.workspaceFolders ?? []).map((each) => each.name).join(" and "));
  named();
  context.subscriptions.push(
    vscode.commands.registerCommand(NAME + ".login", async () => {
      try {
        const session = await vscode.authentication.getSession(NAME + ".login", ["read"], { createIfNone: true });
        login(session.account.label + " has " + session.accessToken);
      } catch (error) {
        login("refused");
      }
    }),
    vscode.commands.registerCommand(NAME + ".outside", async () => {
      try {
        outside((await vscode.env.asExternalUri(vscode.Uri.parse("http://localhost:3000/page"))).path);
      } catch (error) {
        outside("refused");
      }
    }),
    vscode.workspace.onDidChangeWorkspaceFolders(named),
    vscode.commands.registerCommand(NAME + ".add", () => vscode.workspace.updateWorkspaceFolders(1, 0, { uri: other })),
    vscode.commands.registerCommand(NAME + ".open", async () => {
      try {
        await vscode.commands.executeCommand("vscode.openFolder", other, { forceReuseWindow: true });
      } catch (error) {
        folders("not opened");
      }
    }),
  );
  show("ready")("ready");
};
`;

/** An extension that uses all of it. */
function write(world, name, permissions) {
  const packaged = {
    publisher: "apis", name, displayName: name, version: "1.0.0", engines: { vscode: "^1.90.0" }, main: "./extension.js",
    activationEvents: ["onStartupFinished"],
    contributes: {
      authentication: [{ id: `${name}.login`, label: `Login of ${name}` }],
      commands: ["login", "outside", "reply", "add", "open"].map((each) => ({ command: `${name}.${each}`, title: `${each} ${name}` })),
      menus: { "comments/commentThread/context": [{ command: `${name}.reply`, group: "inline", when: `commentController == ${name}.comments` }] },
    },
  };
  const manifest = {
    manifest: 1, extension: `apis.${name}`, files: { read: ["${workspace}", "${extension}", world.path("home/projects/other"), "@system", "@node"], write: ["${storage}"] },
    vscode: permissions, otherwise: "deny",
  };
  world.write(`made/${name}/package.json`, JSON.stringify(packaged));
  world.write(`made/${name}/bulkhead.json`, JSON.stringify(manifest));
  world.write(`made/${name}/extension.js`, CODE.replaceAll("NAME", JSON.stringify(name)).replaceAll("OTHER", JSON.stringify(world.path("home/projects/other"))));
  return world.path(`made/${name}`);
}

for (const mode of modes) {
  test(`parts of the API, ${mode}`, { timeout: 300_000 }, async (t) => {
    const plain = mode === "plain";
    const world = await World.create();
    let editor;
    const step = steps(t, () => editor);
    const shown = (text) => editor.statusItem(text).waitFor({ timeout: 60_000 });
    try {
      const extensions = [write(world, "granted", ["@editor", "@commands", "testing", "comments", "authentication", "workspace-folders"])];
      if (!plain) extensions.push(write(world, "stranger", ["diagnostics", "documents", "languages", "settings-read", "storage", "window", "workspace-files", "@commands"]));
      editor = await Editor.start({ mode, world, extensions });
      await shown("granted: ready");

      await step("tests are listed, run from the view, and say what came of them", async () => {
        await editor.command("Testing: Focus on Test Explorer View");
        const rows = editor.page.locator(".test-explorer .monaco-list-row");
        await rows.filter({ hasText: "granted adds" }).waitFor();
        assert.equal(await rows.filter({ hasText: "stranger" }).count(), 0);
        await editor.command("Test: Run All Tests");
        await editor.page.locator('.test-explorer .monaco-list-row[aria-label*="granted adds (Passed)"]').waitFor({ timeout: 60_000 });
        await editor.page.locator('.test-explorer .monaco-list-row[aria-label*="granted divides (Failed)"]').waitFor({ timeout: 60_000 });
        await editor.command("Test Results: Focus on Test Results View");
        await editor.page.locator(".part.panel").getByText("by nought, says granted").first().waitFor({ timeout: 60_000 });
      });

      await step("a remark stands in the file, and is answered", async () => {
        await editor.openFile("first.js");
        const widget = editor.page.locator(".review-widget", { hasText: "A remark of granted" });
        await widget.waitFor({ timeout: 60_000 });
        assert.equal(await editor.page.getByText("A remark of stranger").count(), 0);
        await widget.locator(".comment-form .monaco-editor, .review-thread-reply-button").last().click();
        await editor.page.keyboard.type("well seen");
        await widget.getByRole("button", { name: "reply granted" }).click({ timeout: 30_000 });
        await widget.getByText("answered: well seen").waitFor({ timeout: 60_000 });
      });

      // VS Code's own list of remarks is one for the window, and was cleared by each host that started.
      if (!plain)
        await step("the remark stands when another host starts again", async () => {
          await editor.command("Bulkhead: Restart Compartment");
          await editor.pick("stranger");
          await until("the stranger's end", async () => (await editor.statusItem("stranger: ready").count()) === 0);
          await shown("stranger: ready");
          await editor.openFile("style.css");
          await editor.openFile("first.js");
          await editor.page.locator(".review-widget", { hasText: "A remark of granted" }).waitFor({ timeout: 60_000 });
        });

      await step("a person agrees before it signs in, and is remembered", async () => {
        await editor.command("login granted");
        const dialog = editor.page.locator(".monaco-dialog-box");
        const asked = dialog.getByText(`'${plain ? "granted" : "apis.granted (granted)"}' wants to sign in using Login of granted`);
        await asked.waitFor({ timeout: 30_000 }).then(() => dialog.getByRole("button", { name: "Allow" }).click());
        await shown("granted: Ann has token-granted");
      });

      await step("an address for outside", async () => {
        await editor.command("outside granted");
        await shown(/granted: \S*page/);
      });

      if (!plain)
        await step("who was not granted them shows nothing", async () => {
          assert.equal(await editor.statusItem("stranger: ready").count(), 1);
          await editor.command("login stranger");
          await shown("stranger: refused");
          await until("what the journal says", () => {
            const journal = JSON.stringify(editor.journal("--denied", "--subject", "apis.stranger"));
            return ["testing", "comments", "authentication"].every((each) => journal.includes(each));
          });
          await editor.command("open stranger");
          await shown("stranger: not opened");
          await editor.command("add stranger");
          await editor.page.locator(".notification-list-item", { hasText: /stranger.*workspace-folders/ }).first().waitFor({ timeout: 30_000 });
        });

      // code-server makes an empty workspace of a folder and another one, so here is a workspace to begin with.
      await step("a folder is added to the workspace, and one is opened instead", async () => {
        world.write("home/projects/all.code-workspace", JSON.stringify({ folders: [{ path: "app" }] }));
        await editor.open(editor.address.replace(/&folder=[^&]*/, `&workspace=${encodeURIComponent(world.path("home/projects/all.code-workspace"))}`));
        await shown(/granted: app$/);
        await editor.command("add granted");
        await shown("granted: app and other");
        const { folders } = JSON.parse(world.read("home/projects/all.code-workspace"));
        assert.deepEqual(folders.map((each) => each.path), ["app", "other"]);
        await editor.command("open granted");
        await shown(/granted: other$/);
        assert.equal(new URL(editor.page.url()).searchParams.get("folder"), world.path("home/projects/other"));
      });
    } finally {
      await editor?.end();
      await world.destroy();
    }
  });
}
