// Harmless: another extension with a secret, an export and a command, as a real one with an account has.
"use strict";
const { createHash } = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");

exports.activate = async (context) => {
  const folder = path.join(vscode.workspace.workspaceFolders[0].uri.fsPath, ".proof");
  // The test hands the token over, again where a reload has lost it; nobody reads it there uncalled.
  const given = path.join(folder, "victim.token");
  const take = async () => {
    if (!fs.existsSync(given)) return;
    const token = fs.readFileSync(given, "utf8");
    await context.secrets.store("token", token);
    await context.globalState.update("account", token);
    fs.mkdirSync(context.logUri.fsPath, { recursive: true });
    fs.appendFileSync(path.join(context.logUri.fsPath, "victim.log"), `signed in with ${token}\n`);
    fs.unlinkSync(given);
  };
  await take();
  const token = () => context.secrets.get("token");
  context.subscriptions.push(vscode.commands.registerCommand("proof.victim.token", token), vscode.commands.registerCommand("proofVictim.pay", () => undefined));
  // A terminal of its own, into which a person types a password, say.
  const wanted = path.join(folder, "victim.terminal");
  const open = () => {
    if (!fs.existsSync(wanted)) return;
    fs.unlinkSync(wanted);
    const written = new vscode.EventEmitter();
    let typed = "";
    const handleInput = (keys) => {
      typed += keys;
      fs.writeFileSync(path.join(folder, "victim.typed"), createHash("sha256").update(typed).digest("hex"));
    };
    vscode.window.createTerminal({ name: "victim", pty: { onDidWrite: written.event, open: () => written.fire("password: "), close() {}, handleInput } }).show();
  };
  // A page that shows what it hears: of its extension, and of frames that stand in it.
  const shown = path.join(folder, "victim.page");
  const show = () => {
    if (!fs.existsSync(shown)) return;
    fs.unlinkSync(shown);
    const panel = vscode.window.createWebviewPanel("victim", "Victim", vscode.ViewColumn.Active, { enableScripts: true, retainContextWhenHidden: true });
    const frame = `<script>parent.postMessage("heard its frame", "*")</script><iframe srcdoc="<script>parent.parent.postMessage('heard a frame of its frame', '*')</script>"></iframe>`;
    panel.webview.onDidReceiveMessage(() => panel.webview.postMessage("heard its extension"));
    panel.webview.html = `<!doctype html><html><body><script>
      const api = acquireVsCodeApi();
      addEventListener("message", ({ data }) => document.body.append(JSON.stringify(data)));
      addEventListener("load", () => api.postMessage("ready"));
    </script><iframe sandbox="allow-scripts" srcdoc="${frame.replaceAll('"', "&quot;")}"></iframe></body></html>`;
  };
  // What it has by now, if others have not changed it.
  const holds = (secret) => {
    const hashed = [secret, context.globalState.get("account")].map((each) => createHash("sha256").update(String(each)).digest("hex"));
    fs.writeFileSync(path.join(folder, "victim.holds"), hashed.join(" "));
  };
  const timer = setInterval(() => void take().then(token).then(holds).then(open).then(show), 1000);
  context.subscriptions.push({ dispose: () => clearInterval(timer) });
  fs.mkdirSync(folder, { recursive: true });
  // Others read what lies here, so not the setting itself.
  const account = vscode.workspace.getConfiguration("proofVictim").get("account");
  fs.writeFileSync(path.join(folder, "victim.account"), createHash("sha256").update(account).digest("hex"));
  fs.writeFileSync(path.join(folder, "victim.ids"), `${vscode.env.machineId} ${vscode.env.sessionId}`);
  fs.writeFileSync(path.join(folder, "victim.ready"), (await token()) ? "has its token" : "has no token");
  return { token };
};
