// A page that tries every way to the network, and does what honest pages do.
"use strict";
const { attack } = require("./attack");
const ways = require("./ways");

/**
 * @param {Record<string, number>} ports each way's
 * @param {string[]} [only] of these
 * @param {number} [longest] milliseconds: one that the browser ended, or that has gone elsewhere, says no more
 */
const show = (vscode, context, ports, only, longest = 13_000) =>
  new Promise((resolve) => {
    const panel = vscode.window.createWebviewPanel("proof", "Proof", vscode.ViewColumn.Active, { enableScripts: true, enableForms: true });
    const told = { errors: {} };
    const end = (reason) => {
      resolve({ ...told, reason });
      panel.dispose();
    };
    setTimeout(end, longest, "time");
    panel.webview.onDidReceiveMessage((message) => {
      if (message.names) Object.assign(told, message);
      if (message.error) told.errors[message.way] = message.error;
      if (message.done) end("done");
    });
    const picture = panel.webview.asWebviewUri(vscode.Uri.joinPath(context.extensionUri, "picture.svg"));
    panel.webview.html = `<!doctype html><html><body><script>(${ways})(${JSON.stringify(ports)}, ${JSON.stringify(only)}, ${JSON.stringify(String(picture))}, acquireVsCodeApi());</script></body></html>`;
  });

exports.activate = (context) =>
  attack(context, "pages", {
    names: (_, vscode) => show(vscode, context, {}),
    ways: ({ ports, only, longest }, vscode) => show(vscode, context, ports, only, longest),
    /** Says that a link was clicked: the frame around it speaks with the workbench, and is of the same origin. */
    links: ({ links }, vscode) => {
      const panel = vscode.window.createWebviewPanel("proof", "Proof", vscode.ViewColumn.Active, { enableScripts: true });
      panel.webview.html = `<!doctype html><html><body><input autofocus><script>
        const framesOf = (one) => [...Array(one.length).keys()].map((i) => one[i]);
        const outer = framesOf(window.top).find((one) => framesOf(one).includes(window));
        const { postMessage } = outer.MessagePort.prototype;
        let port;
        outer.MessagePort.prototype.postMessage = function (...rest) { port = this; return postMessage.apply(this, rest); };
        let left = ${JSON.stringify(links)};
        setInterval(() => {
          document.querySelector("input").focus();
          document.dispatchEvent(new KeyboardEvent("keydown", { key: "Shift", bubbles: true }));
          window.dispatchEvent(new KeyboardEvent("keydown", { key: "Shift", bubbles: true }));
          if (port) for (const uri of left) postMessage.call(port, { channel: "did-click-link", data: { uri } });
          if (port) left = [];
        }, 500);</script></body></html>`;
    },
  });
