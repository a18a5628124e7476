// Figures of the JavaScript sandbox that have no peer, in turns where they are ratios:
//   node bench/javascript/figures.mjs cold [ROUNDS]         to a first result, in ms, and a worker's memory
//   node bench/javascript/figures.mjs prettier [ROUNDS]     formatting 1,000 lines inside, as a ratio to plain Node
//   node bench/javascript/figures.mjs many [SANDBOXES] [TENANTS]   what they all take, their supervisors included
//   node bench/javascript/figures.mjs holds [ROUNDS] [MB]  how long a start holds the event loop of a host that has so much
//   taskset -c 0 node bench/javascript/figures.mjs core     crossings, beside two processes and a futex (bench/ping.c)
//   node bench/javascript/figures.mjs all [ROUNDS]          each of these and compare.mjs (`npm ci` here first), with targets
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Sandbox } from '../../js/index.mjs';

const require = createRequire(import.meta.url);
const here = fileURLToPath(new URL('.', import.meta.url));
const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];
const shown = (list, digits) => `${Math.min(...list).toFixed(digits)}; ${median(list).toFixed(digits)}`;
const memory = (pid, name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'))?.[1] ?? 0) / 1024;

async function cold(rounds = 21) {
  const taken = [], ofOne = [], ofTwo = [];
  for (let i = 0; i < rounds; i++) {
    const begin = performance.now();
    const sandbox = await Sandbox.create({ tenant: `cold ${i}` });
    await sandbox.run('1');
    taken.push(performance.now() - begin);
    ofOne.push(memory(sandbox.pid, 'Private_Dirty'));
    const second = await Sandbox.create({ tenant: `cold ${i}` });
    await second.run('1');
    ofTwo.push(memory(sandbox.pid, 'Private_Dirty'));
    await second.dispose();
    await sandbox.dispose();
  }
  console.log(`cold, to a first result, ms: ${shown(taken, 1)}\nprivate memory of a worker with one, with two, MB: ${shown(ofOne, 2)}, ${shown(ofTwo, 2)}`);
}

async function holds(rounds = 15, megabytes = 1024) {
  const kept = [];
  for (let i = 0; i < megabytes; i++) kept.push(Buffer.alloc(2 ** 20, 1));
  const taken = [];
  for (let i = 0; i < rounds; i++) {
    const begin = performance.now();
    const made = Sandbox.create();
    taken.push(performance.now() - begin);
    await (await made).dispose();
  }
  console.log(`a start holds the event loop of a host with ${kept.length} MB, ms: ${shown(taken, 1)}`);
}

async function prettier(rounds = 15) {
  const files = ['standalone.js', 'plugins/babel.js', 'plugins/estree.js'].map((name) => readFileSync(require.resolve(`prettier/${name.replace(/\.js$/, '')}`), 'utf8'));
  const lib = join(here, '../../js/lib');
  const text = readdirSync(lib).sort().map((name) => readFileSync(join(lib, name), 'utf8')).join('\n').split('\n').slice(0, 1000).join('\n');
  // Cut in the middle of something, perhaps: what is not whole is left out.
  const source = text.slice(0, text.lastIndexOf('\nmodule.exports'));
  const task = '(text) => prettier.format(text, { parser: "babel", plugins: [prettierPlugins.babel, prettierPlugins.estree] })';
  const sandbox = await Sandbox.create({ memory: '512 MiB', time: '60 s', output: '16 MiB' });
  for (const file of files) await sandbox.run(`${file}\n;0`);
  const inside = await sandbox.run(task);
  (0, eval)(files.map((file) => `(function () {${file}\n}).call(globalThis);`).join('\n'));
  const plain = (0, eval)(task);
  // By the clock, and in processor time of whoever formats, which other work on the machine changes less.
  const used = async () => ({ plain: (process.cpuUsage().user + process.cpuUsage().system) / 1000, inside: (await sandbox.stats()).cpu });
  const timed = async (run) => {
    const before = await used(), begin = performance.now();
    const result = await run(source);
    const clock = performance.now() - begin, after = await used();
    return { clock, processor: run === plain ? after.plain - before.plain : after.inside - before.inside, result };
  };
  if ((await timed(inside)).result !== (await timed(plain)).result) throw new Error('prettier gives something else inside');
  for (let i = 0; i < 25; i++) await inside(source), await plain(source);
  // Four times each in a turn: the mean, with what is collected meanwhile, and the lowest, since the first finds the caches
  // full of the other's.
  const turn = async (run) => {
    const all = [await timed(run), await timed(run), await timed(run), await timed(run)];
    const clocks = all.map((one) => one.clock);
    return { mean: clocks.reduce((sum, one) => sum + one) / all.length, lowest: Math.min(...clocks), processor: Math.min(...all.map((one) => one.processor)) };
  };
  const turns = [];
  for (let i = 0; i < rounds; i++) turns.push({ plain: await turn(plain), inside: await turn(inside) });
  for (const unit of ['mean', 'lowest', 'processor'])
    console.log(`prettier, ${source.split('\n').length} lines, ${unit}, ms: plain ${shown(turns.map((one) => one.plain[unit]), 1)}, inside ${shown(turns.map((one) => one.inside[unit]), 1)}; ` +
      `ratio ${median(turns.map((one) => one.inside[unit] / one.plain[unit])).toFixed(3)}`);
  await sandbox.dispose();
}

function below(pid) {
  const found = [pid];
  for (const task of readdirSync(`/proc/${pid}/task`))
    for (const child of readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').split(' ').filter(Boolean)) found.push(...below(Number(child)));
  return found;
}
async function many(sandboxes = 1000, tenants = 50) {
  const base = memory(process.pid, 'Pss');
  const all = [];
  const begin = performance.now();
  for (let i = 0; i < sandboxes; i++) {
    const sandbox = await Sandbox.create({ tenant: `t${i % tenants}`, memory: '8 MiB' });
    await sandbox.run('globalThis.rule = (x) => x * 2; 1');
    all.push(sandbox);
  }
  const took = performance.now() - begin;
  const workers = [...new Set(all.map((sandbox) => sandbox.pid))];
  const processes = below(process.pid).slice(1);
  const sum = (list, name) => list.reduce((total, pid) => total + memory(pid, name), 0);
  console.log(`${sandboxes} sandboxes of ${tenants} tenants, made in ${(took / 1000).toFixed(1)} s: ${workers.length} workers ${sum(workers, 'Pss').toFixed(0)} MB, ` +
    `all ${processes.length} processes ${sum(processes, 'Pss').toFixed(0)} MB (Pss), and the host ${(memory(process.pid, 'Pss') - base).toFixed(0)} MB more than before`);
  await Promise.all(all.map((sandbox) => sandbox.dispose()));
}

async function core(rounds = 11) {
  const folder = mkdtempSync(join(tmpdir(), 'bulkhead-bench-'));
  const ping = join(folder, 'ping');
  try {
    execFileSync('cc', ['-O2', '-o', ping, join(here, '../ping.c')]);
    const sandbox = await Sandbox.create({ time: '60 s' });
    const o = sandbox.runSync('globalThis.o = { x: 1, f(a, b) { return a + b } }; o');
    const { f } = o;
    const timed = (body) => {
      const begin = process.hrtime.bigint();
      for (let i = 0; i < 2000; i++) body(i);
      return Number(process.hrtime.bigint() - begin) / 2000;
    };
    const all = { ping: [], get: [], call: [] };
    timed(() => o.x);
    timed((i) => f(i, 2));
    for (let i = 0; i < rounds; i++) {
      all.ping.push(Number(execFileSync(ping)));
      all.get.push(timed(() => o.x));
      all.call.push(timed((j) => f(j, 2)));
    }
    console.log(`bare futex there and back, ns: ${shown(all.ping, 0)}; get ${shown(all.get, 0)}; call ${shown(all.call, 0)}`);
    await sandbox.dispose();
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// What the figures are to be: of a run whose machine has nothing else to do.
const targets = {
  cold: 'cold 40 ms; a worker with one or two 7 MB private', holds: 'what a host of no size takes: some ms', prettier: '1.05 times plain Node, the mean', many: '2 GB for all processes',
  core: 'futex + 3,000 ns', compare: `a cached read 150 ns, get 750, call 1,000, text 1,600, there and back 2,200, a new object 1,600,
  10,000 numbers 100,000; cold 40 ms, a further one 5 ms, prepared 1 ms, memory of a worker with two 7 MB`,
};
// Each in a process of its own, one after the other: what one has compiled and collected is not the next one's.
function all(rounds) {
  const self = fileURLToPath(import.meta.url), times = rounds === undefined ? [] : [String(rounds)];
  const runs = { compare: [join(here, 'compare.mjs'), ...times], cold: [self, 'cold', ...times], holds: [self, 'holds', ...times], prettier: [self, 'prettier', ...times], many: [self, 'many'], core: [self, 'core', ...times] };
  let failed = 0;
  for (const [name, words] of Object.entries(runs)) {
    console.log(`\n${name}: load ${loadavg()[0].toFixed(1)} before it; at most ${targets[name]}`);
    const command = [process.execPath, ...words];
    if (name === 'core') command.unshift('taskset', '-c', '0');
    failed += spawnSync(command[0], command.slice(1), { stdio: 'inherit' }).status === 0 ? 0 : 1;
  }
  return failed;
}

const tasks = { cold, holds, prettier, many, core, all };
const [name, ...rest] = process.argv.slice(2);
if (!(name in tasks)) throw new Error(`one of ${Object.keys(tasks).join(', ')}`);
process.exit(await tasks[name](...rest.map(Number)) ?? 0);
