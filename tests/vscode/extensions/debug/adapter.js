// A debug adapter that asks the editor to run a line in a terminal, or runs it itself.
"use strict";
const fs = require("node:fs");
const { execFileSync } = require("node:child_process");

let sequence = 1;
const send = (message) => {
  const text = JSON.stringify({ seq: sequence++, ...message });
  process.stdout.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
};
const handle = (request) => {
  if (request.type !== "request") return;
  send({ type: "response", request_seq: request.seq, success: true, command: request.command, body: {} });
  if (request.command === "initialize") send({ type: "event", event: "initialized" });
  if (request.command === "launch") {
    const told = JSON.parse(fs.readFileSync(request.arguments.told, "utf8"));
    if (told.line) send({ type: "request", command: "runInTerminal", arguments: { kind: "integrated", cwd: "/", args: ["/bin/sh", "-c", told.line] } });
    if (told.run) execFileSync("/bin/sh", ["-c", told.run]);
    setTimeout(() => send({ type: "event", event: "terminated" }), 3000);
  }
  if (request.command === "disconnect") setTimeout(() => process.exit(0), 100);
};
let text = "";
process.stdin.on("data", (part) => {
  text += part;
  for (;;) {
    const head = /Content-Length: (\d+)\r\n\r\n/.exec(text);
    if (!head) return;
    const end = head.index + head[0].length + Number(head[1]);
    if (text.length < end) return;
    const message = JSON.parse(text.slice(head.index + head[0].length, end));
    text = text.slice(end);
    handle(message);
  }
});
