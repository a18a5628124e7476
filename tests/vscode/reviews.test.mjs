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

/** An extension that says in the status bar that it runs. */
function write(/** @type {World} */ world, /** @type {string} */ name) {
  world.write(`made/${name}/package.json`, JSON.stringify({ publisher: "proof", name, displayName: `The ${name}`, version: "1.0.0", engines: { vscode: "^1.90.0" }, main: "./extension.js", activationEvents: ["onStartupFinished"] }));
  world.write(`made/${name}/extension.js`, `const vscode = require("vscode");
exports.activate = (context) => {
  const item = vscode.window.createStatusBarItem("runs", vscode.StatusBarAlignment.Left);
  item.text = "the ${name} runs";
  item.show();
  context.subscriptions.push(item);
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
    await step("a page that is moved under the pointer takes no click of it", async () => {
      const allow = () => cards().first().getByRole("button", { name: /^Allow/ });
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
