// The resource programs (tests/attacks/javascript/programs.mjs) under the JavaScript sandbox, isolated-vm and vm2, each in
// a process of its own with 100 ms, 128 MB and a deadline, because peers may hang or crash:
//   node bench/javascript/resources.mjs [PEER …] [--list]     after `npm ci` here
// bulkhead's host is that process; its worker is another one and counts as `resident` too.
import { spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { programs } from '../../tests/attacks/javascript/programs.mjs';

const DEADLINE = 5000;
const LATE = 1000;
const TIME = 100;
const RESIDENT = 300;
const MOST = 2500;  // MB, where the machine is spared more
const require = createRequire(import.meta.url);

const peers = {
  async bulkhead() {
    const { Sandbox } = await import('../../js/index.mjs');
    const options = { memory: '128 MiB', time: `${TIME} ms`, output: '1 MiB', expose: { callback: (x) => x } };
    let sandbox = await Sandbox.create(options);
    return async (source) => {
      if (sandbox.lost !== undefined) sandbox = await Sandbox.create(options);
      return sandbox.run(source);
    };
  },
  async vm2() {
    const { VM } = require('vm2');
    const vm = new VM({ timeout: TIME, sandbox: { callback: (x) => x } });
    return (source) => vm.run(source);
  },
  async 'isolated-vm'() {
    const ivm = require('isolated-vm');
    const isolate = new ivm.Isolate({ memoryLimit: 128 });
    const context = isolate.createContextSync();
    context.global.setSync('callback', new ivm.Callback((x) => x));
    return (source) => context.evalSync(source, { timeout: TIME, copy: true });
  },
};

const kilobytes = (pid, name) => {
  try {
    return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0);
  } catch {
    return 0;
  }
};
// What a process and all below it have resident, in MB.
function resident(pid) {
  let sum = kilobytes(pid, 'VmRSS') / 1024;
  try {
    for (const task of readdirSync(`/proc/${pid}/task`))
      for (const child of readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').split(' ').filter(Boolean)) sum += resident(Number(child));
  } catch { /* it has just ended */ }
  return sum;
}

async function one(peer, name) {
  const run = await peers[peer]();
  process.send({ ready: true });
  const begin = performance.now();
  const outcome = await Promise.resolve().then(() => run(`{ ${programs[name]} }`)).then(() => 'returned', (error) => String(error?.message ?? error).slice(0, 80));
  const took = performance.now() - begin;
  const next = await Promise.resolve().then(() => run('6 * 7')).catch(() => 'none');
  process.send({ outcome, took, next: next === 42 }, () => process.exit(0));
}

const measure = (peer, name) => new Promise((resolve) => {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), '--one', peer, name], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  const result = { name, state: 'aborted', took: 0, most: 0, next: false };
  let clock, begin;
  const end = (state) => {
    result.state = state;
    child.kill('SIGKILL');
  };
  const look = setInterval(() => {
    result.most = Math.max(result.most, resident(child.pid));
    if (result.most > MOST) end('too much memory');
  }, 20);
  child.on('message', (message) => {
    if (message.ready) {
      begin = performance.now();
      clock = setTimeout(end, DEADLINE, 'still running');
    } else {
      Object.assign(result, message, { state: 'ended' });
    }
  });
  child.on('close', () => {
    clearInterval(look);
    clearTimeout(clock);
    if (result.state !== 'ended') result.took = performance.now() - begin;
    resolve(result);
  });
});

if (process.argv[2] === '--one') {
  await one(process.argv[3], process.argv[4]);
} else {
  const wanted = process.argv.slice(2).filter((name) => name in peers);
  const names = Object.keys(programs);
  const rows = {};
  for (const peer of wanted.length > 0 ? wanted : Object.keys(peers)) {
    const row = { programs: names.length, 'still running after 5 s': 0, 'process aborted': 0, 'over 1 s late': 0, 'over 300 MB': 0, 'next call failed': 0, 'within all limits': 0 };
    for (const name of names) {
      const { state, took, most, next, outcome } = await measure(peer, name);
      const faults = [];
      if (state === 'still running' || state === 'too much memory') faults.push('still running after 5 s');
      if (state === 'aborted') faults.push('process aborted');
      if (state === 'ended' && took > TIME + LATE) faults.push('over 1 s late');
      if (most > RESIDENT) faults.push('over 300 MB');
      if (state === 'ended' && !next) faults.push('next call failed');
      for (const fault of faults) row[fault]++;
      if (faults.length === 0) row['within all limits']++;
      if (process.argv.includes('--list') && faults.length > 0) console.log(`${peer} | ${name} | ${faults.join(', ')} | ${took.toFixed(0)} ms, ${most.toFixed(0)} MB | ${outcome ?? ''}`);
    }
    rows[peer] = row;
  }
  const columns = Object.keys(Object.values(rows)[0]);
  console.log(['', ...columns].join(' | '));
  for (const [peer, row] of Object.entries(rows)) console.log([peer, ...columns.map((column) => row[column])].join(' | '));
}
