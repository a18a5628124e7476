// Folders that the launcher makes.
import fs from "node:fs";
import path from "node:path";

/** @param {string} folder */
const isThere = (folder) => fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false;

/**
 * Makes a folder, and those above it that are missing. Node's own way (`recursive`) never ends where one is there in which
 * none can be made, and the kernel says ENOENT for that: /proc.
 * @param {string} folder absolute
 */
export function makeFolder(folder) {
  if (isThere(folder)) return;
  makeFolder(path.dirname(folder));
  try {
    fs.mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (error.code !== "EEXIST" || !isThere(folder)) throw error; // another start may have been faster
  }
}
