// What a page of an extension may reach: two headers, on every answer that a browser gets for its origin. Trusted; used by
// origins.cjs. No state but the files that `bulkhead host` wrote (src/vscode/page_hosts.h).
//
//   Connection-Allowlist      everything that connects, whatever asked for it: WebRTC, preconnect, names, frames that lead out
//   Content-Security-Policy   the same for what loads, where a browser knows no allowlist
//
// Either one alone lets something out, and so does one answer without them: a page can show any address of its own origin in
// a frame, refusals too, and act from there.
"use strict";

const fs = require("node:fs");
const path = require("node:path");

/** The host of what VS Code calls the address of a file: nobody is asked there, the service worker answers. */
const RESOURCES = "vscode-resource.vscode-cdn.net";
/** As `bulkhead host` writes them: "api.example.com:443", "*.example.com:*". */
const HOST = /^((?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*):(\d{1,5}|\*)$/;

/** @typedef {{ hosts: string[], open: boolean }} Reach what a person granted the pages of an extension */
/** @type {Reach} */
const NOWHERE = { hosts: [], open: false };

/** "host:3000" as VS Code spells it within a name. */
const inName = (/** @type {string} */ authority) => authority.replace(/[^a-zA-Z0-9]/g, (sign) => `-${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);

/**
 * The addresses by which files are asked for, in full: of names that a page may choose each is a message to whoever answers
 * for names, where no service worker stands between.
 * @param {string} editor "bulkhead.localhost:3000"
 */
const files = (editor) => ["file", `vscode-remote\\\\+${inName(editor)}`].map((name, i) => `"https://${i === 0 ? `${name}\\\\+` : name}.${RESOURCES}"`);

/** The addresses of a granted host. @param {string} host */
function addresses(host) {
  const [, name, port] = HOST.exec(host) ?? [];
  if (name === undefined) return [];
  if (port === "443") return [`https://${name}`, `wss://${name}`];
  if (port === "80") return [`http://${name}`, `ws://${name}`];
  return ["https", "wss", "http", "ws"].map((scheme) => `${scheme}://${name}:${port}`);
}

/**
 * @param {string} editor where the workbench is, "bulkhead.localhost:3000", which alone may hold the page
 * @param {Reach} reach
 * @returns {Record<string, string>}
 */
function headersOf(editor, { hosts, open }) {
  const ancestors = `frame-ancestors 'self' http://${editor}`;
  if (open) return { "Content-Security-Policy": ancestors };
  const granted = hosts.flatMap(addresses);
  const from = (/** @type {string[]} */ ...more) => [...more, "blob:", "data:", `https://*.${RESOURCES}`, ...granted].join(" ");
  const policy = [
    "default-src 'none'",
    `script-src ${from("'self'", "'unsafe-inline'", "'unsafe-eval'")}`,
    `style-src ${from("'self'", "'unsafe-inline'")}`,
    ...["img-src", "font-src", "media-src", "connect-src"].map((kind) => `${kind} ${from("'self'")}`),
    "worker-src 'self' blob: data:",
    `frame-src ${["'self'", "blob:", "data:", ...granted].join(" ")}`,
    "object-src 'none'",
    "form-action 'none'",
    "manifest-src 'none'",
    ancestors,
  ];
  return {
    "Connection-Allowlist": `(${["response-origin", ...files(editor), ...granted.map((each) => `"${each}"`)].join(" ")})`,
    "Content-Security-Policy": policy.join("; "),
  };
}

/**
 * What was granted to the extension whose pages have this label in their name; nothing where nobody knows.
 * @param {string} folder where `bulkhead host` says so
 * @param {string | undefined} label of 52 hexadecimal digits, "open" for pages of the editor's own, none for those of nobody
 * @returns {Reach}
 */
function reachOf(folder, label) {
  if (label === "open") return { hosts: [], open: true };
  if (label === undefined) return NOWHERE;
  try {
    const { hosts, open } = JSON.parse(fs.readFileSync(path.join(folder, label), "utf8"));
    return { hosts: Array.isArray(hosts) ? hosts.filter((host) => typeof host === "string") : [], open: open === true };
  } catch {
    return NOWHERE;
  }
}

module.exports = { headersOf, reachOf };
