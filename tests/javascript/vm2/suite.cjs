'use strict';
// One file of vm2's tests in a process of its own, with our engine below it: node suite.cjs FOLDER FILE.
// A line of JSON for each test on descriptor 3. A test has failed as well when something of the host
// was reached meanwhile that no guest may reach, whatever the test itself thinks of it.

const Module = require('node:module');
const fs = require('node:fs');
const path = require('node:path');
const engine = require('./engine.cjs');

const PATIENCE = 20_000;
const [folder, file] = process.argv.slice(2).map((name) => path.resolve(name));
const lib = (name) => path.join(folder, 'lib', `${name}.js`);

// ------------------------------------------------------------------- the engine below vm2's face

const STATE = 'VM2_INTERNAL_STATE_DO_NOT_USE_OR_PROGRAM_WILL_FAIL';
const { Script: Compiled } = require('node:vm');
class Script {
  constructor(code, { filename, lineOffset, columnOffset } = {}) {
    new Compiled(code, { filename });  // for its SyntaxError; nothing runs here
    Object.assign(this, { code, filename, lineOffset, columnOffset });
  }
}
const load = Module._load;
let ours;
Module._load = function (request, parent, ...rest) {
  const from = parent?.filename ?? '';
  if (from.startsWith(path.join(folder, 'lib'))) {
    if (request === 'vm') return { Script };
    if (request === './transformer') return { transformer: (_, code) => ({ code, hasAsync: false }), INTERNAL_STATE_NAME: STATE };
    if (request === './vm') return (ours ??= engine({ ...load(lib('bridge')), ...load(lib('script')), ...load(lib('compiler')) }));
  }
  if (request.endsWith('lib/transformer')) return { INTERNAL_STATE_NAME: STATE };
  return load.call(this, request, parent, ...rest);
};

const { reasons } = require('./reasons.cjs');
const never = reasons.filter(({ runs }) => runs === false).flatMap(({ tests }) => tests);

// ------------------------------------------------------------------- what no guest may reach

let reached = [];
const children = require('node:child_process');
for (const name of ['exec', 'execSync', 'execFile', 'execFileSync', 'spawn', 'spawnSync', 'fork']) {
  children[name] = () => {
    reached.push(`child_process.${name}`);
    return Buffer.from('reached');
  };
}
const { process: real } = globalThis;
Object.defineProperty(globalThis, 'process', { configurable: true, get() {
  // Code made from a text, by the host's own Function or eval.
  if (/\(eval at |at eval /.test(new Error().stack)) reached.push('process');
  return real;
} });
const shared = [Object, Function, Array, Promise, Error, Map, Set, RegExp, Date, String, Number, Symbol, Uint8Array, Buffer, ArrayBuffer]
  .flatMap((constructor) => [[`${constructor.name}.prototype`, constructor.prototype], [constructor.name, constructor]]);
const shape = () => shared.map(([, object]) => Reflect.ownKeys(object).map((key) => {
  const { value, get, set } = Object.getOwnPropertyDescriptor(object, key);
  return [key, value, get, set];
}));
const changed = (before, after) => shared.filter((_, i) => before[i].length !== after[i].length ||
  before[i].some((property, k) => property.some((part, j) => !Object.is(part, after[i][k][j])))).map(([name]) => name);

// ------------------------------------------------------------------- as much of mocha as they need

const root = { name: '', tests: [], groups: [], before: [], after: [], beforeEach: [], afterEach: [] };
let group = root;
const context = { timeout() {}, slow() {}, skip() { throw skipped; } };
const skipped = new Error('skipped');
globalThis.describe = (name, body) => {
  const outer = group;
  group = { name: `${outer.name}${outer.name ? ' › ' : ''}${name}`, outer, tests: [], groups: [], before: [], after: [], beforeEach: [], afterEach: [] };
  outer.groups.push(group);
  body.call(context);
  group = outer;
};
globalThis.describe.skip = () => {};
globalThis.it = (name, body) => group.tests.push({ name, body });
globalThis.it.skip = (name) => group.tests.push({ name });
for (const hook of ['before', 'after', 'beforeEach', 'afterEach']) globalThis[hook] = (body) => group[hook].push(body);

let stray;
for (const event of ['unhandledRejection', 'uncaughtException'])
  real.on(event, (error) => {
    // A timer of the host's calls what a test before left behind.
    if (error?.code === 'ERR_SANDBOX_DISPOSED') return;
    stray?.(new Error(`${event}: ${error?.message ?? error}`));
  });
const settle = (body) => new Promise((resolve, reject) => {
  stray = reject;
  const timer = setTimeout(() => reject(new Error('no end')), PATIENCE);
  const done = (error) => (clearTimeout(timer), error ? reject(error) : resolve());
  if (body.length > 0) return body.call(context, done);
  Promise.resolve(body.call(context)).then(() => setImmediate(done), done);
});
const each = (of, hook) => (of === undefined ? [] : [...each(of.outer, hook), ...of[hook]]);

async function run(of) {
  for (const body of of.before) await settle(body);
  const kept = new Set(engine.made);
  for (const { name, body } of of.tests) {
    const line = { group: of.name, name, state: 'skipped' };
    const avoided = body !== undefined && never.some((part) => `${of.name} › ${name}`.includes(part));
    if (avoided) Object.assign(line, { state: 'failed', why: 'not run' });
    else if (body !== undefined) {
      reached = [];
      const before = shape();
      try {
        for (const hook of each(of, 'beforeEach')) await settle(hook);
        await settle(body);
        line.state = 'passed';
      } catch (error) {
        if (error !== skipped) Object.assign(line, { state: 'failed', why: String(error?.message ?? error).split('\n').slice(0, 6).join(' | '), at: /vm2.*?test[^)]*/.exec(error?.stack?.slice(error.message?.length))?.[0] });
      }
      for (const hook of each(of, 'afterEach')) await settle(hook);
      reached.push(...changed(before, shape()));
      if (reached.length > 0) Object.assign(line, { state: 'failed', reached });
    }
    fs.writeSync(3, `${JSON.stringify(line)}\n`);
    for (const box of engine.made) if (!kept.has(box)) engine.made.delete(box) && box.disposeSync();
  }
  for (const inner of of.groups) await run(inner);
  for (const body of of.after) await settle(body);
}

real.chdir(folder);
const files = fs.readdirSync('.').join();
require(file);
run(root).then(() => {
  const now = fs.readdirSync('.').join();
  if (now !== files) fs.writeSync(3, `${JSON.stringify({ group: '', name: 'files were written', state: 'failed', reached: [now] })}\n`);
  real.exit(0);
});
