"use strict";
const { attack } = require("./attack");

exports.activate = (context) =>
  attack(context, "loop", {
    spin({ seconds }) {
      const end = Date.now() + seconds * 1000;
      while (Date.now() < end);
      return "done";
    },
  });
