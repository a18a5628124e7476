// Plays `bulkhead host` on the companion's sockets: for tests, and for looking at the companion without
// compartments.
//
//   node fake_host.mjs FOLDER      plays a scene of several hosts in $BULKHEAD_RUNTIME/code/$BULKHEAD_WINDOW;
//                                  lines on standard input are commands: NUMBER JSON sends JSON from the
//                                  host with that pid
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** One host. `received` holds what the companion sent, and `next()` waits for more of it. */
export class FakeHost {
  received = [];
  #waiting = [];
  #sockets = new Set();

  /**
   * @param {string} folder
   * @param {object} hello members that differ from the usual ones
   * @param {(host: FakeHost) => void} [greeted] after each hello
   */
  constructor(folder, hello, greeted = () => {}) {
    this.hello = {
      type: "hello", protocol: 1, run: "0123456789abcdef", pid: 1,
      extensions: [{ id: "a.b", version: "1.0.0", name: "B", folder: "/extensions/a.b" }],
      trace: false, state: "running", since: 1_000, workspace: ["/home/me/project"],
      permits: [], cannot: [], grants: [],
      ...hello,
    };
    this.file = path.join(folder, `${this.hello.pid}.sock`);
    this.server = net.createServer((socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
      socket.on("error", () => {});
      createInterface({ input: socket }).on("line", (line) => {
        const message = JSON.parse(line);
        this.received.push(message);
        this.#waiting.shift()?.(message);
        this.onMessage?.(message);
      }).on("error", () => {});
      this.send(this.hello);
      greeted(this);
    });
    this.onMessage = undefined;
  }

  async listen() {
    fs.rmSync(this.file, { force: true });
    await new Promise((resolve) => this.server.listen(this.file, () => resolve(undefined)));
    return this;
  }

  /** The next message after those in `received`. */
  next() {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** @param {object | string} message text goes out as it is */
  send(message) {
    const line = typeof message === "string" ? message : `${JSON.stringify(message)}\n`;
    for (const socket of this.#sockets) socket.write(line);
  }

  /** Breaks the connections; the host stays. */
  break() {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Ends as a host does: its socket's file goes with it. */
  async close() {
    this.server.close();
    for (const socket of this.#sockets) socket.end();
    fs.rmSync(this.file, { force: true });
  }
}

const home = process.env.HOME ?? "/home/me";
const extension = (id, name, version) => ({ id, name, version, folder: `${home}/.vscode/extensions/${id}-${version}` });

const CANNOT = [
  "Read your keys, passwords and sign-ins: SSH and GPG keys, cloud and registry credentials, browsers' and password stores",
  "Write anything outside the workspace and its own storage",
  "Use the network",
];

const USUAL = "It reads and changes your workspace and keeps data of its own. It cannot read your keys and passwords, nor, unless you allow it, read the rest of your home folder or use the network.";

/** Hosts in every state, with every message, and texts that try to deceive. */
function scene(folder) {
  const cpu = { value: 4 };
  const usage = (host, memory, load) => {
    let seconds = cpu.value;
    setInterval(() => {
      seconds += 2 * load * (0.5 + Math.random());
      host.send({ type: "usage", cpu: seconds, memory, processes: 3 });
      host.send({ type: "counts", refused: 7 });
    }, 2000);
  };
  const prettier = new FakeHost(folder, {
    pid: 4101, run: "c9ac069c8b1a5db1", since: Date.now(),
    extensions: [extension("esbenp.prettier-vscode", "Prettier - Code formatter", "12.1.0")],
    permits: ["Read everything in your workspace ~/project", "Read every file named .prettierrc, .editorconfig or .prettierignore", "Write files of your workspace ~/project", "Run node", "Offer language features and change documents that you format"],
    cannot: CANNOT,
    grants: [{ kind: "read", resource: `${home}/.config/prettier/options.json`, remembered: true }, { kind: "run", resource: "/usr/bin/git", remembered: false }],
  }, (host) => {
    const deny = (kind, resource, program, count = 1) =>
      host.send({ type: "decision", time: Date.now(), kind, resource, verdict: "deny", rule: resource.includes(".ssh") ? "built-in blocklist: ${home}/.ssh [ssh-keys]" : "otherwise: deny", program, count, enforced: true });
    deny("read", `${home}/.ssh/id_rsa`, process.execPath);
    deny("connect", "collector.example.net:443", process.execPath, 4);
    deny("read", "/home/me/project/a‮cod.exe\n$(alert)[x](https://evil.example)", "/usr/bin/cat", 2);
  });
  const eslint = new FakeHost(folder, {
    pid: 4102, run: "00aa11bb22cc33dd", since: Date.now(),
    extensions: [extension("dbaeumer.vscode-eslint", "ESLint", "3.0.16")],
    permits: ["Read everything in your workspace ~/project", "Run node and npm"], cannot: CANNOT,
  }, (host) => {
    host.send({ type: "question", id: 1, kind: "run", resource: "/usr/bin/git", extension: "dbaeumer.vscode-eslint", program: process.execPath, process: 4120, detail: "execve" });
    host.send({ type: "question", id: 2, kind: "read", resource: `${home}/src/a-very-long-folder-name/with/many/levels/of/folders/below/each/other/so/that/it/must/be/cut/somewhere/eslint.config.mjs`, extension: "", program: "/usr/bin/git", process: 4121, detail: "openat" });
    host.send({ type: "question", id: 3, kind: "vscode", resource: "terminal", extension: "dbaeumer.vscode-eslint", program: process.execPath, process: 4120, detail: "$createTerminal" });
  });
  const review = (pid, extensions, more) => new FakeHost(folder, { pid, run: `${pid}`.padStart(16, "0"), state: "review", extensions, permits: [], cannot: CANNOT }, (host) => {
    host.send({ type: "review", digest: `${pid}abc`, reason: "new", extensions, usual: USUAL, notable: [], permits: [], cannot: CANNOT, unusual: [], widened: [], ...more });
  });
  const astro = review(4103, [extension("astro-build.astro-vscode", "Astro", "2.16.19")], {
    permits: ["Read everything in your workspace ~/project", "Run node and npm, with which it can run anything that they run", "Connect to registry.npmjs.org on port 443", "Offer language features and change documents through the editor"],
    unusual: ["Asks when it wants more than this"],
    notable: ["Connect to registry.npmjs.org on port 443: what it reads can go there"],
  });
  const python = review(4104, [extension("ms-python.python", "Python", "2026.11.0"), extension("ms-python.debugpy", "Python Debugger", "2026.4.1")], {
    reason: "widened",
    permits: ["Read everything in your workspace ~/project", "Run python3 and everything in ~/project/.venv", "Use the network: any host, any port"],
    notable: ["Connect to any host, so that what it reads can go anywhere", "Open terminals and type into them: what it types runs outside of the compartment, as you"],
    unusual: ["Connect to any host", "Open terminals and type into them: what runs there is outside its compartment"],
    widened: ["Connect to any host (before: pypi.org on port 443)"],
  });
  const git = new FakeHost(folder, {
    pid: 4105, run: "ffee00112233ddcc", state: "ended", extensions: [extension("eamodio.gitlens", "GitLens", "17.9.0")], cannot: CANNOT,
  }, (host) => {
    host.send({ type: "state", state: "running", outcome: "" });
    setTimeout(() => host.send({ type: "state", state: "ended", outcome: "ended by a limit: memory: 530 MiB used, 512 MiB allowed" }), 1500);
  });
  const loop = new FakeHost(folder, { pid: 4106, run: "0102030405060708", extensions: [extension("proof.loop", "Endless loop", "1.0.0")], cannot: CANNOT }, (host) => {
    host.send({ type: "pulse", responds: false });
  });
  usage(loop, 60 << 20, 1);
  usage(prettier, 92 << 20, 0.03);
  usage(eslint, 141 << 20, 0.4);
  return [prettier, eslint, astro, python, git, loop];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = process.argv[2];
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const hosts = scene(folder);
  for (const host of hosts) {
    host.onMessage = (message) => {
      console.log(host.hello.pid, JSON.stringify(message));
      if (message.type === "approve" || message.type === "reject") host.send({ type: "state", state: message.type === "approve" ? "running" : "ended", outcome: "" });
      if (message.type === "end") host.send({ type: "state", state: "ended", outcome: "ended with exit code 0" });
      if (message.type === "grant") {
        host.hello.grants.push({ kind: message.kind, resource: message.resource, remembered: true });
        host.send(host.hello);
      }
      if (message.type === "revoke") {
        host.hello.grants = host.hello.grants.filter((grant) => grant.resource !== message.resource);
        host.send(host.hello);
      }
    };
    await host.listen();
  }
  createInterface({ input: process.stdin }).on("line", (line) => {
    const found = /^(\d+) (.*)$/.exec(line);
    hosts.find((host) => host.hello.pid === Number(found?.[1]))?.send(`${found?.[2]}\n`);
  });
  process.on("SIGTERM", async () => {
    await Promise.all(hosts.map((host) => host.close()));
    process.exit(0);
  });
}
