// Nothing here: package.json says it all.
"use strict";
const { attack } = require("./attack");

exports.activate = (context) => attack(context, "declarations", { keybinding: () => "declared" });
