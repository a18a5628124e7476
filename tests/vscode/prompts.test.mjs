// Extensions that ask without end, and that ask as if they were Bulkhead. In plain code-server nobody asks
// anything, and nothing says whose a message is but the name that the extension gave itself.
import assert from "node:assert/strict";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { attack, started } from "./attack.mjs";
import { Editor, steps, until } from "./editor.mjs";
import { give } from "./keys.mjs";
import { World } from "./world.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const fixture = (name) => path.join(here, "extensions", name);
const modes = (process.env.BULKHEAD_MODES ?? "plain,compartments").split(",");
const FILES = 200;

/** Whether its words stand out from what is behind them: 3 is what WCAG has of large letters. */
const isSeen = (locator) => locator.evaluate((element) => {
  const parts = (color) => (color.match(/[\d.]+/g) ?? []).map(Number);
  const light = (color) => parts(color).slice(0, 3).reduce((sum, part, i) => sum + [0.2126, 0.7152, 0.0722][i] * (part / 255) ** 2.2, 0.05);
  let behind = element;
  while (parts(getComputedStyle(behind).backgroundColor)[3] === 0) behind = behind.parentElement;
  const [low, high] = [getComputedStyle(element).color, getComputedStyle(behind).backgroundColor].map(light).sort((a, b) => a - b);
  return high / low > 3;
});

for (const mode of modes) {
  test(`prompts, ${mode}`, { timeout: 300_000 }, async (t) => {
    const plain = mode === "plain";
    const world = await World.create();
    let editor;
    const step = steps(t, () => editor);
    try {
      for (let i = 0; i < FILES; i += 1) world.write(`home/projects/other/flood-${i}.txt`, `${world.secrets.other}\n`);
      world.write("home/projects/other/stand.txt", "");
      world.write("home/projects/other/bait.txt", "clicked\n");
      world.write("home/projects/app/.proof/facts.json", JSON.stringify(world.facts()));
      editor = await Editor.start({ mode, world, extensions: ["canary", "spoof", "flood"].map(fixture), settings: { "workbench.colorTheme": "Unsigned" } });
      for (const name of ["spoof", "flood"]) await started(world, name);
      const { page } = editor;
      const toasts = page.locator(".notifications-toasts .notification-list-item");
      const source = async (toast) => (await toast.locator(".notification-list-item-source").innerText()).trim();
      const spoof = plain ? "Source: Bulkhead" : "Source: proof.spoof (Bulkhead)";

      await step("a message that looks like a question of Bulkhead's says whose it is", async () => {
        await attack(world, "spoof", "message");
        const toast = toasts.filter({ hasText: "wants to read ~/.prettierrc" });
        await toast.waitFor();
        assert.equal(await source(toast), spoof);
        assert.equal(await isSeen(toast.locator(".notification-list-item-source")), !plain, "whatever theme there is");
        await editor.photograph("spoof-message");
        await editor.clearNotifications();
      });
      await step("so does progress", async () => {
        await attack(world, "spoof", "progress");
        const toast = toasts.filter({ hasText: "wants to read ~/.prettierrc" });
        await toast.waitFor();
        await toast.hover();
        const expand = toast.locator(".codicon-notifications-expand");
        if (await expand.count()) await expand.first().click();
        assert.equal(await source(toast), spoof);
        await editor.clearNotifications();
      });
      for (const [probe, name] of [["pick", "Bulkhead asks"], ["input", ""], ["quickPick", "Bulkhead asks again"]]) {
        await step(`so does what asks for a choice or a text: ${probe}`, async () => {
          await attack(world, "spoof", probe);
          const title = page.locator(".quick-input-widget .quick-input-title");
          const own = "proof.spoof (Bulkhead)";
          const expected = plain ? name : name === "" ? own : `${own} — ${name}`;
          await page.locator(".quick-input-widget").waitFor();
          await until(`the title "${expected}"`, async () => (await title.innerText()).trim() === expected, 5000);
          if (expected) assert.equal(await isSeen(title), !plain, "whatever theme there is");
          await editor.photograph(`spoof-${probe}`);
          await page.keyboard.press("Escape");
          await page.locator(".quick-input-widget").waitFor({ state: "hidden" });
        });
      }
      await step("so does a dialog", async () => {
        await attack(world, "spoof", "dialog");
        const dialog = page.locator(".monaco-dialog-box");
        await dialog.waitFor();
        const text = await dialog.innerText();
        assert.match(text, /Bulkhead asks\./);
        assert.equal(/proof\.spoof \(Bulkhead\) — /.test(text), !plain, text);
        await editor.photograph("spoof-dialog");
        await page.keyboard.press("Escape");
        await dialog.waitFor({ state: "detached" });
      });

      const items = page.locator(".part.statusbar .statusbar-item");
      await step("so does an item of the status bar, which is no other extension's", async () => {
        await attack(world, "spoof", "status");
        for (const text of ["canary sings", "7", "spoofed message"]) await items.filter({ hasText: new RegExp(`^\\s*${text}\\s*$`) }).first().waitFor();
        const item = items.filter({ hasText: /^\s*7\s*$/ });
        const label = await item.locator("a").first().getAttribute("aria-label");
        assert.equal(label, plain ? "Bulkhead: all is well" : "proof.spoof (Bulkhead), Bulkhead: all is well");
        for (const [text, said, signed] of [[/^\s*7\s*$/, "Nothing was refused", "proof.spoof (Bulkhead)"], [/^\s*late\s*$/, "", "proof.spoof"], [/canary sings/, "tweet", "proof.canary (Canary)"]]) {
          if (plain && said === "") continue;
          await items.filter({ hasText: text }).first().hover();
          const hover = page.locator(".monaco-hover:not(.hidden)").last();
          await hover.waitFor();
          await until(`the hover of ${text}`, async () => {
            const shown = (await hover.innerText()).trim();
            return plain ? shown === said : shown.startsWith(signed) && shown.includes(said);
          }, 5000);
          await editor.photograph(`status-${signed}`);
          await page.mouse.move(600, 300);
          await page.locator(".monaco-hover:not(.hidden)").waitFor({ state: "detached" }).catch(() => {});
        }
        await items.filter({ hasText: /^\s*7\s*$/ }).click({ button: "right" });
        const menu = page.locator(".monaco-menu");
        await menu.waitFor();
        const named = plain ? "Bulkhead" : "proof.spoof (Bulkhead)";
        assert.ok((await menu.locator(".action-label").allInnerTexts()).includes(named));
        await editor.photograph("status-menu");
        await page.keyboard.press("Escape");
      });
      await step("nobody fills another extension's view", async () => {
        await editor.command("Explorer: Focus on Canary View");
        const view = page.locator(".pane", { has: page.locator(".pane-header", { hasText: /Canary|All is well/i }) });
        await view.getByText("tweet").waitFor();
        const { error } = await attack(world, "spoof", "view");
        const filled = () => view.getByText("Everything is as it should be").isVisible();
        if (plain) return void (await until("its rows", filled));
        assert.equal(await filled(), false, error);
        assert.ok(await view.getByText("tweet").isVisible());
        assert.equal(await page.getByText("All is well", { exact: true }).count(), 0);
        await until("the journal", () => editor.journal("--denied", "--subject", "proof.spoof").some(({ resource }) => resource === "proofCanary.view"), 5000);
        await editor.photograph("view");
      });

      if (!plain)
        await step("nothing stands still at a question, which stays; a late yes does nothing by itself, and starts anew", async () => {
          const proof = (/** @type {string} */ name) => `home/projects/app/.proof/flood.${name}`;
          const asked = Date.now();
          assert.match((await attack(world, "flood", "stand")).error ?? "it was read", /EACCES/);
          assert.ok(Date.now() - asked < 6000, `its main thread stood for ${Date.now() - asked} ms`);
          const toast = toasts.filter({ hasText: "stand.txt" }).first();
          await toast.waitFor();
          await editor.photograph("later");
          world.rename(proof("stand.json"), proof("first"));
          await new Promise((resolve) => setTimeout(resolve, 1000));
          await give(page, toast, "This Session");
          const offer = toasts.filter({ hasText: "had gone on without your answer" }).first();
          await offer.waitFor();
          await editor.photograph("restart");
          assert.equal(world.read(proof("stand.json")), undefined, "what was refused did not happen");
          world.rename(proof("ready"), proof("old"));
          await new Promise((resolve) => setTimeout(resolve, 1000));
          await offer.getByRole("button", { name: "Restart Extension" }).click();
          await started(world, "flood");
          assert.equal((await attack(world, "flood", "stand")).error, undefined, "it was not asked again");
          const texts = await editor.allNotifications();
          assert.ok(!texts.some((text) => /did not respond|stand\.txt/.test(text)), texts.join(" | "));
          const rows = editor.journal("--subject", "proof.flood").filter(({ resource }) => /stand\.txt$/.test(resource));
          assert.deepEqual(rows.map(({ verdict, count }) => `${verdict} ${count}`).sort(), ["allow 1", "deny 1"], "each attempt has its ruling");
        });
      if (!plain)
        await step("a click that was meant for what stood there before answers no question", async () => {
          const clicked = attack(world, "flood", "bait");
          const button = (/** @type {string} */ text, /** @type {string} */ name) => toasts.filter({ hasText: text }).first().getByRole("button", { name });
          await button("Click me", "Again").waitFor();
          await new Promise((resolve) => setTimeout(resolve, 1000)); // it comes by a movement
          const bait = (await button("Click me", "Again").boundingBox()) ?? assert.fail("no button");
          const [x, y] = [bait.x + 5, bait.y + bait.height / 2]; // where "Always" will be
          for (let clicks = 0; clicks < 15; clicks += 1) {
            await page.mouse.click(x, y);
            await new Promise((resolve) => setTimeout(resolve, 100));
          }
          await editor.photograph("bait");
          assert.equal(await button("bait.txt", "Always").count(), 1, "it is still asked");
          const place = await button("bait.txt", "Always").boundingBox();
          assert.ok(place && x > place.x && x < place.x + place.width && y > place.y && y < place.y + place.height, `it came where the clicks were: ${JSON.stringify([place, x, y])}`);
          await new Promise((resolve) => setTimeout(resolve, 1000));
          await button("bait.txt", "Always").click();
          assert.match((await clicked).value ?? "", /clicked/);
        });
      await step("questions without end", async () => {
        let [most, over] = [0, false];
        const watching = (async () => {
          while (!over) {
            most = Math.max(most, await toasts.count());
            await new Promise((resolve) => setTimeout(resolve, 100));
          }
        })();
        const asking = attack(world, "flood", "files");
        if (!plain) {
          const question = toasts.filter({ hasText: "wants to read" }).first();
          await question.waitFor();
          assert.match(await question.innerText(), /Way out: questions without end.*flood-\d+\.txt/s);
          assert.equal(await source(question), "Source: Bulkhead");
          await editor.photograph("flood");
          // The window is the person's, meanwhile.
          await editor.openFile("style.css");
          await page.keyboard.type("/* typed */");
          await until("what was typed", async () => (await editor.text()).includes("/* typed */"));
        }
        const { value } = await asking;
        over = true;
        await watching;
        if (plain) {
          assert.equal(value, `read ${2 * FILES}`);
          return;
        }
        assert.equal(value, "read 0", "nobody said yes");
        assert.ok(most >= 1 && most <= 3, `${most} messages at once`);
        // Closing one refuses one; the others do not come up one after another for ever.
        let closed = 0;
        await editor.clearNotifications(); // the first has faded, and is closed with this
        const another = toasts.filter({ hasText: "wants to read" }).first();
        while (closed < 20 && (await another.waitFor({ timeout: 4000 }).then(() => true, () => false))) {
          await editor.clearNotifications();
          closed += 1;
        }
        assert.ok(closed >= 1 && closed <= 6, `${closed} more questions`);
        await editor.quickOpen("data.json");
      });
      await step("a harmless extension did not notice", () => {
        const first = world.read("home/projects/app/.proof/canary");
        return until("the canary's next beat", () => world.read("home/projects/app/.proof/canary") !== first);
      });
    } finally {
      await editor?.end();
      await world.destroy();
    }
  });
}
