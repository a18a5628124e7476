// Which address of the server may be asked for what, and by whom. Trusted; loaded by preload.cjs.
//
//   bulkhead.localhost         the workbench, asked by its own pages alone
//   HASH.bulkhead.localhost    webviews: the pages in which extensions' scripts run. Each extension's kind of webview
//                              has an origin of its own, from which the workbench, its token and the server's files
//                              cannot be read. Here there are the frames that webviews stand in, and nothing else
//   HASH.LABEL.…               the same, where the label says whose: what was granted to them may be reached (pages.cjs)
//   kept, free.…               two pages that try whether this browser keeps the first off the network (trial.cjs)
//   127.0.0.1, ::1, localhost  pages are sent on to the first
//   anything else              a name of somebody's that leads here: refused
//
// Webviews are below the workbench's name, since browsers that keep other sites from storing anything (private
// windows) would not let them start.
"use strict";

const fs = require("node:fs");
const net = require("node:net");
const path = require("node:path");
const pages = require("./pages.cjs");
const trial = require("./trial.cjs");

const EDITOR = "bulkhead.localhost";
/** VS Code's hash of the workbench's origin and the webview's own, base 32; and whose it is (workbench/pages.js). */
const WEBVIEW = /^[0-9a-v]{52}(?:\.(open|[0-9a-f]{52}))?\.bulkhead\.localhost$/;
const TRIAL = /^(kept|free)\.bulkhead\.localhost$/;
const LOOPBACK = new Set(["127.0.0.1", "[::1]", "localhost"]);
/** Where the server has the frames that webviews stand in. */
const FRAMES = "out/vs/workbench/contrib/webview/browser/pre";
const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8" };
const TOKEN = "vscode-tkn";
/** Where the workbench asks for half of the key to extensions' secrets (half_key.cjs). */
const KEY = /^(?:\/[^/]+)?\/mint-key$/;
/** Where it has the browser tried. */
const TRY = /^(?:\/[^/]+)?\/page-trial$/;
/** Bytes. A browser keeps 180 cookies of 4 KiB for a name and those below it, where Node takes 16 KiB of headers. */
const MOST_HEADERS = 1 << 20;
const FRAME_SOURCES = "frame-src 'self' ";

/** @typedef {{ method?: string, url?: string, headers: import("node:http").IncomingHttpHeaders }} Asked */

/** "bulkhead.localhost:3000" → its name, and ":3000". */
function hostOf({ headers }) {
  const [, name, port] = /^(.*?)(:\d+)?$/.exec((headers.host ?? "").toLowerCase());
  return { name, port: port ?? "" };
}

const isPage = ({ method, headers }) => (method === "GET" || method === "HEAD") && (headers["sec-fetch-mode"] ?? "navigate") === "navigate";

/**
 * What becomes of a request: "pass" to the server, "key" to be answered with the half of a key, "try" to have the browser
 * tried, "trial" with the name of one, "frame" with the name of a file of FRAMES, "move" to the address that it names, or
 * "refuse".
 * @param {Asked} asked
 * @returns {{ way: "pass" | "key" | "try" } | { way: "frame" | "trial" | "move" | "refuse", to: string }}
 */
function decide(asked) {
  const { headers } = asked;
  const { name, port } = hostOf(asked);
  const pathname = (asked.url ?? "/").split("?", 1)[0];
  if (WEBVIEW.test(name)) {
    const [, folder, file] = /^(.*)\/([\w-]+\.(?:html|js))$/.exec(pathname) ?? [];
    if (folder?.endsWith(`/${FRAMES}`) && asked.method === "GET" && headers.upgrade === undefined) return { way: "frame", to: file };
    return { way: "refuse", to: "webviews have nothing here but the frames that they stand in" };
  }
  if (TRIAL.test(name)) return asked.method === "GET" && headers.upgrade === undefined ? { way: "trial", to: pathname.slice(1) } : { way: "refuse", to: "nothing is here" };
  if (LOOPBACK.has(name) && isPage(asked) && headers.upgrade === undefined) return { way: "move", to: `http://${EDITOR}${port}${asked.url}` };
  if (name !== EDITOR) return { way: "refuse", to: `the editor is at http://${EDITOR}${port}` };
  // Browsers say where a request comes from; programs that do not have no token.
  if (headers.origin !== undefined && headers.origin !== `http://${EDITOR}${port}`) return { way: "refuse", to: "asked by another origin" };
  const site = headers["sec-fetch-site"] ?? "same-origin";
  const link = isPage(asked) && headers["sec-fetch-dest"] === "document";
  if (site !== "same-origin" && site !== "none") {
    if (!link) return { way: "refuse", to: "asked by another origin" };
    // Somebody else's link opens the editor, and does not choose its folder or how it starts.
    if (asked.url?.includes("?")) return { way: "move", to: `http://${EDITOR}${port}${pathname}` };
  }
  if (asked.method === "POST" && headers.upgrade === undefined && KEY.test(pathname)) return { way: "key" };
  if (asked.method === "POST" && headers.upgrade === undefined && TRY.test(pathname)) return { way: "try" };
  return { way: "pass" };
}

/** This machine has no such address, so nobody can be there. */
const isNowhere = (error) => error?.code === "EADDRNOTAVAIL" || error?.code === "EAFNOSUPPORT";

/** The workbench may hold webviews' frames, and be in nobody's. */
function protect(request, response) {
  const { port } = hostOf(request);
  response.setHeader("X-Frame-Options", "SAMEORIGIN");
  response.setHeader("X-Content-Type-Options", "nosniff");
  response.setHeader("Cross-Origin-Resource-Policy", "same-origin");
  response.setHeader("Origin-Agent-Cluster", "?1");
  // A file of the workspace that is opened as a page is not the workbench's.
  if (/\/(?:vscode-remote-resource|web-extension-resource)(?:[/?]|$)/.test(request.url)) response.setHeader("Content-Security-Policy", "sandbox");
  const { writeHead } = response;
  response.writeHead = (status, ...rest) => {
    const given = rest.at(-1);
    const policy = given?.["Content-Security-Policy"];
    if (policy?.includes(FRAME_SOURCES))
      given["Content-Security-Policy"] = policy.replace(FRAME_SOURCES, `${FRAME_SOURCES}http://*.${EDITOR}${port} `);
    return writeHead.call(response, status, ...rest);
  };
}

/**
 * The page's own cookie, of all that come. A webview can set more for the name above its own: others that are called the same,
 * and as many as there is room for.
 * @param {string | undefined} cookies
 * @param {string} token
 */
const ownCookie = (cookies, token) => {
  const own = `${TOKEN}=${token}`;
  return cookies?.split(/;\s*/).includes(own) ? own : undefined;
};

/**
 * What every answer has that is not the workbench's, whatever it says: a page can show each address of its own origin.
 * @param {Asked} request
 * @param {string} granted folder in which stands what pages may reach
 * @returns {Record<string, string>}
 */
function confines(request, granted) {
  const { name, port } = hostOf(request);
  const [, label] = WEBVIEW.exec(name) ?? [];
  const reach = TRIAL.exec(name)?.[1] === "free" ? { hosts: [], open: true } : pages.reachOf(granted, label);
  return { "X-Content-Type-Options": "nosniff", "Origin-Agent-Cluster": "?1", ...pages.headersOf(`${EDITOR}${port}`, reach) };
}

function sendFrame(response, folder, file) {
  fs.readFile(path.join(folder, file), (error, content) => {
    if (error) response.writeHead(404, { "Content-Type": "text/plain" }).end("no such file");
    else response.writeHead(200, { "Content-Type": TYPES[path.extname(file)], "Cache-Control": "no-cache" }).end(content);
  });
}

/**
 * @param {import("node:http").IncomingMessage} request with the page's own cookie, or none
 * @param {import("node:http").ServerResponse} response
 * @param {() => Buffer} half
 */
function sendKey(request, response, half) {
  const answer = (/** @type {number} */ status, /** @type {string} */ type, /** @type {string | Buffer} */ body) =>
    response.writeHead(status, { "Content-Type": type, "Cache-Control": "no-store" }).end(body);
  if (request.headers.cookie === undefined) return void answer(403, "text/plain", "no token");
  try {
    answer(200, "application/octet-stream", half());
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    answer(500, "text/plain", "no key");
  }
}

/**
 * The page has the browser tried: the answer names a trial, or says of a named one why that browser does not keep pages off
 * the network, "" where it does.
 * @param {import("node:http").IncomingMessage} request with the page's own cookie, or none
 * @param {import("node:http").ServerResponse} response
 */
async function sendTrial(request, response) {
  const name = new URLSearchParams(request.url?.split("?")[1]).get("name");
  const known = request.headers.cookie !== undefined;
  const said = !known ? undefined : name === null ? await trial.begin() : await trial.verdictOf(name);
  response.writeHead(said === undefined ? 403 : 200, { "Content-Type": "text/plain", "Cache-Control": "no-store" }).end(said);
}

/** @param {Asked} request @param {import("node:http").ServerResponse} response @param {string} name */
function sendTrialPage(request, response, name) {
  const page = trial.pageOf(name, hostOf(request).name.startsWith("free.") ? 1 : 0);
  response.writeHead(page === undefined ? 404 : 200, { "Content-Type": TYPES[".html"], "Cache-Control": "no-store" }).end(page);
}

/**
 * Stands before a server that listens on TCP: it sees what decide() passes.
 * @param {import("node:http").Server} server
 * @param {string} frames folder of the frames that webviews stand in, as they are served
 * @param {string} token which opens it
 * @param {() => Buffer} half of the key to extensions' secrets
 * @param {string} granted folder in which stands what pages may reach
 */
function guard(server, frames, token, half, granted) {
  const emit = server.emit.bind(server);
  Object.assign(server, { maxHeaderSize: MOST_HEADERS });
  server.emit = (event, ...rest) => {
    if ((event !== "request" && event !== "upgrade") || typeof server.address() === "string") return emit(event, ...rest);
    const [request, answer] = rest;
    const decided = decide(request);
    request.headers.cookie = ownCookie(request.headers.cookie, token);
    if (event === "upgrade") {
      if (decided.way === "pass") return emit(event, ...rest);
      answer.end("HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n");
      return true;
    }
    if (decided.way === "pass") {
      protect(request, answer);
      return emit(event, ...rest);
    }
    if (decided.way !== "key" && decided.way !== "try")
      for (const [name, value] of Object.entries(confines(request, granted))) answer.setHeader(name, value);
    if (decided.way === "key") sendKey(request, answer, half);
    else if (decided.way === "try") void sendTrial(request, answer);
    else if (decided.way === "frame") sendFrame(answer, frames, decided.to);
    else if (decided.way === "trial") sendTrialPage(request, answer, decided.to);
    else if (decided.way === "move") answer.writeHead(302, { Location: decided.to }).end();
    else answer.writeHead(403, { "Content-Type": "text/plain; charset=utf-8" }).end(`${decided.to}\n`);
    return true;
  };
  // What cannot be read as a request was perhaps a page's: its answer is one that has nothing.
  server.on("clientError", (_error, socket) => {
    const headers = Object.entries(confines({ headers: {} }, granted)).map(([name, value]) => `${name}: ${value}\r\n`).join("");
    if (socket.writable) socket.end(`HTTP/1.1 400 Bad Request\r\nConnection: close\r\n${headers}\r\n`);
    else socket.destroy();
  });
  // A browser tries ::1 first: another user's program must not be there.
  server.on("listening", () => {
    const address = server.address();
    if (address === null || typeof address === "string" || server.listenerCount("request") === 0) return;
    const other = net.createServer((socket) => server.emit("connection", socket));
    other.on("error", (error) => {
      if (isNowhere(error)) return;
      process.stderr.write(`port ${address.port} of ::1 cannot be used: ${error.message}\n`);
      process.exit(1);
    });
    other.listen({ port: address.port, host: "::1", ipv6Only: true });
    server.on("close", () => other.close());
  });
  return server;
}

module.exports = { EDITOR, FRAMES, FRAME_SOURCES, decide, guard, isNowhere };
