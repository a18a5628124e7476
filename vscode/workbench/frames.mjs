// Edits of the page in which VS Code puts a webview's document (pre/index.html): any script of the window finds the frames
// of all others (top[i][j]) and can speak to them. Anchored and refused as the workbench's own edits are.
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { apply, count } from "./shapes.mjs";

/** @typedef {import("./shapes.mjs").Edit} Edit */

const PAGE = "index.html";

/** @type {Edit} */
const hearing = {
  name: "webview-messages",
  what: "a webview hears VS Code, its own scripts and the frames that stand in it, and nobody else, and finds no WebRTC",
  times: 1,
  shape: /(contentDocument\.open\(\);)(\s*contentDocument\.write\(newDocument\);)/g,
  // After open(), which takes listeners away, and before there is a script that could listen. VS Code speaks to a document
  // from the frame around it. What has no window any more stood who knows where.
  text: (open, write) =>
    `${open}const bulkheadPage = contentDocument.defaultView;` +
    `bulkheadPage.addEventListener("message", (event) => {` +
    `if (event.origin === window.origin) return;` +
    `for (let from = event.source; from && from !== from.parent; from = from.parent) if (from.parent === bulkheadPage) return;` +
    `event.stopImmediatePropagation();}, true);` +
    // A page that is kept off the network (launcher/pages.cjs) is ended by the browser where it tries WebRTC: an honest one finds none.
    `if (!location.hostname.includes(".open.")) for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection"]) delete bulkheadPage[name];${write}`,
};

/** How the page's own policy names its script. */
function hashOf(/** @type {string} */ page) {
  const [, script] = /<script\b[^>]*>([^]*?)<\/script>/.exec(page) ?? ["", ""];
  return `'sha256-${createHash("sha256").update(script).digest("base64")}'`;
}

/** @param {string} page as published */
const editsOf = (page) => [
  hearing,
  {
    name: "webview-policy",
    what: "the page's policy names its script as it is then",
    times: 1,
    shape: new RegExp(hashOf(page).replace(/[+/]/g, String.raw`\$&`), "g"),
    text: () => hashOf(apply(page, [hearing])),
  },
];

const read = (/** @type {string} */ file) => (fs.existsSync(file) ? fs.readFileSync(file, "utf8") : "");

/**
 * How often each edit's shape occurs.
 * @param {string} folder where the server has these pages
 */
export function inspectFrames(folder) {
  const page = read(path.join(folder, PAGE));
  return count(page, editsOf(page));
}

/**
 * All pages and scripts there, as they are served. Throws EditError where an edit does not fit.
 * @param {string} folder
 * @returns {Map<string, string>} name → text
 */
export function editFrames(folder) {
  const page = read(path.join(folder, PAGE));
  const edited = apply(page, editsOf(page));
  return new Map(fs.readdirSync(folder).map((name) => [name, name === PAGE ? edited : read(path.join(folder, name))]));
}
