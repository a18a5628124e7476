// A throwaway world for one editor: a home with keys, a project in it, a collector that listens, and a
// folder that only programs outside of every compartment can write. Each world has fresh secrets, so a
// secret that turns up anywhere was stolen here and now.
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";

const secret = (name) => `secret-${name}-${randomBytes(12).toString("hex")}`;

/** A server that takes anything down and lets nobody wait. That somebody connects is an effect. */
async function collector(where) {
  const messages = [];
  const sockets = new Set();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    const message = { at: typeof where === "string" ? where : "tcp", text: "" };
    messages.push(message);
    socket.on("data", (part) => {
      if (message.text.length < 65536) message.text += part;
      if (message.text.includes("\r\n\r\n"))
        socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nAccess-Control-Allow-Origin: *\r\nAccess-Control-Allow-Methods: *\r\nConnection: close\r\n\r\nok");
    });
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise((resolve, reject) => server.once("error", reject).listen(where, ...(typeof where === "number" ? ["127.0.0.1"] : []), resolve));
  return {
    messages,
    port: typeof where === "number" ? server.address().port : 0,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

export class World {
  /** Not below /tmp: a compartment has a /tmp of its own. */
  static async create() {
    const world = new World();
    world.root = fs.realpathSync(fs.mkdtempSync("/var/tmp/bulkhead-editor-"));
    const at = (...parts) => path.join(world.root, ...parts);
    world.home = at("home");
    world.parent = at("home/projects");
    world.workspace = at("home/projects/app");
    world.other = at("home/projects/other");
    world.loot = at("loot");
    world.runtime = at("run");
    world.mark = randomBytes(8).toString("hex");
    world.secrets = {};
    for (const name of ["key", "other", "aws", "environment", "clipboard", "victim", "settings", "tmp"]) world.secrets[name] = secret(name);
    for (const folder of [world.workspace, world.other, world.loot, world.runtime, at("home/.ssh"), at("home/.aws"), at("home/.config")])
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    world.write("home/.ssh/id_rsa", `-----BEGIN OPENSSH PRIVATE KEY-----\n${world.secrets.key}\n-----END OPENSSH PRIVATE KEY-----\n`);
    world.tmp = fs.mkdtempSync("/tmp/bulkhead-editor-");
    fs.writeFileSync(path.join(world.tmp, "notes.txt"), world.secrets.tmp, { mode: 0o600 });
    world.write("home/.aws/credentials", `[default]\naws_secret_access_key = ${world.secrets.aws}\n`);
    world.write("home/.bashrc", "# nothing\n");
    world.write("home/.gitconfig", "[user]\n\tname = Nobody\n\temail = nobody@example.org\n[init]\n\tdefaultBranch = main\n");
    world.write("home/projects/other/notes.txt", `${world.secrets.other}\n`);
    world.write("home/projects/.prettierrc", '{ "semi": false, "tabWidth": 3 }\n');
    world.write("home/projects/app/.prettierignore", "ignored.js\n");
    world.write("home/projects/app/first.js", "const first   = 1\n");
    world.write("home/projects/app/data.json", '{"needle":   [1,2,3]}\n');
    world.write("home/projects/app/style.css", "a{color:red}\n");
    world.write("home/projects/app/page.html", "<!doctype html><html><body><p>text</p></body></html>\n");
    const git = (...words) => execFileSync("git", words, { cwd: world.workspace, env: world.environment(), stdio: "pipe" });
    git("init", "-q");
    git("add", ".");
    git("commit", "-q", "-m", "first");
    world.collector = await collector(0);
    world.unix = await collector(path.join(world.runtime, "code-server-ipc.sock"));
    return world;
  }

  /** @returns {Record<string, string>} what the editor's server is started with */
  environment() {
    const kept = Object.fromEntries(["PATH", "LANG", "TERM", "BULKHEAD_DATA"].filter((name) => process.env[name]).map((name) => [name, process.env[name]]));
    return {
      ...kept,
      HOME: this.home,
      USER: "user",
      SHELL: "/bin/bash",
      XDG_RUNTIME_DIR: this.runtime,
      XDG_CONFIG_HOME: path.join(this.home, ".config"),
      XDG_DATA_HOME: path.join(this.home, ".local/share"),
      XDG_STATE_HOME: path.join(this.home, ".local/state"),
      XDG_CACHE_HOME: path.join(this.home, ".cache"),
      SSH_AUTH_SOCK: path.join(this.runtime, "code-server-ipc.sock"),
      SECRET_TOKEN: this.secrets.environment,
      BULKHEAD_PROOF: this.mark,
    };
  }

  /** What an attack is told; a real one finds it out, or is written for one victim. */
  facts() {
    return {
      home: this.home,
      workspace: this.workspace,
      other: this.other,
      loot: this.loot,
      key: path.join(this.home, ".ssh/id_rsa"),
      tmp: path.join(this.tmp, "notes.txt"),
      collector: this.collector.port,
      unix: path.join(this.runtime, "code-server-ipc.sock"),
    };
  }

  path(name) {
    return path.join(this.root, name);
  }

  write(name, text) {
    const file = this.path(name);
    fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    fs.writeFileSync(file, text, { mode: 0o600 });
  }

  rename(from, to) {
    fs.renameSync(this.path(from), this.path(to));
  }

  read(name) {
    try {
      return fs.readFileSync(this.path(name), "utf8");
    } catch {
      return undefined;
    }
  }

  /** Which secrets a text holds. */
  stolen(text) {
    return Object.entries(this.secrets).filter(([, value]) => text.includes(value)).map(([name]) => name);
  }

  /** Everything that was sent to a listener of this world. */
  received() {
    return [...this.collector.messages, ...this.unix.messages];
  }

  /** Ends what still runs with this world's mark in its environment, then removes the world. */
  async destroy() {
    this.collector.close();
    this.unix.close();
    for (let round = 0; round < 20; round += 1) {
      const left = this.processes();
      if (left.length === 0) break;
      for (const pid of left) {
        try {
          process.kill(pid, round < 5 ? "SIGTERM" : "SIGKILL");
        } catch {
          // It ended meanwhile.
        }
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    fs.rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
    fs.rmSync(this.tmp, { recursive: true, force: true });
  }

  processes() {
    const wanted = `BULKHEAD_PROOF=${this.mark}`;
    return fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number).filter((pid) => {
      if (pid === process.pid) return false;
      try {
        return fs.readFileSync(`/proc/${pid}/environ`, "latin1").split("\0").includes(wanted);
      } catch {
        return false;
      }
    });
  }
}
