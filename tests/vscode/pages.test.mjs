// Pages of extensions and the network: one tries every way out, each at a port of its own. First in plain VS Code, where they get
// out (or the test proves nothing), then in compartments, where nobody is asked and nothing may arrive. Honest pages work.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import dgram from "node:dgram";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { attack, provoke, started } from "./attack.mjs";
import { Editor, steps, until } from "./editor.mjs";
import { World } from "./world.mjs";

const fixture = path.join(path.dirname(fileURLToPath(import.meta.url)), "extensions/pages");
/** What plain VS Code, or this browser, does not let out either: it proves nothing, and stays tried. */
const SILENT = ["object", "embed", "popup", "ownWorker", "long", "modulepreload", "prefetch", "outerFetch", "outerImage", "outerLeaves"];
/** Ways after which a page tries no others: where the browser keeps it in, it ends it, or shows nothing in its place. */
const ENDS = /rtc$|^leaves|^outer(?:Leaves|Form)/i;

/** A port of TCP and UDP that notices whoever comes. */
async function listen(came) {
  const tcp = net.createServer((socket) => {
    came();
    socket.on("error", () => {});
    socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nAccess-Control-Allow-Origin: *\r\nConnection: close\r\n\r\n"));
  });
  const udp = dgram.createSocket("udp4", came);
  await new Promise((resolve) => tcp.listen(0, "127.0.0.1", resolve));
  const { port } = tcp.address();
  await new Promise((resolve, reject) => udp.once("error", reject).bind(port, "127.0.0.1", resolve));
  return { port, close: () => (tcp.close(), udp.close()) };
}

/**
 * A browser that nobody drives: it connects in advance, as people's do, and where it ends a page that tried WebRTC, Playwright
 * would take that for the end of the window around it. The window before it, and its host, are gone.
 */
async function browseAlone(world, editor) {
  const ready = () => world.read("home/projects/app/.proof/pages.ready");
  await editor.page.goto("about:blank");
  await until("nobody to listen", async () => {
    provoke(world, "pages", "nothing");
    await new Promise((resolve) => setTimeout(resolve, 1000));
    return world.read("home/projects/app/.proof/pages.go") !== undefined;
  });
  fs.rmSync(world.path("home/projects/app/.proof/pages.go"));
  await editor.browser.close();
  const before = ready();
  const browser = spawn(process.env.BULKHEAD_CHROMIUM ?? "/usr/bin/chromium", ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--window-size=1280,900",
    `--user-data-dir=${world.path("profile")}`, "--remote-debugging-port=0", editor.address], { stdio: "ignore", detached: true });
  await until("the next window's host", () => ready() !== before, 60_000);
  return async () => {
    const gone = new Promise((resolve) => browser.once("exit", resolve));
    process.kill(-browser.pid, "SIGTERM");
    await gone;
  };
}

for (const mode of (process.env.BULKHEAD_MODES ?? "plain,compartments").split(",")) {
  test(`pages, ${mode}`, { timeout: 300_000 }, async (t) => {
    const world = await World.create();
    const ports = {};
    const listening = [];
    const came = new Set();
    let editor;
    let close = async () => {};
    const step = steps(t, () => editor);
    try {
      world.write("home/projects/app/.proof/facts.json", JSON.stringify({ ...world.facts(), ports }));
      editor = await Editor.start({ mode, world, extensions: [fixture] });
      await started(world, "pages");
      if (mode !== "plain") await step("this browser keeps pages off the network", async () => {
        const [found, took] = await editor.page.evaluate(async () => [await globalThis.bulkhead.keepsPages({ runningLocation: { affinity: 1 } }), performance.getEntriesByType("resource").filter(({ name }) => name.includes("page-trial")).map(({ startTime, responseEnd }) => [startTime, responseEnd])]);
        assert.equal(found, "yes");
        t.diagnostic(`trial: ${JSON.stringify(took)} ms`);
      });
      const tell = (more) => world.write("home/projects/app/.proof/facts.json", JSON.stringify({ ...world.facts(), ports, ...more }));
      let names;
      await step("an honest page works", async () => {
        const { value, error } = await attack(world, "pages", "names");
        const answer = JSON.parse(value ?? JSON.stringify({ error }));
        assert.deepEqual(answer.honest, {
          fetch: "200 true", image: "loaded", data: "loaded", blob: "loaded", eval: "2", wasm: "made", worker: "works", storage: "b", base: "set",
          rtc: mode === "plain" ? "function" : "undefined",
        }, JSON.stringify(answer));
        ({ names } = answer);
      });
      await step("a link that nobody clicked", async () => {
        const opened = [];
        editor.context.on("page", (page) => opened.push(page));
        const listener = await listen(() => came.add("link unclicked"));
        listening.push(listener);
        came.clear();
        tell({ links: [`http://127.0.0.1:${listener.port}/${world.mark}`] });
        provoke(world, "pages", "links");
        // A hand was on the keys just now, and the browser opens what it opens.
        await editor.page.locator(".part.statusbar").click();
        await until("the page", async () => (await editor.page.locator(".tab.active", { hasText: "Proof" }).count()) > 0);
        const dialog = editor.page.locator(".monaco-dialog-box", { hasText: "open the external website" });
        if (mode === "plain") await until("the address", () => came.size > 0 || opened.length > 0, 15_000);
        else {
          await dialog.waitFor({ timeout: 30_000 });
          assert.ok((await dialog.innerText()).includes(world.mark));
          await editor.page.keyboard.press("Escape");
          assert.deepEqual([[...came], opened.length], [[], 0]);
        }
      });
      await step(mode === "plain" ? "one that wants to gets out" : "no page gets out", async () => {
        for (const way of names) {
          const port = await listen(() => came.add(way));
          listening.push(port);
          ports[way] = port.port;
        }
        const last = names.filter((way) => ENDS.test(way));
        const told = [];
        close = await browseAlone(world, editor);
        for (const only of [names.filter((way) => !last.includes(way)), ...last.map((way) => [way])]) {
          // The first says when it is done, however busy the machine is.
          tell({ only, longest: only.length > 1 ? 50_000 : 4000 });
          fs.rmSync(world.path("home/projects/app/.proof/pages.ways.json"), { force: true });
          told.push(await attack(world, "pages", "ways"));
        }
        const missing = () => names.filter((way) => !came.has(way) && !SILENT.includes(way));
        if (mode === "plain") await until(() => `${missing()}; ${JSON.stringify(told)}`, () => missing().length === 0, 10_000);
        else {
          await new Promise((resolve) => setTimeout(resolve, 1000));
          assert.deepEqual([...came], [], JSON.stringify(told));
          assert.match(told[0].value, /"reason":"done"/, "it lived to try them all");
        }
      });
    } finally {
      await close();
      for (const each of listening) each.close();
      await editor?.end();
      await world.destroy();
    }
  });
}
