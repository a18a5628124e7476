// The compartments that this window's folder had the last time, or will have, by what is installed, where it had none yet. A
// host is asked for once the workbench knows its extensions, a second or more after VS Code starts its own. These are asked
// for together with that one, so that they are there by then. Loaded before the workbench, after placement.js; trusted.
//
// What is foreseen decides nothing: a host gets an extension only where placement.js would make a host for that one alone,
// in that folder, and the compartment's own supervisor compares what it was made for with the first message. What nobody
// comes for is ended before it has got any extension.
(() => {
  "use strict";
  const page = new URLSearchParams(location.search);
  const KEY = `bulkhead-hosts:${page.get("folder") ?? page.get("workspace") ?? ""}`;
  /** The page needs its processor too. */
  const MOST = Math.max(1, Math.floor((globalThis.navigator?.hardwareConcurrency ?? 2) / 2));
  /** Characters of what is kept for a folder. */
  const LONGEST = 64 * 1024;
  /** @typedef {{ identifier: { value: string }, extensionLocation: { path: string } }} Extension */
  /** @type {Map<number, Extension>} affinity → whom its host was asked for; nobody has come for it yet */
  const waiting = new Map();
  /** @type {Map<number, Extension>} affinity → the one extension of its host, in this window */
  const present = new Map();
  const keyOf = ({ identifier, extensionLocation }) => `${identifier.value.toLowerCase()} ${extensionLocation.path}`;

  /** What the server says is installed. @returns {Extension[]} */
  const installed = () =>
    JSON.parse(document.querySelector('meta[name="bulkhead-installed"]').content)
      .map(({ id, path }) => ({ identifier: { value: id }, extensionLocation: { $mid: 1, scheme: "vscode-remote", authority: location.host, path } }));

  function kept() {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null; // a browser that keeps nothing
    }
  }

  /** @returns {Extension[]} */
  function read() {
    try {
      const text = kept();
      const list = text === null ? installed() : JSON.parse(text);
      return list.filter((one) => typeof one.identifier.value === "string" && typeof one.extensionLocation.path === "string").slice(0, MOST);
    } catch {
      return []; // not what we wrote
    }
  }

  function write() {
    try {
      const text = JSON.stringify([...present.values()]);
      if (text.length <= LONGEST) localStorage.setItem(KEY, text);
    } catch {
      // The next window waits for its extensions.
    }
  }

  Object.assign(globalThis.bulkhead, {
    foreseen: {
      /** Called once, before the workbench knows its extensions. @returns {number[]} the affinities, from 1 on */
      begin() {
        for (const [i, one] of read().entries()) waiting.set(i + 1, one);
        return [...waiting.keys()];
      },
      /** Whom a host was asked for that nobody has come for yet. @param {number} affinity */
      whoWaits: (affinity) => waiting.get(affinity),
      /** The host that was asked for with this extension alone. @param {Extension} extension @returns {number | undefined} */
      claim(extension) {
        const [affinity] = [...waiting].find(([, one]) => keyOf(one) === keyOf(extension)) ?? [];
        if (affinity !== undefined) waiting.delete(affinity);
        return affinity;
      },
      /** This extension has a host of its own, which the next window may ask for. @param {number} affinity @param {Extension} extension */
      keep(affinity, { identifier, extensionLocation }) {
        present.set(affinity, JSON.parse(JSON.stringify({ identifier, extensionLocation })));
        write();
      },
      /** @param {number} affinity */
      forget(affinity) {
        if (present.delete(affinity)) write();
      },
      /** All extensions are known: hosts that nobody came for. @returns {number[]} */
      left() {
        const left = [...waiting.keys()];
        waiting.clear();
        if (left.length > 0) write();
        return left;
      },
    },
  });
})();
