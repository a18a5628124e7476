// What is refused before anything is served, and that `bulkhead doctor --code` says it too.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import os from "node:os";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { actorsOf, prepare } from "./prepare.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const published = path.resolve(process.env.BULKHEAD_CODE_SERVER ?? path.join(here, "../node_modules/code-server/lib/vscode"));
const SCRIPT = "out/vs/code/browser/workbench/workbench.js";
const source = fs.readFileSync(path.join(published, SCRIPT), "utf8");
const { codeServerVersion, version } = JSON.parse(fs.readFileSync(path.join(published, "product.json"), "utf8"));
const called = `code-server ${codeServerVersion} (VS Code ${version}): `;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "prepare-"));
test.after(() => fs.rmSync(folder, { recursive: true }));
const server = path.join(folder, "server");
fs.mkdirSync(path.join(server, path.dirname(SCRIPT)), { recursive: true });
for (const name of ["product.json", "package.json", "extensions", "node_modules", "out/server-main.js", "out/vs/workbench", path.join(path.dirname(SCRIPT), "workbench.html")])
  fs.symlinkSync(path.join(published, name), path.join(server, name));

function serve(/** @type {string} */ text) {
  fs.writeFileSync(path.join(server, SCRIPT), text);
}
const options = { server, state: path.join(folder, "state"), sockets: folder, bulkhead: "bulkhead", builtin: [] };
const prepared = () => prepare(options);

/** What no longer fits, and how a build is changed for that. */
const CHANGES = {
  edit: (/** @type {string} */ text) => text.replaceAll("get parentId(){", "get _arentId(){"),
  said: (/** @type {string} */ text) => text.replace(/(\$createWebviewPanel\()(?=(\w+,){4}\w+\)\{)/, "$1added,"),
  told: (/** @type {string} */ text) => text.replaceAll(".$acceptMarkersChange(", ".$acceptMarkersChange(0,"),
  settings: (/** @type {string} */ text) => text.replace(/"terminal\.[\w.]+":\{/g, '["terminal"]:{'),
  packages: (/** @type {string} */ text) => text.replaceAll('extensionPoint:"snippets"', 'extensionPoint:"snippet"'),
};
/** Serves a build with these changes. @param {(keyof typeof CHANGES)[]} names */
function change(...names) {
  let text = source;
  for (const name of names) {
    const before = text;
    text = CHANGES[name](text);
    assert.notEqual(text, before, name);
  }
  serve(text);
}

test("a version that we know is prepared", () => {
  serve(source);
  const launch = JSON.parse(fs.readFileSync(prepared(), "utf8"));
  assert.equal(launch.actors[9], "MainThreadCommands");
  for (const id of ["bulkhead.companion", "vscode.git", "github.copilot-chat", "ms-vscode.js-debug"]) {
    assert.ok(launch.shipped.includes(id), id);
    assert.match(fs.readFileSync(launch.workbench, "utf8").slice(0, 100_000), new RegExp(`"shipped":\\[[^\\]]*"${id}"`));
  }
});

test("what edited copies of VS Code's extensions require is found where it was published", () => {
  serve(source);
  const made = path.dirname(prepared());
  const copies = fs.realpathSync(path.join(made, "extensions"));
  let required = 0;
  for (const copy of fs.readdirSync(copies, { recursive: true, encoding: "utf8" })) {
    const file = path.join(copies, copy);
    if (!copy.endsWith(".js") || copy.startsWith("bulkhead.companion") || fs.realpathSync(file) !== file) continue;
    for (const [, name] of fs.readFileSync(file, "utf8").matchAll(/\brequire\("([^"]+)"\)/g)) {
      if (name === "vscode" || isBuiltin(name)) continue;
      const where = (/** @type {string} */ from) => createRequire(from).resolve(name);
      assert.equal(where(file), where(path.join(published, "extensions", copy)), `${copy} requires ${name}`);
      required += 1;
    }
  }
  assert.ok(required > 0);

  const link = path.join(made, "node_modules");
  for (const spoil of [() => {}, () => fs.symlinkSync("/nowhere", link), () => fs.mkdirSync(link)]) {
    fs.rmSync(link, { recursive: true });
    spoil();
    prepared();
    assert.equal(fs.readlinkSync(link), path.join(server, "node_modules"));
  }
});

test("what does not fit is refused, with what it is and of which version", () => {
  for (const [name, message] of /** @type {[keyof typeof CHANGES, RegExp][]} */ ([
    ["edit", /cannot be edited:\n {2}source-control: found 0 times/],
    ["said", /other arguments than bulkhead knows:\n {2}MainThreadWebviewPanels\.\$createWebviewPanel: found with 6 arguments, expected 5$/],
    ["settings", /none of terminal found/],
    ["packages", /no snippets found/],
  ])) {
    change(name);
    assert.throws(prepared, (error) => error instanceof Error && error.message.startsWith(called) && message.test(error.message), name);
  }
});

test("doctor tells all of it in advance", () => {
  change("edit", "said", "told", "settings", "packages");
  const done = spawnSync(process.execPath, [path.join(here, "start.mjs"), "--diagnose", "--server", server], { encoding: "utf8" });
  assert.equal(done.status, 1, done.stderr);
  for (const line of [
    /^code-server [\d.]+ \(VS Code [\d.]+\) in /,
    /\n {2}MISSING {2}source-control: /,
    /\n {2}UNKNOWN {2}settings: .*none of terminal found\n/,
    /\n {2}UNKNOWN {2}packages: .*no snippets found\n/,
    /\n {2}UNKNOWN {2}methods: .*\n {2}MainThreadWebviewPanels\.\$createWebviewPanel: .*\n {2}\$acceptMarkersChange: found with 2 arguments, expected 1\n/,
    /refuses this version/,
  ])
    assert.match(done.stdout, line);
});

test("a page that does not name the workbench, or an empty one, fits no more", () => {
  serve(source);
  const html = path.join(server, path.dirname(SCRIPT), "workbench.html");
  const page = fs.readFileSync(html, "utf8");
  fs.unlinkSync(html);
  try {
    for (const [text, times] of /** @type {[string, number][]} */ ([["", 0], [page.replaceAll("workbench.js", "other.js"), 0], [page + page, 2]])) {
      fs.writeFileSync(html, text);
      fs.rmSync(options.state, { recursive: true, force: true });
      assert.throws(prepared, (error) => error instanceof Error && error.message.startsWith(called) && error.message.includes(`workbench.js ${times} times, expected once`));
      const { status, stdout } = spawnSync(process.execPath, [path.join(here, "start.mjs"), "--diagnose", "--server", server], { encoding: "utf8" });
      assert.equal(status, 1);
      assert.match(stdout, new RegExp(`UNKNOWN  page: .* ${times} times`));
    }
  } finally {
    fs.rmSync(html);
    fs.symlinkSync(path.join(published, path.dirname(SCRIPT), "workbench.html"), html);
  }
});

test("methods that cannot be read are no internal error", () => {
  serve(source.slice(0, 1000));
  assert.throws(() => actorsOf(server), /^Error: the methods of this version of VS Code cannot be read: no table/);
});

test("a server whose own papers cannot be read says which", () => {
  serve(source);
  for (const [name, text, message] of /** @type {[string, string, RegExp][]} */ ([
    ["product.json", "{", /server\/product\.json: Expected property name/],
    ["package.json", "null", /server holds no VS Code server: package\.json names no version/],
    ["package.json", "{}", /package\.json names no version/],
  ])) {
    const file = path.join(server, name);
    fs.unlinkSync(file);
    fs.writeFileSync(file, text);
    const done = spawnSync(process.execPath, [path.join(here, "prepare.mjs"), JSON.stringify(options)], { encoding: "utf8" });
    fs.unlinkSync(file);
    fs.symlinkSync(path.join(published, name), file);
    assert.equal(done.status, 1);
    assert.match(done.stderr, message);
    assert.doesNotMatch(done.stderr, /\n +at /);
  }
  fs.unlinkSync(path.join(server, "package.json"));
  assert.throws(prepared, /package\.json is missing/);
  fs.symlinkSync(path.join(published, "package.json"), path.join(server, "package.json"));
});

test("what was left half written is made anew, and goes", () => {
  serve(source);
  const made = path.dirname(prepared());
  const launch = fs.readFileSync(path.join(made, "launch.json"), "utf8");
  fs.writeFileSync(path.join(made, "launch.json"), "");
  fs.writeFileSync(path.join(made, "workbench.js.4194305"), "half"); // of a process that there cannot be
  fs.mkdirSync(path.join(made, "extensions.4194305/bulkhead.companion"), { recursive: true });
  assert.equal(fs.readFileSync(prepared(), "utf8"), launch);
  const left = () => fs.readdirSync(made).filter((name) => /\.\d+$/.test(name));
  assert.deepEqual(left(), []);

  // A disk that is full, or as here a limit.
  fs.unlinkSync(path.join(made, "workbench.js"));
  const done = spawnSync("sh", ["-c", 'ulimit -f 2000; exec "$@"', "sh", process.execPath, path.join(here, "prepare.mjs"), JSON.stringify(options)], { encoding: "utf8" });
  assert.equal(done.status, 1, done.stderr);
  assert.equal(done.stderr, `cannot write below ${options.state}: EFBIG: file too large, write`);
  assert.deepEqual(left(), []);
  assert.equal(fs.readFileSync(prepared(), "utf8"), launch);
});
