// Extensions that crash, hang, eat memory or shout. In plain code-server all extensions share one host, and a
// harmless one (the canary) suffers with them; in compartments it must not notice.
import assert from "node:assert/strict";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { attack, provoke, started } from "./attack.mjs";
import { Editor, steps, until } from "./editor.mjs";
import { World } from "./world.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const fixture = (name) => path.join(here, "extensions", name);
const modes = (process.env.BULKHEAD_MODES ?? "plain,compartments").split(",");
const MEGABYTES = 1024;

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
    const outcomes = (subject) => editor.journal("--runs").filter((run) => run.subject === subject).map((run) => run.outcome);
    let editor;
    const step = steps(t, () => editor);
    try {
      world.write("home/projects/app/.proof/facts.json", JSON.stringify({ ...world.facts(), seconds: 8, megabytes: MEGABYTES, message: 300, patience: 60_000 }));
      editor = await Editor.start({ mode, world, extensions: ["canary", "loop", "hog", "message", "crash"].map(fixture) });
      for (const name of ["loop", "hog", "message"]) await started(world, name);
      await until("the canary", () => world.read("home/projects/app/.proof/canary"));
      const { pid } = canary();

      await step("an endless loop", async () => {
        const longest = await silence(() => attack(world, "loop", "spin"));
        if (plain) assert.ok(longest > 6000, `the canary was silent for ${longest} ms only`);
        else assert.ok(longest < 4000, `the canary was silent for ${longest} ms`);
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
            await until("its end", () => said("message.one.json") !== undefined || said("message.ready") !== host);
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
      if (!plain) {
        await step("a message that announces 2 GB", async () => {
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
          await editor.quickOpen("data.json");
        });
      }

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
