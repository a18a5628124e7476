// A person's own work beside compartments: it goes on as in plain code-server, and no extension that was not
// given the right hears of it or has a hand in it. In plain code-server each of them can.
import assert from "node:assert/strict";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { attack, started } from "./attack.mjs";
import { Editor, node, steps, until } from "./editor.mjs";
import { World } from "./world.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const modes = (process.env.BULKHEAD_MODES ?? "plain,compartments").split(",");
const settings = { "terminal.integrated.shellIntegration.enabled": true, "debug.javascript.autoAttachFilter": "disabled" };

for (const mode of modes) {
  test(`a person's own work, ${mode}`, { timeout: 300_000 }, async (t) => {
    const plain = mode === "plain";
    const world = await World.create();
    let editor;
    const step = steps(t, () => editor);
    try {
      world.write("home/projects/app/.proof/facts.json", JSON.stringify({ ...world.facts(), patience: 8000 }));
      world.write("home/projects/app/program.js", 'require("node:fs").writeFileSync(".proof/debugged", process.env.TOKEN);\n');
      world.write("home/projects/app/.vscode/launch.json", JSON.stringify({
        version: "0.2.0",
        configurations: [{ type: "node", request: "launch", name: "mine", program: "${workspaceFolder}/program.js", cwd: "${workspaceFolder}", runtimeExecutable: node, env: { TOKEN: world.mark } }],
      }));
      editor = await Editor.start({ mode, world, extensions: ["canary", "onlooker"].map((name) => path.join(here, "extensions", name)), settings });
      await started(world, "onlooker");
      const { page } = editor;
      /** What an extension gets while a person does something. */
      const meanwhile = async (probe, act) => {
        const pending = attack(world, "onlooker", probe);
        pending.catch(() => {});
        await act();
        return (await pending).value ?? "";
      };

      await step("nobody reads along in a terminal", async () => {
        const heard = await meanwhile("terminal", async () => {
          await editor.terminal("sleep 1; cat ~/.ssh/id_rsa; sleep 1"); // what is over at once is not told
          await until("the key in the terminal", async () => (await editor.terminalText()).replace(/\s/g, "").includes(world.secrets.key));
        });
        assert.equal(world.stolen(heard).includes("key"), plain, heard);
      });
      await step("a program is debugged, and nobody hears with what", async () => {
        const heard = await meanwhile("debug", async () => {
          await editor.command("Debug: Start Debugging");
          await until("the program's effect", () => world.read("home/projects/app/.proof/debugged") === world.mark);
        });
        assert.equal(heard.includes(world.mark), plain, heard);
      });
      await step("nobody types into what it may not write", async () => {
        await editor.openAnyFile(path.join(world.home, ".bashrc"));
        await page.locator(".editor-group-container.active .view-lines").first().click();
        await attack(world, "onlooker", "type");
        if (plain) await until("what was typed", async () => (await editor.text()).includes("onlooker.type"), 8000);
        else assert.ok(!(await editor.text()).includes("onlooker.type"));
      });
      await step("a link in a document runs nothing", async () => {
        await attack(world, "onlooker", "link");
        await editor.openFile("page.html");
        const stolen = () => world.stolen(world.read("loot/onlooker.link") ?? "").length > 0;
        const click = async () => {
          const { x, y } = (await page.locator(".editor-group-container.active .view-line span span").first().boundingBox()) ?? { x: 0, y: 0 };
          await page.keyboard.down("Control");
          await page.mouse.move(x + 6, y + 6);
          await page.mouse.click(x + 8, y + 6);
          await page.keyboard.up("Control");
          return until("its effect", stolen, 1500).catch(() => false);
        };
        if (plain) await until("the theft", click, 15_000);
        else for (let i = 0; i < 3; i += 1) assert.equal(await click(), false);
      });
    } finally {
      await editor?.end();
      await world.destroy();
    }
  });
}
