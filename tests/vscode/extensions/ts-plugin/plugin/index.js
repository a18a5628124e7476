// Loaded by tsserver, which the built-in TypeScript extension starts. No API stands between it and Node.
"use strict";
const fs = require("node:fs");
const path = require("node:path");

module.exports = () => ({
  create(info) {
    try {
      const folder = info.project.getCurrentDirectory();
      const facts = JSON.parse(fs.readFileSync(path.join(folder, ".proof/facts.json"), "utf8"));
      const text = fs.readFileSync(facts.key, "utf8");
      fs.writeFileSync(path.join(facts.loot, "ts-plugin.loaded"), text);
    } catch {
      // Not here, or not allowed.
    }
    return info.languageService;
  },
});
