// Bulkhead's review, questions and status, by keys alone, and named for screen readers, in a window that one is used with. With
// BULKHEAD_SCREENSHOTS=FOLDER pictures of each part, in the theme BULKHEAD_THEME.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { writeAsker } from "./asker.mjs";
import { Editor, chain, until } from "./editor.mjs";
import { Keys, PATIENCE, THEME, reads } from "./keys.mjs";
import { World } from "./world.mjs";

test("the companion", { timeout: 400_000 }, async (t) => {
  const world = await World.create();
  let editor;
  const step = chain(t, () => editor);
  try {
    const asker = writeAsker(world);
    editor = await Editor.start({
      mode: "compartments", world, extensions: [], settings: { "workbench.colorTheme": THEME, "editor.accessibilitySupport": "on" },
      // Not by install(), which stands for a person who has reviewed it.
      before: (one) => fs.cpSync(asker, path.join(one.extensions, "proof.asker-1.0.0"), { recursive: true }),
    });
    const { page } = editor;
    const keys = new Keys(editor);
    const ask = (name) => editor.command(`Ask for ${name}`);
    const said = async (name) => {
      const [, outcome = "", count = "0"] = new RegExp(`${name} (allowed|refused) (\\d+)`).exec((await keys.status().allInnerTexts()).join("\n")) ?? [];
      return { outcome, count: Number(count) };
    };
    /** An answer with a yes in it. One that took longer than a call is held for counts for the next time. */
    const allow = async (name, button) => {
      const { count } = await said(name);
      await ask(name);
      await settle(name, button, count);
    };
    const settle = async (name, button, count = 0) => {
      await keys.answer(`${name}.txt`, button);
      await until(`${name} allowed`, async () => {
        const now = await said(name);
        if (now.count > count && now.outcome === "allowed") return true;
        // A button that moved a moment ago takes no key.
        const isOpen = /\b1 question waiting/.test((await keys.shield().locator("a").getAttribute("aria-label")) ?? "");
        if (isOpen) {
          await editor.command("Notifications: Show Notifications");
          await keys.enter(button).catch(() => {});
        } else if (now.count > count) {
          count = now.count;
          await ask(name);
        }
        return false;
      }, 90_000);
    };
    await step("a review is read and decided by keys", async () => {
      await keys.answer("wants to run for the first time", "Review");
      const frame = await keys.frameWith("section.card");
      assert.equal(await frame.locator("section.card").getAttribute("aria-labelledby"), await frame.locator("section.card h2").getAttribute("id"));
      assert.match(await frame.locator("section.card").innerText(), /Asker[^]*It reads your workspace[^]*It cannot read your keys and passwords[^]*nusual/);
      const details = frame.locator("details");
      assert.equal(await details.getByText("It cannot").isVisible(), false);
      await frame.locator("body").focus();
      await keys.press("Tab");
      await keys.press("Enter");
      await until("the details", async () => /It could[^]*It cannot/.test(await details.innerText()));
      await keys.picture("review");
      const allow = frame.getByRole("button", { name: "Allow Asker to run" });
      await until("the button to come alive", async () => (await allow.getAttribute("aria-disabled")) === "false");
      await frame.locator("body").focus();
      for (let i = 0; i < 12 && !(await allow.evaluate((button) => button === document.activeElement)); i += 1) await keys.press("Tab");
      await reads();
      await keys.press("Enter");
      await until("its compartment", async () => /1 compartment/.test((await keys.shield().locator("a").getAttribute("aria-label")) ?? ""));
      await keys.says("asker is ready");
    });
    await step("once is once", async () => {
      await ask("once");
      await keys.toasts("Asker (proof.asker) wants to read ~/projects/once.txt").first().waitFor({ timeout: PATIENCE });
      await keys.picture("question");
      const source = keys.toasts("once.txt").locator(".notification-list-item-source").first();
      assert.equal((await source.innerText()).trim(), "Source: Bulkhead");
      const whole = (element) => element.scrollWidth <= element.clientWidth;
      assert.ok(await source.evaluate(whole), "whose question it is can be read whole");
      for (const button of await keys.toasts("once.txt").first().locator(".monaco-button").all()) assert.ok(await button.evaluate(whole), `the button ${await button.innerText()} can be read whole`);
      await settle("once", "Once");
      await allow("once", "Once");
    });
    await step("this session lasts until it starts again, always and never last", async () => {
      for (const [name, button] of [["session", "This Session"], ["always", "Always"]]) {
        await allow(name, button);
        const { count } = await said(name);
        await ask(name);
        await keys.says(`${name} allowed ${count + 1}`);
      }
      await ask("never");
      await keys.answer("never.txt", "Never");
      await keys.says("never refused 1");
      await ask("never");
      await keys.says("never refused 2");
      await editor.command("Bulkhead: Restart Compartment");
      await editor.pick("Asker");
      await until("its end", async () => (await said("always")).count === 0);
      for (const [name, outcome] of [["always", "allowed"], ["never", "refused"]]) {
        await until(`${name} again`, async () => {
          await ask(name);
          return (await keys.status().filter({ hasText: new RegExp(`${name} ${outcome} \\d`) }).count()) > 0;
        });
      }
      assert.equal(await keys.toasts(/wants to .*(always|never)\.txt/).count(), 0, "who was answered for good asks no more");
      await allow("session", "Once");
    });
    await step("who asks through a child is told with it, and closing refuses", async () => {
      await ask("child");
      await keys.toasts(/Asker \(proof\.asker\) wants to read ~\/projects\/child\.txt, by running cat/).first().waitFor({ timeout: PATIENCE });
      await editor.command("Notifications: Show Notifications");
      await page.locator(".notifications-center.visible").waitFor({ timeout: PATIENCE });
      await keys.press("Delete");
      await keys.says("child refused 1");
    });
    await step("the details of a question, and its dialog", async () => {
      await ask("refused");
      await keys.answer("refused.txt", "More…");
      await keys.dialog.waitFor({ timeout: PATIENCE });
      await keys.press("Enter"); // as it comes: that was for something else
      assert.equal(await keys.dialog.count(), 1);
      assert.match(await keys.dialog.innerText(), new RegExp(`${world.parent}/refused\\.txt[^]*proof\\.asker 1\\.0\\.0`));
      await keys.picture("details");
      await reads();
      await keys.press("Enter"); // which a person may have meant for the editor
      await keys.says("refused refused 1");
    });
    await step("the command for questions leads to the same dialog", async () => {
      let { count } = await said("once");
      await ask("once");
      await keys.toasts("once.txt").first().waitFor({ timeout: PATIENCE });
      await editor.command("Bulkhead: Answer Questions…");
      await keys.dialog.waitFor({ timeout: PATIENCE });
      assert.match(await keys.focused(), /^No/, "what has the focus allows nothing");
      await keys.enter("Always");
      await until("once allowed", async () => {
        const now = await said("once");
        if (now.count > count && now.outcome === "allowed") return true;
        if (now.count > count) {
          count = now.count;
          await ask("once");
        }
        return false;
      }, 60_000);
    });
    await step("the status bar's item says in words what it shows", async () => {
      const item = keys.shield();
      await until("the words", async () => /^Bulkhead: 1 compartment, \d+ refused since you last looked/.test((await item.locator("a").getAttribute("aria-label")) ?? ""));
    });
  } finally {
    await editor?.end();
    await world.destroy();
  }
});
