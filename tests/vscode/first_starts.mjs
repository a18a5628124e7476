// First starts of new homes on a busy machine, one after the other: does every extension get its compartment, or else a word
// in the window? No test: it takes half a minute for each, and what it looks for came once in thirty-three.
//
//   node first_starts.mjs [STARTS] [HOGS]     10 starts, 6 programs that take all the processor time that is left
import { spawn } from "node:child_process";
import path from "node:path";
import { Editor, node, until } from "./editor.mjs";
import { World } from "./world.mjs";

const [starts = 10, hogs = 6] = process.argv.slice(2).map(Number);
const NAMES = ["one", "two", "three", "four", "five", "six"];
/** As long as an extension may be missing without a word (companion/missing.js), and its host may take here. */
const LONG = 90_000;

/** @param {World} world @param {string} name */
function write(world, name) {
  world.write(`made/${name}/package.json`, JSON.stringify({
    publisher: "proof", name, displayName: name, version: "1.0.0", engines: { vscode: "^1.90.0" }, main: "./extension.js", activationEvents: ["onStartupFinished"],
  }));
  world.write(`made/${name}/extension.js`, `exports.activate = () => { const item = require("vscode").window.createStatusBarItem("${name}"); item.text = "${name} runs"; item.show(); };`);
  return world.path(`made/${name}`);
}

const busy = Array.from({ length: hogs }, () => spawn("nice", ["-n", "5", node, "-e", "for (;;);"], { stdio: "ignore" }));
let silent = 0;
try {
  for (let i = 1; i <= starts; i += 1) {
    const world = await World.create();
    let editor;
    try {
      const before = performance.now();
      editor = await Editor.start({ mode: "compartments", world, extensions: NAMES.map((name) => write(world, name)) });
      const opened = performance.now() - before;
      let [running, said] = [[], []];
      await until("all of them, or a word", async () => {
        const items = await editor.page.locator(".part.statusbar .statusbar-item").allInnerTexts();
        running = NAMES.filter((name) => items.some((text) => text.includes(`${name} runs`)));
        said = (await editor.notifications()).filter((text) => /not started|ended|review/.test(text));
        return running.length === NAMES.length || said.length > 0;
      }, LONG).catch(() => {});
      const whole = running.length === NAMES.length;
      if (!whole && said.length === 0) silent += 1;
      console.log(`${i}: window after ${(opened / 1000).toFixed(1)} s, ${whole ? `all after ${((performance.now() - before) / 1000).toFixed(1)} s` : `only ${running.length}: ${said.join(" | ") || "SILENT"}`}`);
      if (!whole) {
        await editor.photograph(`first-start-${i}`);
        const missing = await editor.page.evaluate(() => /** @type {any} */ (globalThis).bulkhead.missing?.());
        console.log(JSON.stringify({ missing, console: editor.console.slice(-20), log: editor.log.slice(-3000) }, null, 1));
      }
    } catch (error) {
      console.log(`${i}: ${error.message}`);
    } finally {
      await editor?.end();
      await world.destroy();
    }
  }
} finally {
  for (const one of busy) one.kill();
}
console.log(`${silent} of ${starts} first starts left an extension out without a word`);
process.exitCode = silent > 0 ? 1 : 0;
