// Whose a page is, and what is believed of it.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fs from "node:fs";
import test from "node:test";
import vm from "node:vm";

const source = fs.readFileSync(new URL("pages.js", import.meta.url), "utf8");

/** @param {(address: string) => Promise<unknown>} fetch */
function loaded(fetch, patience = setTimeout, kept = /** @type {Map<string, string> | undefined} */ (undefined)) {
  /** @type {((event: unknown) => void)[]} */
  const listeners = [];
  const frames = /** @type {any[]} */ ([]);
  const context = vm.createContext({
    bulkhead: { runsOutside: (/** @type {string} */ id) => id === "vscode.shipped" },
    location: { href: "http://bulkhead.localhost:1/code-1/?folder=/w", protocol: "http:", host: "bulkhead.localhost:1", reload: () => reloads.push(1) },
    navigator: { userAgent: "browser 1" },
    localStorage: kept && { getItem: (/** @type {string} */ key) => kept.get(key) ?? null, setItem: kept.set.bind(kept), removeItem: kept.delete.bind(kept) },
    URL, TextEncoder, crypto, fetch, setTimeout: patience, console: { warn: () => {} },
    addEventListener: (/** @type {string} */ _type, /** @type {(event: unknown) => void} */ listener) => listeners.push(listener),
    removeEventListener: (/** @type {string} */ _type, /** @type {(event: unknown) => void} */ listener) => listeners.splice(listeners.indexOf(listener), 1),
    document: {
      createElement: () => ({ style: {}, contentWindow: {}, remove() { frames.splice(frames.indexOf(this), 1); } }),
      documentElement: {
        append: (/** @type {any} */ frame) => {
          frames.push(frame);
          shown.push(frame.src);
          setImmediate(() => {
            for (const each of [...listeners]) each({ source: {}, data: "bulkhead: tried" }); // somebody else's word
            for (const each of [...listeners]) each({ source: frame.contentWindow, data: "bulkhead: tried" });
          });
        },
      },
    },
  });
  const shown = /** @type {string[]} */ ([]);
  const reloads = /** @type {number[]} */ ([]);
  vm.runInContext(source, context);
  return { bulkhead: context.bulkhead, shown, frames, reloads };
}

/** Hosts of the workbench's: a compartment's, and VS Code's own. */
const COMPARTMENT = { runningLocation: { affinity: 1 } };
const OWN = { runningLocation: { affinity: 0 } };

const answers = (/** @type {string} */ verdict) => async (/** @type {string} */ address) => ({ ok: true, text: async () => (String(address).includes("?name=") ? verdict : "abc") });

test("a page's origin says whose it is", async () => {
  const { bulkhead } = loaded(answers(""));
  const digest = createHash("sha256").update("me.mine").digest("hex").slice(0, 52);
  assert.equal(await bulkhead.pageName("0a", "Me.Mine", {}), `0a.${digest}`);
  assert.equal(await bulkhead.pageName("0a", "me.mine", { disableServiceWorker: true }), `0a.${digest}`, "whatever else is said");
  assert.equal(await bulkhead.pageName("0a", "vscode.Shipped", {}), "0a.open");
  assert.equal(await bulkhead.pageName("0a", undefined, { disableServiceWorker: true }), "0a.open", "a package's description");
  for (const options of [undefined, {}, { purpose: "notebookRenderer" }, { disableServiceWorker: true, purpose: "chatOutputItem" }])
    assert.equal(await bulkhead.pageName("0a", undefined, options), "0a", "nobody's");
});

test("the browser keeps pages where both were tried and only the second one got out", async () => {
  const { bulkhead, shown, frames } = loaded(answers(""));
  assert.equal(await bulkhead.keepsPages(COMPARTMENT), "yes");
  assert.deepEqual(shown, ["http://kept.bulkhead.localhost:1/abc", "http://free.bulkhead.localhost:1/abc"]);
  assert.deepEqual(frames, []);
  assert.equal(await loaded(() => new Promise(() => {})).bulkhead.keepsPages(OWN), undefined, "VS Code's own host waits for nothing");
});

test("it does not where nobody says so", async () => {
  assert.equal(await loaded(answers("it let a page out")).bulkhead.keepsPages(COMPARTMENT), "it let a page out");
  assert.match(await loaded(async () => ({ ok: false, status: 403 })).bulkhead.keepsPages(COMPARTMENT), /could not be tried/);
  assert.match(await loaded(async () => { throw new Error("gone"); }).bulkhead.keepsPages(COMPARTMENT), /gone/);
  const hurried = /** @type {any} */ ((/** @type {(value: unknown) => void} */ resolve, /** @type {number} */ _time, /** @type {unknown} */ value) => setImmediate(resolve, value));
  assert.match(await loaded(() => new Promise(() => {}), hurried).bulkhead.keepsPages(COMPARTMENT), /too long/);
});

test("compartments start by what the browser did before; pages wait for this window's trial", async () => {
  const soon = /** @type {any} */ ((/** @type {() => void} */ resolve, /** @type {number} */ time) => void (time === 1000 && setImmediate(resolve)));
  const never = /** @type {any} */ (() => {});
  const kept = new Map();
  assert.equal(await loaded(answers(""), setTimeout, kept).bulkhead.keepsPages(COMPARTMENT), "yes");
  assert.deepEqual([...kept], [["bulkhead-keeps-pages", "browser 1"]]);

  const idle = loaded(answers(""), never, kept);
  assert.equal(await idle.bulkhead.keepsPages(COMPARTMENT), "yes");
  await new Promise(setImmediate);
  assert.deepEqual(idle.shown, [], "a window that starts has other work");

  const waiting = loaded(() => new Promise(() => {}), never, kept);
  assert.equal(await waiting.bulkhead.keepsPages(COMPARTMENT), "yes", "known before it is tried");
  const name = waiting.bulkhead.pageName("0a", "me.mine", {});
  assert.equal(await Promise.race([name, new Promise((resolve) => setTimeout(resolve, 50, "no page yet"))]), "no page yet");

  let fails = 2;
  const slow = loaded(async (address) => {
    if (fails-- > 0) throw new Error("busy");
    return answers("")(address);
  }, soon, kept);
  assert.match(await slow.bulkhead.pageName("0a", "me.mine", {}), /^0a\./, "tried until it is known");
  assert.deepEqual(slow.reloads, []);

  const other = loaded(answers("it let a page out"), setTimeout, kept);
  assert.equal(await other.bulkhead.keepsPages(COMPARTMENT), "yes");
  const never_ = other.bulkhead.pageName("0a", "me.mine", {});
  assert.equal(await Promise.race([never_, new Promise((resolve) => setTimeout(resolve, 50, "no page"))]), "no page");
  assert.deepEqual([other.reloads, [...kept]], [[1], []], "the window starts anew, with what is true");

  kept.set("bulkhead-keeps-pages", "browser 0");
  assert.equal(await loaded(answers("it let a page out"), setTimeout, kept).bulkhead.keepsPages(COMPARTMENT), "it let a page out", "another browser");
});

test("that somebody clicked is a page's word", () => {
  const { bulkhead } = loaded(answers(""));
  assert.deepEqual({ ...bulkhead.clickedIn("VSCode.shipped") }, { fromWorkspace: true });
  for (const id of ["me.mine", undefined]) {
    const options = bulkhead.clickedIn(id);
    assert.deepEqual({ ...options }, { bulkheadUnproven: true });
    for (const link of ["https://example.com", "mailto:a@example.com", "code-oss://me.mine", " command:x"]) assert.ok(bulkhead.mustAsk(link, options), link);
    assert.ok(!bulkhead.mustAsk("command:mine.run", options), "commands were looked through");
  }
  assert.ok(!bulkhead.mustAsk("mailto:a@example.com", { fromWorkspace: true }));
  assert.ok(!bulkhead.mustAsk("mailto:a@example.com", undefined));
});
