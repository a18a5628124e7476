// `bulkhead code`: starts VS Code's server with every third-party extension in a compartment.
//
//   node start.mjs --bulkhead PROGRAM --state FOLDER [--server FOLDER] [--diagnose] [--builtin ID]…
//                  [--port N] [--trace] [--] [FOLDER] [options of the server]
//
// Loopback and a connection token, always. Ends with the server, and ends it.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { diagnose, prepare } from "./prepare.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    bulkhead: { type: "string" },
    state: { type: "string" },
    server: { type: "string" },
    builtin: { type: "string", multiple: true, default: [] },
    port: { type: "string", default: "0" },
    extensions: { type: "string" },
    data: { type: "string" },
    diagnose: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    trace: { type: "boolean", default: false },
  },
});

const fail = (message, code = 125) => {
  process.stderr.write(`bulkhead code: ${message}\n`);
  process.exit(code);
};

const server = path.resolve(values.server ?? path.join(here, "../node_modules/code-server/lib/vscode"));
if (values.diagnose) {
  try {
    const found = diagnose(server);
    const fits = found.edits.every((edit) => edit.found === edit.wanted);
    if (values.json) console.log(JSON.stringify({ ...found, fits }));
    else {
      console.log(`VS Code ${found.version} in ${server}`);
      for (const edit of found.edits)
        console.log(`  ${edit.found === edit.wanted ? "fits   " : "MISSING"}  ${edit.name}: ${edit.what}`);
    }
    process.exit(fits ? 0 : 1);
  } catch (error) {
    fail(error.message, 1);
  }
}

const refused = ["--host", "--without-connection-token", "--socket-path", "--inspect-extensions"];
for (const word of positionals) {
  if (refused.some((option) => word === option || word.startsWith(`${option}=`)))
    fail(`${word} would open the editor to others; bulkhead always uses loopback and a token`);
}
const isFolder = positionals.length > 0 && !positionals[0].startsWith("-");
const folder = path.resolve(isFolder ? positionals[0] : ".");
if (!fs.existsSync(folder)) fail(`${folder} does not exist`);
const rest = isFolder ? positionals.slice(1) : positionals;

let launchFile;
try {
  launchFile = prepare({ server, state: values.state, bulkhead: values.bulkhead, builtin: values.builtin });
} catch (error) {
  fail(error.message);
}

const data = values.data ?? path.join(values.state, "code/data");
const extensions = values.extensions ?? path.join(values.state, "code/extensions");
for (const each of [data, extensions]) fs.mkdirSync(each, { recursive: true, mode: 0o700 });
const token = randomBytes(24).toString("base64url");
const tokenFile = path.join(data, `token-${process.pid}`);
fs.writeFileSync(tokenFile, token, { mode: 0o600 });
process.on("exit", () => fs.rmSync(tokenFile, { force: true }));

const child = spawn(
  process.execPath,
  [
    "--require", path.join(here, "preload.cjs"),
    path.join(server, "out/server-main.js"),
    "--host", "127.0.0.1", "--port", values.port,
    "--connection-token-file", tokenFile,
    "--accept-server-license-terms",
    "--disable-websocket-compression",
    "--server-data-dir", data, "--extensions-dir", extensions,
    "--reconnection-grace-time", "300",
    ...rest,
  ],
  {
    env: { ...process.env, BULKHEAD_LAUNCH: launchFile, ...(values.trace ? { BULKHEAD_TRACE: "1" } : {}) },
    stdio: ["ignore", "pipe", "pipe"],
  },
);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));

let told = false;
let text = "";
child.stdout.on("data", (part) => {
  if (told) return;
  text += part;
  const port = /Web UI available at http:\/\/localhost:(\d+)|Extension host agent listening on (\d+)/.exec(text);
  if (!port) return;
  told = true;
  const address = `http://127.0.0.1:${port[1] ?? port[2]}/?tkn=${token}&folder=${encodeURIComponent(folder)}`;
  console.log(`VS Code, its extensions in compartments: open\n\n  ${address}\n\nCtrl-C ends it. bulkhead log shows what extensions did.`);
});
let errors = "";
child.stderr.on("data", (part) => {
  errors = (errors + part).slice(-4000);
});
child.on("exit", (code, signal) => {
  if (!told) fail(`the server ended before it was ready (${signal ?? code}):\n${errors || text}`);
  process.exit(signal ? 0 : (code ?? 0));
});
