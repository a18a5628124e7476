// What each malicious extension of extensions/ tries, what success looks like from outside, and what the
// journal must name when it fails. An effect is never what an attack says of itself: it is a secret in its
// hands, a file outside that changed, a message that arrived.
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { until } from "./editor.mjs";

/** Where the effect is in the answer, a later answer may have it. @typedef {{ effect: (seen: Seen) => boolean | Promise<boolean>, journal: string[], answers?: boolean, late?: boolean, works?: boolean, refused?: RegExp, step?: (seen: Seen) => Promise<void>, meanwhile?: (seen: Omit<Seen, "answer">) => Promise<void> }} Probe */
/** @typedef {{ world: import("./world.mjs").World, editor: import("./editor.mjs").Editor, answer: {value?: string, error?: string}, mark: string }} Seen */

const text = (file) => {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return "";
  }
};

/** The extension holds a secret. */
const leaks = (...journal) => ({ effect: ({ world, answer }) => world.stolen(answer.value ?? "").length > 0, journal, answers: true });
/** Somebody outside stole the key for it. */
const loots = (...journal) => ({ effect: ({ world, mark }) => world.stolen(text(path.join(world.loot, mark))).length > 0, journal, late: true });
/** Something arrived at a listener. */
const sends = (...journal) => ({ effect: ({ world, mark }) => world.received().some((message) => message.text.includes(mark)), journal, late: true });
/** The key arrived there. */
const delivers = (...journal) => ({ effect: ({ world }) => world.received().some((message) => world.stolen(message.text).length > 0), journal, late: true });
/** The workbench stands in a frame of somebody's, and can be clicked in. */
const frames = (...journal) => ({
  effect: async ({ editor }) => {
    for (const frame of editor.page.frames().slice(1)) if (await frame.locator(".monaco-workbench").count().catch(() => 0)) return true;
    return false;
  },
  journal,
  late: true,
});
/** A page of somebody else's shows what the attack wrote. */
const shows = (...journal) => ({
  effect: async ({ editor, mark }) => {
    for (const frame of editor.page.frames()) if (await frame.getByText(`heard ${mark}`).count().catch(() => 0)) return true;
    return false;
  },
  journal,
  late: true,
});
/** Or is at an address of its choice. */
const leads = (...journal) => ({ effect: ({ editor, mark }) => editor.page.frames().some((frame) => frame.url().includes(mark)), journal, late: true });
/** A file outside holds what the attack wrote. */
const writes = (file, what, ...journal) => ({ effect: ({ world }) => text(world.path(file)).includes(what), journal });
const makes = (file, ...journal) => ({ effect: ({ world }) => fs.existsSync(world.path(file)), journal });
const removes = (file, ...journal) => ({ effect: ({ world }) => !fs.existsSync(world.path(file)), journal });
/** What the victim holds, its token and its state, is the attack's. */
const plants = (which) => ({
  effect: ({ world, mark }) => world.read("home/projects/app/.proof/victim.holds").split(" ")[which] === createHash("sha256").update(mark).digest("hex"),
  journal: ['vscode "proof.victim"'],
  late: true,
});
const says = (pattern, ...journal) => ({ effect: ({ answer }) => pattern.test(answer.value ?? ""), journal, answers: true });
const installs = (...journal) => ({
  effect: ({ editor }) => fs.readdirSync(editor.extensions).some((name) => name.startsWith("evil.sleeper")),
  journal,
});
/** The object that all others of the window are like has something of it. */
const pollutes = (name, ...journal) => ({
  effect: ({ editor }) => editor.page.evaluate((name) => Object.getOwnPropertyDescriptor(Object.prototype, name)?.value === "here", name),
  journal,
  late: true,
});
/** The whole window obeys a rule of its style. */
const styles = (name) => ({
  effect: ({ editor }) => editor.page.locator(".monaco-workbench").first().evaluate((element, name) => getComputedStyle(element).getPropertyValue(`--proof-${name}`).trim() === "here", name),
  journal: [],
  late: true,
});
/** A person has the types installed that a document lacks. */
async function picksInstallation({ editor, world, mark }) {
  const offer = editor.page.locator(".action-widget .monaco-list-row", { hasText: "Install '@types/node'" }).first();
  await until(`the offer, in ${mark}`, async () => {
    if (!(await editor.page.locator(".tab.active", { hasText: "deputy.ts" }).count())) return false;
    await editor.page.keyboard.press("Escape");
    await editor.page.keyboard.press("Control+.");
    return offer.waitFor({ timeout: 4000 }).then(() => true, () => false);
  }, 60_000);
  await editor.page.keyboard.press("Enter");
  await until("npm", () => world.read("home/projects/app/picked/npm-ran"), 60_000);
}

/** The user does something, and then it shows. */
const when = (step, probe) => ({ ...probe, step });

/** The user does something while the probe waits for it. */
const during = (act, probe) => ({ ...probe, meanwhile: act });

/** What goes on working in compartments. */
const works = (probe) => ({ ...probe, works: true });

/** It hears of its refusal as the API has it, and goes on as honest extensions do. */
const refuses = (probe, refused = /^NoPermissions \(FileSystemError\): NoPermissions /) => ({ ...probe, refused });
const forged = (probe) => refuses(probe, /speaks for an extension that is not in this compartment/);

/**
 * What is not there, or does nothing, cannot be clicked: that is a refusal too. In plain it comes, if late. A webview of a
 * process of its own hears of the button before the window hears that it has the focus, where a hand is too slow for that.
 */
const click = (editor, place) => place.first().click({ timeout: editor.mode === "plain" ? 20_000 : 5000, delay: 100 }).catch(() => {});

/** The link in a file that is open; none where it does not come. */
async function linkOf(editor) {
  const link = editor.page.locator(".editor-group-container.active .detected-link").first();
  return (await link.waitFor({ timeout: editor.mode === "plain" ? 20_000 : 5000 }).then(() => true, () => false)) ? link : undefined;
}

/** The link in a file is followed as people do. */
async function follow(editor, file) {
  await editor.openFile(file);
  const link = await linkOf(editor);
  if (!link) return;
  const { x, y, height } = (await link.boundingBox()) ?? { x: 0, y: 0, height: 0 };
  await editor.page.mouse.move(x + 5, y + height / 2);
  await editor.page.keyboard.down("Control"); // it looks otherwise now, and is another element; a click before that is none
  await editor.page.locator(".editor-group-container.active .detected-link-active").first().waitFor({ timeout: 10_000 }).catch(() => {});
  await editor.page.mouse.click(x + 8, y + height / 2, { delay: 100 });
  await editor.page.keyboard.up("Control");
}

/** The same in an input box, which goes then. */
async function clickInput(editor, text) {
  await editor.typeInto("y"); // some say what they think of it only then
  await click(editor, editor.page.locator(".quick-input-widget").getByText(text));
  await editor.page.keyboard.press("Escape");
}

/** The window has another folder, or a workspace of several. It gets its own back. */
const moves = (to, ...journal) => ({
  effect: async ({ world, editor }) => {
    const now = new URL(editor.page.url()).searchParams;
    if (to === "folder" ? now.get("folder") === world.workspace : !now.has(to)) return false;
    const host = world.read("home/projects/app/.proof/workspace.ready");
    await editor.reload();
    await until("the next host", () => world.read("home/projects/app/.proof/workspace.ready") !== host);
    return true;
  },
  journal,
  late: true,
});

/** In whichever webview shows it. */
const inFrame = (editor, text) => until(`a webview with ${text}`, async () => {
  for (const frame of editor.page.frames()) if (await frame.getByText(text).count().catch(() => 0)) return frame.getByText(text);
  return undefined;
});

/** What is to be stolen has to be there: plain code-server keeps it for as long as the page is loaded. */
const victimHasToken = ({ world }) => {
  world.write("home/projects/app/.proof/victim.token", world.secrets.victim);
  return until("the victim with its token", () => !fs.existsSync(world.path("home/projects/app/.proof/victim.token")));
};

async function opensNotebook({ editor }) {
  await editor.page.keyboard.press("Control+P");
  await editor.typeInto("report.ipynb");
  await editor.pick("report.ipynb");
}

/** Into a terminal of the victim's, which gets it. */
async function typesPassword({ world, editor }) {
  world.write("home/projects/app/.proof/victim.terminal", "");
  await editor.page.locator(".terminal-wrapper.active .xterm-rows").getByText("password:").waitFor({ timeout: 30_000 });
  await editor.page.locator(".terminal-wrapper.active .xterm-helper-textarea").focus();
  await editor.page.keyboard.type(world.secrets.victim);
  const typed = createHash("sha256").update(world.secrets.victim).digest("hex");
  await until("the victim's keys", () => world.read("home/projects/app/.proof/victim.typed") === typed);
}

/** Nothing saves by itself here: that would take the place of the user's save, and makes no fixes. */
async function saves({ editor }) {
  const dirty = editor.page.locator(".tab.active.dirty");
  await editor.openFile("style.css");
  await editor.page.keyboard.type(" ");
  await dirty.waitFor({ timeout: 60_000 });
  await editor.save();
  await dirty.waitFor({ state: "detached", timeout: 60_000 }).catch(async () => {
    throw new Error(`the save did not end; the window says: ${(await editor.allNotifications()).join(" | ")}`);
  });
}

/** A person picks the extension's theme. */
async function wearsFonts({ editor }) {
  await editor.command("Preferences: Color Theme");
  await editor.typeInto("Proof Fonts");
  await editor.pick("Proof Fonts");
}

/** @param {Omit<Seen, "answer">} seen */
const pressesEnter = async ({ editor }) => {
  for (let i = 0; i < 8; i += 1) {
    await new Promise((resolve) => setTimeout(resolve, 700));
    await editor.page.keyboard.press("Enter");
  }
};

const KEY = "read */.ssh/id_rsa";
const OTHER = "*/projects/other";

/** In this order: first what, in plain, loads the window anew, as long as that is quick. Late what shows a key to all. @type {{name: string, prepare?: (seen: Omit<Seen, "answer" | "mark">) => Promise<void> | void, probes: Record<string, Probe>}[]} */
export const WAYS = [
  {
    name: "workspace",
    probes: {
      openFolder: moves("folder", "vscode workspace-folders"),
      windowOpen: moves("folder", "vscode _files.windowOpen"),
      addFolder: moves("workspace", "vscode workspace-folders"),
      profile: {
        effect: async ({ editor }) => {
          const [, another] = editor.page.context().pages();
          await another?.close();
          return another !== undefined;
        },
        journal: ["vscode workbench.profiles.actions.createTemporaryProfile"],
        late: true,
      },
    },
  },
  {
    name: "documents",
    probes: { open: leaks(KEY), dots: leaks(KEY), remote: leaks(KEY), settings: says(/telemetry/, "read */data/User/settings.json"), show: leaks(KEY), symlink: leaks(KEY), schema: sends(), longName: makes("home/.ssh/authorized_keys", "write */.ssh/*") },
  },
  {
    name: "files",
    prepare: ({ world }) => {
      world.write("home/projects/other/deleted.txt", "still here\n");
      world.write("home/projects/app/.vscode/tasks.json", "{}\n");
    },
    probes: {
      // The home folder is the compartment's own: no key is there, and what it writes stays in it.
      read: refuses(leaks(KEY), /^EntryNotFound \(FileSystemError\): /),
      list: refuses(says(/notes\.txt/, `read ${OTHER}`)),
      write: writes("home/.bashrc", "files.write", "write */.bashrc"),
      create: refuses(makes("home/projects/other/files.create", `write ${OTHER}/files.create`)),
      createDirectory: refuses(makes("home/projects/other/files.createDirectory", `write ${OTHER}/files.createDirectory`)),
      copy: refuses(leaks(KEY)),
      copyOut: refuses(makes("home/projects/other/files.copyOut", `write ${OTHER}/files.copyOut`)),
      rename: refuses(leaks("write */.aws/credentials")),
      delete: refuses(removes("home/projects/other/deleted.txt", `write ${OTHER}/deleted.txt`)),
      symlink: leaks(KEY),
      folderLink: leaks(KEY),
      autosave: { ...writes("home/projects/app/.vscode/tasks.json", "files.autosave", "write */.vscode/tasks.json"), late: true },
      tmp: leaks("read /tmp/*"),
      edit: makes("home/projects/other/files.edit", `write ${OTHER}/files.edit`),
      editSave: writes("home/.profile", "files.editSave", "write */.profile"),
    },
  },
  {
    // What a person's saving does by itself.
    name: "on-save",
    probes: {
      // A window that has just started may not know of its fixes at the first time.
      own: works({ effect: async (seen) => seen.world.read("home/projects/app/style.css").includes("on-save.own") || (await saves(seen), false), journal: [] }),
      other: { ...when(saves, makes("home/projects/other/on-save.other", `write ${OTHER}/on-save.other`)), late: true },
      startup: { ...when(saves, writes("home/.bashrc", "on-save.startup", "write */.bashrc")), late: true },
    },
  },
  { name: "symlink-race", probes: { files: leaks(KEY), copy: leaks(KEY), system: leaks(KEY) } },
  {
    name: "search",
    prepare: ({ world, editor }) => {
      world.write("home/projects/app/private/diary.md", `# ${world.secrets.other}\n`);
      world.write("home/projects/app/guide.md", "# No secret\n");
      return editor.openFile("guide.md");
    },
    probes: { find: says(/notes\.txt/, `read ${OTHER}*`), symbols: leaks() },
  },
  { name: "tasks", probes: { shell: loots("vscode tasks"), process: loots("vscode tasks"), provider: loots("vscode tasks") } },
  {
    name: "terminal",
    probes: {
      shell: loots("vscode terminal"),
      send: loots("vscode terminal"),
      profile: when(async ({ editor }) => {
        await editor.command("Create New Terminal (With Profile)");
        await click(editor, editor.rows().filter({ hasText: "Proof profile" }));
        await editor.page.keyboard.press("Escape");
      }, loots("vscode terminal")),
      settings: writes("data/data/User/settings.json", "terminal.settings", "vscode settings-write-foreign"),
      environment: when(({ editor }) => editor.terminal("true"), loots("vscode terminal")),
    },
  },
  {
    name: "debug",
    prepare: ({ world }) =>
      world.write("home/projects/app/.vscode/launch.json", JSON.stringify({ version: "0.2.0", configurations: [{ type: "proof", request: "launch", name: "Configured" }] })),
    probes: {
      node: loots("vscode debug"),
      configuration: when(async ({ editor }) => {
        await editor.terminal("true");
        await editor.command("Debug: Start Debugging");
        // Refused, it waits for a debugger that is not heard.
        await new Promise((resolve) => setTimeout(resolve, 1500));
        if (editor.mode === "compartments") await editor.command("Debug: Stop");
      }, loots("vscode debug")),
      runInTerminal: loots("vscode debug"),
      adapter: loots("vscode debug"),
    },
  },
  {
    name: "deputies",
    probes: {
      installs: loots(),
      picked: during(picksInstallation, loots()),
      fetches: sends(),
    },
  },
  {
    name: "commands",
    prepare: (seen) => {
      const token = seen.world.secrets.other;
      seen.world.write("home/projects/other/profiles.json", JSON.stringify({ profiles: { default: { token }, description: token } }));
      return victimHasToken(seen);
    },
    probes: {
      ownSchema: works(says(/of the workspace/)), // from when on the JSON server listens
      schema: leaks(),
      schemaRound: leaks(),
      schemaScheme: leaks(),
      open: leaks(KEY),
      rawOpen: leaks(KEY),
      rawString: leaks(KEY),
      diff: leaks(KEY),
      focus: writes("home/projects/app/.git/config", "the focus moved"),
      types: works(says(/^\/\/ typed/)),
      sendSequence: loots("vscode terminal"),
      newWithCwd: says(/^ran$/, "vscode terminal"),
      runCommands: loots("vscode *"),
      dynamicVariable: loots("vscode workbench.action.chat.addDynamicVariable"),
      installExtension: installs("vscode workbench.extensions.installExtension"),
      remoteCli: installs("vscode _remoteCLI.manageExtensions"),
      victim: leaks("vscode commands-foreign"),
      disposed: loots("vscode workbench.action.terminal.*"),
      quickOpen: during(pressesEnter, loots("vscode workbench.action.quickOpen")),
      quickOpenLong: during(pressesEnter, loots("vscode workbench.action.quickOpen")),
      takeOver: during(({ editor }) => editor.command("File: New Untitled Text File"), says(/taken over/)),
      takeOverFamily: during(({ editor }) => editor.command("Terminal: Focus Terminal"), says(/taken over/)),
      behind: during(async ({ editor }) => {
        await new Promise((resolve) => setTimeout(resolve, 3000));
        await editor.command("File: New Untitled Text File");
      }, says(/New Untitled/)),
    },
  },
  {
    name: "paths",
    // Names and headings are what is stolen.
    prepare: async ({ world }) => {
      world.write(`home/projects/other/${world.secrets.other}`, "");
      world.write("home/projects/other/heading.md", `# ${world.secrets.other}\n`);
    },
    probes: {
      ...Object.fromEntries(["ownHtml", "ownCss", "ownMarkdown"].map((name) => [name, works(says(/first\.js/))])),
      ...Object.fromEntries(["html", "htmlFile", "htmlLink", "css", "cssLink", "markdown", "markdownLink", "heading"].map((name) => [name, leaks()])),
    },
  },
  {
    name: "secrets",
    prepare: victimHasToken,
    probes: {
      exports: leaks(),
      prototype: leaks(),
      logs: leaks("read */logs/*"),
      ids: { effect: ({ world, answer }) => answer.value === world.read("home/projects/app/.proof/victim.ids"), journal: [] },
    },
  },
  {
    name: "clipboard",
    prepare: ({ world, editor }) => editor.page.evaluate((secret) => navigator.clipboard.writeText(secret), world.secrets.clipboard),
    probes: {
      read: leaks("vscode clipboard"),
      paste: leaks("vscode clipboard"),
      snippet: leaks("vscode clipboard"),
      pasteAsText: leaks("vscode clipboard"),
      suggestion: during(async ({ world, editor }) => {
        world.write("home/projects/app/proof-paste.json", "");
        await editor.openFile("proof-paste.json");
        await editor.command("Trigger Suggest");
        await editor.page.locator(".suggest-widget").getByText("proofpaste").first().click();
        await until("the completion", async () => (await editor.text()).includes('"proof"'));
      }, leaks()),
      write: {
        effect: async ({ editor }) => (await editor.page.evaluate(() => navigator.clipboard.readText())).includes("http://evil.example"),
        journal: ["vscode clipboard"],
      },
      references: {
        effect: async ({ editor }) => (await editor.page.evaluate(() => navigator.clipboard.readText())).includes("evil.example/lines"),
        journal: ["vscode commands-foreign"],
        late: true,
      },
    },
  },
  {
    name: "settings",
    probes: {
      api: writes("data/data/User/settings.json", "settings.api", "vscode settings-write-foreign"),
      apiWorkspace: writes("home/projects/app/.vscode/settings.json", "settings.apiWorkspace", "vscode settings-write-foreign"),
      declared: leaks("vscode settings-shared"),
      shared: works({ effect: ({ world }) => world.read("home/projects/app/.proof/victim.account") === createHash("sha256").update(world.secrets.settings).digest("hex"), journal: [] }),
      family: writes("data/data/Machine/settings.json", "settings.family", "vscode settings-write-foreign"),
      // Before those that show settings over it.
      merged: writes("home/projects/app/.vscode/tasks.json", "settings.merged", "write */.vscode/tasks.json"),
      toggled: writes("data/data/User/settings.json", "renderControlCharacters", "vscode settings-write-foreign"),
      revealed: writes("data/data/User/settings.json", "proxyStrictSSL", "vscode revealSetting.edit true"),
      revealedRemote: writes("data/data/Machine/settings.json", "git.enabled", "vscode revealSetting.edit true"),
      filesTasks: writes("home/projects/app/.vscode/tasks.json", "settings.filesTasks", "write */.vscode/tasks.json"),
      nodeTasks: writes("home/projects/app/.vscode/tasks.json", "settings.nodeTasks", "write */.vscode*"),
      nodeLaunch: writes("home/projects/app/.vscode/launch.json", "settings.nodeLaunch", "write */.vscode*"),
      nodeSettings: writes("home/projects/app/.vscode/settings.json", "settings.nodeSettings", "write */.vscode*"),
      nodeSnippets: writes("home/projects/app/.vscode/x.code-snippets", "settings.nodeSnippets", "write */.vscode*"),
      nodeHooks: writes("home/projects/app/.github/hooks/x.json", "settings.nodeHooks", "write */.github*"),
      nodePackages: writes("home/projects/app/.npmrc", "settings.nodePackages", "write */.npmrc"),
      renamed: writes("home/projects/app/.vscode/settings.json", "settings.renamed", "write */.vscode*"),
      nodeUser: writes("data/data/User/settings.json", "settings.nodeUser", "* */data/User/settings.json"),
      userdata: says(/settings\.userdata/, "* *"),
    },
  },
  // Its manifest grants webviews: their local files must still be the compartment's own.
  {
    name: "webview",
    prepare: async ({ world, editor }) => {
      world.write("home/projects/app/.proof/victim.page", "");
      for (const whom of ["its extension", "its frame", "a frame of its frame"]) await inFrame(editor, `heard ${whom}`);
      if (editor.mode === "compartments") {
        await editor.command("Show Journal");
        await inFrame(editor, "What every host needs");
      }
      world.write("home/projects/app/.vscode/tasks.json", JSON.stringify({
        version: "2.0.0",
        tasks: [{ label: "proof", type: "shell", command: `cat ~/.ssh/id_rsa > '${world.loot}/webview.keys'`, group: { kind: "build", isDefault: true } }],
      }));
    },
    probes: {
      others: shows(),
      navigate: leads(),
      roots: leaks("read /"),
      symlink: leaks(KEY),
      token: says(/vscode-tkn=/),
      top: says(/monaco-workbench/),
      resource: leaks(),
      ownResource: leaks(),
      socket: says(/^open$/),
      keys: loots(),
      frame: frames(),
    },
  },
  // Every way there is: pages.test.mjs.
  { name: "webview-network", probes: { exfiltrate: sends(), image: sends() } },
  {
    name: "loopback",
    probes: { resource: leaks("read */token*"), token: says(/^\["[\w-]{10,}"\]$/, "read */token*"), parent: leaks(), version: says(/^200 /, "connect 127.0.0.1*") },
  },
  { name: "sockets", probes: { install: installs("vscode *"), connect: sends("write */code-server-ipc.sock") } },
  {
    name: "git-hooks",
    probes: {
      hook: makes("home/projects/app/.git/hooks/post-checkout", "write */.git/hooks/post-checkout"),
      config: writes("home/projects/app/.git/config", "git-hooks.config", "write */.git/config"),
      api: makes("home/projects/app/.git/hooks/pre-commit", "write */.git/hooks/pre-commit"),
      program: writes("home/projects/app/.git/config", "git-hooks.program", "write */.git/config*"),
      moved: makes("home/projects/app/.git/hooks/git-hooks.moved", "write */.git*"),
    },
  },
  { name: "theme", probes: { key: leaks(KEY), send: sends("connect 127.0.0.1*") } },
  {
    name: "node",
    prepare({ world }) {
      for (const file of [".mozilla/firefox/x/logins.json", ".config/google-chrome/Default/Cookies"]) world.write(`home/${file}`, world.secrets.other);
    },
    probes: {
      read: leaks(KEY),
      other: leaks(`read ${OTHER}/notes.txt`),
      firefox: leaks("read */.mozilla/firefox/x/logins.json"),
      chrome: leaks("read */google-chrome/Default/Cookies"),
      invisible: leaks(KEY),
      environment: leaks(),
      write: makes("home/projects/other/node.write", `write ${OTHER}/node.write`),
      startup: writes("home/.bashrc", "node.startup", "write */.bashrc"),
      symlink: leaks(KEY),
      hardlink: leaks("* */.ssh/id_rsa"),
      cat: leaks(KEY),
      catAbsolute: leaks(KEY),
      ownNode: leaks(),
      worker: leaks(KEY),
      binding: leaks(KEY),
      put: sends("connect 127.0.0.1*"),
      fetch: sends("connect *"),
      curl: sends("connect 127.0.0.1*"),
      socket: sends("connect 127.0.0.1*"),
      detached: loots(),
      parent: says(/node|bulkhead|server/),
    },
  },
  {
    name: "external",
    prepare: ({ world }) => world.write("home/projects/app/.proof/package/.npmrc", `registry=http://127.0.0.1:${world.collector.port}/\n`),
    probes: {
      openExternal: says(/true/, "vscode open-external"),
      simpleBrowser: sends("vscode open-external"),
      hover: when(async ({ editor }) => {
        await editor.page.locator(".statusbar").getByText("proof", { exact: true }).hover();
      }, sends()),
      spelt: when(({ editor }) => editor.page.locator(".statusbar").getByText("proof-spelt", { exact: true }).hover(), sends()),
      decoration: sends(),
      background: sends(),
      preview: sends("vscode commands-foreign"),
      notebook: sends("vscode notebooks"),
      problem: when(async ({ editor }) => {
        await editor.command("Problems: Focus on Problems View");
        await click(editor, editor.page.locator(".markers-panel").getByText("proof-web"));
      }, sends()),
      registry: sends(),
    },
  },
  {
    name: "links",
    prepare: ({ world, editor }) => {
      world.write("home/projects/app/hint.txt", "nothing\n");
      world.write("home/projects/app/bare.txt", `cat ~/.ssh/id_rsa > '${world.loot}/links.bare'\n`);
      world.write("home/projects/app/twice.sh", `#!/bin/sh\ncat ~/.ssh/id_rsa > '${world.loot}/links.twice'\n`);
      fs.chmodSync(world.path("home/projects/app/twice.sh"), 0o755);
      return editor.terminal("true");
    },
    probes: {
      message: when(({ editor }) => click(editor, editor.page.locator(".notifications-toasts").getByText("proof-message")), loots()),
      spelt: when(({ editor }) => click(editor, editor.page.locator(".notifications-toasts").getByText("proof-spelt")), loots()),
      escaped: when(({ editor }) => click(editor, editor.page.locator(".notifications-toasts").getByText("proof-escaped")), loots()),
      button: when(async ({ editor }) => {
        await editor.command("Explorer: Focus on Proof links View");
        await click(editor, editor.page.locator(".tree-explorer-viewlet-tree-view").getByText("proof-button"));
      }, loots()),
      problem: when(async ({ editor }) => {
        await editor.command("Problems: Focus on Problems View");
        await click(editor, editor.page.locator(".markers-panel").getByText("proof-problem"));
      }, loots()),
      prompt: when(({ editor }) => clickInput(editor, "proof-prompt"), loots()),
      validation: when(({ editor }) => clickInput(editor, "proof-validation"), loots()),
      status: when(async ({ editor }) => {
        await editor.openFile("style.css");
        await editor.page.locator('.statusbar-item[id="status.languageStatus"]').hover();
        await click(editor, editor.page.locator(".workbench-hover-container").getByText("proof-detail"));
      }, loots()),
      tooltip: when(async ({ editor }) => {
        await editor.page.locator(".statusbar").getByText("proof-tooltip", { exact: true }).hover();
        await click(editor, editor.page.locator(".workbench-hover-container").getByText("proof-tooltip-link"));
      }, loots()),
      statusBar: when(({ editor }) => click(editor, editor.page.locator(".statusbar").getByText("proof-status", { exact: true })), loots("vscode *")),
      bare: when(async ({ editor }) => {
        await editor.openFile("bare.txt");
        await editor.page.keyboard.press("Control+A");
        await click(editor, editor.page.locator(".statusbar").getByText("proof-bare", { exact: true }));
      }, loots()),
      twice: when(async ({ editor }) => {
        await editor.openFile("twice.sh");
        await editor.page.keyboard.press("Control+End");
        await editor.page.keyboard.type("proof");
        await editor.page.keyboard.press("Control+Space");
        await click(editor, editor.page.locator(".suggest-widget .monaco-list-row", { hasText: "proof-twice" }));
      }, loots()),
      name: when(async ({ editor }) => {
        await editor.page.keyboard.press("Control+End");
        await editor.page.keyboard.type("#");
        await click(editor, editor.page.locator(".notifications-toasts").getByText("proof-name"));
      }, loots()),
      markdown: when(({ editor }) => follow(editor, "raw.md"), loots()),
      hover: when(async ({ editor }) => {
        await editor.openFile("style.css");
        // Some parts of a line are empty: a colour is shown before its name.
        await editor.page.locator(".editor-group-container.active .view-line span span", { hasText: /\S/ }).first().hover();
        await click(editor, editor.page.locator(".monaco-hover").getByText("proof-hover-link"));
      }, loots()),
      hint: when(async ({ editor }) => {
        await editor.openFile("hint.txt");
        await editor.page.locator(".editor-group-container.active .view-line").getByText("proof-hint", { exact: true }).hover();
        await click(editor, editor.page.locator(".monaco-hover").getByText("proof-hint-link"));
      }, loots()),
      address: when(async ({ editor }) => {
        await editor.openFile("address.txt");
        await (await linkOf(editor))?.hover({ position: { x: 20, y: 5 } });
        await click(editor, editor.page.locator(".monaco-hover").getByText("proof-address-link"));
      }, loots()),
    },
  },
  {
    name: "declarations",
    prepare: ({ world, editor }) => {
      world.write("home/projects/app/.vscode/launch.json", JSON.stringify({ version: "0.2.0", configurations: [{ type: "proof-bare", request: "launch", name: "Bare" }] }));
      world.write("home/projects/app/guide.md", "# No secret\n");
      for (const name of ["schema", "registry"]) world.write(`home/projects/app/proof-${name}.json`, "{}\n");
      world.write("home/projects/app/picked.txt", `cat ~/.ssh/id_rsa > '${world.loot}/declarations.statusBarItem'\n`);
      return editor.terminal("true");
    },
    probes: {
      keybinding: when(({ editor }) => editor.page.keyboard.press("Control+Alt+Shift+J"), loots()),
      runCommands: when(({ editor }) => editor.page.keyboard.press("Control+Alt+Shift+K"), loots()),
      own: works(during(async ({ editor }) => {
        await editor.openFile("style.css"); // a terminal keeps most keys for itself
        await editor.page.keyboard.press("Control+Alt+Shift+L");
      }, says(/from its key/))),
      defaults: when(({ editor }) => editor.terminal("true"), loots()),
      declared: when(({ editor }) => editor.terminal("true"), loots()),
      prototype: pollutes("__lookupSetter__"),
      welcome: when(async ({ editor }) => {
        const view = editor.page.locator(".welcome-view-content");
        await until("its view", async () => {
          await click(editor, editor.page.locator(".activitybar").getByLabel("Proof Declarations"));
          return view.getByText("Welcome.").waitFor({ timeout: 5000 }).then(() => true, () => false);
        });
        await click(editor, view.getByText("proof-welcome-link"));
      }, loots()),
      step: when(async ({ editor }) => {
        await editor.command("Welcome: Open Walkthrough...");
        await editor.pick("Proof walkthrough");
        const page = editor.page.locator(".gettingStartedContainer");
        await page.getByText("Step one").first().waitFor();
        await click(editor, page.getByText("proof-step-link"));
      }, loots()),
      page: when(async ({ editor }) => {
        await editor.command("View: Toggle Primary Side Bar Visibility"); // narrow editors hide it
        // Escape, which every command begins with here, went back from it to all walkthroughs.
        await editor.command("Welcome: Open Walkthrough...");
        await editor.pick("Proof walkthrough");
        await click(editor, await inFrame(editor, "proof-page-link"));
      }, loots()),
      box: when(async ({ editor }) => click(editor, await inFrame(editor, "proof-box")), loots()),
      ownBox: works(during(async ({ editor }) => click(editor, await inFrame(editor, "proof-own-box")), says(/from its box/))),
      ownPage: works(during(async ({ editor }) => click(editor, await inFrame(editor, "proof-own-link")), says(/from its page/))),
      schema: when(({ editor }) => editor.openFile("proof-schema.json"), sends()),
      registry: when(({ editor }) => editor.openFile("proof-registry.json"), sends()),
      statusBarItem: when(async ({ editor }) => {
        await editor.openFile("picked.txt");
        await editor.page.keyboard.press("Control+A");
        await click(editor, editor.page.locator(".statusbar").getByText("proof-declared-item"));
      }, loots()),
      style: styles("style"),
      theme: styles("theme"),
      themeDefault: styles("default"),
      preview: when(async ({ editor }) => {
        await editor.openFile("guide.md");
        await editor.command("Markdown: Open Preview");
        await inFrame(editor, "No secret");
      }, sends()),
      debugger: when(({ editor }) => editor.command("Debug: Start Debugging"), loots()),
      snippet: during(async ({ world, editor }) => {
        await editor.page.evaluate((secret) => navigator.clipboard.writeText(secret), world.secrets.clipboard);
        await editor.openFile("style.css");
        await editor.command("Snippets: Insert Snippet");
        await editor.pick("proofsnippet");
        await until("the snippet", async () => (await editor.text()).includes("snippet:"));
      }, leaks()),
    },
  },
  {
    name: "listener",
    // A file of its own: of one that others opened, plain VS Code may think that its one host knows it ("document …
    // already exists!"), and tells it of no editor with it any more.
    async prepare({ world, editor }) {
      // The built-in extension for CSS finds a problem in each, and says what it is called.
      world.write("home/projects/app/near.css", "a { ownword: red }\n");
      world.write("home/projects/other/far.css", `.${world.secrets.other} { ${world.secrets.other}: red }\n`);
      for (const file of [`${world.workspace}/near.css`, `${world.other}/far.css`]) {
        await editor.openAnyFile(file);
        await editor.page.locator(".editor-group-container.active .squiggly-warning").first().waitFor({ timeout: 60_000 });
      }
      world.write("home/.ssh/id_listener", world.secrets.key);
      await editor.openAnyFile(path.join(world.home, ".ssh/id_listener"));
    },
    probes: {
      documents: leaks(),
      active: leaks(),
      visible: leaks(),
      own: works(says(/ownword/)),
      diagnostics: leaks(),
      symbols: leaks(`read ${OTHER}/far.css`),
    },
  },
  {
    name: "wire",
    prepare({ world, editor }) {
      world.write("data/data/User/mcp.json", JSON.stringify({ servers: { proof: { command: "true", env: { PROOF_KEY: world.secrets.other } } } }));
      world.write("home/.ssh/id_wire", "one\n");
      return editor.openAnyFile(path.join(world.home, ".ssh/id_wire"));
    },
    probes: {
      keys: during(typesPassword, leaks()),
      servers: leaks(),
      environ: refuses(leaks("read /proc")),
      tabs: says(/id_wire/),
      files: during(({ world }) => world.write("home/.ssh/id_wire", "two\n"), says(/id_wire/)),
      password: forged(leaks('vscode "proof.victim"')),
      stored: forged(leaks('vscode "proof.victim"')),
      shape: forged(leaks("vscode *publisher*")),
      history: leaks("vscode vscode-local-history"),
      edit: makes("home/made-by-edit.txt", "vscode *.$tryApplyWorkspaceEdit"),
      prototype: pollutes("__lookupGetter__", "vscode __proto__"),
      plantPassword: forged(plants(0)),
      plantStored: forged(plants(1)),
      command: during(({ editor }) => editor.command("Pay With Victim"), says(/^paid here$/, "vscode proofVictim.pay")),
    },
  },
  // What stays open, or lies over a text, is in the way of those before.
  { name: "notebook", probes: { output: when(opensNotebook, delivers()), preload: sends() } },
  // What is written into the window's own style sheets.
  { name: "style", prepare: ({ editor }) => editor.openFile("style.css"), probes: { decoration: styles("decoration"), part: styles("part"), file: styles("file"), badge: styles("badge"), font: when(wearsFonts, styles("font")) } },
];

/** What ends or stalls hosts: judged by whether the canary notices. */
export const ENDINGS = ["message", "loop", "hog", "crash"];
