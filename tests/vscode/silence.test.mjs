// An extension whose compartment never comes: the window says so, with the reason and a button that starts it, and the
// journal has it. The window is made to forget its compartments, as one did on a busy machine.
import assert from "node:assert/strict";
import test from "node:test";
import { Editor, chain, until } from "./editor.mjs";
import { Keys, PATIENCE } from "./keys.mjs";
import { World } from "./world.mjs";

/** Runs in the page, before the workbench: no compartment is asked for until somebody presses the button. */
function forget() {
  let given;
  Object.defineProperty(globalThis, "bulkhead", {
    configurable: true,
    get: () => given,
    set: (value) => {
      const { affinities } = value;
      let times = 0;
      // Twice as the window is loaded.
      value.affinities = (...words) => (affinities(...words), (times += 1) > 2 ? affinities() : [0]);
      given = value;
    },
  });
}

test("silence", { timeout: 240_000 }, async (t) => {
  const world = await World.create();
  let editor;
  const step = chain(t, () => editor);
  try {
    world.write("made/quiet/package.json", JSON.stringify({
      publisher: "proof", name: "quiet", displayName: "Quiet", version: "1.0.0", engines: { vscode: "^1.90.0" }, main: "./extension.js", activationEvents: ["onStartupFinished"],
    }));
    world.write("made/quiet/extension.js", `exports.activate = () => { const item = require("vscode").window.createStatusBarItem("quiet"); item.text = "quiet runs"; item.show(); };`);
    editor = await Editor.start({ mode: "compartments", world, extensions: [world.path("made/quiet")] });
    const keys = new Keys(editor);
    await step("it runs", () => keys.says("quiet runs"));
    await step("where it does not, the window says so, and why", async () => {
      await editor.context.addInitScript(forget);
      await editor.reload();
      await keys.toasts("Quiet (proof.quiet) has not started: no compartment was asked for.").first().waitFor({ timeout: 2 * PATIENCE });
      await until("the status bar's word", async () => /1 extension not started/.test((await keys.shield().locator("a").getAttribute("aria-label")) ?? ""));
    });
    await step("the journal has it", () => until("an entry", () =>
      editor.journal("--denied").some(({ subject, kind, rule, command }) =>
        subject === "proof.quiet" && kind === "run" && rule === "it did not start: no compartment was asked for" && command === "extension host of proof.quiet")));
    await step("the button starts it", async () => {
      await keys.answer("has not started", "Start Anew");
      await keys.says("quiet runs");
      await until("all is well", async () => /^Bulkhead: 1 compartment(?!.*not started)/.test((await keys.shield().locator("a").getAttribute("aria-label")) ?? ""), 3 * PATIENCE);
    });
    await step("a person has been told once", async () => assert.equal(await keys.toasts("has not started").count(), 0));
  } finally {
    await editor?.end();
    await world.destroy();
  }
});
