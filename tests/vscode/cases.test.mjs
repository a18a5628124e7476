// The two case studies, and what must keep working beside compartments: the same steps and the same results
// in plain code-server and in `bulkhead code`.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { Editor, steps, until } from "./editor.mjs";
import { names } from "./journal.mjs";
import { World } from "./world.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const fixture = (name) => path.join(here, "extensions", name);
const modes = (process.env.BULKHEAD_MODES ?? "plain,compartments").split(",");

function furnish(world) {
  world.write("home/projects/app/.proof/facts.json", JSON.stringify(world.facts()));
  world.write("home/projects/app/ignored.js", "const   ignored   =   1;\n");
  world.write("home/projects/app/script.py", "value = eval('1')\n");
  world.write("home/projects/app/.vscode/tasks.json", JSON.stringify({
    version: "2.0.0",
    tasks: [{ label: "greet", type: "shell", command: "echo greetings > .proof/task-ran", problemMatcher: [] }],
  }));
  const venv = path.join(world.workspace, ".venv/bin");
  fs.mkdirSync(venv, { recursive: true });
  fs.symlinkSync("/usr/bin/python3", path.join(venv, "python3"));
  fs.writeFileSync(path.join(world.workspace, ".venv/pyvenv.cfg"), "home = /usr/bin\n");
  fs.writeFileSync(path.join(venv, "pylint"), `#!${venv}/python3\n${fs.readFileSync(path.join(here, "poisoned_pylint.py"), "utf8")}`, { mode: 0o755 });
  world.write("home/projects/app/script.js", "const value = eval('1');\n");
  world.write("home/projects/app/node_modules/proof-lint/index.js", fs.readFileSync(path.join(here, "poisoned_module.js"), "utf8"));
}

/** An update turns a harmless extension bad, after the user has agreed to what it was. */
function update(editor) {
  fs.appendFileSync(path.join(editor.extensions, "proof.theme-1.0.0/extension.js"), '\nrequire("node:fs").copyFileSync(`${process.env.HOME}/.ssh/id_rsa`, `${process.env.HOME}/projects/app/.proof/updated`);\n');
}

for (const mode of modes) {
  test(`cases, ${mode}`, { timeout: 400_000 }, async (t) => {
    const world = await World.create();
    let editor;
    const step = steps(t, () => editor);
    try {
      furnish(world);
      editor = await Editor.start({ mode, world, extensions: ["canary", "formatter", "linter", "scm", "theme"].map(fixture), before: update, settings: { "[javascript]": { "editor.defaultFormatter": "proof.formatter" } } });
      const plain = mode === "plain";

      await step("the formatter formats, with the .prettierrc of a folder above", async () => {
        await editor.openFile("first.js");
        await until("formatting", async () => {
          await editor.formatDocument();
          return until("its text", async () => (await editor.text()).startsWith("const first = 1"), 3000).catch(() => false);
        });
        assert.equal((await editor.text()).trim(), "const first = 1"); // no semicolon: { semi: false }
        await editor.save();
        await until("the file", () => world.read("home/projects/app/first.js") === "const first = 1\n");
      });
      await step("it leaves alone what .prettierignore names", async () => {
        await editor.openFile("ignored.js");
        await editor.formatDocument();
        // Formatting first.js again shows that the command before it has ended.
        await editor.openFile("first.js");
        await editor.formatDocument();
        assert.equal(world.read("home/projects/app/ignored.js"), "const   ignored   =   1;\n");
        await editor.openFile("ignored.js");
        assert.equal((await editor.text()).trim(), "const   ignored   =   1;");
      });
      await step("its hidden code", async () => {
        const arrived = () => world.received().some(({ text }) => text.includes("formatter") && world.stolen(text).includes("key"));
        if (plain) {
          await until("the key at the collector", arrived);
          return;
        }
        assert.deepEqual(world.received(), []);
        const journal = editor.journal("--subject", "proof.formatter");
        assert.ok(names(journal, "read */.ssh/id_rsa"), "the journal names the key");
        assert.ok(names(journal, "connect 127.0.0.1*"), "the journal names the server");
      });
      if (!plain) {
        await step("the user sees who and what", () => {
            let texts = [];
            return until(() => `a notification; there were: ${texts.join(" | ")}`, async () => {
              texts = await editor.allNotifications();
              return texts.some((text) => text.includes("Tidy Formatter") && text.includes("id_rsa"));
            });
          });
      }

      await step("the virtual environment's linter shows its problems", async () => {
        await editor.openFile("script.py");
        await editor.page.locator(".squiggly-warning").first().waitFor({ timeout: 60_000 });
        await editor.command("Problems: Focus on Problems View");
        await editor.page.locator(".markers-panel").getByText("W0123: Use of eval").waitFor({ timeout: 20_000 });
        // Another extension's, in the same file.
        await editor.page.locator(".markers-panel").getByText("Proof problem").waitFor({ timeout: 20_000 });
      });
      const poison = async (mark, program) => {
        const seen = () => ({
          sent: world.received().some(({ text }) => text.includes(mark) && world.stolen(text).includes("key")),
          stayed: world.read("home/.bashrc").includes(`${mark} was here`),
          copied: world.stolen(world.read(`loot/${mark}`) ?? "").length > 0,
        });
        if (plain) {
          await until("all harm", () => Object.values(seen()).every(Boolean));
          return;
        }
        assert.deepEqual(seen(), { sent: false, stayed: false, copied: false });
        assert.deepEqual(world.received(), []);
        const journal = editor.journal("--subject", "proof.linter").filter((line) => program.test(line.program));
        for (const line of ["read */.ssh/id_rsa", "write */.bashrc", "connect 127.0.0.1*", "run */cp"]) assert.ok(names(journal, line), `the journal names ${line} by ${program}`);
      };
      await step("its poison", () => poison("linter", /python3/));

      await step("the linter of node_modules shows its problems", async () => {
        await editor.openFile("script.js");
        await editor.page.locator(".squiggly-warning").first().waitFor({ timeout: 60_000 });
        await editor.command("Problems: Focus on Problems View");
        await editor.page.locator(".markers-panel").getByText("no-eval: eval can be harmful").waitFor({ timeout: 20_000 });
      });
      await step("its poison too", () => poison("module", /node/));

      await step("an update that turned bad", async () => {
        const ran = () => world.read("home/projects/app/.proof/theme.ready") !== undefined;
        if (plain) {
          await until("it to run", ran);
          return;
        }
        let texts = [];
        await until(() => `a request to review it; there were: ${texts.join(" | ")}`, async () => {
          texts = await editor.allNotifications();
          return texts.some((text) => /theme with code/i.test(text));
        });
        assert.equal(ran(), false);
        assert.equal(world.read("home/projects/app/.proof/updated"), undefined);
      });

      await step("quick open finds files", async () => {
        const rows = await editor.quickOpen("style.css");
        assert.ok(rows.some((row) => row.includes("style.css")), rows.join("|"));
      });
      await step("search finds text in files", async () => {
        await editor.command("Search: Find in Files");
        await editor.page.keyboard.type("needle");
        await editor.page.keyboard.press("Enter");
        await editor.page.locator(".search-view .results").getByText("data.json").first().waitFor({ timeout: 30_000 });
      });
      await step("built-in formatters format", async () => {
        for (const [file, formatted] of [["data.json", /"needle": \[\s+1,/], ["style.css", /a \{\s+color:.*red/], ["page.html", /<body>\s+<p>text<\/p>/]]) {
          await editor.openFile(file);
          await until(`${file} formatted`, async () => {
            await editor.formatDocument();
            return until("its text", async () => formatted.test(await editor.text()), 3000).catch(() => false);
          });
          await editor.save();
        }
      });
      await step("source control lists what changed", async () => {
        await until("git", async () => {
          // It looks by itself too, but not soon.
          await editor.command("Git: Refresh");
          await editor.command("Source Control: Focus on Changes View");
          await editor.page.locator(".scm-view").getByText("first.js").first().waitFor({ timeout: 20_000 });
          return true;
        });
      });
      await step("an extension's own source control stands beside Git's", async () => {
        const view = editor.page.locator(".scm-view");
        // Only rows that are in sight exist.
        const graph = editor.page.locator('.pane-header[aria-expanded="true"]', { hasText: /graph/i }).first();
        if (await graph.isVisible()) await graph.click({ position: { x: 8, y: 10 } });
        await view.getByText("Proof Changes").waitFor({ timeout: 20_000 });
        await view.getByText("page.html").first().waitFor();
        await view.getByText("first.js").first().waitFor();
        await editor.photograph("source-controls");
      });
      await step("the user's terminal runs programs", async () => {
        await editor.terminal("echo in-$((40+2))-terminal > .proof/terminal-ran; cat ~/.ssh/id_rsa > /dev/null && echo read-$((1+1))");
        await until("its effect", () => world.read("home/projects/app/.proof/terminal-ran") === "in-42-terminal\n");
        await until("its text", async () => (await editor.terminalText()).includes("read-2"));
      });
      await step("the user's task runs", async () => {
        await editor.command("Tasks: Run Task");
        await editor.pick("greet");
        await until("its effect", () => world.read("home/projects/app/.proof/task-ran") === "greetings\n");
      });
    } finally {
      await editor?.end();
      await world.destroy();
    }
  });
}
