// Extensions that crash, hang, eat memory or shout. In plain code-server all extensions share one host, and a
// harmless one (the canary) suffers with them; in compartments it must not notice.
import assert from "node:assert/strict";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { attack, provoke, started } from "./attack.mjs";
import { Editor, steps, until } from "./editor.mjs";
import { Keys } from "./keys.mjs";
import { World } from "./world.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const fixture = (name) => path.join(here, "extensions", name);
const modes = (process.env.BULKHEAD_MODES ?? "plain,compartments").split(",");
const MEGABYTES = 1024;

const outcomesOf = (editor, subject) => editor.journal("--runs").filter((run) => run.subject === subject).map((run) => run.outcome);
/** Bulkhead's message, on the screen or faded. */
const told = (editor, pattern) => until(`the message ${pattern}`, async () => (await editor.allNotifications()).find((text) => pattern.test(text)), 60_000);

const alive = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** How long others heard nothing, in milliseconds, while one sent a huge message: a slow machine is slow in both. */
let silentInPlain = 5000;

for (const mode of modes) {
  test(`endings, ${mode}`, { timeout: 300_000 }, async (t) => {
    const plain = mode === "plain";
    const world = await World.create();
    const canary = () => JSON.parse(world.read("home/projects/app/.proof/canary"));
    const said = (name) => world.read(`home/projects/app/.proof/${name}`);
    /** The longest time that the canary was silent while something happened. */
    const silence = async (act) => {
      let [longest, beats, at, done] = [0, canary().beats, Date.now(), false];
      const watching = (async () => {
        while (!done) {
          await new Promise((resolve) => setTimeout(resolve, 20));
          const now = canary();
          if (now.beats !== beats) [beats, at] = [now.beats, Date.now()];
          longest = Math.max(longest, Date.now() - at);
        }
      })();
      try {
        await act();
      } finally {
        done = true;
        await watching;
      }
      return longest;
    };
    const outcomes = (subject) => outcomesOf(editor, subject);
    let editor;
    const step = steps(t, () => editor);
    try {
      const facts = { ...world.facts(), seconds: plain ? 8 : 600, megabytes: MEGABYTES, message: 300, patience: 60_000, framed: plain };
      world.write("home/projects/app/.proof/facts.json", JSON.stringify(facts));
      editor = await Editor.start({ mode, world, extensions: ["canary", "loop", "hog", "message", "crash"].map(fixture) });
      for (const name of ["loop", "hog", "message"]) await started(world, name);
      await until("the canary", () => world.read("home/projects/app/.proof/canary"));
      const { pid } = canary();

      await step("an endless loop", async () => {
        if (plain) {
          const longest = await silence(() => attack(world, "loop", "spin"));
          assert.ok(longest > 6000, `the canary was silent for ${longest} ms only`);
          return;
        }
        const [keys, before] = [new Keys(editor), said("loop.ready")];
        const longest = await silence(async () => {
          provoke(world, "loop", "spin");
          const row = await keys.row("Endless loop");
          await until("the list says so", async () => /^Endless loop, not responding, \d+%/.test((await row.getAttribute("aria-label")) ?? ""));
          await told(editor, /^Endless loop \(proof\.loop\) did not respond for 10 seconds/);
          assert.ok((await editor.allNotifications()).every((text) => !/\(proof\.(?!loop).*did not respond/.test(text)), "the others respond");
          await editor.command("Notifications: Show Notifications");
          await keys.enter("Restart");
          await until("the next host", () => said("loop.ready") !== before);
          await until("the list says so", async () => /^Endless loop, running, /.test((await (await keys.row("Endless loop")).getAttribute("aria-label")) ?? ""));
        });
        assert.ok(longest < 4000, `the canary was silent for ${longest} ms`);
        assert.ok(outcomes("proof.loop").includes("ended on request"), outcomes("proof.loop").join(" | "));
      });

      await step("much memory", async () => {
        if (plain) {
          const { value } = await attack(world, "hog", "take");
          assert.ok(Number(/holds (\d+)/.exec(value)?.[1]) > MEGABYTES, value);
          return;
        }
        const before = said("hog.ready");
        const longest = await silence(async () => {
          provoke(world, "hog", "take");
          // Refused the memory, or its host has ended and started again.
          await until("its end", () => said("hog.take.json") !== undefined || said("hog.ready") !== before);
        });
        assert.doesNotMatch(said("hog.take.json") ?? "", /holds/);
        assert.ok(longest < 4000, `the canary was silent for ${longest} ms`);
        assert.ok(outcomes("proof.hog").some((text) => /memory/.test(text)), `the journal says why: ${outcomes("proof.hog")}`);
        await told(editor, /^Memory hog \(proof\.hog\) used more than 512 MiB of memory and was ended\. Its compartment starts again\.$/);
      });

      await step("one huge message", async () => {
        const host = said("message.ready");
        let [slowest, over] = [0, false];
        const watching = (async () => {
          while (!over) {
            const asked = Date.now();
            await editor.page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 10))).catch(() => {});
            slowest = Math.max(slowest, Date.now() - asked);
          }
        })();
        let longest;
        try {
          longest = await silence(async () => {
            provoke(world, "message", "one");
            // Sent and answered, or refused, or its host has ended and started again.
            await until("its end", () => said("message.one.json") !== undefined || said("message.ready") !== host, 60_000);
          });
        } finally {
          over = true;
          await watching;
        }
        t.diagnostic(`one huge message: canary silent for ${longest} ms, window for ${slowest} ms; ${said("message.one.json")}`);
        const silent = Math.max(longest, slowest);
        if (plain) {
          silentInPlain = silent;
          assert.ok(silent > 1000, `the canary was silent for ${longest} ms, the window for ${slowest} ms`);
        } else {
          assert.ok(silent < silentInPlain / 2, `the canary was silent for ${longest} ms, the window for ${slowest} ms`);
          assert.notEqual(said("message.one.json"), '{"value":"sent"}');
          assert.ok(outcomes("proof.message").some((text) => /message|MiB|large|long/i.test(text)), `the journal says why: ${outcomes("proof.message")}`);
        }
      });

      // On the wire, for no API sends so much: past it, where only what it meets can stop it.
      await step("a message that announces 2 GB", async () => {
        if (plain) {
          assert.deepEqual(await attack(world, "loop", "ask"), { value: "answered" });
          world.rename("home/projects/app/.proof/loop.ask.json", "home/projects/app/.proof/loop.before.json");
          await attack(world, "message", "claim");
          // What all extensions say from now on passes for the rest of it.
          world.write("home/projects/app/.proof/facts.json", JSON.stringify({ ...facts, patience: 30_000 }));
          assert.match((await attack(world, "loop", "ask")).error ?? "it was answered", /no answer/);
          return;
        }
        // The one before has ended its host: this is for the next one.
        await until("the next host", () => editor.journal("--runs").filter((run) => run.subject === "proof.message").length > 1 && !said("message.go"), 60_000);
        await started(world, "message");
        const host = said("message.ready");
        const longest = await silence(async () => {
          provoke(world, "message", "claim");
          await until("its end", () => said("message.ready") !== host, 60_000);
        });
        assert.ok(longest < 1000, `the canary was silent for ${longest} ms`);
        assert.ok(outcomes("proof.message").some((text) => /2147483648 bytes/.test(text)), `the journal says why: ${outcomes("proof.message").join(" | ")}`);
        assert.deepEqual(await attack(world, "loop", "ask"), { value: "answered" });
        await editor.quickOpen("data.json");
      });

      await step("a crash loop", async () => {
        const before = canary();
        world.write("home/projects/app/.proof/crash.loop", "");
        await until("a crash", () => said("crash.count"));
        if (plain) {
          await until("the canary's end", () => !alive(before.pid));
          return;
        }
        // Each waits twice as long as the one before it: for 1, 2, and 4 seconds.
        const ends = await until("the fourth crash", () => {
          const times = said("crash.count").trim().split("\n").map(Number);
          return times.length > 3 && times;
        });
        const pauses = ends.slice(1).map((time, i) => time - ends[i]);
        for (const [i, pause] of pauses.entries()) assert.ok(pause >= 1000 * 2 ** i, `it was back after ${pauses.join(", ")} ms`);
        assert.ok(canary().beats > before.beats + 20);
        assert.equal(canary().pid, before.pid);
        assert.equal(canary().started, before.started);
        assert.deepEqual([...new Set(outcomes("proof.crash").filter(Boolean))].sort(), ["ended by SIGKILL", "ended with exit code 0"]);
        const texts = await editor.allNotifications();
        assert.ok(texts.some((text) => /^Crash loop \(proof\.crash\) ended by SIGKILL.*\. Its compartment starts again\.$/.test(text)), texts.join(" | "));
      });
      if (!plain) {
        await step("the window still works", async () => {
          await editor.openFile("style.css");
          await editor.quickOpen("data.json");
        });
      }
    } finally {
      await editor?.end();
      await world.destroy();
    }
  });
}

if (modes.includes("compartments"))
  test("endings, a limit of time", { timeout: 180_000 }, async (t) => {
    const world = await World.create();
    let editor;
    const step = steps(t, () => editor);
    try {
      editor = await Editor.start({ mode: "compartments", world, extensions: ["canary", "brief"].map(fixture) });
      await started(world, "brief");
      const first = world.read("home/projects/app/.proof/brief.ready");
      const canary = () => JSON.parse(world.read("home/projects/app/.proof/canary"));
      await until("the canary", () => world.read("home/projects/app/.proof/canary"));
      const before = canary();
      await step("the host ends, and people are told why", async () => {
        await told(editor, /^Brief \(proof\.brief\) ran for longer than 20 s and was ended\. Its compartment starts again\.$/);
        assert.match(outcomesOf(editor, "proof.brief").join(" | "), /ended by a limit: wall time: 20 s allowed/);
      });
      await step("it comes back, and the others went on", async () => {
        await until("the next host", () => world.read("home/projects/app/.proof/brief.ready") !== first);
        const after = canary();
        assert.equal(after.started, before.started);
        assert.ok(after.beats > before.beats + 20);
      });
    } finally {
      await editor?.end();
      await world.destroy();
    }
  });
