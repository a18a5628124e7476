// bulkhead.json in the editor: mistakes and offers while somebody types; Bulkhead's settings. With
// BULKHEAD_SCREENSHOTS=FOLDER pictures, in the theme BULKHEAD_THEME.
import test from "node:test";
import { Editor, chain, until } from "./editor.mjs";
import { Keys, PATIENCE, THEME } from "./keys.mjs";
import { World } from "./world.mjs";

const MANIFEST = `{
  "manifest": 1,
  "extension": "a.b",
  "files": { "read": ["\${workspce}"] },
  "netwrk": []
}
`;

test("bulkhead.json and settings", { timeout: 300_000 }, async (t) => {
  const world = await World.create();
  let editor;
  const step = chain(t, () => editor);
  try {
    world.write("home/projects/app/bulkhead.json", MANIFEST);
    editor = await Editor.start({ mode: "compartments", world, extensions: [], settings: { "workbench.colorTheme": THEME } });
    const keys = new Keys(editor);
    const { page } = editor;
    const problem = (text) => page.locator(".markers-panel .monaco-list-row", { hasText: text }).first();
    const at = async (line, column) => {
      await editor.command("Go to Line/Column...");
      await editor.typeInto(`:${line}:${column}`);
      await keys.press("Enter");
    };
    await step("mistakes are shown, with what mends them", async () => {
      await editor.openFile("bulkhead.json");
      await editor.command("Problems: Focus on Problems View");
      for (const mistake of [/workspce/, /netwrk/]) await problem(mistake).waitFor({ timeout: PATIENCE });
      await keys.picture("mistakes");
    });
    await step("sets are offered while it is typed, and what is typed wrong is shown once, when it is saved", async () => {
      await editor.openFile("bulkhead.json");
      await at(4, 23);
      await page.keyboard.insertText('"", ');
      for (let i = 0; i < 3; i += 1) await keys.press("ArrowLeft");
      await page.keyboard.type("@no");
      await page.locator(".suggest-widget .monaco-list-row", { hasText: "@node" }).first().waitFor({ timeout: PATIENCE });
      await keys.picture("completion");
      await keys.press("Enter");
      await until("the set", async () => /"read": \["@node", "\$\{workspce\}"\]/.test(await editor.text()));
      await at(3, 3);
      await page.keyboard.insertText('"otherwise": "perhaps", ');
      await editor.save();
      await problem(/perhaps|otherwise/).waitFor({ timeout: PATIENCE });
      for (const mistake of [/workspce/, /netwrk/, /perhaps|otherwise/]) await until(`${mistake} once`, async () => (await page.locator(".markers-panel .monaco-list-row", { hasText: mistake }).count()) === 1);
      await keys.picture("once");
    });
    await step("a mistake that was mended is gone when it is saved", async () => {
      await at(5, 8);
      await page.keyboard.insertText("o");
      await editor.save();
      await problem(/netwrk/).waitFor({ state: "hidden", timeout: PATIENCE });
      await problem(/workspce/).waitFor({ timeout: PATIENCE });
    });
    await step("Bulkhead's settings have titles and are checked", async () => {
      await editor.command("Preferences: Open Settings (UI)");
      await page.locator(".settings-header .monaco-editor").first().click();
      await page.keyboard.type("@ext:bulkhead.companion");
      for (const title of ["Notify Refusals", "Notify Ends", "Entries"]) await page.locator(".settings-editor .setting-item-label", { hasText: title }).first().waitFor({ timeout: PATIENCE });
      await keys.picture("settings");
      await page.locator(".settings-editor .setting-item", { hasText: "Entries" }).locator("input").fill("7");
      await page.locator(".settings-editor .setting-item-validation-message", { hasText: "100" }).waitFor({ timeout: PATIENCE });
      // Which built-in extensions are confined is the machine's to say.
      await page.locator(".settings-editor .settings-tabs-widget .action-label", { hasText: "Remote" }).click();
      await page.locator(".settings-editor .setting-item-label", { hasText: "Builtin" }).first().waitFor({ timeout: PATIENCE });
    });
  } finally {
    await editor?.end();
    await world.destroy();
  }
});
