// The least that a version of code-server has to do: the editor opens, its own Git is there, an extension runs in a compartment once a person has
// reviewed it, formats a document, and is refused a key, of which the journal tells. `scripts/versions --smoke` runs it for others.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { Editor, chain, until } from "./editor.mjs";
import { names } from "./journal.mjs";
import { World } from "./world.mjs";

const fixture = path.join(path.dirname(fileURLToPath(import.meta.url)), "extensions/formatter");

test("smoke", { timeout: 300_000 }, async (t) => {
  const world = await World.create();
  let editor;
  const step = chain(t, () => editor);
  try {
    world.write("home/projects/app/.proof/facts.json", JSON.stringify(world.facts()));
    await step("the editor opens", async () => {
      editor = await Editor.start({
        mode: "compartments", world, extensions: [], settings: { "[javascript]": { "editor.defaultFormatter": "proof.formatter" } },
        // Not by install(), which stands for a person who has reviewed it.
        before: (one) => fs.cpSync(fixture, path.join(one.extensions, "proof.formatter-1.0.0"), { recursive: true }),
      });
    });
    await step("Git knows the folder", () => editor.statusItem("main").waitFor({ timeout: 60_000 }));
    await step("an extension is reviewed", () => editor.review("Tidy Formatter"));
    await step("it formats", async () => {
      await editor.openFile("first.js");
      await until("formatting", async () => {
        await editor.formatDocument();
        return until("its text", async () => (await editor.text()).startsWith("const first = 1"), 3000).catch(() => false);
      });
      await editor.save();
      await until("the file", () => world.read("home/projects/app/first.js") === "const first = 1\n");
    });
    await step("and is refused a key", async () => {
      await until("the journal", () => names(editor.journal("--denied", "--subject", "proof.formatter"), "read */.ssh/id_rsa"));
      assert.deepEqual(world.stolen(world.received().map(({ text }) => text).join("\n")), []);
    });
  } finally {
    await editor?.end();
    await world.destroy();
  }
});
