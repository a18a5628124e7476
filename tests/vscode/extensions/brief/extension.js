"use strict";
const { attack } = require("./attack");

exports.activate = (context) => attack(context, "brief", {});
