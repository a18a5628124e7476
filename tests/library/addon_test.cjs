// The shared library in Node: compartments beside Node's own children, which it hears of as before.
//   addon_test.cjs ADDON
'use strict';
const assert = require('node:assert');
const { execFileSync, spawn } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const library = require(path.resolve(process.argv[2]));

const manifest = JSON.stringify({ manifest: 1, files: { read: ['@system'] }, run: ['/usr/bin', '/bin'] });
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'library-'));
const file = path.join(folder, 'said');
const output = fs.openSync(file, 'w');
const run = (script) => library.start(manifest, '/bin/sh', script, output);

async function main() {
  const child = spawn('/bin/sh', ['-c', 'sleep 0.3; exit 6']);
  const ended = new Promise((resolve) => child.on('exit', resolve));
  const all = Array.from({ length: 20 }, (_, i) => run(`exit ${i}`));
  const sleeping = run('sleep 1000');
  assert.deepStrictEqual(all.map(library.wait), all.map((_, i) => `ended with exit code ${i}`));
  library.kill(sleeping);
  assert.strictEqual(library.wait(sleeping), 'ended on request');
  assert.strictEqual(library.wait(run('echo said; cat /etc/shadow 2>/dev/null || exit 3')), 'ended with exit code 3');
  assert.strictEqual(fs.readFileSync(file, 'utf8'), 'said\n');
  assert.strictEqual(execFileSync('/bin/echo', ['own']).toString(), 'own\n');
  assert.strictEqual(await ended, 6);
  assert.throws(() => library.start('{"manifest": 1, "flies": {}}', '/bin/sh', '', output), /manifest:1/);
  console.log('node: all well');
}

main().finally(() => fs.rmSync(folder, { recursive: true }));
