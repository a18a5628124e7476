// Whether this browser keeps a page off the network: tried each time a window opens, for no version promises it. Trusted.
//
// Two pages do the same, one with the headers of an extension's page, one with none. What they try are the ways that no other
// policy closes: a connection in advance, a frame that leads out, WebRTC. Each has ports of its own here, on loopback. The
// browser keeps pages off the network where the second page came out and nothing of the first.
"use strict";

const dgram = require("node:dgram");
const net = require("node:net");
const { randomBytes } = require("node:crypto");

const WAYS = ["preconnect", "frame", "webrtc"];
/** Connections in advance are a person's to switch off. */
const CERTAIN = ["frame", "webrtc"];
/** Milliseconds until it is not known: that anything comes, and then the rest, which a person may have switched off. */
const PATIENCE = 8000;
const PATIENCE_FOR_REST = 4000;
/** What the first page has beyond the time that the second one took. */
const MARGIN = 250;
const LONGEST_MARGIN = 1000;
/** Windows that open at once. */
const MOST = 32;

/** A port, and whether somebody came. */
class Ear {
  heard = false;
  /** @type {() => void} */
  onHeard = () => {};
  #tcp = net.createServer((socket) => {
    socket.on("error", () => {});
    socket.destroy();
    this.#hear();
  });
  #udp = dgram.createSocket("udp4", () => this.#hear());

  #hear() {
    this.heard = true;
    this.onHeard();
  }

  /** TCP and UDP of one number. @returns {Promise<void>} */
  open() {
    return new Promise((resolve, reject) => {
      this.#udp.once("error", reject);
      this.#tcp.once("error", reject).listen(0, "127.0.0.1", () => this.#udp.bind(this.port, "127.0.0.1", resolve));
    });
  }

  get port() {
    return /** @type {import("node:net").AddressInfo} */ (this.#tcp.address()).port;
  }

  close() {
    this.#tcp.close();
    try {
      this.#udp.close();
    } catch {
      // It was not open.
    }
  }
}

class Trial {
  /** @type {Record<string, Ear>[]} of the page that is kept, and of the other */
  ears = [0, 1].map(() => Object.fromEntries(WAYS.map((way) => [way, new Ear()])));
  began = 0; // when the second page was served

  async open() {
    await Promise.all(this.#all().map((ear) => ear.open()));
    return this;
  }

  /** @param {0 | 1} which */
  page(which) {
    if (which === 1) this.began = Date.now();
    const ports = JSON.stringify(WAYS.map((way) => this.ears[which][way].port));
    // It says so first: with WebRTC the browser may end it.
    return `<!DOCTYPE html><script>(${tries})(...${ports});</script>`;
  }

  /** Why it does not keep them off; empty where it does. */
  async verdict() {
    const [kept, other] = this.ears;
    const out = () => WAYS.filter((way) => kept[way].heard);
    const missing = () => CERTAIN.filter((way) => !other[way].heard);
    await new Promise((resolve) => {
      const look = () => {
        if (out().length > 0 || missing().length === 0) resolve(undefined);
        else if (missing().length < CERTAIN.length) setTimeout(resolve, PATIENCE_FOR_REST).unref();
      };
      for (const ear of this.#all()) ear.onHeard = look;
      setTimeout(resolve, PATIENCE).unref();
      look();
    });
    if (out().length === 0) await new Promise((resolve) => setTimeout(resolve, Math.min(LONGEST_MARGIN, Math.max(MARGIN, Date.now() - this.began))));
    if (out().length > 0) return `it let a page out that may not: ${out().join(", ")}`;
    return missing().length > 0 ? `it could not be tried: ${missing().join(", ")}` : "";
  }

  close() {
    for (const ear of this.#all()) ear.close();
  }

  #all() {
    return this.ears.flatMap((ears) => Object.values(ears));
  }
}

/** What either page does; in the browser. @param {number} preconnect @param {number} frame @param {number} webrtc */
function tries(preconnect, frame, webrtc) {
  window.parent.postMessage("bulkhead: tried", "*");
  const link = document.createElement("link");
  link.rel = "preconnect";
  link.href = `http://127.0.0.1:${preconnect}/`;
  const inner = document.createElement("iframe");
  inner.src = `http://127.0.0.1:${frame}/`;
  document.documentElement.append(link, inner);
  const peer = new RTCPeerConnection({
    iceServers: [{ urls: `stun:127.0.0.1:${webrtc}` }, { urls: `turn:127.0.0.1:${webrtc}?transport=tcp`, username: "a", credential: "a" }],
  });
  peer.createDataChannel("a");
  peer.createOffer().then((offer) => peer.setLocalDescription(offer));
}

/** @type {Map<string, Trial>} */
const open = new Map();

/** Its name; undefined where too many are open. */
async function begin() {
  if (open.size >= MOST) return undefined;
  const name = randomBytes(8).toString("hex");
  const trial = new Trial();
  open.set(name, trial);
  setTimeout(() => end(name), 3 * PATIENCE).unref();
  try {
    await trial.open();
    return name;
  } catch {
    return void end(name);
  }
}

/** @param {string} name */
function end(name) {
  open.get(name)?.close();
  open.delete(name);
}

/** @param {string} name @param {0 | 1} which @returns {string | undefined} */
const pageOf = (name, which) => open.get(name)?.page(which);

/** Ends it. @param {string} name */
async function verdictOf(name) {
  try {
    return (await open.get(name)?.verdict()) ?? "it was not tried";
  } finally {
    end(name);
  }
}

module.exports = { begin, pageOf, verdictOf };
