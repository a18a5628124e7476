// Reviews of several extensions: each is decided by a click that was meant for it. What a second click hits, once the first
// review has gone from under the pointer, is not allowed by it. Nothing is reviewed in plain VS Code, so there is no plain here.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { Editor, chain, until } from "./editor.mjs";
import { Keys, THEME, reads } from "./keys.mjs";
import { World } from "./world.mjs";

const NAMES = ["first", "second", "third"];

/** The file with a command and its arguments that who runs by then is to run. */
const GO = "home/projects/app/.go";

/** An extension that says in the status bar that it runs, and runs the commands that it is told. */
function write(/** @type {World} */ world, /** @type {string} */ name) {
  world.write(`made/${name}/package.json`, JSON.stringify({ publisher: "proof", name, displayName: `The ${name}`, version: "1.0.0", engines: { vscode: "^1.90.0" }, main: "./extension.js", activationEvents: ["onStartupFinished"] }));
  world.write(`made/${name}/extension.js`, `const fs = require("node:fs");
const vscode = require("vscode");
const go = ${JSON.stringify(world.path(GO))};
const look = async () => {
  if (fs.existsSync(go)) {
    const command = JSON.parse(fs.readFileSync(go, "utf8"));
    await vscode.commands.executeCommand(...command.map((one) => one.file ? vscode.Uri.file(one.file) : one));
    fs.rmSync(go);
  }
  setTimeout(look, 100);
};
exports.activate = (context) => {
  const item = vscode.window.createStatusBarItem("runs", vscode.StatusBarAlignment.Left);
  item.text = "the ${name} runs";
  item.show();
  context.subscriptions.push(item);
  look();
};
`);
  return world.path(`made/${name}`);
}

test("reviews one after the other", { timeout: 290_000 }, async (t) => {
  const world = await World.create();
  let editor;
  const step = chain(t, () => editor);
  try {
    editor = await Editor.start({
      mode: "compartments", world, extensions: [], settings: { "workbench.colorTheme": THEME },
      before: (one) => NAMES.forEach((name) => fs.cpSync(write(world, name), path.join(one.extensions, `proof.${name}-1.0.0`), { recursive: true })),
    });
    const { page } = editor;
    const keys = new Keys(editor);
    const runs = (/** @type {string} */ name) => editor.statusItem(`the ${name} runs`).count();
    let frame;
    const cards = () => frame.locator("section.card");
    await step("all of them are shown", async () => {
      await until("the question", async () => (await editor.notifications()).some((text) => /3 extensions wait/.test(text)));
      await editor.command("Bulkhead: Review Extensions");
      frame = await keys.frameWith("section.card");
      await until("the cards", async () => (await cards().count()) === 3);
      await keys.picture("reviews");
    });
    await step("a second click at the same place allows nobody else", async () => {
      const box = await cards().first().getByRole("button", { name: /^Allow/ }).boundingBox();
      assert.ok(box);
      const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
      await page.mouse.move(x - 40, y - 40);
      await page.mouse.move(x, y);
      await reads();
      const [first] = await cards().first().locator(".id").allInnerTexts();
      await page.mouse.click(x, y);
      // As fast as a person's second click that still finds the next review there.
      await until("the next one in its place", async () => (await cards().count()) === 2 && !(await cards().first().innerText()).includes(first));
      for (let i = 0; i < 3; i += 1) await page.mouse.click(x, y);
      await until("the first", async () => (await runs(/proof\.(\w+)/.exec(first)?.[1] ?? "")) > 0);
      await reads();
      assert.equal(await cards().count(), 2, "nobody has decided on the others");
    });
    /** The extension that runs does this. */
    const does = async (/** @type {unknown[]} */ ...command) => {
      fs.writeFileSync(world.path(`${GO}.new`), JSON.stringify(command));
      fs.renameSync(world.path(`${GO}.new`), world.path(GO));
      await until(() => `${command[0]}`, () => !fs.existsSync(world.path(GO)));
    };
    const allow = () => cards().first().getByRole("button", { name: /^Allow/ });
    await step("a key that was meant for another place decides nothing", async () => {
      await frame.locator("body").focus();
      for (let i = 0; i < 12 && !(await allow().evaluate((button) => button === document.activeElement)); i += 1) await page.keyboard.press("Tab");
      assert.ok(await allow().evaluate((button) => button === document.activeElement));
      await editor.command("View: Show Explorer");
      await until("the focus elsewhere", async () => !(await frame.evaluate(() => document.hasFocus())));
      await does("workbench.action.focusFirstEditorGroup");
      await until("the focus in the page", () => frame.evaluate(() => document.hasFocus()));
      await until("the button to come alive", async () => (await allow().getAttribute("aria-disabled")) === "false");
      await reads();
      await page.keyboard.press("Enter");
      await reads();
      assert.equal(await cards().count(), 2);
      // This browser lets go of what has the focus by itself; others keep it for when the page has it again.
      const isKept = await allow().evaluate((/** @type {HTMLElement} */ button) => {
        button.focus();
        window.dispatchEvent(new Event("blur"));
        return document.activeElement === button;
      });
      assert.equal(isKept, false);
    });
    await step("nor does a click where an extension covers the page, and brings it back, or moves it", async () => {
      const pointed = async () => {
        frame = await keys.frameWith("section.card");
        const box = await until("the button", async () => (await allow().getAttribute("aria-disabled")) === "false" && allow().boundingBox());
        const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
        await page.mouse.move(x - 40, y - 40);
        await page.mouse.move(x, y);
      };
      const clicked = async () => {
        frame = await keys.frameWith("section.card");
        await until("the button", async () => (await allow().getAttribute("aria-disabled")) === "false");
        await page.mouse.down();
        await page.mouse.up();
        await reads();
        assert.equal(await cards().count(), 2);
      };
      await pointed();
      await does("vscode.open", { file: path.join(world.workspace, "style.css") });
      await page.locator(".tab.active", { hasText: "style.css" }).waitFor();
      await does("workbench.action.openPreviousRecentlyUsedEditorInGroup");
      await clicked();
      await pointed();
      await does("vscode.setEditorLayout", { orientation: 1, groups: [{ size: 0.4 }, { size: 0.6 }] });
      await clicked();
      await does("vscode.setEditorLayout", { groups: [{}] });
    });
    await step("a page that is moved under the pointer takes no click of it", async () => {
      frame = await keys.frameWith("section.card");
      const toggle = async () => {
        const before = await allow().boundingBox();
        await editor.leaveFrame();
        await page.keyboard.press("Control+B");
        return until("the page at another place", async () => {
          const box = await allow().boundingBox();
          return box && before && Math.abs(box.x - before.x) > 20 ? box : undefined;
        });
      };
      const there = await toggle();
      await toggle();
      await page.mouse.move(there.x + there.width / 2, there.y + there.height / 2);
      await toggle();
      await reads();
      await page.mouse.down();
      await page.mouse.up();
      await reads();
      assert.equal(await cards().count(), 2);
      await page.mouse.move(there.x + there.width / 2 + 1, there.y + there.height / 2);
      await page.mouse.down();
      await page.mouse.up();
      await until("the decision", async () => (await cards().count()) === 1);
    });
  } finally {
    await editor?.end();
    await world.destroy();
  }
});

test("what asks for nothing unusual starts unasked, which is said once; what asks for more is reviewed", { timeout: 290_000 }, async (t) => {
  const world = await World.create();
  let editor;
  const step = chain(t, () => editor);
  const start = (/** @type {((one: any) => void) | undefined} */ before) => Editor.start({ mode: "compartments", world, extensions: [], reviewAll: false, before });
  const said = async () => (await editor.allNotifications()).filter((text) => /what extensions usually get/.test(text));
  try {
    editor = await start((one) => {
      for (const name of NAMES) fs.cpSync(write(world, name), path.join(one.extensions, `proof.${name}-1.0.0`), { recursive: true });
      const manifest = { manifest: 1, extension: "proof.third", files: { read: ["${workspace}", "${extension}", "@system", "@node"] }, vscode: ["@editor", "terminal"] };
      fs.writeFileSync(path.join(one.extensions, "proof.third-1.0.0/bulkhead.json"), JSON.stringify(manifest));
    });
    const runs = (/** @type {string} */ name) => editor.statusItem(`the ${name} runs`).count();
    await step("two of three run, and a message says so", async () => {
      await until("the two", async () => (await runs("first")) + (await runs("second")) === 2);
      await until("the message", async () => (await said()).length === 1);
      assert.match((await said())[0], /and 1 more run in compartments of their own/);
      assert.equal(await runs("third"), 0);
      await until("the question", async () => (await editor.allNotifications()).some((text) => /The third/.test(text)));
    });
    await step("no more the next time", async () => {
      await editor.end();
      editor = await start();
      await until("the two", async () => (await runs("first")) + (await runs("second")) === 2);
      await until("the question", async () => (await editor.allNotifications()).some((text) => /The third/.test(text)));
      assert.deepEqual(await said(), []);
    });
  } finally {
    await editor?.end();
    await world.destroy();
  }
});
