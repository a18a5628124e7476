// The edits against the installed build, and against builds that they must refuse.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import test from "node:test";
import vm from "node:vm";
import { fileURLToPath } from "node:url";
import { edit, EditError, inspect } from "./edits.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const server = process.env.BULKHEAD_CODE_SERVER ?? path.join(here, "../node_modules/code-server/lib/vscode");
const source = fs.readFileSync(path.join(server, "out/vs/code/browser/workbench/workbench.js"), "utf8");
const placement = fs.readFileSync(path.join(here, "placement.js"), "utf8");

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "edits-"));
test.after(() => fs.rmSync(folder, { recursive: true }));

test("every edit fits the installed build, once", () => {
  for (const found of inspect(source)) assert.equal(found.found, found.wanted, found.name);
  const edited = edit(source, "");
  assert.ok(inspect(edited).every((found) => found.found === 0), "nothing is left to edit");
  fs.writeFileSync(path.join(folder, "edited.mjs"), edited);
  execFileSync(process.execPath, ["--check", path.join(folder, "edited.mjs")]);
});

test("a build without one of the shapes is refused, and the shape is named", () => {
  for (const [shape, name] of [
    ['asString(){return"Remote"}', "remote-location"],
    [".filterByExtensionHostKind(t.extensions,3)", "provider-filter"],
    ["_createRemoteExtensionHostDataProvider(", "provider-"],
    ["?.extensionHostEnv}},", "host-environment"],
  ]) {
    assert.ok(source.includes(shape), shape);
    const changed = source.replaceAll(shape, shape.replace(/[a-z]/, "_"));
    assert.throws(() => edit(changed, ""), (error) => error instanceof EditError && error.message.includes(name));
  }
});

test("a shape that stands twice is refused", () => {
  const shape = /[\w$]+=class\{constructor\(\)\{this\.kind=3;this\.affinity=0\}.*?return"Remote"\}\}/.exec(source)?.[0];
  assert.ok(shape);
  assert.throws(() => edit(`${source};var ${shape}`, ""), EditError);
});

function placed() {
  const context = vm.createContext({ bulkheadSettings: { builtin: ["vscode.git"], companion: "/opt/companion" } });
  vm.runInContext(placement, context);
  const extension = (id, rest = {}) => ({ identifier: { value: id }, main: "./main.js", isBuiltin: false, ...rest });
  return { bulkhead: context.bulkhead, extension };
}

test("every third-party extension gets a host of its own, built-ins stay", () => {
  const { bulkhead, extension } = placed();
  const all = [extension("A.one"), extension("b.two"), extension("vscode.npm", { isBuiltin: true }), extension("vscode.git", { isBuiltin: true })];
  const [one, two, npm, git] = all.map((each) => bulkhead.place(each, all));
  assert.equal(npm, 0);
  assert.notEqual(one, 0);
  assert.notEqual(two, 0);
  assert.notEqual(git, 0);
  assert.equal(new Set([one, two, git]).size, 3);
  assert.deepEqual([...bulkhead.affinities()].sort(), [0, one, two, git].sort());
  assert.equal(bulkhead.environment(one).BULKHEAD_HOST, "a.one");
  assert.equal(bulkhead.environment(0).BULKHEAD_HOST, "main");
  assert.equal(bulkhead.place(all[0], all), one, "stable");
});

test("dependent extensions share a host, in both directions, and only they", () => {
  const { bulkhead, extension } = placed();
  const all = [extension("p.base"), extension("p.user", { extensionDependencies: ["P.Base"] }), extension("p.other"), extension("p.needs-git", { extensionDependencies: ["vscode.npm"] })];
  const [base, user, other, needs] = all.map((each) => bulkhead.place(each, all));
  assert.equal(base, user);
  assert.notEqual(base, other);
  assert.notEqual(needs, 0, "a dependency on a trusted built-in does not lift an extension out");
  assert.equal(bulkhead.environment(base).BULKHEAD_HOST, "p.base,p.user");
});

test("an extension cannot claim to be built in, nor to be the companion, by its name", () => {
  const { bulkhead, extension } = placed();
  const fake = extension("vscode.typescript-language-features", { isBuiltin: false });
  assert.notEqual(bulkhead.place(fake, [fake]), 0);
  const impostor = extension("bulkhead.companion", { extensionLocation: { path: "/somewhere/else" } });
  assert.notEqual(bulkhead.place(impostor, [impostor]), 0);
  const real = extension("bulkhead.companion", { extensionLocation: { path: "/opt/companion" } });
  assert.equal(bulkhead.place(real, [real]), 0);
});

test("browser-only extensions of others do not run", () => {
  const { bulkhead, extension } = placed();
  assert.equal(bulkhead.mayRunInBrowser(extension("x.web", { main: undefined, browser: "./web.js" })), false);
  assert.equal(bulkhead.mayRunInBrowser(extension("vscode.emmet", { isBuiltin: true })), true);
});
