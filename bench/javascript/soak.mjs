// Sandboxes made and disposed of for as long as is asked for, in turns: of their own workers, in the
// worker of a tenant that stays, with stand-ins, callbacks and promises left behind. Nothing may grow:
//   node --expose-gc bench/javascript/soak.mjs [SECONDS]        default 60; exit code 1 where it does
import { readFileSync, readdirSync } from 'node:fs';
import { LostError, Sandbox } from '../../js/index.mjs';

const seconds = Number(process.argv[2] ?? 60);
const begin = Date.now();
const end = begin + 1000 * seconds;
const of = (pid, file, name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/${file}`, 'latin1'))[1]) / 1024;
const sums = { own: 0, tenant: 0, calls: 0, late: 0 };
const stayed = await Sandbox.create({ tenant: 'soak' });

async function use(sandbox) {
  const f = sandbox.runSync('globalThis.kept = []; (x, back) => { kept.push(x, back); return { x, n: back(1), later: new Promise(() => {}), again: () => back }; }');
  for (let i = 0; i < 20; i++, sums.calls++) f({ i, list: [1, 2, 3] }, (n) => n + 1).again();
  await sandbox.run('(async (f) => (await f()) + 1)').then((task) => task(async () => 1));
}
const looks = [];
function look() {
  globalThis.gc?.();
  const { heapUsed } = process.memoryUsage();
  looks.push({
    minute: ((Date.now() - begin) / 60000).toFixed(1), heap: heapUsed / 2 ** 20, resident: of(process.pid, 'status', 'VmRSS'), worker: of(stayed.pid, 'smaps_rollup', 'Private_Dirty'),
    descriptors: readdirSync('/proc/self/fd').length, threads: readdirSync('/proc/self/task').length,
  });
  const now = looks.at(-1);
  console.log(`${now.minute} min: ${sums.own} of their own, ${sums.tenant} of a tenant, ${sums.calls} calls, ${sums.late} starts too late; heap ${now.heap.toFixed(1)}, resident ${now.resident.toFixed(0)}, worker ${now.worker.toFixed(1)} MB; ${now.descriptors} descriptors, ${now.threads} threads`);
}

let next = begin + Math.min(10_000, 200 * seconds);
while (Date.now() < end) {
  for (let i = 0; i < 10; i++, sums.tenant++) {
    const sandbox = await Sandbox.create({ tenant: 'soak' });
    await use(sandbox);
    await sandbox.dispose();
  }
  try {
    const sandbox = await Sandbox.create();
    await use(sandbox);
    await sandbox.dispose();
    sums.own++;
  } catch (error) {
    // On a machine that is loaded far beyond its processors a start takes longer than it may.
    if (!(error instanceof LostError) || !/did not start/.test(error.message)) throw error;
    sums.late++;
  }
  if (Date.now() < next) continue;
  await new Promise((resolve) => setTimeout(resolve, 300));  // workers that end
  look();
  next += 200 * seconds;
}
await new Promise((resolve) => setTimeout(resolve, 300));
look();
await stayed.dispose();

// The first look is after everything was made once; what grows goes on growing.
const [first, last] = [looks[0], looks.at(-1)];
const grown = Object.entries({ heap: 8, resident: 40, worker: 8, descriptors: 4, threads: 4 }).filter(([name, most]) => last[name] - first[name] > most);
for (const [name, most] of grown) console.log(`${name} grew from ${first[name].toFixed(1)} to ${last[name].toFixed(1)}, more than ${most}`);
process.exitCode = grown.length === 0 ? 0 : 1;
