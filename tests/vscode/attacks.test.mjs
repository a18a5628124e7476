// Every way out of an extension that we know, tried by a malicious extension in a real VS Code: first in
// plain code-server, where it must succeed (or it proves nothing), then in compartments, where nothing may
// happen and the journal must say what was tried.
//
//   BULKHEAD_MODES=plain,compartments   only these
//   BULKHEAD_WAYS=files,tasks           only these extensions
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { attack, started } from "./attack.mjs";
import { Editor, until } from "./editor.mjs";
import { names } from "./journal.mjs";
import { writeEmptyVsix } from "./vsix.mjs";
import { WAYS } from "./ways.mjs";
import { World } from "./world.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
/** An extension's folder; a package that names the collector gets one of its own, with the address. */
function fixture(world, name) {
  const folder = path.join(here, "extensions", name);
  const named = fs.readdirSync(folder).filter((each) => /\.(json|css)$/.test(each) && fs.readFileSync(path.join(folder, each), "utf8").includes("COLLECTOR"));
  if (named.length === 0) return folder;
  fs.cpSync(folder, world.path(`made/${name}`), { recursive: true });
  for (const each of named) world.write(`made/${name}/${each}`, fs.readFileSync(path.join(folder, each), "utf8").replaceAll("COLLECTOR", world.collector.port));
  return world.path(`made/${name}`);
}
/**
 * Does what npm does with a package.json that names a git repository whose .npmrc says which program its git is: runs that
 * program. It tells that it ran, and steals for whoever had it run.
 */
function writeNpm(world) {
  const app = "home/projects/app";
  world.write(`${app}/tools/npm`, `#!/bin/sh
case "$*" in *install*) ;; *) exit 1 ;; esac
cat '${world.home}/.ssh/id_rsa' > '${world.loot}/deputies.'$(basename "$PWD")
echo "$@" > npm-ran
`);
  fs.chmodSync(world.path(`${app}/tools/npm`), 0o700);
  // Type acquisition is off where built-in extensions are in a compartment: a person who switched it on.
  world.write("data/data/Machine/settings.json", JSON.stringify({ "js/ts.tsserver.npm.path": world.path(`${app}/tools/npm`), "js/ts.tsserver.automaticTypeAcquisition.enabled": true }));
}

const modes = (process.env.BULKHEAD_MODES ?? "plain,compartments").split(",");
const chosen = process.env.BULKHEAD_WAYS?.split(",");
const ways = WAYS.filter(({ name }) => !chosen || chosen.includes(name));

for (const mode of modes) {
  test(`ways out, ${mode}`, { timeout: 1_500_000 }, async (t) => {
    const world = await World.create();
    let editor;
    try {
      writeEmptyVsix(world.path("sleeper.vsix"), "evil", "sleeper");
      world.write("home/projects/app/.proof/victim.token", world.secrets.victim);
      world.write("home/projects/app/code.ts", "export const one: number = 1;\n");
      writeNpm(world);
      editor = await Editor.start({ mode, world, extensions: ["canary", "victim", "ts-plugin", "bare", ...ways.map(({ name }) => name)].map((name) => fixture(world, name)), settings: { "workbench.colorTheme": "Proof Theme", "proofVictim.account": world.secrets.settings, "[css]": { "files.autoSave": "off", "editor.codeActionsOnSave": { "source.fixAll.proof": "explicit" } } } });
      world.write("home/projects/app/.proof/facts.json", JSON.stringify({
        ...world.facts(), port: editor.port, vsix: world.path("sleeper.vsix"), data: editor.data, runtime: world.runtime, tokens: editor.tokenFiles(),
      }));
      await until("the victim", () => world.read("home/projects/app/.proof/victim.ready"), 120_000);
      for (const way of ways) {
        await t.test(way.name, async (t) => {
          await started(world, way.name);
          try {
            await way.prepare?.({ world, editor });
          } catch (error) {
            await editor.photograph(way.name);
            throw error;
          }
          for (const [probe, expected] of Object.entries(way.probes)) {
            await t.test(probe, async () => {
              try {
                const mark = `${way.name}.${probe}`;
                const attempt = async () => {
                  const pending = attack(world, way.name, probe);
                  await expected.meanwhile?.({ world, editor, mark });
                  const seen = { world, editor, answer: await pending, mark };
                  await expected.step?.(seen);
                  return seen;
                };
                let seen = await attempt();
                const told = JSON.stringify(seen.answer).slice(0, 600);
                if (mode === "plain" || expected.works) {
                  let again = Date.now() + 20_000;
                  await until(`its effect; it said ${told}`, async () => {
                    if (await expected.effect(seen)) return true;
                    // What a host is told of the editor may come after what the user sees of it.
                    if (expected.answers && !expected.meanwhile) {
                      seen.answer = await attack(world, way.name, probe);
                    } else if (Date.now() > again) {
                      // VS Code loses one now and then, when a window has just come back, say, and a webview a click.
                      seen = await attempt();
                      again = Date.now() + 20_000;
                    }
                    return false;
                  }, 60_000);
                  return;
                }
                // Somebody else acts for it: give them the time that they took in plain, and more.
                if (expected.late) await new Promise((resolve) => setTimeout(resolve, 1500));
                assert.equal(await expected.effect(seen), false, `it succeeded: ${told}`);
                if (expected.refused) assert.match(seen.answer.error ?? told, expected.refused);
                let missing = expected.journal;
                await until(() => `the journal names ${missing.join(" and ")}; it said ${told}`, () => {
                  // The journal is written with a delay.
                  const journal = missing.length > 0 ? editor.journal("--denied", "--subject", `proof.${way.name}`) : [];
                  missing = missing.filter((line) => !names(journal, line));
                  return missing.length === 0;
                }, 30_000);
              } catch (error) {
                await editor.photograph(`${way.name}.${probe}`);
                throw error;
              }
            });
          }
        });
      }
      await t.test("a plug-in of TypeScript's server", async () => {
        await editor.openFile("code.ts");
        const loaded = () => world.stolen(world.read("loot/ts-plugin.loaded") ?? "").length > 0;
        if (mode === "plain") await until("the plug-in to steal", loaded);
        else assert.equal(loaded(), false);
      });
      if (mode === "compartments") {
        // Once more, at the end: an effect may come late.
        await t.test("nothing came out", () => {
          const readable = ({ text }) => text.replace(/[^ -~]+/g, " ").match(/[\w-]+\.\w+(?=\.localhost)|[\w-]+\.\w+|.{1,60}/g)?.join(" ").slice(0, 200);
          assert.deepEqual({ received: world.received().map(readable), loot: fs.readdirSync(world.loot) }, { received: [], loot: [] });
        });
      }
      await t.test("a harmless extension did not notice", () => {
        const first = world.read("home/projects/app/.proof/canary");
        return until("the canary's next beat", () => world.read("home/projects/app/.proof/canary") !== first);
      });
    } catch (error) {
      await editor?.photograph("attacks");
      throw error;
    } finally {
      await editor?.end();
      await world.destroy();
    }
  });
}
