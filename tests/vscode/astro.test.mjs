// A large real extension, unmodified from npm: language server, formatter, problems, under the manifest that
// bulkhead ships for it.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { Editor, steps, until } from "./editor.mjs";
import { World } from "./world.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const modes = (process.env.BULKHEAD_MODES ?? "plain,compartments").split(",");

for (const mode of modes) {
  test(`astro-vscode, ${mode}`, { timeout: 300_000 }, async (t) => {
    const world = await World.create();
    let editor;
    const step = steps(t, () => editor);
    try {
      world.write("home/projects/app/astro.config.mjs", "export default {};\n");
      world.write("home/projects/app/page.astro", '---\nconst title:number   = "x"\n---\n<html><body><h1   class="a">{title}</h1></body></html>\n');
      fs.rmSync(path.join(world.parent, ".prettierrc"));
      editor = await Editor.start({ mode, world, extensions: [path.join(here, "real/node_modules/astro-vscode")], settings: { "[astro]": { "editor.defaultFormatter": "astro-build.astro-vscode" } } });
      await step("it starts and its server finds the problem", async () => {
        await editor.openFile("page.astro");
        await editor.page.locator(".squiggly-error").first().waitFor({ timeout: 60_000 });
        await editor.command("Problems: Focus on Problems View");
        await editor.page.locator(".markers-panel").getByText("is not assignable to type").first().waitFor({ timeout: 20_000 });
      });
      await step("it formats", async () => {
        await editor.openFile("page.astro");
        await until("its text", async () => {
          await editor.formatDocument();
          return until("formatting", async () => /const title: number = "x";/.test(await editor.text()), 3000).catch(() => false);
        });
        assert.match(await editor.text(), /<h1 class="a">\{title\}<\/h1>/);
      });
      await step("it completes", async () => {
        await editor.command("Go to Line/Column...");
        await editor.typeInto(":3:1");
        await editor.page.keyboard.press("Enter");
        await editor.page.keyboard.type("tit");
        // What was typed may bring the list by itself, and the key then closes it.
        const row = editor.page.locator(".suggest-widget .monaco-list-row", { hasText: "title" }).first();
        await until("completion", async () => {
          if (!(await row.isVisible())) await editor.page.keyboard.press("Control+Space");
          return row.waitFor({ timeout: 5000 }).then(() => true, () => false);
        }, 30_000);
        await editor.page.keyboard.press("Escape");
      });
      if (mode === "compartments") {
        await step("it was refused nothing, and nobody was asked", async () => {
          assert.equal(await editor.page.locator(".part.statusbar .codicon-question").count(), 0);
          const lines = editor.journal().filter((line) => line.subject.includes("astro"));
          assert.ok(lines.length > 0);
          const refused = lines.filter((line) => (line.verdict === "deny" || line.asked) && !["environment", "system"].includes(line.kind));
          assert.deepEqual([...new Set(refused.map((line) => `${line.kind} ${line.resource} (${line.detail})`))], []);
        });
      }
    } finally {
      await editor?.end();
      await world.destroy();
    }
  });
}
