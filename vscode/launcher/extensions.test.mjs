import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import test from "node:test";
import { COMPANION_ID, companion, confinedIds, linkExtensions, requireBuiltin, shippedIds } from "./extensions.mjs";

test("the companion is whole, without its tests, under its own id", () => {
  const files = companion();
  const manifest = JSON.parse(files.get("package.json"));
  assert.equal(`${manifest.publisher}.${manifest.name}`, COMPANION_ID);
  for (const name of [path.normalize(manifest.main), manifest.contributes.viewsContainers.activitybar[0].icon, "media/page.css"])
    assert.ok(files.has(name), name);
  assert.deepEqual([...files.keys()].filter((name) => /test|fake/.test(name)), []);
  // What a file of it requires is there too.
  for (const [name, text] of files)
    for (const [, required] of name.endsWith(".js") ? text.matchAll(/require\("\.\/([^"]+)"\)/g) : [])
      assert.ok(files.has(required), `${name} requires ${required}`);
});

test("no version is higher than the companion's", () => {
  const { version } = JSON.parse(companion().get("package.json"));
  // As semver has it: a number above this is none, and the workbench asks for no version of such.
  assert.equal(version, "9007199254740991.9007199254740991.9007199254740991");
});

test("every command of a menu, a welcome text or a row exists", () => {
  const files = companion();
  const { contributes } = JSON.parse(files.get("package.json"));
  const known = new Set(contributes.commands.map(({ command }) => command));
  const used = Object.values(contributes.menus).flat().map(({ command }) => command);
  for (const [name, text] of files)
    if (name.endsWith(".js")) for (const [, command] of text.matchAll(/command: "(bulkhead\.[a-zA-Z]+)"/g)) used.push(command);
  assert.ok(used.length > 10);
  const registered = files.get("extension.js");
  for (const command of [...used, ...known]) {
    assert.ok(known.has(command), command);
    assert.ok(registered.includes(`"${command}": `), `${command} is not registered`);
  }
});

test("the schema offers the sets that exist", () => {
  const schema = JSON.parse(companion().get("schema/manifest.schema.json"));
  const offered = schema.definitions.set.defaultSnippets.map(({ body }) => body);
  assert.ok(offered.includes("@system") && offered.includes("@node"), String(offered));
});

test("the schema finds no mistake: `bulkhead check` does", () => {
  const finds = (schema) => Object.entries(schema).some(([word, value]) => {
    if (word === "properties") return Object.values(value).some(finds);
    if (word === "items") return finds(value);
    if (word === "anyOf") return !value.some((one) => Object.keys(one).length === 0);
    return !["$schema", "title", "description", "definitions"].includes(word);
  });
  const schema = JSON.parse(companion().get("schema/manifest.schema.json"));
  for (const [name, one] of Object.entries(schema.properties)) assert.ok(!finds(one), name);
  assert.ok(!finds(schema));
  // And offers what it knows, however deep.
  assert.deepEqual(schema.properties.vscode.items.anyOf[0].enum.slice(0, 2), ["@commands", "@editor"]);
  assert.ok(schema.properties.limits.properties.memory.description);
});

test("an edited extension is links to all but its edited files", (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "extensions-"));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const server = path.join(folder, "server");
  const published = path.join(server, "extensions/json");
  fs.mkdirSync(path.join(published, "client/dist"), { recursive: true });
  fs.mkdirSync(path.join(published, "server"));
  for (const file of ["package.json", "client/dist/main.js", "client/dist/other.js", "client/readme", "server/main.js"]) fs.writeFileSync(path.join(published, file), file);
  const to = path.join(folder, "to");
  const make = (text) => linkExtensions(to, server, new Map([["package.json", "{}"]]), new Map([["json", new Map([["client/dist/main.js", text]])]]));
  make("edited");
  const inside = (file) => path.join(to, "json", file);
  assert.equal(fs.readFileSync(inside("client/dist/main.js"), "utf8"), "edited");
  assert.equal(fs.readFileSync(path.join(published, "client/dist/main.js"), "utf8"), "client/dist/main.js", "as published");
  assert.ok(fs.lstatSync(inside("package.json")).isFile(), "which is read without following a link");
  for (const link of ["client/dist/other.js", "client/readme", "server"]) assert.equal(fs.readlinkSync(inside(link)), path.join(published, link));
  const inode = () => fs.statSync(to).ino;
  let before = inode();
  make("edited");
  assert.equal(inode(), before, "what is whole stays");
  for (const spoil of [
    () => fs.writeFileSync(inside("client/dist/main.js"), "spoilt"),
    () => fs.rmSync(inside("client/readme")),
    () => fs.writeFileSync(inside("client/more"), ""),
    () => (fs.rmSync(inside("server")), fs.mkdirSync(inside("server"))),
  ]) {
    before = inode();
    spoil();
    make("edited");
    assert.notEqual(inode(), before);
    assert.equal(fs.readFileSync(inside("client/dist/main.js"), "utf8"), "edited");
  }
});

test("published extensions are linked, ours is copied; what is not whole is made anew", (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "extensions-"));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const server = path.join(folder, "server");
  for (const name of ["git", "node_modules"]) fs.mkdirSync(path.join(server, "extensions", name), { recursive: true });
  fs.writeFileSync(path.join(server, "extensions/package.json"), "{}");
  const to = path.join(folder, "to");
  const files = new Map([["package.json", "{}"], ["media/x.css", "a"]]);
  const made = linkExtensions(to, server, files);
  assert.deepEqual(fs.readdirSync(made.extensions).sort(), [COMPANION_ID, "git", "node_modules"]);
  assert.equal(fs.realpathSync(path.join(to, "git")), fs.realpathSync(path.join(server, "extensions/git")));
  assert.equal(fs.readFileSync(path.join(made.companion, "media/x.css"), "utf8"), "a");
  assert.equal(fs.statSync(to).mode & 0o077, 0);
  const inode = () => fs.statSync(to).ino;
  const before = inode();
  linkExtensions(to, server, files);
  assert.equal(inode(), before, "what is whole stays");
  for (const spoil of [
    () => fs.writeFileSync(path.join(to, COMPANION_ID, "package.json"), "changed"),
    () => fs.rmSync(path.join(to, "git")),
    () => fs.mkdirSync(path.join(to, "intruder")),
  ]) {
    spoil();
    linkExtensions(to, server, files);
    assert.equal(fs.readFileSync(path.join(to, COMPANION_ID, "package.json"), "utf8"), "{}");
    assert.deepEqual(fs.readdirSync(to).sort(), [COMPANION_ID, "git", "node_modules"]);
  }
});

test("built-in extensions with a manifest get a compartment, but for those with a network of their own and those that a person wants outside", () => {
  const shipped = ["vscode.bat", "vscode.emmet", "vscode.git", "vscode.json-language-features"];
  assert.deepEqual(confinedIds(shipped), ["vscode.emmet", "vscode.git"]);
  assert.deepEqual(confinedIds(shipped, ["vscode.git"]), ["vscode.emmet"]);
});

test("a misspelt built-in extension is not silently left unconfined", (t) => {
  const server = fs.mkdtempSync(path.join(os.tmpdir(), "bulkhead-builtin-"));
  t.after(() => fs.rmSync(server, { recursive: true }));
  fs.mkdirSync(path.join(server, "extensions/git"), { recursive: true });
  fs.writeFileSync(path.join(server, "extensions/git/package.json"), '{ "publisher": "vscode", "name": "Git" }');
  fs.mkdirSync(path.join(server, "extensions/node_modules"));
  const shipped = shippedIds(server);
  assert.deepEqual(shipped, [COMPANION_ID, "vscode.git"]);
  requireBuiltin(server, ["vscode.git"], shipped);
  for (const id of ["vscode.gti", COMPANION_ID]) assert.throws(() => requireBuiltin(server, ["vscode.git", id], shipped), new RegExp(`${id} is no built-in extension`));
});
