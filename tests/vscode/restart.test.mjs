// The editor is ended with Ctrl-C and started again: its address is the last one's, so the browser has the open tabs, knows
// the folder as trusted, and an extension has the secret that it kept.
import assert from "node:assert/strict";
import test from "node:test";
import { Editor, chain, until } from "./editor.mjs";
import { World } from "./world.mjs";

const modes = (process.env.BULKHEAD_MODES ?? "plain,compartments").split(",");
const PATIENCE = 30_000;

/** Says in the status bar what it finds under the name of a secret; `as` is the extension that it says it is. */
function writeKeeper(world, name, as) {
  const id = `restart.${name}`;
  world.write(`made/${name}/package.json`, JSON.stringify({
    publisher: "restart", name, displayName: name, version: "1.0.0", engines: { vscode: "^1.90.0" }, main: "./extension.js", activationEvents: ["onStartupFinished"],
    contributes: { commands: [{ command: `${id}.look`, title: `Look ${name}` }, ...(as ? [] : [{ command: `${id}.keep`, title: "Keep" }])] },
  }));
  world.write(`made/${name}/bulkhead.json`, JSON.stringify({
    manifest: 1, extension: id, files: { read: ["${workspace}", "${extension}", "@system", "@node"], write: [] }, vscode: ["@editor", "@commands", "secrets"], otherwise: "deny",
  }));
  world.write(`made/${name}/extension.js`, `"use strict";
const vscode = require("vscode");
exports.activate = (context) => {
  ${as ? `context.secrets._id = ${JSON.stringify(as)};` : ""}
  const item = vscode.window.createStatusBarItem("kept", vscode.StatusBarAlignment.Left);
  const look = async () => {
    item.text = "${name} has " + (await context.secrets.get("account").then((value) => value ?? "nothing", () => "no answer"));
    item.show();
  };
  context.subscriptions.push(item, vscode.commands.registerCommand("${id}.look", look));
  ${as ? "" : `context.subscriptions.push(vscode.commands.registerCommand("${id}.keep", () => context.secrets.store("account", ${JSON.stringify(world.secrets.victim)}).then(look)));`}
  return look();
};
`);
  return world.path(`made/${name}`);
}

/** What the browser keeps of the window by now; VS Code gives it something every few seconds. */
const browserKeeps = (page) =>
  page.evaluate(async () => {
    const done = (request) => new Promise((resolve, reject) => Object.assign(request, { onsuccess: () => resolve(request.result), onerror: () => reject(request.error) }));
    const kept = [];
    for (const { name } of (await indexedDB.databases()).filter((each) => each.name.startsWith("vscode-web-state-db"))) {
      const database = await done(indexedDB.open(name));
      kept.push(...(await done(database.transaction("ItemTable").objectStore("ItemTable").getAll())));
      database.close();
    }
    return JSON.stringify(kept);
  });

for (const mode of modes) {
  test(`a restart, ${mode}`, { timeout: 300_000 }, async (t) => {
    const plain = mode === "plain";
    const world = await World.create();
    let editor;
    const step = chain(t, () => editor);
    const secret = world.secrets.victim;
    const kept = plain ? "nothing" : secret;
    try {
      editor = await Editor.start({
        mode, world, keepsPort: true, settings: { "security.workspace.trust.enabled": true },
        extensions: [writeKeeper(world, "keeper"), writeKeeper(world, "thief", "restart.keeper")],
      });
      const says = (text) => until(() => `${text} in the status bar`, async () => (await editor.statusItem(text).count()) > 0, PATIENCE);
      const opened = (wanted) => {
        let found;
        return until(() => `the tabs ${wanted}; there are ${found}`, async () => {
          found = await editor.page.locator(".tabs-container .tab").evaluateAll((each) => each.map((tab) => tab.getAttribute("data-resource-name")));
          return found.join() === wanted;
        }, PATIENCE);
      };
      const isTrusted = async () => {
        assert.equal(await editor.statusItem("Restricted Mode").count(), 0);
        assert.equal(await editor.page.locator(".part.banner", { hasText: "Restricted Mode" }).filter({ visible: true }).count(), 0);
      };

      await step("a person trusts the folder, opens files, signs in", async () => {
        await editor.trust();
        await says("keeper has nothing");
        for (const file of ["first.js", "data.json"]) {
          await editor.openFile(file);
          await editor.command("View: Keep Editor");
        }
        await editor.command("Keep");
        await says(`keeper has ${secret}`);
        await editor.command("Look thief");
        await says(`thief has ${plain ? secret : "no answer"}`);
        // Of VS Code's server alone the page gets no key to keep it by; code-server's own front has one, and so have we.
        if (!plain) await until("the secret in the browser", () => editor.page.evaluate(() => localStorage.getItem("secrets.provider")), PATIENCE);
        let held = "";
        await until("the tabs in the browser", async () => (held = await browserKeeps(editor.page)).includes("data.json"), PATIENCE);
        assert.ok(!(held + (await editor.page.evaluate(() => JSON.stringify({ ...localStorage })))).includes(secret), "the secret is not kept as it is");
      });
      await step("a reload, and it is all there", async () => {
        await editor.reload();
        await says(`keeper has ${kept}`);
        await opened("first.js,data.json");
        await isTrusted();
      });
      const before = editor.address;
      await step("Ctrl-C, and another start", async () => {
        assert.ok([0, 130, "SIGINT"].includes(await editor.interrupt()));
        await editor.page.close();
        await editor.serve();
        assert.equal(new URL(editor.address).port, new URL(before).port);
        await editor.openWindow();
      });
      await step("tabs, trust and the secret are there", async () => {
        await says(`keeper has ${kept}`);
        await opened("first.js,data.json");
        await until("the text of the last one", async () => (await editor.text()).startsWith(`{"needle"`), PATIENCE);
        await isTrusted();
      });
      await step("and nobody else's", () => says(`thief has ${plain ? kept : "no answer"}`));
    } finally {
      await editor?.end();
      await world.destroy();
    }
  });
}
