// Bulkhead's review, questions and status, by keys alone, and named for screen readers. With BULKHEAD_SCREENSHOTS=FOLDER pictures of each part, in the theme BULKHEAD_THEME.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { Editor, steps, until } from "./editor.mjs";
import { World } from "./world.mjs";

const PATIENCE = 15_000;
const theme = process.env.BULKHEAD_THEME ?? "Light 2026";
const FILES = ["once", "session", "always", "never", "refused", "child"];

/** An extension that reads a file for each command, some through a child, and says in the status bar what came of it. */
function write(world) {
  const folder = path.join(world.other, "..");
  const files = Object.fromEntries(FILES.map((name) => [name, path.join(folder, `${name}.txt`)]));
  for (const file of Object.values(files)) fs.writeFileSync(file, "text\n");
  const packaged = {
    publisher: "proof", name: "asker", displayName: "Asker", version: "1.0.0", engines: { vscode: "^1.90.0" }, main: "./extension.js",
    activationEvents: ["onStartupFinished"],
    contributes: { commands: FILES.map((name) => ({ command: `asker.${name}`, title: `Ask for ${name}` })) },
  };
  const manifest = {
    manifest: 1, extension: "proof.asker", files: { read: ["${workspace}", "${extension}", "@system", "@node"], write: ["${storage}"] },
    run: ["cat"], vscode: ["@editor", "@commands"], otherwise: "ask",
  };
  world.write("made/asker/package.json", JSON.stringify(packaged));
  world.write("made/asker/bulkhead.json", JSON.stringify(manifest));
  world.write("made/asker/extension.js", `"use strict";
const { execFile } = require("node:child_process");
const fs = require("node:fs");
const vscode = require("vscode");
exports.activate = (context) => {
  const ready = vscode.window.createStatusBarItem("ready", vscode.StatusBarAlignment.Left);
  ready.text = "asker is ready";
  ready.show();
  context.subscriptions.push(ready);
  for (const [name, file] of Object.entries(${JSON.stringify(files)})) {
    const item = vscode.window.createStatusBarItem(name, vscode.StatusBarAlignment.Left);
    let count = 0;
    const done = (error) => {
      item.text = name + " " + (error ? "refused" : "allowed") + " " + ++count;
      item.show();
    };
    context.subscriptions.push(item, vscode.commands.registerCommand("asker." + name, () => {
      if (name === "child") execFile("cat", [file], done);
      else fs.readFile(file, done);
    }));
  }
};
`);
  return world.path("made/asker");
}

test("the companion", { timeout: 400_000 }, async (t) => {
  const world = await World.create();
  let editor;
  const parts = steps(t, () => editor);
  let failed = false;
  // Each goes on from where the one before has come.
  const step = (name, act) => failed || parts(name, async () => {
    failed = true;
    await act();
    failed = false;
  });
  try {
    const asker = write(world);
    editor = await Editor.start({
      mode: "compartments", world, extensions: [], settings: { "workbench.colorTheme": theme },
      // Not by install(), which stands for a person who has reviewed it.
      before: (one) => fs.cpSync(asker, path.join(one.extensions, "proof.asker-1.0.0"), { recursive: true }),
    });
    const { page } = editor;
    const { keyboard } = page;
    page.setDefaultTimeout(PATIENCE);
    const status = () => page.locator(".part.statusbar .statusbar-item");
    const says = (text) => status().filter({ hasText: text }).first().waitFor({ timeout: PATIENCE });
    const toasts = (text) => page.locator(".notifications-toasts .notification-list-item", { hasText: text });
    const frameWith = (selector) => until(`a page with ${selector}`, async () => {
      for (const frame of page.frames()) if (await frame.locator(selector).first().isVisible().catch(() => false)) return frame;
      return undefined;
    });
    const picture = (name) => process.env.BULKHEAD_SCREENSHOTS && editor.photograph(`${name} ${theme}`);
    /** What has the focus, for a screen reader. */
    const focused = () => page.evaluate(() => {
      const element = document.activeElement;
      return `${element?.getAttribute("aria-label") ?? ""} ${element?.textContent ?? ""}`.trim();
    });
    /** Presses a button of the newest notification by keys alone. */
    const answer = async (question, button) => {
      await toasts(question).first().waitFor({ timeout: PATIENCE });
      await editor.command("Notifications: Show Notifications");
      await page.locator(".notifications-center.visible").waitFor({ timeout: PATIENCE });
      for (let i = 0; i < 20; i += 1) {
        await keyboard.press("Tab");
        if ((await focused()) === button) return keyboard.press("Enter");
      }
      throw new Error(`no button ${button} is reached by Tab; the last was ${await focused()}`);
    };
    const ask = (name) => editor.command(`Ask for ${name}`);
    await step("a review is read and decided by keys", async () => {
      await answer("wants to run for the first time", "Review");
      const frame = await frameWith("section.card");
      assert.equal(await frame.locator("section.card").getAttribute("aria-labelledby"), await frame.locator("section.card h2").getAttribute("id"));
      assert.match(await frame.locator("section.card").innerText(), /Asker[^]*It could[^]*It cannot/);
      await picture("review");
      const allow = frame.getByRole("button", { name: "Allow Asker to run" });
      await until("the button to come alive", async () => (await allow.getAttribute("aria-disabled")) === "false");
      await frame.locator("body").focus();
      for (let i = 0; i < 12 && !(await allow.evaluate((button) => button === document.activeElement)); i += 1) await keyboard.press("Tab");
      await keyboard.press("Enter");
      await until("its compartment", async () => /1 compartment/.test((await status().filter({ has: page.locator(".codicon-shield") }).first().locator("a").getAttribute("aria-label")) ?? ""));
      await says("asker is ready");
    });
    await step("once is once", async () => {
      await ask("once");
      await toasts("Asker (proof.asker) wants to read ~/projects/once.txt").first().waitFor({ timeout: PATIENCE });
      await picture("question");
      const source = toasts("once.txt").locator(".notification-list-item-source").first();
      assert.equal((await source.innerText()).trim(), "Source: Bulkhead");
      const whole = (element) => element.scrollWidth <= element.clientWidth;
      assert.ok(await source.evaluate(whole), "whose question it is can be read whole");
      for (const button of await toasts("once.txt").first().locator(".monaco-button").all()) assert.ok(await button.evaluate(whole), `the button ${await button.innerText()} can be read whole`);
      await answer("once.txt", "Once");
      await says("once allowed 1");
      await ask("once");
      await answer("once.txt", "Once");
      await says("once allowed 2");
    });
    await step("this session lasts until it starts again, always and never last", async () => {
      for (const [name, button, outcome] of [["session", "This Session", "allowed"], ["always", "Always", "allowed"], ["never", "Never", "refused"]]) {
        await ask(name);
        await answer(`${name}.txt`, button);
        await says(`${name} ${outcome} 1`);
        await ask(name);
        await says(`${name} ${outcome} 2`);
      }
      await editor.command("Bulkhead: Restart Compartment");
      await editor.pick("Asker");
      await until("its end", async () => (await status().filter({ hasText: "always allowed 2" }).count()) === 0);
      for (const [name, outcome] of [["always", "allowed"], ["never", "refused"]]) {
        await until(`${name} again`, async () => {
          await ask(name);
          return (await status().filter({ hasText: new RegExp(`${name} ${outcome} \\d`) }).count()) > 0;
        });
      }
      assert.equal(await toasts(/always\.txt|never\.txt/).count(), 0, "who was answered for good asks no more");
      await ask("session");
      await answer("session.txt", "Once");
      await says("session allowed 1");
    });
    await step("who asks through a child is told with it, and closing refuses", async () => {
      await ask("child");
      await toasts(/Asker \(proof\.asker\) wants to read ~\/projects\/child\.txt, by running cat/).first().waitFor({ timeout: PATIENCE });
      await editor.command("Notifications: Show Notifications");
      await page.locator(".notifications-center.visible").waitFor({ timeout: PATIENCE });
      await keyboard.press("Delete");
      await says("child refused 1");
    });
    await step("the details of a question, and its dialog", async () => {
      await ask("refused");
      await answer("refused.txt", "Details…");
      const dialog = page.locator(".monaco-dialog-box");
      await dialog.waitFor({ timeout: PATIENCE });
      assert.match(await dialog.innerText(), new RegExp(`${world.parent}/refused\\.txt[^]*proof\\.asker 1\\.0\\.0`));
      await picture("details");
      await keyboard.press("Escape");
      await says("refused refused 1");
    });
    await step("the status bar's item says in words what it shows", async () => {
      const item = status().filter({ has: page.locator(".codicon-shield") }).first();
      await until("the words", async () => /^Bulkhead: 1 compartment, \d+ refused since you last looked/.test((await item.locator("a").getAttribute("aria-label")) ?? ""));
    });
  } finally {
    await editor?.end();
    await world.destroy();
  }
});
