// The list of compartments and the journal: what each was refused and was granted is found, changed and taken
// back by keys alone. With BULKHEAD_SCREENSHOTS=FOLDER pictures of each part, in the theme BULKHEAD_THEME.
import assert from "node:assert/strict";
import test from "node:test";
import { writeAsker } from "./asker.mjs";
import { Editor, chain, until } from "./editor.mjs";
import { Keys, PATIENCE, THEME } from "./keys.mjs";
import { World } from "./world.mjs";

test("compartments and journal", { timeout: 400_000 }, async (t) => {
  const world = await World.create();
  let editor;
  const step = chain(t, () => editor);
  try {
    editor = await Editor.start({ mode: "compartments", world, extensions: [writeAsker(world)], settings: { "workbench.colorTheme": THEME } });
    const keys = new Keys(editor);
    const { page } = editor;
    const ask = (name) => editor.command(`Ask for ${name}`);
    const said = async (pattern) => (await keys.status().filter({ hasText: pattern }).count()) > 0;
    const refuse = async (name = "refused.txt") => {
      await keys.toasts(name).first().waitFor({ timeout: PATIENCE });
      await editor.command("Notifications: Clear All Notifications");
    };
    await keys.says("asker is ready");
    await step("the list says state, memory and what was refused", async () => {
      await ask("refused");
      await refuse();
      await keys.says("refused refused 1");
      const top = await keys.row("Asker");
      await until("its name", async () => /^Asker, running, .*\d+ MiB, 1 refused, 0 questions/.test((await top.getAttribute("aria-label")) ?? ""));
      await keys.row("refused.txt");
      await keys.picture("compartments");
    });
    await step("what was refused is granted from there, and counts at once", async () => {
      await keys.menu("Always Allow…");
      await keys.dialog.waitFor({ timeout: PATIENCE });
      assert.match(await keys.dialog.innerText(), /Allow Asker \(proof\.asker\) to read ~\/projects\/refused\.txt\?/);
      await keys.picture("grant");
      await keys.enter("Always Allow");
      await until("it is allowed", async () => {
        await ask("refused");
        return said(/refused allowed \d/);
      });
    });
    await step("who is granted a folder from there has the list of its names, as by an answer", async () => {
      await ask("papers");
      await refuse("papers");
      await keys.says("papers refused 1");
      await keys.row("Read papers");
      await keys.menu("Always Allow…");
      await keys.dialog.waitFor({ timeout: PATIENCE });
      await keys.enter("Always Allow");
      await until("it is allowed", async () => {
        await ask("papers");
        return said(/papers allowed \d/);
      });
      await keys.row("Always: list the names in ~/projects/papers");
      await ask("inside");
      await refuse("inside.txt");
      await keys.says("inside refused 1");
    });
    await step("an answer is taken back", async () => {
      const row = await keys.row("refused.txt").then(() => keys.row("Always:"));
      assert.match(await row.innerText(), /refused\.txt/);
      await keys.picture("answers");
      await keys.menu("Take Back");
      await keys.answer("Taken back", "Restart Now");
      await until("its end", async () => !(await said(/refused allowed/)));
      await keys.says("asker is ready");
      await ask("refused");
      await refuse();
    });
    await step("a compartment is started again from its row", async () => {
      const before = await said("asker is ready");
      assert.ok(before);
      await keys.says(/refused refused \d/);
      await keys.row("Asker");
      await keys.menu("Restart Compartment");
      await until("its end", async () => !(await said(/refused refused/)));
      await keys.says("asker is ready");
    });
    await step("the journal is filtered and walked through", async () => {
      await editor.command("Bulkhead: Show Refusals in the Journal");
      const frame = await keys.frameWith("#rows tr");
      const column = (name) => frame.locator(`#rows td.${name}`).allInnerTexts();
      assert.ok((await column("deny")).length > 0);
      assert.equal(await frame.locator("#rows tr").count(), (await column("deny")).length, "refusals only");
      for (const control of ["extension", "verdict", "kind", "text"])
        assert.ok(await frame.locator(`#${control}`).evaluate((one) => Boolean(one.labels?.length || one.getAttribute("aria-label"))), `${control} has a name`);
      await keys.picture("journal");
      // Selects are set by their first letters, as everywhere.
      await frame.locator("#verdict").focus();
      await page.keyboard.type("Allo");
      await until("what was allowed", async () => (await frame.locator("#rows td.allow").count()) > 1 && (await column("deny")).length === 0);
      await keys.press("Home");
      await frame.locator("#text").focus();
      await page.keyboard.type("refused.txt");
      await until("the text", async () => {
        const shown = await column("resource");
        return shown.length > 0 && shown.every((each) => each.endsWith("refused.txt"));
      });
      await frame.locator("#kind").focus();
      await page.keyboard.type((await frame.locator("#kind option").allInnerTexts()).findLast((kind) => kind !== "read") ?? "");
      await until("none of another kind", () => frame.locator("#note").isVisible());
      await keys.press("Home");
      await frame.locator("#text").fill("");
      await until("all of them", async () => !(await column("resource")).every((each) => each.endsWith("refused.txt")));
      for (let i = 0; i < 9 && !(await frame.evaluate(() => document.activeElement?.closest("#rows") != null)); i += 1) await keys.press("Tab");
      await keys.press("ArrowDown");
      await frame.locator("#rows tr[aria-selected=true]").waitFor({ timeout: PATIENCE });
      assert.match(await frame.locator("#detail").innerText(), /Resource[^]*Rule[^]*Extension/);
      await keys.picture("journal entry");
    });
    await step("what every host needs is there when it is asked for", async () => {
      const frame = await keys.frameWith("#rows tr");
      const libraries = () => frame.locator("#rows tr", { hasText: "/usr/lib" }).count();
      assert.equal(await libraries(), 0);
      await frame.locator("#all").focus();
      await keys.press(" ");
      await until("the libraries", async () => (await libraries()) > 0);
      await frame.locator("#rows tr[aria-expanded=false]").first().focus();
      await keys.press("Enter");
      await frame.locator("#rows tr[aria-expanded=true] + tr[aria-level='2']").waitFor({ timeout: PATIENCE });
      await frame.locator("#all").focus();
      await keys.press(" ");
      await until("them gone", async () => (await libraries()) === 0);
    });
    await step("what a person allowed, or another rule did, is not folded into what repeats", async () => {
      const frame = await keys.frameWith("#rows tr");
      const row = (name, more) => ({
        key: name, isPath: true, revision: 1, time: new Date().toISOString(), run: "r", subject: "made.up", verdict: "allow", asked: false, kind: "read", kindName: "read",
        resource: `/made/up/${name}`, short: `/made/up/${name}`, count: 1, program: "/p", pid: 1, detail: "", rule: "manifest: /made", workspace: "", ...more,
      });
      const rows = [..."abcdef"].map((name) => row(name)).concat(row("key", { verdict: "yours", asked: true }), row("other", { rule: "remembered answer: /made/up/other" }));
      await frame.evaluate((made) => window.postMessage({ type: "rows", rows: made }, window.origin), rows);
      await frame.locator("#text").fill("/made/up/");
      await until("three rows", async () => (await frame.locator("#rows tr").count()) === 3);
      const shown = await frame.locator("#rows td.resource").allInnerTexts();
      for (const part of ["6 entries", "key", "other"]) assert.ok(shown.some((one) => one.includes(part)), part);
      // Few names of a folder stand among others' where they belong.
      const far = ["one/x", "two/y", "one/z"].map((name, i) => row(name, { time: new Date(Date.now() + 60_000 * (3 - i)).toISOString() }));
      await frame.evaluate((made) => window.postMessage({ type: "rows", rows: made }, window.origin), far);
      const first = async () => (await frame.locator("#rows td.resource").allInnerTexts()).slice(0, 3).map((one) => one.replace(/\s+/g, ""));
      await until("what happened last", async () => (await first())[0] === "/made/up/one/x");
      assert.deepEqual(await first(), ["/made/up/one/x", "/made/up/two/y", "/made/up/one/z"]);
      await frame.locator("#text").fill("");
    });
    await step("what it did is told in groups", async () => {
      const did = await keys.row("Did");
      if ((await did.getAttribute("aria-expanded")) === "false") await keys.press("ArrowRight");
      await page.locator(".pane-body .monaco-list-row", { hasText: "Used the editor" }).first().waitFor({ timeout: PATIENCE });
      await keys.picture("deeds");
    });
    await step("the journal of one extension", async () => {
      await keys.row("Asker");
      await keys.menu("Show Journal of This Extension");
      const frame = await keys.frameWith("#rows tr");
      await until("its entries", async () => (await frame.locator("#extension").inputValue()) === "proof.asker");
    });
  } finally {
    await editor?.end();
    await world.destroy();
  }
});
