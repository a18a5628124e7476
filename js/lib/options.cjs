'use strict';
// What a person writes as a size, a duration or a limit, as numbers; a mistake is an error that names it.

const { resolve } = require('node:path');
const { SandboxError } = require('./errors.cjs');
const { names: languageNames } = require('./intrinsics.cjs');
const { names: webNames } = require('./globals.cjs');

const refuse = (text) => {
  throw new SandboxError('ERR_SANDBOX_OPTION', text);
};
const units = { B: 1, KB: 1e3, MB: 1e6, GB: 1e9, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };
const times = { ms: 1, s: 1000, min: 60000 };
const measured = (table, kind, example) => (name, value) => {
  let number = value;
  if (typeof value === 'string') {
    const match = /^(\d+(?:\.\d+)?) ?([A-Za-z]+)$/.exec(value);
    number = match !== null && Object.hasOwn(table, match[2]) ? Number(match[1]) * table[match[2]] : NaN;
  }
  if (typeof number !== 'number' || !Number.isFinite(number) || number < 0)
    refuse(`${name}: ${typeof value === 'string' ? `"${value}"` : String(value)} is no ${kind}; write for example '${example}'`);
  return number;
};
const size = measured(units, 'size', '64 MiB');
const duration = measured(times, 'duration', '100 ms');
const between = (name, value, least, most, words) => {
  if (value < least || value > most) refuse(`${name}: must be ${words}`);
  return value;
};
const count = (name, value) => {
  if (!Number.isInteger(value) || value < 16 || value > 1e6) refuse(`${name}: must be a whole number from 16 to 1,000,000`);
  return value;
};

// How many letters differ, put in or left out.
function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) next.push(Math.min(next[j] + 1, row[j + 1] + 1, row[j] + (a[i] === b[j] ? 0 : 1)));
    row = next;
  }
  return row[b.length];
}
// The name that was meant, where one is near.
function meant(name, names) {
  let best, least = 3;
  for (const one of names) {
    if (name.startsWith(one)) return ` (is "${one}" meant?)`;
    const far = Math.abs(one.length - name.length) > 2 ? 3 : distance(name.toLowerCase(), one.toLowerCase());
    if (far < least && far < name.length) [best, least] = [one, far];
  }
  return best === undefined ? '' : ` (is "${best}" meant?)`;
}
function refuseUnknown(given, names, what) {
  for (const name of Object.keys(given))
    if (!names.has(name)) refuse(`${what}unknown option "${name}"${meant(name, names)}; known are ${[...names].join(', ')}`);
}

// A function of names, or a copy of what names lead to, without "./".
const modulesOf = (given) => {
  if (given === undefined || typeof given === 'function') return given;
  if (typeof given !== 'object' || given === null) refuse('modules: an object of names and what they lead to, or a function');
  const table = new Map();
  for (const [name, found] of given instanceof Map ? given : Object.entries(given)) {
    if (typeof name !== 'string' || name === '') refuse('modules: a name is a text');
    if (typeof found !== 'string' && (typeof found !== 'object' || found === null))
      refuse(`modules: "${name}" is neither a text nor an object of what it exports`);
    table.set(name.replace(/^(\.\/)+/, ''), found);
  }
  return table;
};

const sets = ['none', 'ecmascript', 'web', 'node'];
// What a list may name: of the language, of the web and of Node.
const globalNames = new Set([...languageNames, ...webNames, 'globalThis', 'undefined', 'NaN', 'Infinity', 'shared']);
const MiB = 2 ** 20;
const PAGE = 4096;
const known = new Set(['memory', 'buffers', 'wasm', 'time', 'wall', 'cpu', 'stack', 'output', 'handles', 'expose', 'modules', 'globals',
  'eval', 'frozen', 'without', 'shared', 'tenant', 'name', 'journal', 'cacheKey', 'runtime', 'background', 'unheard', 'keepAlive']);

function readOptions(given = {}) {
  if (typeof given !== 'object' || given === null) refuse('the options of a sandbox are an object');
  refuseUnknown(given, known, '');
  const memory = between('memory', size('memory', given.memory ?? 64 * MiB), 8 * MiB, 2048 * MiB, "from '8 MiB' to '2 GiB'");
  const { globals = 'ecmascript', tenant, name = tenant ?? 'sandbox', journal = true, runtime = 'isolate', expose = {}, without = [], cacheKey, unheard = 'warn' } = given;
  const time = between('time', duration('time', given.time ?? 1000), 1, 3.6e6, "from '1 ms' to '60 min'");
  if (!sets.includes(globals) && !(Array.isArray(globals) && globals.every((name) => typeof name === 'string')))
    refuse(`globals: 'none', 'ecmascript', 'web', 'node' or a list of names${typeof globals === 'string' ? meant(globals, sets) : ''}`);
  if (Array.isArray(globals))
    for (const name of globals) if (!globalNames.has(name)) refuse(`globals: nothing is called "${name}"${meant(name, globalNames)}; what is yours is handed over by expose`);
  if (runtime !== 'isolate') refuse(`runtime: "${runtime}" is not there yet; 'isolate' is`);
  if (tenant !== undefined && (typeof tenant !== 'string' || tenant === '')) refuse('tenant: a name');
  if (typeof name !== 'string' || name === '') refuse('name: a text, by which the journal calls it');
  if (typeof journal !== 'boolean' && (typeof journal !== 'string' || journal === '')) refuse("journal: true, false or a file's path");
  if (cacheKey !== undefined && !((typeof cacheKey === 'string' || cacheKey instanceof Uint8Array) && cacheKey.length >= 16))
    refuse('cacheKey: a secret of 16 bytes or more');
  if (!Array.isArray(without) || !without.every((path) => typeof path === 'string' && path !== ''))
    refuse("without: a list of paths, such as 'WebAssembly' or 'Array.prototype.sort'");
  if (typeof expose !== 'object' || expose === null) refuse('expose: an object of names and values');
  if (!['warn', 'throw', 'ignore'].includes(unheard)) refuse("unheard: 'warn', 'throw' or 'ignore'");
  for (const name of ['eval', 'frozen', 'keepAlive'])
    if (given[name] !== undefined && typeof given[name] !== 'boolean') refuse(`${name}: true or false`);
  return {
    memory,
    buffers: size('buffers', given.buffers ?? memory),
    // In whole pages.
    shared: Math.ceil(between('shared', size('shared', given.shared ?? 0), 0, 512 * MiB, "up to '512 MiB'") / PAGE) * PAGE,
    wasm: size('wasm', given.wasm ?? memory),
    time,
    background: given.background === false ? Infinity : between('background', duration('background', given.background ?? 10 * time), 1, 8.64e7, "from '1 ms', or false"),
    wall: given.wall === undefined ? 0 : between('wall', duration('wall', given.wall), 1, 8.64e7, "from '1 ms'"),
    cpu: given.cpu === undefined ? 0 : between('cpu', duration('cpu', given.cpu), 1, 8.64e7, "from '1 ms'"),
    stack: between('stack', size('stack', given.stack ?? MiB), 64 << 10, MiB, "from '64 KiB' to '1 MiB'"),
    output: between('output', size('output', given.output ?? 16 * MiB), 64 << 10, 512 * MiB, "from '64 KiB' to '512 MiB'"),
    handles: count('handles', given.handles ?? 65536),
    expose, globals, without: [...without], tenant, name, cacheKey, unheard,
    keepAlive: given.keepAlive ?? false,
    journal: typeof journal === 'string' ? resolve(journal) : journal,
    modules: modulesOf(given.modules),
    eval: given.eval ?? true,
    frozen: given.frozen ?? false,
  };
}

const ofRealms = new Set(['expose', 'modules', 'globals', 'eval', 'frozen', 'without', 'handles', 'name', 'unheard']);
// A realm has the limits of the sandbox whose heap it is in, `options`.
function realmOptions(options, given = {}) {
  if (typeof given !== 'object' || given === null) refuse('the options of a realm are an object');
  if (Object.keys(given).some((name) => known.has(name) && !ofRealms.has(name)))
    refuse(`realm: limits are one for all realms of a sandbox; a realm has ${[...ofRealms].join(', ')}`);
  refuseUnknown(given, ofRealms, 'realm: ');
  const { expose, modules, ...kept } = readOptions({ ...given });
  const chosen = Object.fromEntries(Object.keys(given).map((name) => [name, kept[name]]));
  return { ...options, ...chosen, expose, modules, realm: true };
}

// What of a call is its own.
const within = ['time', 'wall', 'signal'];
const ofCalls = {
  run: new Set([...within, 'filename', 'lineOffset', 'columnOffset', 'cache']), import: new Set(within), call: new Set([...within, 'this']),
  cache: new Set([...within, 'filename']),
};
// A mistake of a name would leave a call without the limit that it was meant to have.
function callOptions(what, given) {
  if (given === undefined) return {};
  if (typeof given !== 'object' || given === null) refuse(`${what}: its options are an object`);
  refuseUnknown(given, ofCalls[what], `${what}: `);
  return given;
}

module.exports = { callOptions, readOptions, realmOptions, duration, size, refuse };
