// A folder that nobody has trusted yet, and trusting it: an extension that is not made for the first runs from the
// second on, without a reload. In compartments it is reviewed in between.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { Editor, chain, until } from "./editor.mjs";
import { World } from "./world.mjs";

const modes = (process.env.BULKHEAD_MODES ?? "plain,compartments").split(",");
const PATIENCE = 30_000;
const BEFORE = "const first   =   1\nconst  second =  2\n";
const AFTER = "const first = 1\nconst second = 2\n";

/** A formatter that leaves a file where it ran, and says nothing of folders that are not trusted. */
function writeFormatter(world, name, packaged = {}) {
  world.write(`made/${name}/package.json`, JSON.stringify({
    publisher: "trust", name, displayName: `Formatter ${name}`, version: "1.0.0", engines: { vscode: "^1.90.0" }, main: "./extension.js", activationEvents: ["onLanguage:javascript"], ...packaged,
  }));
  world.write(`made/${name}/bulkhead.json`, JSON.stringify({
    manifest: 1, extension: `trust.${name}`, files: { read: ["${workspace}", "${extension}", "@system", "@node"], write: ["${workspace}"] }, vscode: ["@editor"], otherwise: "deny",
  }));
  world.write(`made/${name}/extension.js`, `"use strict";
const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");
exports.activate = (context) => {
  const file = (ending) => path.join(vscode.workspace.workspaceFolders[0].uri.fsPath, "${name}." + ending);
  fs.writeFileSync(file("ran"), String(vscode.workspace.isTrusted));
  const timer = setInterval(() => {
    if (!fs.existsSync(file("loop"))) return;
    fs.writeFileSync(file("ran"), "loops");
    for (;;);
  }, 100);
  context.subscriptions.push({ dispose: () => clearInterval(timer) });
  context.subscriptions.push(vscode.languages.registerDocumentFormattingEditProvider("javascript", {
    provideDocumentFormattingEdits(document) {
      const whole = new vscode.Range(document.positionAt(0), document.positionAt(document.getText().length));
      return [vscode.TextEdit.replace(whole, document.getText().replace(/ +/g, " "))];
    },
  }));
};
`);
  return world.path(`made/${name}`);
}

for (const mode of modes) {
  test(`trust, ${mode}`, { timeout: 300_000 }, async (t) => {
    const plain = mode === "plain";
    const world = await World.create();
    let editor;
    const step = chain(t, () => editor);
    const ran = (name) => world.read(`home/projects/app/${name}.ran`);
    try {
      for (const name of ["early", "late"]) world.write(`home/projects/app/${name}.js`, BEFORE);
      const tidy = writeFormatter(world, "tidy");
      const brave = writeFormatter(world, "brave", { activationEvents: ["onStartupFinished"], capabilities: { untrustedWorkspaces: { supported: true } } });
      editor = await Editor.start({
        mode, world, extensions: [brave],
        settings: { "security.workspace.trust.enabled": true, "[javascript]": { "editor.defaultFormatter": "trust.tidy" } },
        // Not by install(), which stands for a person who has reviewed it.
        before: (one) => fs.cpSync(tidy, path.join(one.extensions, "trust.tidy-1.0.0"), { recursive: true }),
      });
      const { page } = editor;
      const formats = async (name) => {
        await editor.formatDocument();
        await until(`${name} formatted`, async () => (await editor.text()).startsWith("const first = 1\n"), PATIENCE);
        await editor.save();
        await until("its bytes", () => world.read(`home/projects/app/${name}`) === AFTER);
      };

      await step("without trust it does not run, and who is made for that does", async () => {
        await editor.statusItem("Restricted Mode").waitFor({ timeout: PATIENCE });
        await until("who is made for that", () => ran("brave"), PATIENCE);
        assert.equal(ran("brave"), "false");
        await editor.openFile("early.js");
        await editor.formatDocument();
        // What comes after it shows that it has ended.
        await editor.quickOpen("late.js");
        assert.equal(ran("tidy"), undefined);
        assert.equal((await editor.text()).trim(), BEFORE.trim());
        assert.equal(world.read("home/projects/app/early.js"), BEFORE);
        assert.equal(await page.locator(".notification-list-item", { hasText: "tidy (trust.tidy)" }).count(), 0, "nobody is asked about what does not run");
      });
      // In plain it would hold up everybody, the person's formatter too.
      if (!plain)
        await step("and one that never answers again", async () => {
          world.write("home/projects/app/brave.loop", "");
          await until("its loop", () => ran("brave") === "loops");
        });
      let trusted = 0;
      await step("trusted, it runs without a reload", async () => {
        await editor.trust();
        trusted = Date.now();
        await editor.statusItem("Restricted Mode").waitFor({ state: "detached", timeout: PATIENCE });
        if (!plain) await editor.review("Formatter tidy", () => assert.equal(ran("tidy"), undefined));
        await until("it to run", () => ran("tidy"), PATIENCE);
        t.diagnostic(`it ran ${Date.now() - trusted} ms after Trust was pressed`);
        assert.equal(ran("tidy"), "true");
      });
      await step("and formats what was open before, and what is opened after", async () => {
        for (const name of ["early.js", "late.js"]) {
          await editor.openFile(name);
          await formats(name);
        }
      });
      if (!plain)
        await step("a compartment that ends while the server is busy starts again", async () => {
          const sockets = () => fs.readdirSync(path.join(world.runtime, "bulkhead/code"), { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".sock"));
          const before = sockets();
          fs.unlinkSync(path.join(world.workspace, "tidy.ran"));
          const [busy] = fs.readFileSync(`/proc/${editor.server.pid}/task/${editor.server.pid}/children`, "utf8").split(" ").map(Number);
          process.kill(busy, "SIGSTOP");
          try {
            await editor.command("Bulkhead: Restart Compartment");
            await editor.pick("Formatter tidy");
            await until("its end", () => before.some((one) => !sockets().includes(one)));
            // VS Code asks the server how it ended, and waits two seconds for the answer.
            await new Promise((resolve) => setTimeout(resolve, 3000));
          } finally {
            process.kill(busy, "SIGCONT");
          }
          await until("it to run again", () => ran("tidy"), PATIENCE);
        });
    } finally {
      await editor?.end();
      await world.destroy();
    }
  });
}
