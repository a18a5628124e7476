// The sockets of this window's hosts: $BULKHEAD_RUNTIME/code/$BULKHEAD_WINDOW/PID.sock, one for each
// `bulkhead host`. Watches the folder, connects, reads lines, reconnects, and tells when a host is
// gone. Knows nothing of what the messages mean.
"use strict";

const { EventEmitter } = require("node:events");
const fs = require("node:fs");
const net = require("node:net");
const path = require("node:path");
const { MAX_LINE, parse } = require("./protocol.js");

/** Waits between tries, in ms; the last one repeats. */
const WAITS = [50, 200, 500, 1000, 2000, 5000];
/** A look at the folder for what the watcher missed (inotify can overflow). */
const RESCAN = 3000;
/** The same where there is none yet: its first host makes it, and its last one takes it away. */
const AWAIT_FOLDER = 500;
/** A host says hello at once. */
const PATIENCE = 5000;
/** What may wait to be written: a host that does not read is not written to. */
const MAX_QUEUED = 4 * MAX_LINE;

/**
 * One host's socket. Events: "hello" (message), "message" (message), "lost" (reason), "fault" (text).
 * "hello" comes first after each connect; nothing comes between "lost" and the next "hello".
 */
class Connection extends EventEmitter {
  /** @type {net.Socket | undefined} */
  #socket;
  /** @type {NodeJS.Timeout | undefined} */
  #timer;
  #tries = 0;
  #greeted = false;
  #closed = false;
  #waits;
  /** @type {NodeJS.Timeout | undefined} */
  #patience;

  /**
   * @param {string} file
   * @param {number} pid
   * @param {number[]} [waits]
   */
  constructor(file, pid, waits = WAITS) {
    super();
    this.file = file;
    this.pid = pid;
    this.#waits = waits;
    this.#connect();
  }

  get connected() {
    return this.#greeted;
  }

  /**
   * @param {import("./protocol.js").ToHost} message
   * @returns {boolean} false where it could not be sent
   */
  send(message) {
    const line = `${JSON.stringify(message)}\n`;
    const socket = this.#socket;
    if (!socket || !this.#greeted || Buffer.byteLength(line) > MAX_LINE || socket.writableLength > MAX_QUEUED)
      return false;
    socket.write(line);
    return true;
  }

  /** Tries again now: the folder changed. */
  hurry() {
    if (this.#socket || this.#closed) return;
    clearTimeout(this.#timer);
    this.#connect();
  }

  dispose() {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#drop("closed");
  }

  #connect() {
    const socket = net.connect(this.file);
    this.#socket = socket;
    /** @type {Buffer[]} */
    let parts = [];
    let kept = 0;
    this.#patience = setTimeout(() => this.#fault("it said nothing"), PATIENCE);
    this.#patience.unref();
    socket.on("data", (/** @type {Buffer} */ data) => {
      let rest = data;
      for (let end = rest.indexOf(10); end >= 0 && socket === this.#socket; end = rest.indexOf(10)) {
        const line = Buffer.concat([...parts, rest.subarray(0, end)]);
        parts = [];
        kept = 0;
        rest = rest.subarray(end + 1);
        this.#line(line);
      }
      if (socket !== this.#socket) return;
      kept += rest.length;
      if (kept > MAX_LINE) return this.#fault("a line longer than 1 MiB");
      if (rest.length > 0) parts.push(rest);
    });
    socket.on("error", () => {});  // "close" follows
    socket.on("close", () => {
      if (socket === this.#socket) this.#drop("the host closed the connection");
    });
  }

  /** @param {Buffer} line */
  #line(line) {
    if (line.length > MAX_LINE) return this.#fault("a line longer than 1 MiB");
    const read = parse(line.toString("utf8"));
    if ("fault" in read) return this.#fault(read.fault);
    if ("unknown" in read) return;
    const { message } = read;
    if (message.type === "hello") {
      // The file's name and the host must agree: answers go by this number.
      if (message.pid !== this.pid) return this.#fault(`it says that it is process ${message.pid}`);
      clearTimeout(this.#patience);
      this.#greeted = true;
      this.#tries = 0;
      this.emit("hello", message);
    } else if (this.#greeted) {
      this.emit("message", message);
    } else {
      this.#fault(`${message.type} before hello`);
    }
  }

  /** @param {string} text */
  #fault(text) {
    this.emit("fault", text);
    this.#drop(text);
  }

  /** @param {string} reason */
  #drop(reason) {
    const socket = this.#socket;
    this.#socket = undefined;
    clearTimeout(this.#patience);
    socket?.destroy();
    if (this.#greeted) {
      this.#greeted = false;
      this.emit("lost", reason);
    }
    if (this.#closed) return;
    const wait = this.#waits[Math.min(this.#tries, this.#waits.length - 1)];
    this.#tries += 1;
    this.#timer = setTimeout(() => this.#connect(), wait);
    this.#timer.unref();
  }
}

/**
 * The folder. Events: "host" (Connection), "gone" (pid), "fault" (text: for the log).
 */
class Hosts extends EventEmitter {
  /** @type {Map<number, Connection>} */
  #connections = new Map();
  /** @type {fs.FSWatcher | undefined} */
  #watcher;
  /** @type {NodeJS.Timeout | undefined} */
  #timer;
  #waits;
  #rescan;
  #told = "";
  /** @type {WeakSet<Connection>} */
  #leaving = new WeakSet();

  /**
   * @param {string} folder
   * @param {{ waits?: number[], rescan?: number }} [options]
   */
  constructor(folder, { waits, rescan = RESCAN } = {}) {
    super();
    this.folder = folder;
    this.#waits = waits;
    this.#rescan = rescan;
  }

  /** Once the listeners are there. */
  start() {
    this.#scan();
    this.#timer = setTimeout(() => this.start(), this.#watcher ? this.#rescan : Math.min(this.#rescan, AWAIT_FOLDER));
    this.#timer.unref();
  }

  dispose() {
    clearTimeout(this.#timer);
    this.#watcher?.close();
    for (const connection of this.#connections.values()) connection.dispose();
    this.#connections.clear();
  }

  /** @param {string} text */
  #complain(text) {
    if (text !== this.#told) this.emit("fault", text);
    this.#told = text;
  }

  /** Whether nobody else can put a socket there, who could then answer for the user. */
  #trusted() {
    const found = fs.lstatSync(this.folder);
    const uid = process.getuid?.();
    if (!found.isDirectory()) return "is no folder";
    if (uid !== undefined && found.uid !== uid) return "belongs to another user";
    return (found.mode & 0o077) !== 0 ? "is open to other users" : "";
  }

  #watch() {
    if (this.#watcher) return;
    const watcher = fs.watch(this.folder, { persistent: false }, () => this.#scan());
    const stop = () => {
      watcher.close();
      if (this.#watcher === watcher) this.#watcher = undefined;
    };
    watcher.on("error", stop);
    this.#watcher = watcher;
  }

  #scan() {
    /** @type {string[]} */
    let names = [];
    try {
      const fault = this.#trusted();
      if (fault) this.#complain(`${this.folder} ${fault}`);
      else {
        this.#watch();
        names = fs.readdirSync(this.folder);
        this.#told = "";
      }
    } catch (error) {
      this.#watcher?.close();
      this.#watcher = undefined;
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== "ENOENT")
        this.#complain(`${this.folder}: ${/** @type {Error} */ (error).message}`);
    }
    const present = new Set();
    for (const name of names) {
      const found = /^([1-9][0-9]{0,9})\.sock$/.exec(name);
      if (!found) continue;
      const pid = Number(found[1]);
      present.add(pid);
      const known = this.#connections.get(pid);
      if (known) known.hurry();
      else this.#add(pid, path.join(this.folder, name));
    }
    for (const [pid, connection] of this.#connections) {
      if (present.has(pid)) continue;
      // Its last words ("ended", and why) may still be on the way: the connection outlives the file.
      if (!connection.connected) this.#remove(pid, connection);
      else if (!this.#leaving.has(connection)) {
        this.#leaving.add(connection);
        connection.once("lost", () => this.#remove(pid, connection));
      }
    }
  }

  /**
   * @param {number} pid
   * @param {string} file
   */
  #add(pid, file) {
    const connection = new Connection(file, pid, this.#waits);
    connection.on("fault", (text) => this.emit("fault", `host ${pid}: ${text}`));
    this.#connections.set(pid, connection);
    this.emit("host", connection);
  }

  /**
   * @param {number} pid
   * @param {Connection} connection
   */
  #remove(pid, connection) {
    if (this.#connections.get(pid) !== connection || fs.existsSync(connection.file)) return;
    this.#connections.delete(pid);
    connection.dispose();
    this.emit("gone", pid);
  }
}

module.exports = { Connection, Hosts };
