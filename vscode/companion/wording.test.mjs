import assert from "node:assert/strict";
import fs from "node:fs";
import test from "node:test";
import wording from "./wording.js";

const prettier = { id: "esbenp.prettier-vscode", name: "Prettier", version: "12.1.0", folder: "/x" };
const other = { id: "evil.twin", name: "Prettier", version: "1", folder: "/y" };
const question = (members) => ({
  type: "question", id: 1, kind: "read", resource: "/home/me/.ssh/id_rsa", extension: "", program: process.execPath,
  process: 7, detail: "openat", ...members,
});
const home = "/home/me";

test("a question says who wants what", () => {
  assert.equal(
    wording.ask([prettier], question({}), { home }),
    "Prettier (esbenp.prettier-vscode) wants to read ~/.ssh/id_rsa.",
  );
  assert.equal(
    wording.ask([prettier], question({ kind: "connect", resource: "example.org:443", program: "/usr/bin/curl" }), { home, more: 3 }),
    "Prettier (esbenp.prettier-vscode) wants to connect to example.org:443, by running curl. (and 3 more questions)",
  );
});

test("the editor's own extensions that share a compartment are called so, and nobody else is", () => {
  const builtin = (name, manifest = "shipped") => ({ id: `vscode.${name}`, name, version: "1", folder: "/b", manifest });
  const fetches = (extensions) => wording.ask(extensions, question({ kind: "connect", resource: "github.com:443", program: "/usr/bin/git" }), { home });
  assert.equal(fetches([builtin("css"), builtin("git"), builtin("npm")]), "One of VS Code's own extensions (Git, TypeScript, npm, …) wants to connect to github.com:443, by running git.");
  assert.match(fetches([builtin("git"), builtin("npm"), builtin("evil", "package")]), /^git \(vscode\.git\) or 2 extensions with it wants/);
  assert.match(fetches([builtin("git"), builtin("npm"), other]), /^git \(vscode\.git\) or 2 extensions with it wants/);
});

test("a question says what a file would come to", () => {
  for (const [detail, would] of [["rmdir", "remove the folder"], ["unlinkat", "remove"], ["renameat2", "rename or replace"], ["mkdir", "make the folder"]])
    assert.match(wording.ask([prettier], question({ kind: "write", detail }), { home }), new RegExp(`wants to ${would} ~/.ssh/id_rsa \\(Always lets it write there\\)\\.$`));
  assert.match(wording.ask([prettier], question({ kind: "write", detail: "openat" }), { home }), /wants to write ~/);
});

test("who waits for a server's page is told that it is the compartment's", () => {
  assert.match(wording.serves([prettier], 5500), /^Prettier \(esbenp\.prettier-vscode\) started a server at port 5500, which nothing outside/);
});

test("what was met in its own home folder is told as that, and a grant is offered where one helps", () => {
  const told = fs.readFileSync(new URL("../../src/policy/judge.h", import.meta.url), "utf8");
  const rules = [...told.matchAll(/constexpr std::string_view k(?:Unseen|UnseenBlocked|Planted) =\s*"([^"]+)"/g)].map(([, rule]) => rule);
  assert.equal(rules.length, 3);
  for (const rule of rules) {
    assert.ok(wording.isInOwnHome({ rule }), rule);
    assert.equal(wording.refused([prettier], { kind: "write", resource: "/home/me/.bashrc", rule }, { home }),
      "Prettier (esbenp.prettier-vscode) tried to write ~/.bashrc, and found the home folder that it has for itself. Yours is as it was.");
  }
  assert.deepEqual(rules.map((rule) => wording.grantable({ kind: "read", rule })), [true, false, false]);
  assert.equal(wording.isInOwnHome({ rule: `manifest: ${rules[0]}` }), false);
});

test("every kind has words, and an unknown one is not hidden", () => {
  for (const kind of ["read", "write", "status", "read-status", "write-status", "run", "connect", "lookup", "listen", "environment", "system"])
    assert.match(wording.act(kind, "/r"), /^[a-z].* \/r$/, kind);
  assert.match(wording.act("vscode", "terminal"), /terminals/);
  assert.equal(wording.act("vscode", "somethingNew"), "use somethingNew of VS Code");
  assert.equal(wording.act("vscode", "constructor"), "use constructor of VS Code");
  assert.equal(wording.act("toString", "/r"), "use /r");
});

test("every permission has words", () => {
  const schema = JSON.parse(fs.readFileSync(new URL("../../schema/manifest.schema.json", import.meta.url), "utf8"));
  const permissions = schema.definitions.vscode.enum.filter((each) => !each.startsWith("@"));
  assert.ok(permissions.length > 20);
  for (const each of permissions) assert.doesNotMatch(wording.act("vscode", each), / of VS Code$/, each);
});

test("a program named as the host's own elsewhere is named", () => {
  assert.equal(wording.through(process.execPath), "");
  assert.equal(wording.through("/workspace/node"), "node");
  assert.equal(wording.through("/tmp/\u202ehsab"), "\\u{202e}hsab");
});

test("an id that the host did not announce says nothing", () => {
  assert.deepEqual(wording.asker([prettier, other], "EVIL.twin"), [other]);
  assert.deepEqual(wording.asker([prettier, other], "ms.trusted"), [prettier, other]);
  assert.match(wording.who([prettier, other]), /Prettier \(esbenp\.prettier-vscode\) or 1 extension with it/);
});

test("texts of others are escaped everywhere", () => {
  const evil = { ...prettier, name: "A\u202e[x](command:y)" };
  const bad = "/w/\u202e$(check)\n[ok](https://evil.example)";
  const texts = [
    wording.ask([evil], question({ resource: bad, program: bad }), { home }),
    wording.details([evil], question({ resource: bad, program: bad, detail: bad })).replaceAll("\n", ""),
    wording.refused([evil], { kind: "read", resource: bad, program: bad, rule: "" }),
    wording.endMessage([evil], `ended by ${bad}`, 3),
    wording.complaint([evil], bad),
    wording.stuck([evil]),
    wording.unstuck([evil]),
    wording.act(bad, bad),
  ];
  for (const text of texts) assert.ok(!/\u202e|\n|\$\(|\]\(/.test(text), text);
});

test("details say what a late yes does: a call to the editor still waits, what a program tried does not", () => {
  const said = (kind) => wording.details([prettier], question({ kind, resource: "terminal", later: true }));
  assert.match(said("vscode"), /With a yes it happens now/);
  assert.match(said("read"), /as if you had said no/);
});

test("details hold the whole resource", () => {
  const long = `/home/me/${"folder/".repeat(80)}end`;
  assert.ok(wording.details([prettier], question({ resource: long })).includes(long));
  assert.ok(!wording.ask([prettier], question({ resource: long })).includes(long));
});

test("a message tells an extension by its id, whatever name it gave itself", () => {
  const spoof = { ...prettier, id: "evil.spoof", name: "Bulkhead" };
  const refusal = { kind: "vscode", resource: "canary.view" };
  assert.equal(wording.refused([spoof], refusal), "Bulkhead (evil.spoof) tried to use canary.view of VS Code. Refused.");
  for (const said of [wording.further([spoof, prettier], 7, refusal), wording.endMessage([spoof], "ended by SIGKILL", 3), wording.complaint([spoof], "no")])
    assert.match(said, /^Bulkhead \(evil\.spoof\)/);
});

test("ends are told in words", () => {
  assert.equal(
    wording.endMessage([prettier], "ended by a limit: memory: 530 MiB used, 512 MiB allowed", 1),
    "Prettier (esbenp.prettier-vscode) used more than 512 MiB of memory and was ended. Its compartment starts again.",
  );
  assert.equal(wording.ended("ended by a limit: wall time: 10 s allowed"), "ran for longer than 10 s and was ended");
  assert.equal(wording.ended("ended by SIGSEGV (core dumped)"), "ended by SIGSEGV (core dumped)");
  assert.match(wording.endMessage([prettier], "ended by SIGKILL", 3), /3 times in 5 minutes/);
  for (const fine of ["", "ended", "ended with exit code 0"]) assert.equal(wording.unexpected(fine), false, fine);
  assert.equal(wording.unexpected("ended with exit code 01"), true);
  assert.equal(wording.unexpected("ended by SIGKILL"), true);
});

test("who does not respond is told in words", () => {
  assert.equal(
    wording.stuck([prettier]),
    "Prettier (esbenp.prettier-vscode) did not respond for 10 seconds, as in an endless loop or at a breakpoint. Other extensions are not affected.",
  );
  assert.match(wording.unstuck([prettier, other]), /^Prettier \(esbenp\.prettier-vscode\) and 1 more responds again/);
});

test("only what a grant can lift is offered", () => {
  const may = (kind, rule) => wording.grantable({ kind, rule });
  assert.equal(may("read", "otherwise: deny"), true);
  assert.equal(may("read", "remembered answer: /x (grants.json)"), true);
  assert.equal(may("read", "built-in blocklist: ${home}/.ssh [ssh-keys]"), false);
  assert.equal(may("read", "organisation's policy: /x"), false);
  assert.equal(may("read", "manifest: ${workspace}/.env"), false);
  assert.equal(may("system", "otherwise: deny"), false);
  assert.equal(may("write", "a blocked path lies below it, or would"), false);
  assert.equal(may("vscode", "is no log of its own"), false);
});

test("what was done is told in groups, what few do first, and own code not at all", () => {
  const compartment = { extensions: [{ id: "Acme.tool", version: "1", name: "Tool", folder: "/ext/acme.tool-1" }], workspace: ["/w"], storage: "/data" };
  const row = (kind, resource, more = {}) => ({ kind, resource, verdict: "allow", count: 1, program: "/node", rule: "manifest: x", ...more });
  const groups = wording.deeds([
    row("read", "/ext/acme.tool-1/main.js"), row("read", "/usr/lib/libc.so", { groundwork: true }), row("read", "/w/secret", { verdict: "deny" }),
    row("vscode", "window", { count: 9 }), row("read", "/w/a.ts", { count: 3 }), row("read", "/w/a.ts", { program: "/usr/bin/git", count: 4 }), row("read", "/w/b.ts"),
    row("read", "/wall/a"), row("write", "/w/a.ts"), row("write", "/data/globalStorage/acme.tool/x"), row("write", "/data/globalStorage/acme.other/x"), row("write", "/srv/globalStorage/acme.tool/x"),
    row("write", "/ext/acme.tool-1/cache"), row("run", "/usr/bin/git"), row("connect", "a.example:443"), row("vscode", "terminal"), row("read", "/data/workspaceStorage/1f/acme.tool/y"),
  ], compartment);
  assert.deepEqual(groups.map(({ name, count, rows }) => [name, count, rows.map((one) => one.resource)]), [
    ["powers", 1, ["terminal"]],
    ["hosts", 1, ["a.example:443"]],
    ["changed-code", 1, ["/ext/acme.tool-1/cache"]],
    ["changed", 2, ["/data/globalStorage/acme.other/x", "/srv/globalStorage/acme.tool/x"]],
    ["ran", 1, ["/usr/bin/git"]],
    ["read", 1, ["/wall/a"]],
    ["changed-workspace", 1, ["/w/a.ts"]],
    ["read-workspace", 8, ["/w/a.ts", "/w/b.ts"]],
    ["kept", 2, ["/data/globalStorage/acme.tool/x", "/data/workspaceStorage/1f/acme.tool/y"]],
    ["everyday", 9, ["window"]],
  ]);
});

test("calls of one power are told apart, those of every day are not", () => {
  const compartment = { extensions: [], workspace: [] };
  const row = (resource, detail, count = 1) => ({ kind: "vscode", resource, detail, verdict: "allow", count, program: "", rule: "manifest: x" });
  const groups = wording.deeds([
    row("commands-foreign", "MainThreadCommands.$executeCommand git.push", 2), row("commands-foreign", "MainThreadCommands.$executeCommand git.pull"),
    row("window", "MainThreadStatusBar.$setEntry"), row("window", "MainThreadMessageService.$showMessage"),
  ], compartment);
  assert.deepEqual(groups.map(({ name, rows }) => [name, rows.map(wording.callOf)]), [
    ["powers", ["executeCommand git.push", "executeCommand git.pull"]],
    ["everyday", ["showMessage"]],
  ]);
  assert.equal(wording.callOf({ kind: "read", detail: "openat" }), "");
});

test("a row begins with what tells it apart", () => {
  const placed = (kind, resource) => Object.values(wording.placed({ kind, resource }, { home: "/home/me" }));
  assert.deepEqual(placed("read", "/home/me/.ssh/id_rsa"), ["id_rsa", "~/.ssh"]);
  assert.deepEqual(Object.values(wording.placed({ kind: "read", resource: "/w/src/a.ts" }, { workspace: ["/w"] })), ["a.ts", "./src"]);
  assert.deepEqual(Object.values(wording.placed({ kind: "read", resource: "/w/a.ts" }, { workspace: ["/w"] })), ["a.ts", "."]);
  assert.deepEqual(placed("read", "/etc"), ["etc", "/"]);
  assert.deepEqual(placed("read", "/"), ["/", ""]);
  assert.deepEqual(placed("connect", "a.example:443"), ["a.example:443", ""]);
  assert.deepEqual(placed("vscode", "terminal"), ["open terminals and type into them, outside its compartment", ""]);
  assert.deepEqual(placed("read", "/x/$(alert)\u202etxt"), ["$\\x28alert)\\u{202e}txt", "/x"]);
  assert.equal(wording.deed("write-status", "a"), "change a");
});

test("answers begin with what they are", () => {
  const grant = (allowed, remembered = true) => wording.remembered({ kind: "read", resource: "/home/me/.npmrc", remembered, allowed }, { home });
  assert.deepEqual([grant(true), grant(undefined), grant(false), grant(true, false)],
    ["Always: read ~/.npmrc", "Always: read ~/.npmrc", "Never: read ~/.npmrc", "This session: read ~/.npmrc"]);
  assert.equal(wording.remembered({ kind: "read", resource: "/home/me/papers/.", remembered: true, allowed: true }, { home }), "Always: list the names in ~/papers");
});
