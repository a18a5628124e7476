// What kinds of extensions there are, each doing what it does in plain code-server, but those that only have code
// for the browser: they do not run, and a person is told.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { Editor, allow, steps, until } from "./editor.mjs";
import { names } from "./journal.mjs";
import { World } from "./world.mjs";

const modes = (process.env.BULKHEAD_MODES ?? "plain,compartments").split(",");

/** An extension of these files; `packaged` is what its package.json has beside the usual. */
function write(world, name, packaged, files) {
  const manifest = { publisher: "kinds", name, displayName: `Kind ${name}`, version: "1.0.0", engines: { vscode: "^1.90.0" }, ...packaged };
  for (const [file, text] of Object.entries({ ...files, "package.json": JSON.stringify(manifest) })) world.write(`made/${name}/${file}`, text);
  return world.path(`made/${name}`);
}

const says = (text) => `const item = vscode.window.createStatusBarItem("kind", vscode.StatusBarAlignment.Left);
  context.subscriptions.push(item);
  item.text = ${text};
  item.show();`;

const started = { activationEvents: ["onStartupFinished"] };

function extensions(world) {
  return [
    write(world, "modern", { ...started, type: "module", main: "./extension.js" }, {
      "extension.js": `import * as vscode from "vscode";
import { word } from "./word.js";
const { sep } = await import("node:path");
export function activate(context) {
  ${says("`modern ${word} ${sep}`")}
}
`,
      "word.js": 'export const word = "imported";\n',
    }),
    write(world, "lazy", { main: "./extension.js", contributes: { commands: [{ command: "lazy.wake", title: "Wake Lazy" }] } }, {
      "extension.js": `const fs = require("node:fs");
const vscode = require("vscode");
fs.writeFileSync(vscode.workspace.workspaceFolders[0].uri.fsPath + "/lazy.loaded", "");
exports.activate = (context) => {
  ${says('"lazy is awake"')}
  context.subscriptions.push(vscode.commands.registerCommand("lazy.wake", () => {}));
};
`,
    }),
    write(world, "giver", { main: "./extension.js" }, {
      "extension.js": `class Gift {}
exports.activate = () => ({ Gift, make: () => new Gift(), where: () => process.pid + " " + performance.timeOrigin });
`,
    }),
    write(world, "taker", { ...started, main: "./extension.js", extensionDependencies: ["kinds.giver"] }, {
      "extension.js": `const vscode = require("vscode");
exports.activate = async (context) => {
  const { Gift, make, where } = await vscode.extensions.getExtension("kinds.giver").activate();
  ${says('"taker " + (make() instanceof Gift) + " " + (where() === process.pid + " " + performance.timeOrigin)')}
};
`,
    }),
    write(world, "theme", { contributes: { themes: [{ label: "Kind Theme", uiTheme: "vs-dark", path: "./theme.json" }] } }, {
      "theme.json": '{ "name": "Kind Theme", "type": "dark", "colors": { "statusBar.background": "#123456" }, "tokenColors": [] }\n',
    }),
    write(world, "browser", { ...started, browser: "./extension.js" }, {
      "extension.js": `const vscode = require("vscode");
exports.activate = (context) => {
  ${says('"browser runs"')}
};
`,
    }),
    write(world, "plugin", { contributes: { typescriptServerPlugins: [{ name: "kinds-plugin", enableForWorkspaceTypeScriptVersions: true }] } }, {
      "plugin/package.json": '{ "name": "kinds-plugin", "version": "1.0.0", "main": "index.js" }\n',
      "plugin/index.js": `module.exports = ({ typescript }) => ({
  create: ({ languageService }) => new Proxy(languageService, {
    get: (target, key) => key !== "getSemanticDiagnostics" ? target[key] : (file) => [
      ...target.getSemanticDiagnostics(file),
      { file: target.getProgram().getSourceFile(file), start: 0, length: 6, category: typescript.DiagnosticCategory.Warning, code: 4711, source: "kinds", messageText: "The plug-in was here" },
    ],
  }),
});
`,
    }),
  ];
}

/** One that is harmless, and what comes with it: what it depends on, and what its pack has. Nobody has read any of them. */
function unread(world) {
  const manifest = (name, more) => JSON.stringify({ manifest: 1, extension: `kinds.${name}`, files: { read: ["${workspace}", "${extension}", "@system", "@node"] }, vscode: ["@editor"], otherwise: "deny", ...more });
  const thief = (name, more) => write(world, name, { ...started, main: "./extension.js" }, {
    "bulkhead.json": manifest(name, more),
    "extension.js": `const fs = require("node:fs");
const vscode = require("vscode");
exports.activate = (context) => {
  try { fs.copyFileSync(${JSON.stringify(path.join(world.home, ".ssh/id_rsa"))}, ${JSON.stringify(path.join(world.loot, name))}); } catch {}
  ${says(`"${name} has tried"`)}
};
`,
  });
  const bait = write(world, "bait", { ...started, main: "./extension.js", extensionDependencies: ["kinds.payload"], extensionPack: ["kinds.packed"] }, {
    "bulkhead.json": manifest("bait"),
    "extension.js": "exports.activate = () => {};\n",
  });
  return [bait, thief("payload", { network: ["payload.example:443"] }), thief("packed")];
}

/** A package with an id that another has, of the highest version that there is. */
const impostor = (world, publisher, name) =>
  write(world, name, { ...started, publisher, version: Array(3).fill(Number.MAX_SAFE_INTEGER).join("."), main: "./extension.js" }, {
    "extension.js": `const vscode = require("vscode");
exports.activate = (context) => {
  ${says('`an impostor runs as ${context.extension.id}`')}
};
`,
  });

for (const mode of modes) {
  test(`kinds of extensions, ${mode}`, { timeout: 300_000 }, async (t) => {
    const plain = mode === "plain";
    const world = await World.create();
    let editor;
    const step = steps(t, () => editor);
    const shown = (text) => editor.statusItem(text).waitFor({ timeout: 60_000 });
    try {
      world.write("home/projects/app/code.ts", "export const one: number = 1;\n");
      editor = await Editor.start({
        mode, world, extensions: extensions(world),
        before: (one) => {
          for (const folder of [...unread(world), impostor(world, "bulkhead", "companion"), impostor(world, "VSCode", "Grunt")]) fs.cpSync(folder, path.join(one.extensions, `kinds.${path.basename(folder)}-1.0.0`), { recursive: true });
        },
      });

      await step("modules are imported", () => shown("modern imported /"));
      await step("who depends on another has its objects, in the same process", () => shown("taker true true"));
      await step("nothing is loaded before it is needed", async () => {
        assert.equal(world.read("home/projects/app/lazy.loaded"), undefined);
        await editor.command("Wake Lazy");
        await shown("lazy is awake");
        assert.notEqual(world.read("home/projects/app/lazy.loaded"), undefined);
      });
      await step("a plug-in of TypeScript's server does its work", async () => {
        await editor.openFile("code.ts");
        await editor.page.locator(".squiggly-warning").first().waitFor({ timeout: 60_000 });
        await editor.command("Problems: Focus on Problems View");
        await editor.page.locator(".markers-panel").getByText("The plug-in was here").waitFor({ timeout: 20_000 });
      });
      await step("a theme is there", async () => {
        await editor.command("Preferences: Color Theme");
        await editor.typeInto("Kind Theme");
        await editor.pick("Kind Theme");
        const background = () => editor.page.locator(".part.statusbar").evaluate((bar) => getComputedStyle(bar).backgroundColor);
        await until("its colour", async () => (await background()) === "rgb(18, 52, 86)");
      });
      await step("what has code for the browser only", async () => {
        if (plain) return void (await shown("browser runs"));
        assert.equal(await editor.statusItem("browser runs").count(), 0);
        let texts = [];
        await until(() => `a word about it; there were: ${texts.join(" | ")}`, async () => {
          texts = await editor.allNotifications();
          return texts.some((text) => /Kind browser.*is not started/.test(text));
        });
      });
      await step("nothing takes the companion's place", async () => {
        if (plain) return void (await shown("an impostor runs as bulkhead.companion"));
        assert.equal(await editor.statusItem("an impostor runs as bulkhead.companion").count(), 0);
        assert.notEqual(await editor.page.locator('.part.statusbar [aria-label^="Bulkhead: "]').count(), 0);
      });
      await step("what takes a built-in extension's place, and with it its storage and secrets", async () => {
        if (plain) return void (await shown(/an impostor runs as vscode\.grunt/i));
        await until("a word about it", async () => (await editor.allNotifications()).some((text) => /Kind Grunt.*is not started.*same id/.test(text)));
        assert.equal(await editor.statusItem(/an impostor runs as vscode\.grunt/i).count(), 0);
      });
      await step("what another brings along steals; it is read with it, and held like it", async () => {
        const stolen = (name) => world.stolen(world.read(`loot/${name}`) ?? "").length > 0;
        if (plain) return void (await until("both thefts", () => stolen("payload") && stolen("packed")));
        await editor.command("Bulkhead: Review Extensions");
        const page = await until("both reviews", async () => {
          for (const frame of editor.page.frames()) if ((await frame.locator("section.card").count().catch(() => 0)) === 2) return frame;
          return undefined;
        });
        // Who depends on another shares its host, so both are read as one, with what either may.
        const both = page.locator("section.card", { hasText: "kinds.bait" });
        for (const part of [/kinds\.payload 1\.0\.0/, /share one compartment: each can do what any of them may/, /Unusual[^]*payload\.example/]) assert.match(await both.innerText(), part);
        // A pack only says what else to install.
        assert.doesNotMatch(await both.innerText(), /kinds\.packed/);
        assert.match(await page.locator("section.card", { hasText: "kinds.packed" }).innerText(), /Kind packed[^]*It wants to run for the first time/);
        assert.equal(await editor.statusItem("has tried").count(), 0, "none of it has run");
        await allow(both.getByRole("button", { name: /^Allow/ }));
        await shown("payload has tried");
        assert.equal(await editor.statusItem("packed has tried").count(), 0);
        assert.deepEqual(fs.readdirSync(world.loot), []);
        await until("the journal names the key", () => names(editor.journal("--denied"), "read */.ssh/id_rsa")); // written with a delay
      });
      if (!plain)
        await step("each that has code has a compartment, and nobody else", () => {
          const runs = new Set(editor.journal("--runs").map((run) => run.subject));
          assert.deepEqual([...runs].sort(), ["kinds.bait+kinds.payload", "kinds.giver+kinds.taker", "kinds.lazy", "kinds.modern", "kinds.packed", "kinds.plugin+vscode.typescript-language-features"]);
        });
    } finally {
      await editor?.end();
      await world.destroy();
    }
  });
}
