// Built-in extensions in the compartment that they share do their work as they do outside: one real task
// of each in the editor, once plain and once confined, with the same result. Nothing is asked meanwhile, and
// what the user does by the workbench goes on beside them. Git once more where the user had it share a compartment with an
// extension that depends on it. And all under `--trace`: nothing would have been refused that is
// not said here, and what no task made use of is granted for a reason.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { Editor, node, until } from "./editor.mjs";
import { World } from "./world.mjs";

const modes = (process.env.BULKHEAD_MODES ?? "plain,compartments,named,traced").split(",");
const CONFINED = ["git", "npm", "emmet", "php-language-features", "css-language-features", "html-language-features", "typescript-language-features"];
/** What is in there with them. */
const WITH_THEM = ["git-base", "github", "grunt", "gulp", "jake"];
const PATIENCE = 40_000;
const manifests = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../manifests");

/** "SUBJECT: KIND RESOURCE" that they are refused, and do without. */
const REFUSED = [
  /^proof\.lens: vscode storage$/, // which every host asks for
  /^\S*vscode\.(?:npm|git)\S*: vscode terminal$/, // fixes for what terminals say; variables of terminals, for Git to ask for passwords in the editor
];

/** The same under `--trace`, where variables are not withheld: XDG_RUNTIME_DIR, where sockets then are. */
const WOULD_BE_REFUSED = [
  ...REFUSED,
  /^\S+: write \/\S*\/vscode-ipc-[^/]*\.sock$/, // the host's, for the command line in terminals
  /^\S*vscode\.git\S*: write \/\S*\/vscode-git-[^/]*\.sock$/, // to ask for passwords; in a compartment it is in /tmp
];

/** "NAME: FIELD ENTRY" of their manifests that these tasks make no use of, and who does. */
const SPARE = {
  "css-language-features: read ${workspace}": "completion of paths in @import and url()",
  "css-language-features: write ${workspace}": "renaming a variable, in each file",
  "css-language-features: vscode @commands": "code actions, which are commands",
  "html-language-features: read ${workspace}": "completion of paths in href and src",
  "html-language-features: write ${workspace}": "renaming a tag",
  "html-language-features: vscode @commands": "code actions, which are commands",
  "emmet: read ${workspace}": "snippets that lie there (emmet.extensionsPath)",
  "emmet: vscode @commands": "its commands for tags and numbers, which run those of the editor",
  "php-language-features: vscode @commands": "opening the settings that name a PHP",
  "npm: run npm": "what it tells of a package that one points at",
  "typescript-language-features: read **/tsconfig.json": "projects above a workspace",
  "typescript-language-features: read **/jsconfig.json": "the same",
  "typescript-language-features: run npm": "the same",
  "typescript-language-features: vscode open-external": "links to its documentation",
  ...Object.fromEntries(["grunt", "gulp", "jake"].flatMap((name) => ["read ${workspace}", "read ${extension}", "run ${workspace}", `run ${name}`, "vscode @editor", "vscode @commands", "vscode tasks"].map((entry) => [`${name}: ${entry}`, "its tasks, where a person has it look for them"]))),
  "git-base: vscode @editor": "as Git, whose compartment it shares",
  "git-base: vscode @commands": "choosing what to clone",
  "git: read ${storage}": "where it keeps what it asks passwords by",
  "git: write ${storage}": "the same",
  "git: environment GIT_*": "what a person has set for Git",
  "git: vscode open-external": "pages that tell how Git is set up",
  "git: run git": "a Git that is not where the set has it",
  "github: vscode @editor": "as Git, whose compartment it shares",
  "github: read ${workspace}": "templates of pull requests",
  "github: vscode @commands": "sharing, and opening what is on GitHub",
  "github: vscode authentication": "signing in to GitHub",
  "github: vscode open-external": "the pages of GitHub",
  "github: vscode extensions": "Git's API",
};

/** Each entry of a shipped manifest, with its line: an entry has a line of its own. */
function entriesOf(name) {
  const text = fs.readFileSync(path.join(manifests, `vscode.${name}.json`), "utf8");
  let field = "";
  return text.split("\n").flatMap((line, index) => {
    field = /^ *"([\w$-]+)": \[$/.exec(line)?.[1] ?? field;
    const entry = /^ *"([^"]+)",?$/.exec(line)?.[1];
    return entry === undefined ? [] : [{ entry: `${name}: ${field} ${entry}`, at: `/vscode.${name}.json:${index + 1})` }];
  });
}

/** As `php -l` answers: there need not be a PHP on this machine. */
const PHP = `#!/bin/sh
for file; do :; done
number=0
while read -r line; do
  number=$((number + 1))
  if [ "$line" = "echo ;" ]; then echo "PHP Parse error:  syntax error, unexpected ';' in $file on line $number"; exit 255; fi
done < "$file"
echo "No syntax errors detected in $file"
`;

/** Another's extension, which counts the repositories that Git's API tells of. */
function writeLens(folder) {
  fs.mkdirSync(folder, { recursive: true });
  const manifest = { publisher: "proof", name: "lens", displayName: "Lens", version: "1.0.0", engines: { vscode: "^1.90.0" }, main: "./extension.js", activationEvents: ["onStartupFinished"], extensionDependencies: ["vscode.git"] };
  fs.writeFileSync(path.join(folder, "package.json"), JSON.stringify(manifest));
  // They share a compartment: what Git does must be of Git's own manifest.
  fs.writeFileSync(path.join(folder, "bulkhead.json"), JSON.stringify({ manifest: 1, extension: "proof.lens", files: { read: ["${extension}"] }, vscode: ["window"], otherwise: "deny" }));
  fs.writeFileSync(path.join(folder, "extension.js"), `"use strict";
const vscode = require("vscode");
exports.activate = async (context) => {
  const item = vscode.window.createStatusBarItem("lens", vscode.StatusBarAlignment.Left);
  context.subscriptions.push(item);
  const api = vscode.extensions.getExtension("vscode.git")?.exports?.getAPI(1);
  const show = () => { item.text = api ? "lens " + api.repositories.length : "lens has no API"; item.show(); };
  api?.onDidOpenRepository(show);
  show();
};
`);
  return folder;
}

function furnish(world) {
  const app = (name, text) => world.write(`home/projects/app/${name}`, text);
  app("package.json", JSON.stringify({ name: "app", version: "1.0.0", scripts: { greet: "echo from-npm > npm-ran" } }, null, 2));
  app("broken.json", '{ "a": 1 "b": 2 }\n');
  app("broken.css", "a { colr: red }\n");
  app("broken.php", "<?php\necho ;\narray_pus\n");
  app("list.html", "\n");
  app("tags.html", "<main>\n<section>text</section>\n</main>\n");
  app("tsconfig.json", '{ "compilerOptions": { "strict": true }, "files": ["use.ts", "lib.ts"] }\n');
  app("lib.ts", "export const answer = 42;\n");
  app("use.ts", 'import { answer } from "./lib";\nconst text: string = answer;\nconsole.log(text, answer);\n');
  app("node_modules/.bin/tsc", "#!/bin/sh\necho \"$@\" > tsc-ran\n");
  fs.chmodSync(path.join(world.workspace, "node_modules/.bin/tsc"), 0o700);
  app("guide.md", "# Guide\n\n- one\n- two\n\n[missing](nowhere.md)\n");
  app(".vscode/extensions.json", '{ "recommendations": "none" }\n');
  app("run.js", 'require("node:fs").writeFileSync("debugged", String(6 * 7));\n');
  app(".vscode/tasks.json", JSON.stringify({ version: "2.0.0", tasks: [{ label: "hello", type: "shell", command: "echo from-task > task-ran", problemMatcher: [] }] }));
  app(".vscode/launch.json", JSON.stringify({ version: "0.2.0", configurations: [{ name: "run", type: "node", request: "launch", program: "${workspaceFolder}/run.js", cwd: "${workspaceFolder}", runtimeExecutable: node, stopOnEntry: true, console: "internalConsole" }] }));
  const git = (...words) => execFileSync("git", words, { cwd: world.workspace, env: world.environment(), stdio: "pipe" });
  git("add", ".");
  git("commit", "-q", "-m", "furnished");
  app("first.js", "const first = 2;\n");
  // A server looks for programs where the user's shell does.
  const tools = path.join(world.workspace, "tools");
  world.write("home/.profile", `PATH="${tools}:$PATH"\n`);
  app("tools/php", PHP);
  fs.chmodSync(path.join(tools, "php"), 0o700);
  world.git = (...words) => execFileSync("git", words, { cwd: world.workspace, env: world.environment(), encoding: "utf8" }).trim();
}

/** The problems of a file: its messages, sorted. */
async function problems(editor, file, expected) {
  await editor.openFile(file);
  await editor.page.locator(".editor-group-container.active .squiggly-error, .editor-group-container.active .squiggly-warning").first().waitFor({ timeout: PATIENCE });
  await editor.command("Problems: Focus on Problems View");
  const panel = editor.page.locator(".markers-panel");
  await panel.getByText(expected).first().waitFor({ timeout: PATIENCE });
  const texts = await panel.locator(".monaco-tl-contents").allInnerTexts();
  return texts.map((each) => each.replace(/\s+/g, " ").trim()).filter((each) => expected.test(each)).sort();
}

async function goTo(editor, place) {
  await editor.command("Go to Line/Column...");
  await editor.typeInto(`:${place}`);
  await editor.page.keyboard.press("Enter");
}

/** Waits for a text in the active editor, and gives it. */
async function becomes(editor, what, pattern, act) {
  await until(what, async () => {
    await act?.();
    return until(what, async () => pattern.test(await editor.text()), 4000).catch(() => false);
  }, PATIENCE);
  return editor.text();
}

async function suggestions(editor, pattern) {
  const row = editor.page.locator(".suggest-widget .monaco-list-row").filter({ hasText: pattern }).first();
  await until("the suggestions", async () => {
    await editor.page.keyboard.press("Escape");
    await editor.page.keyboard.press("Control+Space");
    return row.waitFor({ timeout: 4000 }).then(() => true, () => false);
  }, PATIENCE);
  const label = await row.locator(".label-name").innerText();
  await editor.page.keyboard.press("Escape");
  return label;
}

/** Runs a task that an extension offers, and gives the file that it leaves. */
async function runTask(editor, world, type, name, effect) {
  const row = editor.rows().filter({ hasText: name }).first();
  await until(`the task ${name} to be offered`, async () => {
    await editor.command("Tasks: Run Task");
    await editor.pick(type).catch(() => {});
    return row.waitFor({ timeout: 6000 }).then(() => true, () => false);
  }, PATIENCE);
  await row.click();
  // How to read its output is asked of everybody, once.
  await editor.rows().filter({ hasText: "Continue without scanning" }).first().click({ timeout: 5000 }).catch(() => {});
  return until(`the effect of ${name}`, () => world.read(`home/projects/app/${effect}`), PATIENCE);
}

/** One real task of each; what it gives is compared between the modes. */
const TASKS = {
  async json(editor) {
    const found = await problems(editor, "broken.json", /Expected comma/);
    // A schema that the workbench itself holds.
    found.push(...(await problems(editor, "extensions.json", /Incorrect type/)));
    await editor.openFile("data.json");
    return [found, await becomes(editor, "data.json formatted", /"needle": \[\s+1,/, () => editor.formatDocument())];
  },
  async css(editor) {
    const found = await problems(editor, "broken.css", /Unknown property: 'colr'/);
    await editor.openFile("style.css");
    return [found, await becomes(editor, "style.css formatted", /a \{\s+color:/, () => editor.formatDocument())];
  },
  async html(editor) {
    await editor.openFile("tags.html");
    const text = await becomes(editor, "tags.html formatted", /<main>\s{2,}<section>/, () => editor.formatDocument());
    await goTo(editor, "2:1");
    await editor.page.keyboard.press("End");
    await editor.page.keyboard.press("Enter");
    await editor.page.keyboard.type("<artic");
    return [text, await suggestions(editor, "article")];
  },
  async emmet(editor) {
    await editor.openFile("list.html");
    await goTo(editor, "1:1");
    await editor.page.keyboard.type("ul>li.item*2");
    await editor.page.keyboard.press("Escape");
    return becomes(editor, "the abbreviation expanded", /<ul>\s+<li class="item"><\/li>/, () => editor.command("Emmet: Expand Abbreviation"));
  },
  async php(editor) {
    const found = await problems(editor, "broken.php", /syntax error, unexpected ';'/);
    await editor.openFile("broken.php");
    await goTo(editor, "3:10");
    return [found, await suggestions(editor, "array_push")];
  },
  async typescript(editor, world) {
    const found = await problems(editor, "use.ts", /'number' is not assignable to type 'string'/);
    await editor.openFile("lib.ts");
    await goTo(editor, "1:14");
    const box = editor.page.locator(".rename-box input").first();
    await until("the box for a new name", async () => {
      await editor.page.keyboard.press("F2");
      return box.waitFor({ state: "visible", timeout: 4000 }).then(() => true, () => false);
    }, PATIENCE);
    await box.fill("result");
    await editor.page.keyboard.press("Enter");
    await editor.openFile("use.ts");
    const text = await becomes(editor, "renamed in the other file", /import \{ result \}/);
    await editor.command("File: Save All Files");
    return [found, text, (await runTask(editor, world, "typescript", "tsc: build", "tsc-ran")).replaceAll(world.root, "")];
  },
  async markdown(editor, world) {
    const found = await problems(editor, "guide.md", /File does not exist/);
    await editor.openFile("guide.md");
    await editor.command("Markdown: Open Preview");
    const items = await until("the preview", async () => {
      for (const frame of editor.page.frames()) {
        const heading = frame.locator("h1", { hasText: "Guide" });
        if (await heading.count().catch(() => 0)) return frame.locator("li").allInnerTexts();
      }
      return undefined;
    }, PATIENCE);
    return [found.map((each) => each.replaceAll(world.root, "")), items];
  },
  async npm(editor, world) {
    await editor.openFile("package.json");
    return runTask(editor, world, "npm", "greet", "npm-ran");
  },
  async git(editor, world) {
    await until("git", async () => {
      await editor.command("Git: Refresh");
      await editor.command("Source Control: Focus on Changes View");
      return editor.page.locator(".scm-view").getByText("first.js").first().waitFor({ timeout: 10_000 }).then(() => true, () => false);
    }, PATIENCE);
    // The side that was committed comes from Git's own file system.
    await editor.page.locator(".scm-view .monaco-list-row", { hasText: "first.js" }).first().click();
    const before = editor.page.locator(".monaco-diff-editor .editor.original .view-line, .monaco-diff-editor .view-zones .inline-deleted-margin-view-zone, .monaco-diff-editor .char-delete").first();
    await before.waitFor({ state: "attached", timeout: PATIENCE });
    const original = await until("what was committed", async () => (await editor.page.locator(".monaco-diff-editor .editor.original .view-lines").innerText()).replaceAll("\u00a0", " ").trim(), PATIENCE);
    await editor.command("Git: Stage All Changes");
    await until("the stage", () => world.git("diff", "--cached", "--name-only").includes("first.js"), PATIENCE);
    await editor.page.locator(".scm-editor .monaco-editor").first().click();
    await editor.page.keyboard.type("second, by hand");
    await editor.page.keyboard.press("Control+Enter");
    await until("the commit", () => world.git("log", "-1", "--format=%s") === "second, by hand", PATIENCE);
    return [original, world.git("log", "--format=%s %an %ae"), world.git("show", "HEAD:first.js")];
  },
};

/** Another's extension that depends on one of them. */
Object.assign(TASKS, {
  async dependent(editor, world, mode) {
    await editor.statusItem(mode === "compartments" ? /^lens has no API$/ : /^lens 1$/).waitFor({ timeout: PATIENCE });
  },
});

/** What the user does, by the workbench or the main host. */
const BESIDE = {
  async "quick open"(editor) {
    return (await editor.quickOpen("style.css")).some((row) => row.includes("style.css"));
  },
  async search(editor) {
    await editor.command("Search: Find in Files");
    await editor.page.keyboard.type("needle");
    await editor.page.keyboard.press("Enter");
    await editor.page.locator(".search-view .results").getByText("data.json").first().waitFor({ timeout: PATIENCE });
  },
  async task(editor, world) {
    await editor.command("Tasks: Run Task");
    await editor.pick("hello");
    return until("its effect", () => world.read("home/projects/app/task-ran"), PATIENCE);
  },
  async terminal(editor, world) {
    await editor.terminal("echo in-$((40+2))-terminal > terminal-ran");
    return until("its effect", () => world.read("home/projects/app/terminal-ran"), PATIENCE);
  },
  async debugging(editor, world) {
    await editor.openFile("run.js");
    await editor.command("Debug: Start Debugging");
    await editor.page.locator(".debug-toolbar").waitFor({ timeout: PATIENCE });
    await editor.page.locator(".debug-top-stack-frame-line, .codicon-debug-stackframe").first().waitFor({ timeout: PATIENCE });
    assert.equal(world.read("home/projects/app/debugged"), undefined, "it stopped on entry");
    await until("the program's end", async () => {
      await editor.command("Debug: Continue").catch(() => {});
      return until("its effect", () => world.read("home/projects/app/debugged"), 4000).catch(() => undefined);
    }, PATIENCE);
    return world.read("home/projects/app/debugged");
  },
};

const wanted = process.env.BULKHEAD_TASKS?.split(",");
/** task → what it gave in plain mode */
const given = new Map();

for (const mode of modes) {
  test(`built-in extensions, ${mode}`, { timeout: 600_000 }, async (t) => {
    const confined = mode !== "plain";
    const traced = mode === "traced";
    const world = await World.create();
    let editor;
    try {
      furnish(world);
      editor = await Editor.start({
        mode: confined ? "compartments" : "plain",
        world,
        extensions: [writeLens(world.path("made/lens"))],
        // Once by the option, once by the setting.
        options: mode === "traced" ? ["--trace", "--builtin", "vscode.git"] : [],
        settings: { "php.validate.executablePath": path.join(world.workspace, "tools/php"), "markdown.validate.enabled": true, "git.enableSmartCommit": false, "diffEditor.renderSideBySide": true, "diffEditor.useInlineViewWhenSpaceIsLimited": false, "git.confirmSync": false },
        before: () => {
          if (mode === "named") world.write("data/data/Machine/settings.json", JSON.stringify({ "bulkhead.compartments.builtin": ["vscode.git"] }));
        },
      });
      for (const [name, task] of Object.entries(traced ? TASKS : { ...TASKS, ...BESIDE })) {
        if (mode === "named" && !["git", "dependent"].includes(name)) continue;
        if (wanted && !wanted.includes(name)) continue;
        await t.test(name, async () => {
          try {
            const result = await task(editor, world, mode);
            if ((await editor.page.locator(".part.statusbar .codicon-question").count()) > 0) assert.fail(`somebody is asked: ${(await editor.allNotifications()).join("; ")}`);
            if (given.has(name)) assert.deepEqual(result, given.get(name), "as without compartments");
            else if (mode === "plain") given.set(name, result);
          } catch (error) {
            await editor.photograph(`builtin ${name}`);
            throw error;
          }
        });
      }
      if (traced && !wanted) {
        await t.test("what they are granted is made use of", () => {
          const rules = editor.journal().filter((line) => line.verdict === "allow").map((line) => line.rule);
          const entries = [...CONFINED, ...WITH_THEM].flatMap(entriesOf);
          const unused = entries.filter(({ at }) => !rules.some((rule) => rule.endsWith(at))).map(({ entry }) => entry);
          t.diagnostic(`${entries.length - unused.length} of ${entries.length} entries`);
          assert.deepEqual(unused.filter((entry) => !(entry in SPARE)), []);
          assert.deepEqual(Object.keys(SPARE).filter((spare) => !entries.some(({ entry }) => entry === spare)), [], "in no manifest");
        });
      }
      if (confined) {
        await t.test("each ran in a compartment, and none had to ask", () => {
          const lines = editor.journal();
          const subjects = new Set(lines.flatMap((line) => line.subject.split("+")));
          for (const name of [...CONFINED, ...WITH_THEM]) assert.ok(subjects.has(`vscode.${name}`), `vscode.${name} was in none: ${[...subjects]}`);
          const known = traced ? WOULD_BE_REFUSED : REFUSED;
          const told = (line) => `${line.subject}: ${line.kind} ${line.resource} (${line.detail})`;
          const refused = lines.filter((line) => line.verdict === "deny" && !["environment", "system"].includes(line.kind));
          assert.deepEqual([...new Set(refused.filter((line) => !known.some((each) => each.test(`${line.subject}: ${line.kind} ${line.resource}`))).map(told))], []);
          assert.deepEqual([...new Set(lines.filter((line) => line.asked).map(told))], []);
        });
      }
    } finally {
      await editor?.end();
      await world.destroy();
    }
  });
}
