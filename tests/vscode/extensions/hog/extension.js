"use strict";
const { attack } = require("./attack");

exports.activate = (context) =>
  attack(context, "hog", {
    take({ megabytes }) {
      const held = [];
      for (let i = 0; i < megabytes / 16; i += 1) held.push(Buffer.alloc(16 << 20, 1));
      return `holds ${process.memoryUsage().rss >> 20} MiB`;
    },
  });
