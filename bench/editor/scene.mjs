// One editor to measure, plain or with compartments: the proofs' editor (tests/vscode/editor.mjs), with watches in
// its server (stamp.cjs), its extensions (tool/, trivial/) and its page.
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Editor, SETTINGS as QUIET, until } from "../../tests/vscode/editor.mjs";
import { World } from "../../tests/vscode/world.mjs";
import { children, countNotifications, cpu, memoryOf, nameOf, tree, wordsOf } from "./processes.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const SETTINGS = { "editor.quickSuggestions": { other: "on", comments: "on", strings: "on" }, "files.autoSave": "off" };
const MEGABYTE = 1 << 20;
const PATIENCE = 120_000;
const USED = 15_000; // milliseconds; vscode/launcher/compile_cache.cjs writes after ten seconds

export const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length === 0 ? undefined : sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
};
export const quantile = (values, part) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))];
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Runs in the page, before VS Code's own code. Times are milliseconds since the page was asked for. */
function watchPage() {
  if (window !== top) return;
  const bench = (globalThis.bench = {});
  const look = () => {
    if (document.querySelector(".monaco-workbench .part.statusbar")) bench.workbench ??= performance.now();
    for (const item of document.querySelectorAll(".statusbar-item")) if (item.textContent.includes("Bench Tool is here")) bench.item ??= performance.now();
    if (bench.item === undefined) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
  /** From the next key that is no modifier until the editor's lines hold `wanted`, or else until their text has another length. */
  bench.arm = (wanted) => {
    const lines = document.querySelector(".editor-group-container.active .monaco-editor .view-lines");
    const before = lines.textContent.length;
    bench.pending = new Promise((resolve) => {
      let pressed;
      const press = (event) => {
        if (["Control", "Shift"].includes(event.key)) return;
        pressed = event.timeStamp;
        removeEventListener("keydown", press, true);
      };
      addEventListener("keydown", press, true);
      const observer = new MutationObserver(() => {
        const text = lines.textContent.replaceAll("\u00a0", " ");
        if (pressed === undefined || (wanted ? !text.includes(wanted) : text.length === before)) return;
        observer.disconnect();
        resolve(performance.now() - pressed);
      });
      observer.observe(lines, { subtree: true, childList: true, characterData: true });
    });
  };
}

class Watched extends Editor {
  async open(address) {
    await this.page.addInitScript(watchPage);
    await super.open(address);
  }
}

export class Scene {
  #before = 0; // stamps of the use before

  /**
   * @param {"plain" | "compartments"} mode
   * @param {{ tool?: boolean, trivial?: number }} extensions with the tool, the editor has been used before
   * @param {(scene: Scene) => void} began told before anything is started
   */
  static async start(mode, { tool = false, trivial = 0 }, began = () => {}) {
    const scene = new Scene();
    const world = (scene.world = await World.create());
    const editor = (scene.editor = new Watched());
    began(scene);
    try {
      const forks = (scene.forks = world.path("forks"));
      const environment = world.environment.bind(world);
      world.environment = () => ({ ...environment(), NODE_OPTIONS: `--require=${path.join(here, "stamp.cjs")}`, BULKHEAD_BENCH_FORKS: forks });
      world.write("home/projects/app/text.bench", `formatted 0 times\n\n${"A line that is there to be there.\n".repeat(300)}`);
      Object.assign(editor, { mode, world, options: [], keepsPort: true, log: "", data: world.path("data"), extensions: world.path("extensions") });
      world.write("data/data/User/settings.json", JSON.stringify({ ...QUIET, ...SETTINGS }));
      fs.mkdirSync(editor.extensions, { mode: 0o700 });
      if (tool) editor.install(path.join(here, "tool"));
      scene.trivial = Array.from({ length: trivial }, (_, i) => `trivial-${i}`);
      for (const name of scene.trivial) editor.install(path.join(here, "trivial"), (packaged) => ({ ...packaged, name }));
      await editor.serve();
      if (tool) {
        // Used once before, as an editor is: copies are made, and what may be kept of compiled code is.
        await editor.browse();
        await until("the tool's code", () => scene.#stamps().length > 0, PATIENCE);
        await pause(USED);
        editor.kept = await editor.storage();
      }
      if (tool || !scene.plain) {
        await editor.end();
        Object.assign(editor, { serverEnded: false, log: "" });
        scene.#before = scene.#stamps().length;
        await editor.serve();
      }
      await editor.browse();
      for (const name of scene.trivial) await until(`bench.${name}`, () => world.read(`home/projects/app/.bench/bench.${name}`) !== undefined, PATIENCE);
    } catch (error) {
      await scene.end();
      throw new Error(`${error.message}\n${editor.log.slice(-3000)}`, { cause: error });
    }
    return scene;
  }

  get plain() {
    return this.editor.mode === "plain";
  }

  async end() {
    try {
      await this.editor.end();
    } finally {
      await this.world.destroy();
    }
  }

  /** At once, for when this process itself is ending. */
  abandon() {
    if (this.editor.server?.pid) this.editor.signalGroup("SIGKILL");
    for (const pid of this.world.processes()) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It ended meanwhile.
      }
    }
    fs.rmSync(this.world.root, { recursive: true, force: true, maxRetries: 5 });
  }

  // ---- processes ----

  /** Every `bulkhead host` of this server; in plain code-server its one extension host. */
  hosts() {
    return tree(this.editor.server.pid).filter((pid) => {
      const words = wordsOf(pid);
      return this.plain ? words.includes("--type=extensionHost") : path.basename(words[0]) === "bulkhead" && words[1] === "host" && nameOf(pid) !== "bulkhead-init";
    }).filter((pid, _, all) => !all.some((other) => other !== pid && tree(other).includes(pid)));
  }

  /** Waits until memory stands still: extension hosts give a part of it back after their start. */
  async settle() {
    let last = 0;
    for (let still = 0, tries = 0; still < 3 && tries < 20; tries += 1) {
      await pause(2000);
      const { pss } = memoryOf(tree(this.editor.server.pid));
      still = Math.abs(pss - last) < 0.01 * pss ? still + 1 : 0;
      last = pss;
    }
  }

  /** Megabytes of everything beside the browser, and of a host: its supervisor, init, and Node with its children. */
  memory() {
    const megabytes = (pids) => {
      const { pss, own } = memoryOf(pids);
      return { pss: pss / MEGABYTE, own: own / MEGABYTE };
    };
    const whole = megabytes(tree(this.editor.server.pid));
    const hosts = this.hosts().map((pid) => {
      const init = this.plain ? [] : children(pid).filter((child) => nameOf(child) === "bulkhead-init");
      const rest = this.plain ? tree(pid) : init.flatMap(children).flatMap(tree);
      return { all: megabytes(tree(pid)), supervisor: megabytes(this.plain ? [] : [pid]), init: megabytes(init), node: megabytes(rest) };
    });
    return { whole, hosts };
  }

  /** What the one host does in that time while nobody does anything. */
  async idle(seconds) {
    const [host] = this.hosts();
    const programs = this.plain ? tree(host) : children(host).flatMap(children).flatMap(tree);
    const used = (pids) => pids.reduce((sum, pid) => sum + cpu(pid), 0);
    const recorded = () => this.editor.journal("--subject", "bench.trivial-0").reduce((sum, line) => sum + line.count, 0);
    const before = { journal: recorded(), supervisor: cpu(host), programs: used(programs) };
    const counter = this.plain ? undefined : countNotifications(host);
    await pause(seconds * 1000);
    const after = { supervisor: cpu(host), programs: used(programs) };
    const notifications = counter?.stop();
    return {
      notifications: notifications?.count,
      noisySeconds: notifications?.seconds,
      journal: this.plain ? undefined : recorded() - before.journal,
      supervisorCpu: this.plain ? undefined : (after.supervisor - before.supervisor) * 1000,
      hostCpu: (after.programs - before.programs) * 1000,
    };
  }

  // ---- the start of the tool's host ----

  #stamps() {
    const folder = path.join(this.world.workspace, ".bench");
    return !fs.existsSync(folder) ? [] : fs.readdirSync(folder).filter((name) => /^tool-.*\.json$/.test(name)).map((name) => JSON.parse(fs.readFileSync(path.join(folder, name), "utf8"))).sort((a, b) => a.evaluated - b.evaluated);
  }

  /** Milliseconds from the server's fork to each step of the tool's latest host, the count-th since the start. */
  async start(count) {
    const stamp = await until(() => "the tool's code", () => this.#stamps()[this.#before + count - 1], PATIENCE);
    const notes = fs.readFileSync(this.forks, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
    const pid = await this.#pidOfTool();
    const forked = notes.findLast((note) => note.pid === pid && note.forked).forked;
    return {
      told: notes.findLast((note) => note.pid === pid && note.told).told - forked,
      node: stamp.origin - forked,
      ready: stamp.marks["code/extHost/willConnectToRenderer"] - forked,
      initialData: stamp.marks["code/extHost/didWaitForInitData"] - forked,
      evaluated: stamp.evaluated - forked,
    };
  }

  /** The server's child that is the tool's host, or its supervisor. The tool's scene has one. */
  async #pidOfTool() {
    return until(() => `one host; there are ${this.hosts()}`, () => (this.hosts().length === 1 ? this.hosts()[0] : 0));
  }

  /** Ends the tool's host, which the workbench starts again. */
  async restart() {
    if (this.plain) {
      process.kill(this.hosts()[0], "SIGKILL"); // the command for it exists on the desktop only
      return;
    }
    const pid = await this.#pidOfTool();
    const folder = path.join(this.world.runtime, "bulkhead/code");
    const [socket] = fs.readdirSync(folder).map((window) => path.join(folder, window, `${pid}.sock`)).filter((file) => fs.existsSync(file));
    await new Promise((resolve, reject) => {
      const connection = net.connect(socket, () => connection.end('{"type":"end"}\n'));
      connection.on("error", reject).on("close", resolve).resume();
    });
  }

  // ---- what a person waits for ----

  /** Milliseconds from asking for the page to its workbench, and to the tool's status bar item. */
  async window() {
    return until("the status bar item", () => this.editor.page.evaluate(() => globalThis.bench.item && { workbench: globalThis.bench.workbench, item: globalThis.bench.item }), PATIENCE);
  }

  async #press(key, wanted) {
    const { page } = this.editor;
    await page.evaluate((text) => globalThis.bench.arm(text), wanted);
    await page.keyboard.press(key);
    let late;
    const patience = new Promise((_, reject) => {
      late = setTimeout(() => reject(new Error(`${key}: nothing was seen in the page for 30 s`)), 30_000);
    });
    try {
      return await Promise.race([page.evaluate(() => globalThis.bench.pending), patience]);
    } finally {
      clearTimeout(late);
    }
  }

  async openText() {
    await this.editor.openFile("text.bench");
    // Away from where the tool's formatter writes.
    await this.editor.page.locator(".editor-group-container.active .view-lines").click();
    await this.editor.page.keyboard.press("Control+Home");
    await this.editor.page.keyboard.press("ArrowDown");
  }

  /** Milliseconds from the key of Format Document to the formatted line in the page, each time. */
  async format(count) {
    const times = [];
    // The first asks who formats at all.
    for (let i = 1; i <= count + 1; i += 1) times.push(await this.#press("Control+Shift+KeyI", `formatted ${i} times`));
    return times.slice(1);
  }

  /** Milliseconds from each key to its letter in the page. */
  async type(count) {
    const times = [];
    for (let i = 0; i < count; i += 1) {
      if (i > 0 && i % 48 === 0) {
        // A new line before the page has to scroll sideways; without what is suggested.
        await this.editor.page.keyboard.press("Escape");
        await this.editor.page.keyboard.press("Enter");
        await pause(500);
      }
      times.push(await this.#press(i % 8 === 7 ? "Space" : "wordage"[i % 8]));
      await pause(60); // a fast typist
    }
    return times;
  }
}
