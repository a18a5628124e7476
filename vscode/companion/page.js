// The frame of our web pages: nothing from elsewhere, no inline script, no inline style; scripts get
// data by messages and write it as text nodes only.
"use strict";

const { randomBytes } = require("node:crypto");
const vscode = require("vscode");

/**
 * @param {vscode.Webview} webview
 * @param {vscode.Uri} media our media folder
 * @param {{ title: string, script: string, body: string }} page body: fixed text of ours
 */
function html(webview, media, { title, script, body }) {
  const nonce = randomBytes(16).toString("base64url");
  const address = (/** @type {string} */ name) => webview.asWebviewUri(vscode.Uri.joinPath(media, name)).toString();
  const policy = `default-src 'none'; style-src ${webview.cspSource}; script-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="stylesheet" href="${address("page.css")}">
</head>
<body>
${body}
<script nonce="${nonce}" src="${address(script)}"></script>
</body>
</html>`;
}

module.exports = { html };
