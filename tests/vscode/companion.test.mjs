// What people see of Bulkhead in the editor, used by keys alone where it asks or changes something, and named for
// screen readers. With BULKHEAD_SCREENSHOTS=FOLDER pictures of each part, in the theme BULKHEAD_THEME.
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
    world.write("home/projects/app/bulkhead.json", '{\n  "manifest": 1,\n  "extension": "a.b",\n  "files": { "read": ["${workspce}"] },\n  "netwrk": []\n}\n');
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
    /** Moves in the list of compartments, by keys, to the row with this text, opening what lies above it. */
    const toRow = async (text) => {
      await editor.command("Bulkhead: Show Compartments");
      await page.locator(".pane-body .monaco-list-row", { hasText: "Asker" }).first().waitFor({ timeout: PATIENCE });
      await keyboard.press("Home");
      const row = page.locator(".pane-body .monaco-list-row.focused", { has: page.locator(".custom-view-tree-node-item") }).first();
      const met = [];
      for (let i = 0; i < 60; i += 1) {
        const label = (await row.innerText({ timeout: 1000 }).catch(() => "")).trim();
        if (label.includes(text)) return row;
        met.push(label);
        if (/^(Asker|Was refused|Your answers)/.test(label) && (await row.getAttribute("aria-expanded")) === "false") {
          await keyboard.press("ArrowRight");
          await page.waitForTimeout(500);
        }
        await keyboard.press("ArrowDown");
      }
      throw new Error(`no row ${text} among ${met.join(" | ")}`);
    };

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
      assert.ok(await source.evaluate((element) => element.scrollWidth <= element.clientWidth), "whose question it is can be read whole");
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
    await step("the list says state, memory, and what it was refused; a grant from there counts at once", async () => {
      const top = await toRow("Asker");
      assert.match((await top.getAttribute("aria-label")) ?? "", /^Asker, running, .*\d+ (?:MB|MiB), \d+ refused, 0 questions/);
      const row = await toRow("refused.txt");
      await picture("compartments");
      await row.press("Shift+F10");
      const menu = page.locator(".monaco-menu");
      await menu.getByText("Always Allow…").waitFor({ timeout: 5000 });
      for (let i = 0; i < 6 && !(await focused()).includes("Always Allow"); i += 1) await keyboard.press("ArrowDown");
      await keyboard.press("Enter");
      const dialog = page.locator(".monaco-dialog-box");
      await dialog.waitFor({ timeout: PATIENCE });
      assert.match(await dialog.innerText(), /Allow Asker \(proof\.asker\) to read ~\/projects\/refused\.txt\?/);
      await picture("grant");
      for (let i = 0; i < 6 && (await focused()) !== "Always Allow"; i += 1) await keyboard.press("Tab");
      await keyboard.press("Enter");
      await until("it is allowed", async () => {
        await ask("refused");
        return (await status().filter({ hasText: /refused allowed \d/ }).count()) > 0;
      });
    });
    await step("an answer is taken back", async () => {
      const row = await toRow("always.txt");
      assert.match(await row.innerText(), /always/);
      await row.press("Shift+F10");
      await page.locator(".monaco-menu").getByText("Take Back").waitFor({ timeout: 5000 });
      for (let i = 0; i < 6 && !(await focused()).includes("Take Back"); i += 1) await keyboard.press("ArrowDown");
      await keyboard.press("Enter");
      await answer("Taken back", "Restart Now");
      await until("its question", async () => {
        await ask("always");
        return toasts("always.txt").first().waitFor({ timeout: 3000 }).then(() => true, () => false);
      });
      await answer("always.txt", "Once");
    });
    await step("the journal is filtered and walked through by keys", async () => {
      await editor.command("Bulkhead: Show Refusals in the Journal");
      const frame = await frameWith("#rows tr");
      const column = (name) => frame.locator(`#rows td.${name}`).allInnerTexts();
      assert.ok((await column("deny")).length > 0);
      assert.equal((await frame.locator("#rows tr").count()), (await column("deny")).length, "refusals only");
      await frame.locator("#verdict").selectOption("");
      await frame.locator("#text").fill("always.txt");
      await until("the filter", async () => {
        const shown = await column("resource");
        return shown.length > 0 && shown.every((each) => each.includes("always.txt"));
      });
      await frame.locator("#text").fill("");
      await until("more rows", async () => (await frame.locator("#rows tr").count()) > 3);
      for (let i = 0; i < 4 && !(await frame.evaluate(() => document.activeElement?.closest("#rows") !== null)); i += 1) await keyboard.press("Tab");
      await keyboard.press("ArrowDown");
      await frame.locator("#rows tr[aria-selected=true]").waitFor({ timeout: 5000 });
      assert.match(await frame.locator("#detail").innerText(), /Resource[^]*Rule[^]*Extension/);
      await picture("journal");
      for (const control of ["extension", "verdict", "kind", "text"])
        assert.ok(await frame.locator(`#${control}`).evaluate((one) => Boolean(one.labels?.length || one.getAttribute("aria-label"))), control);
    });
    await step("mistakes in bulkhead.json are shown, and what it may hold is offered", async () => {
      await editor.openFile("bulkhead.json");
      await editor.command("Problems: Focus on Problems View");
      for (const mistake of [/workspce/, /netwrk/]) await page.locator(".markers-panel").getByText(mistake).first().waitFor({ timeout: PATIENCE });
      await editor.openFile("bulkhead.json");
      await editor.command("Go to Line/Column...");
      await editor.typeInto(":4:24");
      await keyboard.press("Enter");
      await keyboard.type('"", ');
      await keyboard.press("ArrowLeft");
      await keyboard.press("ArrowLeft");
      await keyboard.press("ArrowLeft");
      const row = page.locator(".suggest-widget .monaco-list-row", { hasText: "@node" }).first();
      await until("the sets", async () => {
        await keyboard.press("Escape");
        await keyboard.press("Control+Space");
        return row.waitFor({ timeout: 4000 }).then(() => true, () => false);
      });
      await picture("manifest");
      await keyboard.press("Escape");
    });
    await step("its settings", async () => {
      await editor.command("Preferences: Open Settings (UI)");
      await page.locator(".settings-header .monaco-editor").first().click();
      await keyboard.type("@ext:bulkhead.companion");
      for (const title of ["Notify Refusals", "Notify Ends", "Entries"]) await page.locator(".settings-editor .setting-item-label", { hasText: title }).first().waitFor({ timeout: PATIENCE });
      await picture("settings");
    });
  } finally {
    await editor?.end();
    await world.destroy();
  }
});
