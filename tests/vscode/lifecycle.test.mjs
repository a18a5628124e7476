// What becomes of the hosts when extensions come and go, the page reloads, the network breaks, there
// are several windows or several folders, and when it ends. Pids are looked at from outside. What a person sees of it is
// the same in plain code-server.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { Editor, bulkhead, node, server, steps, until } from "./editor.mjs";
import { give } from "./keys.mjs";
import { writeVsix } from "./vsix.mjs";
import { World } from "./world.mjs";

const source = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const baseline = JSON.parse(fs.readFileSync(path.join(source, "manifests/baseline-extension.json"), "utf8"));
const modes = (process.env.BULKHEAD_MODES ?? "plain,compartments").split(",");
const PATIENCE = 25_000;

/**
 * An extension that says in the status bar how often it was pinged since it started, and what it may do
 * in some folders: "app=rw other=-".
 */
function extension(name, { folders = [], asks, otherwise = "deny", version = "1.0.0", network } = {}) {
  const command = (title) => ({ command: `${name}.${title.toLowerCase()}`, title: `${title} ${name}` });
  return {
    "package.json": JSON.stringify({
      publisher: "lifecycle",
      name,
      displayName: name,
      version,
      engines: { vscode: "^1.90.0" },
      main: "./extension.js",
      activationEvents: ["onStartupFinished"],
      contributes: { commands: [command("Ping"), command("Ask")] },
    }),
    "bulkhead.json": JSON.stringify({ ...baseline, $schema: undefined, otherwise, network, extension: `lifecycle.${name}` }),
    "extension.js": `"use strict";
const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");
const may = (act) => { try { act(); return true; } catch { return false; } };
exports.activate = (context) => {
  const item = vscode.window.createStatusBarItem("${name}", vscode.StatusBarAlignment.Left);
  let count = 0, asked = "";
  const show = () => {
    const rights = ${JSON.stringify(folders)}.map((folder) => {
      const read = may(() => fs.readFileSync(path.join(folder, "notes.txt")));
      const write = may(() => fs.writeFileSync(path.join(folder, "written"), ""));
      return path.basename(folder) + "=" + ((read ? "r" : "") + (write ? "w" : "") || "-");
    });
    item.text = ["${name}", count, ...rights, asked].join(" ");
    item.show();
  };
  show();
  context.subscriptions.push(item,
    vscode.commands.registerCommand("${name}.ping", () => { count += 1; show(); }),
    vscode.commands.registerCommand("${name}.ask", () => fs.readFile(${JSON.stringify(asks ?? "/")}, (error) => { asked = error ? "refused" : "allowed"; show(); })));
};
`,
  };
}

function writeFolder(folder, files) {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(folder, name), text);
  return folder;
}

function packaged(file, files) {
  const { name, version } = JSON.parse(files["package.json"]);
  writeVsix(file, {
    "extension.vsixmanifest": `<?xml version="1.0" encoding="utf-8"?><PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011"><Metadata><Identity Language="en-US" Id="${name}" Version="${version}" Publisher="lifecycle"/><DisplayName>${name}</DisplayName></Metadata><Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation><Dependencies/><Assets><Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/></Assets></PackageManifest>`,
    "[Content_Types].xml": `<?xml version="1.0" encoding="utf-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="json" ContentType="application/json"/><Default Extension="vsixmanifest" ContentType="text/xml"/></Types>`,
    ...Object.fromEntries(Object.entries(files).map(([each, text]) => [`extension/${each}`, text])),
  });
}

/** Every file of the server, and of its code what stands in it. */
function ofServer() {
  return new Map(fs.readdirSync(server, { recursive: true }).map((name) => {
    const file = path.join(server, name);
    const { mode, size, mtimeMs, ino } = fs.lstatSync(file);
    const text = name.startsWith("out/") && fs.statSync(file).isFile() ? createHash("sha256").update(fs.readFileSync(file)).digest("hex") : "";
    return [name, `${mode} ${size} ${mtimeMs} ${ino} ${text}`];
  }));
}

/** Every process: its parent, its command line, when it started. */
function processes() {
  const found = new Map();
  for (const name of fs.readdirSync("/proc").filter((each) => /^\d+$/.test(each))) {
    try {
      const stat = fs.readFileSync(`/proc/${name}/stat`, "latin1");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (fields[0] === "Z") continue;
      const words = fs.readFileSync(`/proc/${name}/cmdline`, "latin1").split("\0");
      found.set(Number(name), { parent: Number(fields[1]), started: fields[19], words });
    } catch {
      // It ended meanwhile.
    }
  }
  return found;
}

/** What runs below a process, and it: "pid started", so that a pid that is used again is another. */
function tree(root, all = processes()) {
  const pids = new Set([root]);
  for (let before = 0; before !== pids.size; ) {
    before = pids.size;
    for (const [pid, { parent }] of all) if (pids.has(parent)) pids.add(pid);
  }
  return [...pids].filter((pid) => all.has(pid)).map((pid) => `${pid} ${all.get(pid).started}`);
}

function stillThere(known) {
  const all = processes();
  return known.filter((each) => all.get(Number(each.split(" ")[0]))?.started === each.split(" ")[1]);
}

const isHost = ({ words }) => path.basename(words[0] ?? "") === path.basename(bulkhead) && words[1] === "host";

/** The supervisors below a server, but for those of VS Code's own extensions: pid → window. Init of a compartment has its supervisor's words. */
function hosts(root) {
  const all = processes();
  const below = new Set(tree(root, all).map((each) => Number(each.split(" ")[0])));
  const found = new Map();
  for (const [pid, each] of all) {
    if (!below.has(pid) || !isHost(each) || isHost(all.get(each.parent) ?? { words: [] })) continue;
    try {
      const environment = fs.readFileSync(`/proc/${pid}/environ`, "latin1");
      if (!/\0BULKHEAD_IDENTITY=[^\0]*"vscode\.emmet"/.test(`\0${environment}`)) found.set(pid, /(?:^|\0)BULKHEAD_WINDOW=([^\0]*)/.exec(environment)?.[1] ?? "");
    } catch {
      // It ended meanwhile.
    }
  }
  return found;
}

/** The extension hosts of a plain server. */
const plainHosts = (root) => {
  const all = processes();
  return tree(root, all).filter((each) => all.get(Number(each.split(" ")[0])).words.includes("--type=extensionHost"));
};

/** Between browser and server: a network that can break. */
async function network(to) {
  const sockets = new Set();
  let broken = false;
  const proxy = net.createServer((from) => {
    if (broken) return void from.destroy();
    const onward = net.connect(to, "127.0.0.1");
    for (const [one, other] of [[from, onward], [onward, from]]) {
      sockets.add(one);
      one.on("error", () => {});
      one.on("close", () => (sockets.delete(one), other.destroy()));
      one.pipe(other);
    }
  });
  await new Promise((resolve, reject) => proxy.once("error", reject).listen(0, "127.0.0.1", resolve));
  return {
    port: proxy.address().port,
    cut: () => {
      broken = true;
      for (const socket of sockets) socket.destroy();
    },
    mend: () => (broken = false),
    close: () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    },
  };
}

/** Another window of the same browser. */
async function openWindow(editor, address) {
  const view = Object.create(editor);
  view.page = await editor.page.context().newPage();
  await view.page.goto(address);
  await view.page.waitForSelector(".monaco-workbench .part.statusbar", { timeout: PATIENCE });
  return view;
}

const closeWindow = (view) => view.page.close({ runBeforeUnload: true });

/** The same, for as long as `act` takes: a window that is left over would count in later steps. */
async function inWindow(editor, address, act) {
  const view = await openWindow(editor, address);
  try {
    await act(view);
  } catch (error) {
    await view.photograph("another window");
    throw error;
  } finally {
    await closeWindow(view);
  }
}

const status = async (view) => (await view.page.locator(".part.statusbar .statusbar-item").allInnerTexts().catch(() => [])).map((text) => text.trim().replaceAll("\u00a0", " "));

/** Waits until an extension says this in its status bar item. */
async function says(view, text) {
  let texts = [];
  await until(() => `"${text}" in the status bar, which says ${texts.join(" | ")}`, async () => {
    texts = await status(view);
    return texts.some((each) => each === text || each.startsWith(`${text} `));
  }, PATIENCE);
}

/** All windows of a server have so many hosts, and this for a while. */
async function settled(editor, count) {
  let found = new Map();
  let same = 0;
  await until(() => `${count} hosts; there are ${found.size}, of the windows ${[...found.values()].join(" ")}`, () => {
    const before = [...found.keys()].join();
    found = hosts(editor.server.pid);
    same = found.size === count && before === [...found.keys()].join() ? same + 1 : 0;
    return same > 10;
  }, PATIENCE);
  return [...found.keys()].sort();
}

const toast = (view, text) => view.page.locator(".notifications-toasts .notification-list-item", { hasText: text }).first();

/** The page on which extensions are reviewed. */
const reviewPage = (view) => until("the button of the review", async () => {
  for (const frame of view.page.frames()) if (await frame.getByRole("button", { name: /^Allow/ }).count().catch(() => 0)) return frame;
  return undefined;
});

/** As in a terminal, while the server runs. */
function serverCommand(editor, ...words) {
  const folders = ["--server-data-dir", editor.data, "--extensions-dir", editor.extensions];
  execFileSync(node, [path.join(server, "out/server-main.js"), ...words, ...folders], { env: editor.world.environment(), stdio: "pipe" });
}

async function manage(view, name, action) {
  await view.command("Extensions: Show Installed Extensions");
  await view.page.locator(".extensions-list .monaco-list-row", { hasText: name }).first().click();
  await view.page.locator(".extension-editor .action-label", { hasText: new RegExp(`^${action}$`) }).first().click();
}

for (const mode of modes) {
  test(`lifecycle, ${mode}`, { timeout: 400_000 }, async (t) => {
    const plain = mode === "plain";
    const world = await World.create();
    const at = (name) => world.path(`home/projects/${name}`);
    const folders = ["app", "other", "third"].map(at);
    for (const each of folders) writeFolder(each, { "notes.txt": path.basename(each) });
    world.write("home/projects/asked", "asked");
    const installed = plain ? undefined : ofServer();
    let [editor, wire] = [];
    const step = steps(t, () => editor);
    try {
      const first = writeFolder(world.path("made/first"), extension("first", { asks: at("asked"), otherwise: "ask" }));
      const second = writeFolder(world.path("made/second"), extension("second", { folders }));
      editor = await Editor.start({
        mode,
        world,
        extensions: [first, second],
        before: (one) => {
          const { serve } = one;
          one.serve = async function () {
            await serve.call(this);
            this.direct = this.address;
            wire = await network(this.port);
            this.address = this.address.replace(`:${this.port}/`, `:${wire.port}/`);
          };
        },
      });
      await says(editor, "first 0");
      await says(editor, "second 0");
      const at_ = (address, query) => address.replace(/&(folder|workspace)=[^&]*/, query);

      // In plain there is one host for all, which may do everything.
      const settle = plain ? () => Promise.resolve([]) : (one, count) => settled(one, count);
      const may = (rights) => (plain ? "app=rw other=rw third=rw" : rights);
      const confined = plain ? () => Promise.resolve() : step;

      await confined("the launcher keeps no memory of what it prepared", () => {
        const peak = Number(/^VmHWM:\s+(\d+) kB$/m.exec(fs.readFileSync(`/proc/${editor.server.pid}/status`, "utf8"))[1]) / 1024;
        t.diagnostic(`the launcher took ${Math.round(peak)} MiB at most`);
        assert.ok(peak < 128, `${peak} MiB`);
      });

      await step("a reload ends the hosts and starts others", async () => {
        const before = tree(editor.server.pid).filter((each) => [...hosts(editor.server.pid).keys()].some((pid) => tree(pid).includes(each)));
        const asked = Date.now();
        await editor.reload();
        await until(() => `the end of ${stillThere(before)}`, () => stillThere(before).length === 0, 20_000);
        t.diagnostic(`the old hosts were gone ${Date.now() - asked} ms after the reload`);
        for (const name of ["first", "second"]) await says(editor, `${name} 0`);
        await settle(editor, 2);
      });

      let other;
      await step("a second window has hosts of its own, for its own folder", async () => {
        const before = await settle(editor, 2);
        other = await openWindow(editor, at_(editor.address, `&folder=${encodeURIComponent(at("other"))}`));
        await says(other, `second 0 ${may("app=- other=rw third=-")}`);
        const all = await settle(editor, 4);
        for (const pid of before) assert.ok(all.includes(pid), "the first window's go on");
        if (!plain) assert.equal(new Set(hosts(editor.server.pid).values()).size, 2);
        await editor.command("Ping second");
        await says(editor, `second 1 ${may("app=rw other=- third=-")}`);
      });

      await confined("a question is asked in its own window only", async () => {
        await editor.page.bringToFront();
        await editor.command("Ask first");
        await toast(editor, /asked/).waitFor({ timeout: PATIENCE });
        assert.equal(await toast(other, /asked/).count(), 0);
        await new Promise((resolve) => setTimeout(resolve, 1000));
        await give(editor.page, toast(editor, /asked/), "Once");
        await says(editor, "first 0 allowed");
        await says(other, "first 0");
        assert.ok(!(await status(other)).includes("first 0 allowed"));
      });

      await step("hosts end with their window", async () => {
        const mine = new Set(hosts(editor.server.pid).keys());
        const asked = Date.now();
        await other.page.close({ runBeforeUnload: true });
        const left = await settle(editor, 2);
        t.diagnostic(`its hosts were gone ${Date.now() - asked} ms after the window`);
        for (const pid of left) assert.ok(mine.has(pid));
        await editor.command("Ping first");
        await says(editor, "first 1");
      });

      await step("an empty window", async () => {
        await inWindow(editor, at_(editor.address, "&ew=true"), async (empty) => {
          await says(empty, `second 0 ${may("app=- other=- third=-")}`);
          await settle(editor, 4);
          await empty.command("Ping second");
          await says(empty, `second 1 ${may("app=- other=- third=-")}`);
        });
        await settle(editor, 2);
      });

      await step("a workspace of several folders, and one more", async () => {
        const file = at("all.code-workspace");
        const name = (...names) => fs.writeFileSync(file, JSON.stringify({ folders: names.map((each) => ({ path: each })) }));
        name("app", "other");
        await inWindow(editor, at_(editor.address, `&workspace=${encodeURIComponent(file)}`), async (several) => {
          await says(several, `second 0 ${may("app=rw other=rw third=-")}`);
          name("app", "other", "third");
          await says(several, `second 0 ${may("app=rw other=rw third=rw")}`);
        });
        await settle(editor, 2);
      });

      await confined("a second `bulkhead code` beside it", async () => {
        const beside = Object.create(editor);
        await Editor.prototype.serve.call(beside);
        try {
          await inWindow(beside, beside.address, async (view) => {
            await says(view, "second 0 app=rw");
            await settled(beside, 2);
          });
        } finally {
          const gone = new Promise((resolve) => beside.server.once("exit", resolve));
          process.kill(beside.server.pid, "SIGINT");
          await gone;
        }
        await editor.command("Ping second");
        await says(editor, "second 2");
        // Its pages are served with a cookie, which must not be the other server's now.
        const { origin, pathname } = new URL(editor.address);
        const answer = await editor.page.evaluate((url) => fetch(url).then(({ status }) => status), `${origin}${pathname}`);
        assert.equal(answer, 200, "the other server took the first one's token away");
      });

      await step("hosts live through a break of the network", async () => {
        await editor.command("Ping first");
        await says(editor, "first 2");
        const before = await settle(editor, 2);
        wire.cut();
        // The break's length, not a wait for something: the window tells of it late.
        await new Promise((resolve) => setTimeout(resolve, 8000));
        wire.mend();
        // It would try again by itself, later.
        await editor.page.getByRole("button", { name: /Reconnect Now|Retry/ }).first().click({ timeout: 1000 }).catch(() => {});
        await until("the connection", async () => (await editor.page.getByText(/attempting to reconnect|cannot reconnect|disconnected/i).count()) === 0, PATIENCE);
        await until("an answer", async () => {
          await editor.command("Ping first");
          return (await status(editor)).some((each) => /^first [3-9]/.test(each));
        }, PATIENCE);
        await editor.command("Ping second");
        await says(editor, `second ${plain ? 2 : 3} ${may("app=rw")}`);
        assert.deepEqual(await settle(editor, 2), before);
      });

      await step(`an extension that is installed starts without a reload${plain ? "" : ", once reviewed"}`, async () => {
        const before = await settle(editor, 2);
        const file = world.path("third.vsix");
        packaged(file, extension("third", { folders }));
        serverCommand(editor, "--install-extension", file);
        if (!plain) {
          await toast(editor, /third.*(first time|review|not run|new)/i).waitFor({ timeout: PATIENCE });
          assert.ok(!(await status(editor)).some((each) => each.startsWith("third")), "it runs before its review");
          const during = await settle(editor, 3);
          for (const pid of before) assert.ok(during.includes(pid), "the others go on");
          // VS Code takes it away after ten seconds, and keeps it in its list.
          if ((await toast(editor, /third/).count()) === 0) await editor.command("Notifications: Show Notifications");
          await editor.page.locator(".notification-list-item", { hasText: /third/ }).first().getByRole("button", { name: "Review" }).click({ delay: 1000 });
          await (await reviewPage(editor)).getByRole("button", { name: /^Allow/ }).first().click();
        }
        await says(editor, `third 0 ${may("app=rw")}`);
        await editor.command("Ping third");
        await says(editor, `third 1 ${may("app=rw")}`);
        for (const pid of before) assert.ok((await settle(editor, 3)).includes(pid), "the others go on");
      });

      // VS Code itself removes an extension that has run only when the window reloads.
      await step("disabled it ends, enabled it is back, uninstalled it is gone", async () => {
        await manage(editor, "third", "Disable");
        await until("its end to be offered", () => editor.page.locator(".extension-editor .action-label", { hasText: /^Reload Window$/ }).count());
        await editor.command("Explorer: Focus on Folders View");
        await editor.reload();
        const fewer = await settle(editor, 2);
        assert.ok(!(await status(editor)).some((each) => each.startsWith("third")));
        await manage(editor, "third", "Enable");
        await says(editor, "third 0");
        for (const pid of fewer) assert.ok((await settle(editor, 3)).includes(pid), "the others go on");
        serverCommand(editor, "--uninstall-extension", "lifecycle.third");
        await editor.command("Explorer: Focus on Folders View");
        await editor.reload();
        // The hosts of the page before may still be there.
        for (const name of ["first", "second"]) await says(editor, `${name} 0`);
        await settle(editor, 2);
      });

      await step("what was reviewed is not asked about when it comes again", async () => {
        const before = await settle(editor, 2);
        serverCommand(editor, "--install-extension", world.path("third.vsix"));
        await says(editor, "third 0");
        for (const pid of before) assert.ok((await settle(editor, 3)).includes(pid), "the others go on");
      });

      await step(`an update does not disturb what runs${plain ? "" : "; what it widens is read before it runs"}`, async () => {
        await settle(editor, 3);
        packaged(world.path("second.vsix"), extension("second", { folders, version: "1.1.0", network: ["example.com:443"] }));
        serverCommand(editor, "--install-extension", world.path("second.vsix"));
        await editor.command("Ping second");
        await until("an answer", async () => (await status(editor)).some((each) => /^second [1-9]\d*/.test(each)));
        await settle(editor, 3);
        await editor.reload();
        if (!plain) {
          await toast(editor, /second.*asks for more than you allowed/).waitFor({ timeout: PATIENCE });
          assert.ok(!(await status(editor)).some((each) => each.startsWith("second")), "it runs before its review");
          await toast(editor, /second/).getByRole("button", { name: "Review" }).click({ delay: 1000 });
          const page = await reviewPage(editor);
          assert.match(await page.locator("section.card").innerText(), /New with this version[^]*example\.com/);
          await page.getByRole("button", { name: /^Allow/ }).click();
        }
        await says(editor, `second 0 ${may("app=rw")}`);
        await settle(editor, 3);
      });

      await confined("an idle host takes next to no processor time", async () => {
        const pids = (await settled(editor, 3)).map(Number);
        const spent = () => pids.map((pid) => fs.readdirSync(`/proc/${pid}/task`).reduce((sum, task) => sum + Number(fs.readFileSync(`/proc/${pid}/task/${task}/schedstat`, "latin1").split(" ")[0]) / 1e6, 0));
        const samples = [spent()];
        while (samples.length < 5) {
          // A time to be measured, not a wait for something.
          await new Promise((resolve) => setTimeout(resolve, 3000));
          samples.push(spent());
        }
        // Who has just started is at work now and then; who never rests is so in every one of them.
        const each = pids.map((_, i) => samples.slice(1).map((now, at) => Math.round((now[i] - samples[at][i]) * 10) / 10).sort((a, b) => a - b));
        const said = `${each.map((four) => four.join(" ")).join(", ")} ms in 3 s`;
        t.diagnostic(said);
        assert.ok(Math.max(...each.map(([, second]) => second)) < 4, said);
        // It would look for ports in that time, by programs that it may not run (vscode/launcher/host.cjs).
        assert.deepEqual(editor.journal().filter(({ kind }) => kind === "run"), []);
      });

      const switchProfile = async (name) => {
        await editor.command("Profiles: Switch Profile...");
        await editor.pick(name);
        // VS Code moves the folder to the other profile, and the window with it.
        const loaded = editor.page.waitForEvent("load");
        await editor.page.locator(".monaco-dialog-box").getByRole("button", { name: "Reload" }).click({ timeout: PATIENCE });
        await loaded;
        await editor.page.waitForSelector(".explorer-folders-view .monaco-list-row", { timeout: PATIENCE });
      };
      await step("a profile has hosts for its own extensions", async () => {
        await settle(editor, 3);
        await editor.command("Profiles: New Profile...");
        const page = editor.page.locator(".profiles-editor");
        await page.locator("input[type=text]").first().fill("Work");
        await page.getByRole("radio", { name: "Use Settings from the Default" }).click();
        await page.locator(".monaco-button", { hasText: "Create" }).last().click();
        await page.locator(".monaco-list-row", { hasText: "Work" }).first().waitFor({ timeout: PATIENCE });
        await editor.page.locator(".modal-editor-part .codicon-close").first().click();
        // It may be on its way to the disk still.
        editor.page.locator(".monaco-dialog-box").getByRole("button", { name: "Save", exact: true }).click({ timeout: PATIENCE }).catch(() => {});
        await page.waitFor({ state: "hidden", timeout: PATIENCE });
        await switchProfile("Work");
        await settle(editor, 0);
        for (const name of ["first", "second", "third"]) assert.ok(!(await status(editor)).some((each) => each.startsWith(name)), name);
        await editor.photograph("profile");
        // A window that has just loaded does not have it yet, and the palette stays as it was when it was opened.
        await until("the command", () => editor.command("Extensions: Install from VSIX...").then(() => true, () => false), 70_000);
        // It fills itself in once it is there.
        await editor.rows().filter({ hasText: "projects" }).first().waitFor({ timeout: PATIENCE });
        await editor.typeInto(world.path("third.vsix"));
        await editor.rows().filter({ hasText: "third.vsix" }).first().waitFor({ timeout: PATIENCE });
        await editor.page.locator(".quick-input-widget").getByRole("button", { name: "Install" }).click({ timeout: PATIENCE });
        await says(editor, "third 0");
        await settle(editor, 1);
        await switchProfile("Default");
        for (const name of ["first", "second", "third"]) await says(editor, `${name} 0`);
        await settle(editor, 3);
      });

      if (plain) {
        await step("closing the window ends its hosts", async () => {
          // A program that the host starts looks like it until it executes.
          const known = await until("one host", () => {
            const found = plainHosts(editor.server.pid);
            return found.length === 1 && found;
          });
          const asked = Date.now();
          await editor.page.close({ runBeforeUnload: true });
          await until("the host's end", () => stillThere(known).length === 0, 20_000);
          t.diagnostic(`the host ended ${Date.now() - asked} ms after the window`);
        });
      }

      await confined("Ctrl-C ends everything", async () => {
        const known = tree(editor.server.pid);
        assert.ok(known.length > 10, `${known.length} processes`);
        const code = await editor.interrupt();
        assert.ok([0, 130, "SIGINT"].includes(code), `it ended with ${code}`);
        await until(() => `the end of ${stillThere(known)}`, () => stillThere(known).length === 0, 10_000);
        const sockets = path.join(world.runtime, "bulkhead/code");
        const left = fs.existsSync(sockets) ? fs.readdirSync(sockets, { recursive: true }) : [];
        assert.deepEqual(left, []);
        assert.deepEqual(fs.readdirSync(editor.data).filter((each) => each.startsWith("token")), []);
      });

      await confined("no file of the server has changed", () => {
        const now = ofServer();
        assert.ok(now.size > 1000, `${now.size} files`);
        assert.deepEqual([...new Set([...installed.keys(), ...now.keys()])].filter((name) => installed.get(name) !== now.get(name)), []);
      });
    } finally {
      wire?.close();
      await editor?.end();
      await world.destroy();
    }
  });
}
