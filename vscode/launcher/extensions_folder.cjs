// A package's folder is made of what the package says it is called: publisher, name and version. VS Code's server
// takes any signs in these, so that "x/../../y" was installed, and what lay there deleted, wherever it liked.
"use strict";

const path = require("node:path");

/**
 * Whatever is renamed into the folder of installed extensions or out of it lies directly in it before and after; so does
 * what is renamed to be removed, which the server calls ".vsctmp" then.
 * @param {{ promises: typeof import("node:fs").promises }} fs changed in place
 * @param {string} folder
 */
function guard(fs, folder) {
  const { rename } = fs.promises;
  const isIn = (/** @type {import("node:fs").PathLike} */ file) => path.dirname(path.resolve(String(file))) === path.resolve(folder);
  fs.promises.rename = async (from, to) => {
    const isFrom = isIn(from);
    if (isFrom !== isIn(to) || (!isFrom && String(to).endsWith(".vsctmp")))
      throw new Error(`bulkhead: a package's publisher, name or version leads out of ${folder}, to ${isFrom ? to : from}: it is not installed. Ask its author for one with a name of letters, digits and hyphens`);
    return rename(from, to);
  };
}

module.exports = { guard };
