// The third scene of `make demo`: plug-ins as source code, in node:vm and in a sandbox of ours. In
// node:vm each has a process of its own, because some of them take it down or keep it for good.
import { spawn } from "node:child_process";

const plugins = {
  "adds the tax": "(item) => item.net * (1 + item.tax)",
  "loops in a promise": "(item) => { (async () => { for (;;) await null })(); return 0 }",
  "eats memory": "(item) => { const all = []; for (;;) all.push(new Array(1000).fill(all.length)) }",
  "reaches for process": "(item) => item.constructor.constructor('return process.pid')()",
};
const item = { net: 10, tax: 0.2 };
const PATIENCE = 3000;

// What node:vm makes of it, with a time limit as its documentation has it.
function inNode(source) {
  const program = `const vm = require("node:vm");
    const context = vm.createContext({ item: ${JSON.stringify(item)} });
    let value;
    try {
      value = vm.runInContext(${JSON.stringify(`(${source})(item)`)}, context, { timeout: 1000 });
    } catch (error) {
      value = error.message;
    }
    console.log(value === process.pid ? "has the host" : value);
    setTimeout(() => console.log("done"), 10);`;
  return new Promise((resolve) => {
    let text = "";
    const child = spawn(process.execPath, ["--max-old-space-size=64", "-e", program], { stdio: ["ignore", "pipe", "ignore"], timeout: PATIENCE, killSignal: "SIGKILL" });
    child.stdout.on("data", (part) => (text += part));
    child.on("close", (code, signal) => {
      const [value, done] = text.trim().split("\n");
      if (done === "done") resolve(value);
      else resolve(signal === "SIGKILL" ? "host hangs" : `host is dead (${signal ?? `exit ${code}`})`);
    });
  });
}

const outcome = (error) => {
  if (error.code === "ERR_SANDBOX_TIME") return "ended: 100 ms";
  if (error.code === "ERR_SANDBOX_MEMORY") return "ended: 32 MiB";
  return String(error.message);
};
const expected = {
  "adds the tax": ["12", "12"], "loops in a promise": ["host hangs", "ended: 100 ms"],
  // A slow machine has used up its 100 ms before it has filled 32 MiB.
  "eats memory": ["host is dead", "ended: 32 MiB", "ended: 100 ms"], "reaches for process": ["has the host", "process is not defined"],
};

// Prints a line for each; how many were not as they should be.
export async function sandboxScene(index, { good, bad, pad }) {
  const { Sandbox } = await import(index);
  const line = (...[name, plain, ours, next, mark]) =>
    console.log(`  ${pad(name, 21)}${pad(plain, 23)}${pad(ours, 24)}${pad(next, 4)}${mark}`);
  line("plug-in", "node:vm", "sandbox", "next", "");
  console.log("  " + "-".repeat(76));
  let failures = 0;
  let sandbox = await Sandbox.create({ time: "100 ms", memory: "32 MiB" });
  const honest = async () => (await sandbox.run(plugins["adds the tax"]))(item);
  for (const [name, source] of Object.entries(plugins)) {
    const plain = String(await inNode(source));
    const ours = String(await sandbox.run(source).then((plugin) => plugin(item)).catch(outcome));
    if (sandbox.lost !== undefined) sandbox = await Sandbox.create({ time: "100 ms", memory: "32 MiB" });
    const next = String(await honest().catch(outcome));
    const [wantedPlain, ...wanted] = expected[name];
    const fine = plain.startsWith(wantedPlain) && wanted.includes(ours) && next === "12";
    if (!fine) failures += 1;
    line(name, plain, ours, next, fine ? good("ok") : bad("WRONG"));
  }
  await sandbox.dispose();
  return failures;
}
