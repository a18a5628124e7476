// Pages of extensions (webviews): whose each is, by its name; whether this browser keeps them off the network; and that a click
// in one is what its scripts say. Loaded before the workbench, after placement.js; trusted.
(() => {
  "use strict";
  const { bulkhead } = /** @type {any} */ (globalThis);
  /** Milliseconds until it counts as one that does not, so that no compartment waits longer. */
  const PATIENCE = 12_000;
  /** Milliseconds until a window is tried that shows no page. */
  const LATER = 20_000;
  /** Milliseconds between trials that came to nothing, where compartments have started; and how many follow. */
  const PAUSE = 1000;
  const MORE = 5;
  /** What the server says, too, of a trial that came to nothing (launcher/trial.cjs). */
  const NOTHING = "it could not be tried";
  const TRIED = "bulkhead: tried";
  const server = new URL("page-trial", location.href);

  /** @param {string} [name] of a trial */
  async function ask(name) {
    const answer = await fetch(`${server}${name === undefined ? "" : `?name=${name}`}`, { method: "POST" });
    if (!answer.ok) throw new Error(`the server says ${answer.status}`);
    return answer.text();
  }

  /** Shows a page until its script has run. @param {string} which @param {string} name */
  const show = (which, name) => {
    const frame = document.createElement("iframe");
    frame.style.display = "none";
    frame.src = `${location.protocol}//${which}.${location.host}/${name}`;
    let hear;
    const shown = new Promise((resolve) => {
      hear = ({ source, data }) => void (source === frame.contentWindow && data === TRIED && resolve(undefined));
    });
    addEventListener("message", hear);
    document.documentElement.append(frame);
    return { shown, remove: () => (removeEventListener("message", hear), frame.remove()) };
  };

  /** "yes", or why not: the page that is kept tries everything before the other does. */
  async function keeps() {
    const frames = [];
    try {
      const name = await ask();
      for (const which of ["kept", "free"]) {
        frames.push(show(which, name));
        await Promise.race([frames.at(-1).shown, late()]);
      }
      return (await ask(name)) || "yes";
    } finally {
      for (const frame of frames) frame.remove();
    }
  }
  const late = () => new Promise((_, reject) => setTimeout(reject, PATIENCE, new Error("it took too long")));

  // Compartments start by what this browser did the last time: a trial takes as long as the page loads. Until this window's
  // own has ended no page is shown; where it says otherwise, the window starts anew with what is true.
  const KEEPS = "bulkhead-keeps-pages";
  const { userAgent } = globalThis.navigator ?? {};
  function didBefore() {
    try {
      return userAgent !== undefined && localStorage.getItem(KEEPS) === userAgent;
    } catch {
      return false; // a browser that keeps nothing
    }
  }
  const before = didBefore();
  /** @param {boolean} yes */
  function remember(yes) {
    try {
      if (yes) localStorage.setItem(KEEPS, userAgent);
      else localStorage.removeItem(KEEPS);
    } catch {
      // The next window waits for its own trial.
    }
  }

  async function attempt() {
    try {
      const found = await Promise.race([keeps(), late()]);
      return { found, tried: !found.startsWith(NOTHING) };
    } catch (error) {
      return { found: `${NOTHING}: ${error.message}`, tried: false };
    }
  }

  async function trial() {
    let last = await attempt();
    for (let more = MORE; before && !last.tried && more > 0; more -= 1) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
      last = await attempt();
    }
    const { found } = last;
    remember(found === "yes");
    if (found !== "yes") console.warn(`bulkhead: this browser does not keep pages of extensions off the network (${found}); you are asked before they are shown`);
    if (!before || found === "yes") return found;
    location.reload();
    return new Promise(() => {});
  }
  /** @type {Promise<string> | undefined} */
  let running;
  const tried = () => (running ??= trial());
  // Where compartments need not wait for it, nor does a window that starts: the two pages would have its processor.
  if (before) setTimeout(tried, LATER);
  else tried();

  Object.assign(bulkhead, {
    /** Whether this browser does: "yes", or why not. @param {any} host nothing of VS Code's own waits for it @returns {Promise<string | undefined>} */
    keepsPages: async ({ runningLocation }) => (runningLocation?.affinity ? (before ? "yes" : tried()) : undefined),
    /**
     * The name of a page's origin: VS Code's hash, and whose it is. "open" is the editor's own, by what it came with; the
     * digest is an extension's; without either it is nobody's, notebooks' and chats', and reaches nothing.
     * @param {string} hash
     * @param {string | undefined} id of its extension
     * @param {{ disableServiceWorker?: boolean, purpose?: string } | undefined} options of the workbench's
     */
    async pageName(hash, id, options) {
      await tried();
      // What the workbench shows by itself, packages' descriptions and what is new, loads no files.
      if (id === undefined) return options?.disableServiceWorker && options.purpose === undefined ? `${hash}.open` : hash;
      const whose = id.toLowerCase();
      if (bulkhead.runsOutside(whose)) return `${hash}.open`;
      const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(whose));
      return `${hash}.${Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("").slice(0, 52)}`;
    },
    /** How a link is opened that was clicked in its page. @param {string} [id] of the extension, none for notebooks */
    clickedIn: (id) => (id !== undefined && bulkhead.runsOutside(id.toLowerCase()) ? { fromWorkspace: true } : { bulkheadUnproven: true }),
    /**
     * Whether a link opens only where a person says so, or trusts its domain. Commands of a page were looked through.
     * @param {unknown} link a text or VS Code's URI
     * @param {{ bulkheadUnproven?: boolean } | undefined} options
     */
    mustAsk: (link, options) => options?.bulkheadUnproven === true && !/^command:/i.test(String(link)),
  });
})();
