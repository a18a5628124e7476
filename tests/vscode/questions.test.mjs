// What answers a question of Bulkhead's: a person's own click, and nothing within an extension's reach. While one is shown, its
// extension sets every context of the editor's, runs every command that it may run without a question and every one that is about
// notifications, lists and dialogs; a person presses every key. The window is one that a screen reader is used with, where a key
// answers the notification that came last. Long: not in CI's quick part. Nothing asks in plain VS Code, so there is no plain here.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { Editor, chain, until } from "./editor.mjs";
import { give } from "./keys.mjs";
import { World } from "./world.mjs";

const api = path.join(path.dirname(fileURLToPath(import.meta.url)), "../../vscode/api");
const read = (/** @type {string} */ name) => JSON.parse(fs.readFileSync(path.join(api, name), "utf8"));

/** Of what it may run, what leaves no window to look at, or a question of the editor's own before it. */
const AWAY = /^(?:vscode\.(?:openFolder|newWindow)|workbench\.action\.(?:files\.save|closeActiveEditor)|.*[wW]indow.*|_execute.*|vscode\.execute.*|vscode\.prepare.*|vscode\.provide.*)/;
const ABOUT = /^(?:notifications?|list|quickInput)\.|[dD]ialog|[qQ]uick(?:Open|Pick)|[zZ]en|[nN]otification/;

/** An extension that reads a file when it is told to, and then does what it can. */
function writePusher(/** @type {World} */ world) {
  const { commands } = read("commands.json");
  const run = [...commands.commands, ...commands["workspace-edit"], ...commands.refuse.filter((/** @type {string} */ one) => ABOUT.test(one))].filter((one) => !AWAY.test(one));
  const packaged = {
    publisher: "proof", name: "pusher", displayName: "Pusher", version: "1.0.0", engines: { vscode: "^1.90.0" }, main: "./extension.js", activationEvents: ["onStartupFinished"],
    contributes: {
      configurationDefaults: { "editor.accessibilitySupport": "on", "workbench.tree.indent": 4000, "zenMode.silentNotifications": true },
      commands: [{ command: "pusher.hello", title: "Hello" }],
      // Every context stands in a condition of its own, as one would to make it look like its own.
      menus: { commandPalette: [{ command: "pusher.hello", when: read("reach.json").contexts.filter((/** @type {string} */ one) => !one.includes("*")).join(" || ") }] },
    },
  };
  const manifest = {
    manifest: 1, extension: "proof.pusher", files: { read: ["${workspace}", "${extension}", "@system", "@node"], write: ["${storage}", "${workspace}"] },
    vscode: ["@editor", "@commands"], otherwise: "ask",
  };
  world.write("made/pusher/package.json", JSON.stringify(packaged));
  world.write("made/pusher/bulkhead.json", JSON.stringify(manifest));
  world.write("made/pusher/extension.js", `"use strict";
const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");
exports.activate = async () => {
  const folder = path.join(vscode.workspace.workspaceFolders[0].uri.fsPath, ".proof");
  const told = (name) => new Promise((resolve) => {
    const timer = setInterval(() => fs.existsSync(path.join(folder, name)) && (clearInterval(timer), resolve()), 200);
  });
  const says = (name, text) => fs.writeFileSync(path.join(folder, name), String(text));
  says("ready", "");
  await told("ask");
  // Refused for now, it tries again, as long as nobody has said yes.
  const read = () => fs.readFile(${JSON.stringify(world.path("home/projects/asked.txt"))}, (error) => error ? setTimeout(read, 300) : says("read", "allowed"));
  read();
  await told("push");
  const quietly = (id, ...rest) => Promise.race([vscode.commands.executeCommand(id, ...rest).then(() => 1, () => 0), new Promise((resolve) => setTimeout(resolve, 2000, 0))]);
  let set = 0;
  for (const key of ${JSON.stringify(read("reach.json").contexts)}) set += await quietly("setContext", key.replaceAll("*", "x"), true);
  let ran = 0;
  for (const id of ${JSON.stringify(run)}) ran += await quietly(id);
  says("pushed", JSON.stringify({ set, ran }));
};
`);
  return world.path("made/pusher");
}

const KEYS = ["Enter", "Space", "Escape", "Tab", "Delete", "Backspace", "Home", "End", "PageUp", "PageDown", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", ..."ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", ...[1, 2, 3, 4, 6, 7, 8, 9, 10, 12].map((n) => `F${n}`), "Comma", "Period", "Slash", "Semicolon", "Equal", "Minus", "BracketLeft", "BracketRight", "Backslash", "Backquote"];
const HELD = ["", "Shift+", "Control+", "Control+Shift+", "Alt+", "Alt+Shift+", "Control+Alt+"];

test("a question is answered by a person's click and by nothing else", { timeout: 900_000 }, async (t) => {
  const world = await World.create();
  let editor;
  const step = chain(t, () => editor);
  try {
    world.write("home/projects/asked.txt", "text\n");
    world.write("home/projects/app/.proof/facts.json", JSON.stringify(world.facts()));
    const proof = (/** @type {string} */ name) => world.read(`home/projects/app/.proof/${name}`);
    const tell = (/** @type {string} */ name) => world.write(`home/projects/app/.proof/${name}`, "");
    let question, box;
    const where = () => question.evaluate((element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      return [x, y, width, height].map(Math.round).join(" ");
    });
    await step("a question is shown", async () => {
      editor = await Editor.start({ mode: "compartments", world, extensions: [writePusher(world)], settings: { "editor.accessibilitySupport": "on" } });
      await until("the extension", () => fs.existsSync(world.path("home/projects/app/.proof/ready")), 120_000);
      await editor.openFile("first.js").catch(() => {});
      tell("ask");
      question = editor.page.locator(".notifications-toasts .notification-list-item", { hasText: "asked.txt" }).first();
      await question.waitFor({ timeout: 30_000 });
      await new Promise((resolve) => setTimeout(resolve, 2000));
      box = await where();
    });
    await step("the key for the primary action does not answer it", async () => {
      for (let i = 0; i < 3; i += 1) await editor.page.keyboard.press("Control+Shift+A");
      await new Promise((resolve) => setTimeout(resolve, 1000));
      assert.equal(proof("read"), undefined);
      assert.equal(await where(), box);
    });
    await step("contexts and commands of the extension do not answer, move, hide or resize it", async () => {
      tell("push");
      await until("the extension to try", () => proof("pushed"), 600_000);
      const { set, ran } = JSON.parse(proof("pushed"));
      t.diagnostic(`${set} contexts were taken without an error, ${ran} commands ran`);
      assert.ok(ran > 200, "commands ran");
      assert.equal(proof("read"), undefined);
      await question.waitFor({ state: "visible", timeout: 5000 });
      assert.equal(await where(), box);
    });
    await step("nor does a script of the page", async () => {
      const pressed = await question.evaluate((element) => {
        const buttons = [...element.querySelectorAll(".monaco-button")];
        for (const button of buttons) {
          /** @type {HTMLElement} */ (button).click();
          for (const type of ["keydown", "keyup"]) button.dispatchEvent(new KeyboardEvent(type, { key: "Enter", code: "Enter", keyCode: 13, bubbles: true }));
        }
        return buttons.length;
      });
      assert.equal(pressed, 3);
      await new Promise((resolve) => setTimeout(resolve, 500));
      assert.equal(proof("read"), undefined);
    });
    await step("a person's click does, once it has stood still", async () => {
      await question.waitFor({ state: "visible", timeout: 5000 });
      // A script's tries count as clicks nearby.
      await new Promise((resolve) => setTimeout(resolve, 1000));
      await give(editor.page, question, "Once");
      await until("the answer", () => proof("read"));
      assert.equal(proof("read"), "allowed");
    });
    await step("no key allows anything", async () => {
      // Again, with a question that nobody has answered.
      world.write("home/projects/app/.proof/nothing", "");
      await editor.end();
      for (const name of ["read", "ask", "push", "pushed", "ready"]) fs.rmSync(world.path(`home/projects/app/.proof/${name}`), { force: true });
      editor = await Editor.start({ mode: "compartments", world, extensions: [], settings: { "editor.accessibilitySupport": "on" } });
      await until("the extension", () => fs.existsSync(world.path("home/projects/app/.proof/ready")), 120_000);
      tell("ask");
      question = editor.page.locator(".notifications-toasts .notification-list-item", { hasText: "asked.txt" }).first();
      await question.waitFor({ timeout: 30_000 });
      for (const held of HELD)
        for (const key of KEYS) {
          // These leave the window, or its page.
          if (/^(?:Control\+[WRNTQ]|Control\+Shift\+[WRNTQ]|Alt\+(?:F4|Home|ArrowLeft|ArrowRight)|Alt\+F4)$/.test(held + key)) continue;
          await editor.page.keyboard.press(held + key, { delay: 0 });
        }
      await new Promise((resolve) => setTimeout(resolve, 1000));
      assert.equal(proof("read"), undefined);
    });
  } finally {
    await editor?.end();
    await world.destroy();
  }
});
