// Two hundred programs (tests/attacks/javascript/programs.mjs) that take time or memory: each ends within its limits, as a result,
// an error of the sandbox's or one of the guest's own, and the next call works, in the same sandbox or,
// where its worker had to go, in the next.
import test from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Sandbox, SandboxError } from '../index.mjs';
import { programs } from '../../tests/attacks/javascript/programs.mjs';

const limits = { memory: '32 MiB', buffers: '32 MiB', wasm: '32 MiB', time: '100 ms', stack: '512 KiB', output: '1 MiB', expose: { callback: (x) => x } };

const names = Object.keys(programs);
test(`${names.length} programs, a few at a time`, { timeout: 280000 }, async () => {
  assert.ok(names.length >= 190, `${names.length} programs`);
  const failures = [];
  const summary = { returned: 0, ended: 0, refused: 0, killed: 0 };
  const queue = [...names];
  const host = () => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'latin1'))[1]) / 1024;
  const before = host();
  const lane = async () => {
    let sandbox = await Sandbox.create(limits);
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      const begin = performance.now();
      const result = await sandbox.run(`{ ${programs[name]} }`, { filename: 'p.js' }).then(() => 'returned', (error) => error);
      const took = performance.now() - begin;
      if (result === 'returned') summary.returned++;
      else if (sandbox.lost !== undefined) summary.killed++;
      else if (result instanceof SandboxError) summary.ended++;
      else summary.refused++;
      if (result instanceof SyntaxError && !/regular expression/.test(result.message)) failures.push(`${name}: ${result.message.slice(0, 200)}`);
      // By the clock of a machine that may have other work; what counts is processor time (turn_test).
      if (took > 4000) failures.push(`${name}: ${took.toFixed(0)} ms`);
      if (result instanceof SandboxError && result.code === 'ERR_SANDBOX_LOST') failures.push(`${name}: ${result.message}`);
      if (sandbox.lost !== undefined) sandbox = await Sandbox.create(limits);
      const next = await sandbox.run('6 * 7').catch((error) => error);
      if (next !== 42) {
        failures.push(`${name}: then ${next}`);
        await sandbox.dispose();
        sandbox = await Sandbox.create(limits);
      }
    }
    await sandbox.dispose();
  };
  await Promise.all([lane(), lane()]);
  const grown = host() - before;
  console.log(JSON.stringify(summary), `host grew by ${grown.toFixed(0)} MB`);
  assert.deepEqual(failures, []);
  assert.ok(grown < 120, `the host grew by ${grown} MB`);
});
