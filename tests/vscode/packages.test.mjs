// What a package does as it is installed and removed, before anybody has reviewed it. No browser: as in a terminal.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import test from "node:test";
import { Editor, until } from "./editor.mjs";
import { writeEmptyVsix } from "./vsix.mjs";
import { World } from "./world.mjs";

/** Words for VS Code's server where it only does this and ends. */
function manage(editor, ...words) {
  const [program, before] = editor.mode === "plain" ? editor.plainCommand() : editor.confinedCommand();
  const { status, stdout, stderr } = spawnSync(program, [...before, ...words], { encoding: "utf8", env: editor.world.environment(), cwd: editor.world.home });
  return { status, said: stdout + stderr };
}

for (const mode of (process.env.BULKHEAD_MODES ?? "plain,compartments").split(",")) {
  test(`packages, ${mode}`, { timeout: 300_000 }, async (t) => {
    const plain = mode === "plain";
    const world = await World.create();
    const editor = Object.assign(new Editor(), { mode, world, options: [], keepsPort: true, data: world.path("data"), extensions: world.path("extensions") });
    try {
      for (const folder of ["data", "extensions"]) fs.mkdirSync(world.path(folder), { recursive: true });
      const vsix = world.path("package.vsix");

      await t.test("a script that it names for when it is removed runs nowhere", async () => {
        const [script, ran] = [world.path("bye.js"), world.path("ran")];
        fs.writeFileSync(script, `require("node:fs").writeFileSync(${JSON.stringify(ran)}, "");`);
        writeEmptyVsix(vsix, "evil", "bye", { scripts: { "vscode:uninstall": "node ./bye.js" } }, { "extension/bye.js": fs.readFileSync(script, "utf8") });
        for (const words of [["--install-extension", vsix], ["--uninstall-extension", "evil.bye"]]) {
          const { status, said } = manage(editor, ...words);
          assert.equal(status, 0, said);
        }
        const folder = world.path("extensions/evil.bye-1.0.0");
        // The next start takes away what was removed, and runs its script before.
        await editor.serve();
        try {
          await until("it is gone", () => !fs.existsSync(folder), 60_000);
          if (plain) await until("its script has run", () => fs.existsSync(ran), 60_000);
        } finally {
          await editor.end();
        }
        assert.equal(fs.existsSync(ran), plain);
      });

      await t.test("one whose name leads out of the folder of extensions is not installed", () => {
        writeEmptyVsix(vsix, "evil", "zz/../../home/planted");
        const { said } = manage(editor, "--install-extension", vsix);
        const planted = fs.existsSync(world.path("home/planted-1.0.0"));
        assert.equal(planted, plain, said);
        if (!plain) assert.match(said, /leads out of .*extensions, to .*home\/planted-1\.0\.0: it is not installed/);
        assert.deepEqual(fs.readdirSync(editor.extensions).filter((name) => /^(\.|evil)/.test(name) && name !== ".obsolete"), []);
      });

      await t.test("nor is a folder removed that it names as its own", () => {
        world.write("home/precious-1.0.0/work.txt", "years of it");
        writeEmptyVsix(vsix, "evil", "zz/../../home/precious");
        const { said } = manage(editor, "--install-extension", vsix);
        assert.equal(world.read("home/precious-1.0.0/work.txt"), plain ? undefined : "years of it", said);
        if (!plain) assert.match(said, /Unable to delete .*home\/precious-1\.0\.0' while installing the extension 'evil\.zz/);
      });
    } finally {
      await world.destroy();
    }
  });
}
