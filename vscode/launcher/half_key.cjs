// Half of the key by which the browser encrypts what extensions keep in `context.secrets`; the other half lies in the
// browser. code-server's own front keeps such a file. VS Code's server has none, and secrets ended with the page.
"use strict";

const fs = require("node:fs");
const { randomBytes } = require("node:crypto");

/** Bytes: the workbench takes no other number. */
const LENGTH = 32;

/**
 * The half that this file holds; made where there is none. Two servers of one folder get the same.
 * @param {string} file
 * @returns {Buffer}
 */
function halfKey(file) {
  if (!fs.existsSync(file)) {
    const made = `${file}.${process.pid}`;
    fs.writeFileSync(made, randomBytes(LENGTH), { mode: 0o600 });
    try {
      fs.linkSync(made, file); // whole, and only where there is none by now
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    } finally {
      fs.rmSync(made, { force: true });
    }
  }
  const half = fs.readFileSync(file);
  if (half.length !== LENGTH) throw new Error(`${file} holds ${half.length} bytes, not ${LENGTH}: without it what extensions kept as secrets cannot be read; remove it, and they begin anew`);
  return half;
}

module.exports = { halfKey };
