// Who may ask the editor's server for what: decided by names, and by what browsers say of who asks.
import assert from "node:assert/strict";
import fs from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import test from "node:test";

const { decide, guard } = createRequire(import.meta.url)("./origins.cjs");
const HASH = "0123456789abcdefghijklmnopqrstuv0123456789abcdefghij";
const FRAMES = "/code-1/stable-2/static/out/vs/workbench/contrib/webview/browser/pre";

const asked = (host, url = "/code-1/", headers = {}, method = "GET") => decide({ method, url, headers: { host, ...headers } }).way;
const EDITOR = "bulkhead.localhost:3000";
const OWN = "http://bulkhead.localhost:3000";

test("the workbench's own requests pass, and a person's", () => {
  assert.equal(asked(EDITOR), "pass");
  assert.equal(asked("Bulkhead.Localhost"), "pass");
  assert.equal(asked(EDITOR, "/x", { "sec-fetch-site": "none", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" }), "pass");
  assert.equal(asked(EDITOR, "/x", { "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors", "sec-fetch-dest": "empty" }), "pass");
  assert.equal(asked(EDITOR, "/x", { origin: OWN, upgrade: "websocket" }), "pass");
  assert.equal(asked(EDITOR, "/x", { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" }), "pass", "a link");
});

test("nobody else's do, webviews' least of all", () => {
  const webview = `http://${HASH}.bulkhead.localhost:3000`;
  assert.equal(asked(EDITOR, "/x", { origin: webview, upgrade: "websocket" }), "refuse");
  assert.equal(asked(EDITOR, "/x", { origin: "null" }), "refuse");
  assert.equal(asked(EDITOR, "/x", { origin: "http://bulkhead.localhost:3001" }), "refuse", "another port is another origin");
  for (const site of ["same-site", "cross-site", "what comes next"]) {
    assert.equal(asked(EDITOR, "/x", { "sec-fetch-site": site, "sec-fetch-mode": "cors", "sec-fetch-dest": "empty" }), "refuse", site);
    assert.equal(asked(EDITOR, "/x", { "sec-fetch-site": site, "sec-fetch-mode": "no-cors", "sec-fetch-dest": "script" }), "refuse", site);
    assert.equal(asked(EDITOR, "/x", { "sec-fetch-site": site, "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" }), "refuse", site);
    assert.equal(asked(EDITOR, "/x", { "sec-fetch-site": site, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" }, "POST"), "refuse", site);
  }
});

test("half of the key to extensions' secrets is for the workbench", () => {
  assert.equal(asked(EDITOR, "/code-1/mint-key", { origin: OWN, "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors" }, "POST"), "key");
  assert.equal(asked(EDITOR, "/code-1/mint-key"), "pass", "the server knows no such page");
  assert.equal(asked(EDITOR, "/code-1/x/mint-key", {}, "POST"), "pass");
  for (const origin of [`http://${HASH}.bulkhead.localhost:3000`, "null", "http://bulkhead.localhost:3001"]) assert.equal(asked(EDITOR, "/code-1/mint-key", { origin }, "POST"), "refuse", origin);
  assert.equal(asked(`${HASH}.bulkhead.localhost:3000`, "/code-1/mint-key", {}, "POST"), "refuse");
});

test("webviews have their frames, and nothing else", () => {
  const host = `${HASH}.bulkhead.localhost:3000`;
  for (const file of ["index.html", "fake.html", "service-worker.js"])
    assert.deepEqual(decide({ method: "GET", url: `${FRAMES}/${file}?id=1`, headers: { host } }), { way: "frame", to: file });
  for (const url of ["/", "/code-1/", "/code-1/stable-2/vscode-remote-resource?path=/etc/passwd", `${FRAMES}/../../../../../../server-main.js`,
    `${FRAMES}/x/index.html`, `${FRAMES}/%2e%2e/index.html`, `/vscode-remote-resource?${FRAMES}/index.html`, "/out/vs/workbench/workbench.web.main.js", `x${FRAMES.slice(1)}x/index.html`])
    assert.equal(asked(host, url), "refuse", url);
  assert.equal(asked(host, `${FRAMES}/index.html`, {}, "POST"), "refuse");
  assert.equal(asked(host, `${FRAMES}/index.html`, { upgrade: "websocket" }), "refuse");
});

test("so have those whose names say whose they are, and the two that try the browser", () => {
  for (const label of ["open", "0f".repeat(26)]) {
    const host = `${HASH}.${label}.bulkhead.localhost:3000`;
    assert.deepEqual(decide({ method: "GET", url: `${FRAMES}/fake.html`, headers: { host } }), { way: "frame", to: "fake.html" });
    assert.equal(asked(host), "refuse");
  }
  for (const name of ["kept", "free"]) {
    assert.deepEqual(decide({ method: "GET", url: "/abc", headers: { host: `${name}.bulkhead.localhost:3000` } }), { way: "trial", to: "abc" });
    assert.equal(asked(`${name}.bulkhead.localhost:3000`, "/abc", {}, "POST"), "refuse");
  }
  assert.equal(asked(EDITOR, "/code-1/page-trial?name=a", { origin: OWN, "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors" }, "POST"), "try");
  for (const origin of [`http://${HASH}.bulkhead.localhost:3000`, "http://kept.bulkhead.localhost:3000", "null"]) assert.equal(asked(EDITOR, "/code-1/page-trial", { origin }, "POST"), "refuse", origin);
});

test("other names are sent on or refused", () => {
  assert.deepEqual(decide({ method: "GET", url: "/code-1/?tkn=a&folder=/w", headers: { host: "127.0.0.1:3000" } }), { way: "move", to: `${OWN}/code-1/?tkn=a&folder=/w` });
  for (const host of ["localhost:3000", "[::1]:3000"]) {
    assert.equal(asked(host), "move", host);
    assert.equal(asked(host, "/x", { "sec-fetch-mode": "cors" }), "refuse", host);
    assert.equal(asked(host, "/x", { upgrade: "websocket" }), "refuse", host);
    assert.equal(asked(host, "/x", {}, "POST"), "refuse", host);
  }
  for (const host of ["evil.example:3000", "bulkhead.localhost.evil.example", "x.bulkhead.localhost:3000", `x${HASH}.bulkhead.localhost`, `${HASH}.${HASH}.bulkhead.localhost`, `${HASH}.opened.bulkhead.localhost`, `open.bulkhead.localhost`, `${HASH}.open.open.bulkhead.localhost`, "", undefined, "bulkhead.localhost:3000:1"])
    assert.equal(asked(host), "refuse", host);
});

test("a server behind it", async (t) => {
  const frames = fs.mkdtempSync(path.join(os.tmpdir(), "bulkhead-origins-"));
  fs.writeFileSync(path.join(frames, "index.html"), "<p>frame</p>");
  const server = guard(http.createServer((request, response) => {
    response.writeHead(200, { "Content-Type": "text/html", "Content-Security-Policy": "default-src 'self'; frame-src 'self' data:;" });
    response.end(request.headers.cookie ?? `passed ${request.url}`);
  }), frames, "t0ken", () => Buffer.from("half"), frames);
  let upgrades = 0;
  server.on("upgrade", (_request, socket) => {
    upgrades += 1;
    socket.end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  t.after(() => {
    server.close();
    fs.rmSync(frames, { recursive: true });
  });
  const get = (host, url, headers = {}, address = "127.0.0.1") =>
    new Promise((resolve, reject) => {
      http.get({ host: address, port, path: url, headers: { host: `${host}:${port}`, ...headers }, agent: false }, (answer) => {
        let body = "";
        answer.on("data", (part) => (body += part));
        answer.on("end", () => resolve({ status: answer.statusCode, headers: answer.headers, body }));
      }).on("error", reject);
    });
  const page = await get("bulkhead.localhost", "/");
  assert.equal(page.body, "passed /");
  assert.match(page.headers["content-security-policy"], new RegExp(`frame-src 'self' http://\\*\\.bulkhead\\.localhost:${port} data:`));
  assert.equal(page.headers["x-frame-options"], "SAMEORIGIN");
  assert.equal(page.headers["cross-origin-resource-policy"], "same-origin");
  // What a webview can set for the name above its own: more than Node takes, and others of the same name.
  const many = Array.from({ length: 180 }, (_, i) => `c${i}=${"x".repeat(4090)}`).join("; ");
  for (const cookies of ["vscode-tkn=t0ken", `${many}; vscode-tkn=t0ken`, `vscode-tkn=other; a=b; vscode-tkn=t0ken; ${many}`, "vscode-tkn=;vscode-tkn=t0ken"])
    assert.equal((await get("bulkhead.localhost", "/", { cookie: cookies })).body, "vscode-tkn=t0ken");
  for (const cookies of [many, "vscode-tkn=other", "x-vscode-tkn=t0ken", "vscode-tkn=t0ken2", "vscode.nls.locale=de"])
    assert.equal((await get("bulkhead.localhost", "/", { cookie: cookies })).body, "passed /", "none is the page's");
  const key = (headers) =>
    new Promise((resolve, reject) => {
      const request = http.request({ port, path: "/code-1/mint-key", method: "POST", headers: { host: `bulkhead.localhost:${port}`, ...headers }, agent: false }, (answer) => {
        let body = "";
        answer.on("data", (part) => (body += part));
        answer.on("end", () => resolve(`${answer.statusCode} ${body}`));
      });
      request.on("error", reject).end();
    });
  assert.equal(await key({ cookie: `${many}; vscode-tkn=t0ken` }), "200 half");
  for (const cookie of ["vscode-tkn=other", many]) assert.equal(await key({ cookie }), "403 no token");
  assert.match(await key({ cookie: "vscode-tkn=t0ken", origin: `http://${HASH}.bulkhead.localhost:${port}` }), /^403 /);
  const frame = await get(`${HASH}.bulkhead.localhost`, `${FRAMES}/index.html`);
  assert.equal(frame.body, "<p>frame</p>");
  assert.match(frame.headers["content-security-policy"], new RegExp(`^default-src 'none'; .*frame-ancestors 'self' http://bulkhead\\.localhost:${port}$`));
  assert.equal((await get(`${HASH}.bulkhead.localhost`, `${FRAMES}/none.html`)).status, 404);
  assert.equal((await get(`${HASH}.bulkhead.localhost`, "/")).status, 403);
  assert.equal((await get("evil.example", "/")).status, 403);
  assert.equal((await get("127.0.0.1", "/a?b")).headers.location, `http://bulkhead.localhost:${port}/a?b`);
  await t.test("also where browsers look first", { skip: !Object.values(os.networkInterfaces()).flat().some(({ address }) => address === "::1") && "no ::1" }, async () => {
    assert.equal((await get("bulkhead.localhost", "/six", {}, "::1")).body, "passed /six");
  });
  const upgrade = (origin) =>
    new Promise((resolve) => {
      const socket = net.connect(port, "127.0.0.1", () =>
        socket.write(`GET / HTTP/1.1\r\nHost: bulkhead.localhost:${port}\r\nOrigin: ${origin}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`));
      let text = "";
      socket.on("data", (part) => (text += part));
      socket.on("close", () => resolve(text));
    });
  assert.match(await upgrade(`http://${HASH}.bulkhead.localhost:${port}`), /^HTTP\/1\.1 403 /);
  assert.equal(upgrades, 0);
  await upgrade(`http://bulkhead.localhost:${port}`);
  assert.equal(upgrades, 1);
});

test("every answer that is not the workbench's keeps the page that it becomes off the network", async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "bulkhead-origins-"));
  const granted = "0a".repeat(26);
  fs.writeFileSync(path.join(folder, "index.html"), "<p>frame</p>");
  fs.writeFileSync(path.join(folder, granted), JSON.stringify({ hosts: ["api.example.com:443", "*.example.org:*", "plain.example.com:80", "evil.example.com:443; script-src *"], open: false }));
  fs.writeFileSync(path.join(folder, "0b".repeat(26)), JSON.stringify({ hosts: [], open: true }));
  fs.writeFileSync(path.join(folder, "0c".repeat(26)), "{");
  const server = guard(http.createServer((_request, response) => response.end()), folder, "t0ken", () => Buffer.from("half"), folder);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  t.after(() => {
    server.close();
    fs.rmSync(folder, { recursive: true });
  });
  const ask = (label, url, method = "GET") => new Promise((resolve, reject) => {
    const host = `${HASH}${label}.bulkhead.localhost:${port}`;
    http.request({ port, path: url, method, headers: { host }, agent: false }, (answer) => {
      answer.resume();
      resolve({ status: answer.statusCode, list: answer.headers["connection-allowlist"], policy: answer.headers["content-security-policy"] });
    }).on("error", reject).end();
  });
  const NOTHING = `(response-origin "https://file\\\\+.vscode-resource.vscode-cdn.net" "https://vscode-remote\\\\+bulkhead-002elocalhost-003a${port}.vscode-resource.vscode-cdn.net")`;
  for (const label of ["", `.${"0c".repeat(26)}`, `.${"0d".repeat(26)}`])
    for (const [url, status, method] of [[`${FRAMES}/index.html`, 200], [`${FRAMES}/none.html`, 404], [`${FRAMES}/service-worker.js`, 404], ["/", 403], ["/mint-key", 403, "POST"]]) {
      const answer = await ask(label, url, method);
      assert.equal(answer.status, status);
      assert.equal(answer.list, NOTHING, `${label} ${url}`);
      assert.match(answer.policy, /^default-src 'none'; /);
      assert.ok(!answer.policy.includes("*:") && !/https?:(?!\/\/)/.test(answer.policy), answer.policy);
    }
  const some = await ask(`.${granted}`, "/");
  assert.equal(some.list, NOTHING.replace(")", ' "https://api.example.com" "wss://api.example.com" "https://*.example.org:*" "wss://*.example.org:*" "http://*.example.org:*" "ws://*.example.org:*" "http://plain.example.com" "ws://plain.example.com")'));
  assert.match(some.policy, /connect-src [^;]* https:\/\/api\.example\.com /);
  assert.ok(!some.policy.includes("evil"), "a host is no more than a host");
  for (const label of [".open", `.${"0b".repeat(26)}`]) {
    const answer = await ask(label, "/");
    assert.deepEqual([answer.list, answer.policy], [undefined, `frame-ancestors 'self' http://bulkhead.localhost:${port}`]);
  }
  await t.test("also where it is no request", async () => {
    const text = await new Promise((resolve) => {
      const socket = net.connect(port, "127.0.0.1", () => socket.write(`GET / HTTP/1.1\r\nHost: ${HASH}.bulkhead.localhost\r\nx: ${"a".repeat(1 << 21)}\r\n\r\n`));
      let said = "";
      socket.on("data", (part) => (said += part));
      socket.on("error", () => {});
      socket.on("close", () => resolve(said));
    });
    if (text !== "") assert.match(text, /^HTTP\/1\.1 400 [^]*\nConnection-Allowlist: \(response-origin [^]*\nContent-Security-Policy: default-src 'none'; /);
  });
});

test("a browser is tried by two pages", async (t) => {
  const server = guard(http.createServer((_request, response) => response.end()), "/", "t0ken", () => Buffer.from("half"), "/");
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  t.after(() => server.close());
  const ask = (host, url, method = "GET", cookie = "vscode-tkn=t0ken") => new Promise((resolve, reject) => {
    http.request({ port, path: url, method, headers: { host: `${host}:${port}`, cookie }, agent: false }, (answer) => {
      let body = "";
      answer.on("data", (part) => (body += part));
      answer.on("end", () => resolve({ status: answer.statusCode, list: answer.headers["connection-allowlist"], body }));
    }).on("error", reject).end();
  });
  const connect = (/** @type {number} */ to) => new Promise((resolve) => net.connect(to, "127.0.0.1").on("error", resolve).on("close", resolve));
  const portsOf = (/** @type {string} */ page) => /** @type {number[]} */ (JSON.parse(/\)\(\.\.\.(\[.*?\])\);<\/script>$/.exec(page)?.[1] ?? "[]"));
  assert.equal((await ask("bulkhead.localhost", "/code-1/page-trial", "POST", "")).status, 403, "no token");
  assert.equal((await ask("kept.bulkhead.localhost", "/none")).status, 404);
  /** @param {number[]} kept ways of the first page that come @param {number[]} free of the second */
  const tried = async (kept, free) => {
    const { body: name } = await ask("bulkhead.localhost", "/code-1/page-trial", "POST");
    const [first, second] = [await ask("kept.bulkhead.localhost", `/${name}`), await ask("free.bulkhead.localhost", `/${name}`)];
    assert.match(first.list, /^\(response-origin /);
    assert.equal(second.list, undefined);
    assert.equal(new Set([...portsOf(first.body), ...portsOf(second.body)]).size, 6);
    for (const way of kept) await connect(portsOf(first.body)[way]);
    for (const way of free) await connect(portsOf(second.body)[way]);
    return (await ask("bulkhead.localhost", `/code-1/page-trial?name=${name}`, "POST")).body;
  };
  assert.equal(await tried([], [0, 1, 2]), "");
  assert.equal(await tried([], [1, 2]), "", "nobody connects in advance here");
  assert.match(await tried([2], [0, 1, 2]), /let a page out that may not: webrtc/);
  assert.match(await tried([0], []), /let a page out that may not: preconnect/);
  assert.match(await tried([], [0, 1]), /could not be tried: webrtc/);
  assert.equal((await ask("bulkhead.localhost", "/code-1/page-trial?name=none", "POST")).body, "it was not tried");
});

test("a file of the workspace that is opened as a page has no origin", async (t) => {
  const server = guard(http.createServer((_request, response) => response.writeHead(200, { "Content-Type": "text/html" }).end("<script></script>")), "/");
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const answer = await new Promise((resolve) => http.get({ port: server.address().port, path: "/code-1/stable-2/vscode-remote-resource?path=/w/x.html", headers: { host: "bulkhead.localhost" }, agent: false }, resolve));
  assert.equal(answer.headers["content-security-policy"], "sandbox");
  answer.resume();
});

test("a link of somebody else's opens the editor, and says nothing about how", () => {
  const link = (site, url) => decide({ method: "GET", url, headers: { host: "bulkhead.localhost:3000", "sec-fetch-site": site, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" } });
  for (const site of ["cross-site", "same-site"]) {
    assert.deepEqual(link(site, "/code-1/?folder=/home/me/other"), { way: "move", to: "http://bulkhead.localhost:3000/code-1/" });
    assert.deepEqual(link(site, "/code-1/"), { way: "pass" });
  }
  for (const site of ["none", "same-origin"]) assert.deepEqual(link(site, "/code-1/?folder=/w&tkn=a"), { way: "pass" });
});
