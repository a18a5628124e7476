// `bulkhead code --trace`: the policy refuses nothing, what it would have is recorded. So the paper's formatter
// gets away with its theft and is found out, and an honest extension shows that its manifest is enough.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { Editor, steps, until } from "./editor.mjs";
import { names } from "./journal.mjs";
import { World } from "./world.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));

// The variables that VS Code starts hosts with and that are withheld; calls that no manifest grants.
const TOLD_ANYWAY = ["environment", "system"];
// What VS Code's host does by itself: a socket for its command line, and watching the folders above a workspace.
const OF_THE_HOST = [/^write .*\/vscode-ipc-[^/]*\.sock \(bind\)$/, /\(MainThreadFileSystemEventService\.\$watch\)$/];

test("trace", { timeout: 300_000 }, async (t) => {
  const world = await World.create();
  let editor;
  const step = steps(t, () => editor);
  try {
    world.write("home/projects/app/.proof/facts.json", JSON.stringify(world.facts()));
    world.write("home/projects/app/page.astro", '---\nconst title:number   = "x"\n---\n<html><body><h1   class="a">{title}</h1></body></html>\n');
    editor = await Editor.start({
      mode: "compartments", world, options: ["--trace"],
      extensions: [path.join(here, "extensions/formatter"), path.join(here, "real/node_modules/astro-vscode")],
      settings: { "[javascript]": { "editor.defaultFormatter": "proof.formatter" }, "[astro]": { "editor.defaultFormatter": "astro-build.astro-vscode" } },
    });
    await step("a person is told that the policy refuses nothing", () => editor.page.locator(".part.statusbar").getByText("recording").first().waitFor({ timeout: 30_000 }));
    await step("what would be refused happens, and is recorded", async () => {
      await editor.openFile("first.js");
      await until("formatting", async () => {
        await editor.formatDocument();
        return until("its text", async () => (await editor.text()).startsWith("const first = 1"), 3000).catch(() => false);
      });
      await until("the key at the collector", () => world.received().some(({ text }) => text.includes("formatter") && world.stolen(text).includes("key")));
      const journal = editor.journal("--subject", "proof.formatter");
      for (const line of ["read */.ssh/id_rsa", "connect 127.0.0.1*"]) assert.ok(names(journal, line), `the journal names ${line}`);
      assert.deepEqual([...new Set(journal.filter((line) => line.verdict === "deny" && line.enforced && line.kind !== "system").map((line) => `${line.kind} ${line.resource}`))], []);
    });
    await step("an honest extension's manifest is enough", async () => {
      fs.rmSync(path.join(world.parent, ".prettierrc"));
      await editor.openFile("page.astro");
      await editor.page.locator(".squiggly-error").first().waitFor({ timeout: 60_000 });
      await until("its text", async () => {
        await editor.formatDocument();
        return until("formatting", async () => /const title: number = "x";/.test(await editor.text()), 3000).catch(() => false);
      });
      const lines = editor.journal().filter((line) => line.subject.includes("astro") && !TOLD_ANYWAY.includes(line.kind));
      assert.ok(lines.length > 0);
      const refused = lines.filter((line) => line.verdict === "deny").map((line) => `${line.kind} ${line.resource} (${line.detail})`);
      assert.deepEqual([...new Set(refused)].filter((text) => !OF_THE_HOST.some((shape) => shape.test(text))), []);
    });
  } finally {
    await editor?.end();
    await world.destroy();
  }
});
