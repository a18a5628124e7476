// vm2's own tests and its folder of advisories, run against our membrane:
//   node tests/javascript/vm2/run.mjs FOLDER [TEXT]     FOLDER: vm2's repository, `npm ci --omit=dev` done
// Nothing of vm2 is here: its tests and its NodeVM are taken from there, its engine is engine.cjs.
// reasons.cjs says which tests cannot pass and why; whatever else fails is ours, and so is a reason
// that is none any more.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import reasonsFile from './reasons.cjs';

const { reasons } = reasonsFile;
const [folder, text = ''] = process.argv.slice(2);
if (folder === undefined || !existsSync(path.join(folder, 'test', 'vm.js'))) {
  console.error('run.mjs FOLDER: where the repository of vm2 is');
  process.exit(2);
}
const DEADLINE = 300_000;
const here = path.dirname(fileURLToPath(import.meta.url));
const tests = path.join(folder, 'test');
const walk = (at) => readdirSync(at).flatMap((name) => {
  const file = path.join(at, name);
  return statSync(file).isDirectory() ? walk(file) : file.endsWith('.js') ? [file] : [];
});
const files = [path.join(tests, 'nodevm.js'), path.join(tests, 'vm.js'), ...walk(path.join(tests, 'ghsa')).sort()];

// The tests of one file, each { group, name, state: passed, failed or skipped, why, reached }.
const runFile = (file) => new Promise((resolve) => {
  const child = spawn(process.execPath, [path.join(here, 'suite.cjs'), folder, file], { stdio: ['ignore', 'ignore', 'pipe', 'pipe'] });
  const timer = setTimeout(() => child.kill('SIGKILL'), DEADLINE);
  let lines = '', words = '';
  child.stdio[3].on('data', (data) => { lines += data; });
  child.stderr.on('data', (data) => { words += data; });
  child.on('close', (code, signal) => {
    clearTimeout(timer);
    const list = lines.split('\n').filter(Boolean).map((line) => JSON.parse(line));
    if (code !== 0) list.push({ group: '', name: 'the whole file', state: 'failed', why: `ended by ${signal ?? code}: ${words.slice(0, 400)}` });
    resolve(list);
  });
});

const kinds = {};
let wrong = 0;
const used = new Set();
for (const file of files) {
  const name = path.relative(tests, file);
  if (!name.includes(text)) continue;
  const of = (kinds[name.startsWith('ghsa') ? 'advisories' : path.basename(name, '.js') === 'vm' ? 'VM' : 'NodeVM'] ??= { passed: 0, failed: 0, 'not applicable': 0, skipped: 0 });
  for (const { group, name: test, state, why, at, reached } of await runFile(file)) {
    const title = `${name} › ${group} › ${test}`;
    const reason = state === 'failed' ? reasons.find(({ tests: list }) => list.some((part) => title.includes(part))) : undefined;
    for (const part of reasons.flatMap(({ tests: list }) => list)) if (title.includes(part)) used.add(state === 'failed' ? part : undefined);
    of[reason?.applies === false && reached === undefined ? 'not applicable' : state]++;
    if (state !== 'failed') continue;
    if (reached !== undefined) console.log(`REACHED ${title}\n    ${reached.join(', ')}`);
    else if (reason === undefined) console.log(`FAILED ${title}\n    ${why}\n    ${at ?? ''}`);
    if (reached !== undefined || reason === undefined) wrong++;
  }
}
for (const [kind, counts] of Object.entries(kinds)) console.log(`${kind}: ${Object.entries(counts).map(([state, count]) => `${count} ${state}`).join(', ')}`);
if (text === '') for (const part of reasons.flatMap(({ tests: list }) => list)) {
  if (used.has(part)) continue;
  console.log(`NO REASON ANY MORE ${part}`);
  wrong++;
}
process.exitCode = wrong === 0 ? 0 : 1;
