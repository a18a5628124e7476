'use strict';
// bulkhead eval: a script in a sandbox, its value on standard output. The command line is read by
// src/cli/eval.cc; the prompt is prompt.cjs.
//
//   node eval.cjs [--memory SIZE] [--time DURATION] [--wall DURATION] [--output SIZE] [--json] [-- FILE|-]

// Before anything is loaded that an older Node cannot even read. Its worker is made of the same program.
if (Number.parseInt(process.version.slice(1), 10) !== 24) {
  console.error(`bulkhead: eval needs Node.js 24, and ${process.execPath} is ${process.version}: \`bulkhead eval --install\` fetches the right one, as the first \`bulkhead code\` does; or name one with BULKHEAD_NODE`);
  process.exit(125);
}

const fs = require('node:fs');
const path = require('node:path');
const { inspect, parseArgs, types } = require('node:util');
const { Sandbox } = require('./sandbox.cjs');
const errors = require('./errors.cjs');
const { readOptions } = require('./options.cjs');
const { withoutUnseen, inJson } = require('./unseen.cjs');
const { callProgram, journalsClosed } = require('./journal.cjs');

const Exit = { THREW: 1, MEMORY: 120, TIME: 121, OUTPUT: 122, HANDLES: 123, WALL: 124, FAILED: 125, INTERRUPTED: 130 };

const harmless = (text, stream, escape = undefined) => (stream.isTTY ? withoutUnseen(text, escape) : text);
// A few bytes of a message may be an object whose text has no end, for it may hold one thing many times.
const MOST_SHOWN = 100_000, DEEPEST = 5;
const shownOf = (value, depth, left) => {
  if (typeof value !== 'object' || value === null || types.isProxy(value) || ArrayBuffer.isView(value)) return left - 1;
  const items = types.isMap(value) ? [...value.keys(), ...value.values()] : types.isSet(value) ? [...value] : Object.values(value);
  for (let i = 0; i < items.length && left > 0 && depth > 0; i++) left = shownOf(items[i], depth - 1, left - 1);
  return left;
};
const depthOf = (value) => (shownOf(value, DEEPEST, MOST_SHOWN) > 0 ? DEEPEST : 1);
const jsonOf = (value) => {
  let left = 10 * MOST_SHOWN;
  const text = JSON.stringify(value, (key, item) => {
    if (left-- === 0) throw new errors.OutputLimitError('the result is too large to be written as JSON');
    return item;
  });
  return text === undefined ? undefined : harmless(text, process.stdout, inJson);
};
const shown = (value, stream = process.stdout) => {
  if (typeof value === 'string') return harmless(value, stream);
  if (value instanceof Error) return harmless(errorText(value), stream);
  return harmless(inspect(value, { customInspect: false, depth: depthOf(value) }), stream);
};
const errorText = (error) => {
  if (!(error instanceof Error)) return `thrown: ${inspect(error, { customInspect: false, depth: Math.min(2, depthOf(error)) })}`;
  if (error instanceof errors.GuestError) return error.stack;
  return error.message;
};
const say = (text) => process.stderr.write(`bulkhead: ${harmless(text.replace(/^bulkhead: /, ''), process.stderr)}\n`);

function exitCode(error) {
  if (error instanceof errors.MemoryLimitError) return Exit.MEMORY;
  if (error instanceof errors.TimeLimitError) return error.limit === 'wall' ? Exit.WALL : Exit.TIME;
  if (error instanceof errors.OutputLimitError) return Exit.OUTPUT;
  if (error instanceof errors.HandleLimitError) return Exit.HANDLES;
  if (error instanceof errors.LostError || error?.code === 'ERR_SANDBOX_OPTION') return Exit.FAILED;
  return Exit.THREW;
}

async function create(options, stdout = process.stdout) {
  const sandbox = await Sandbox.create({ time: '10 s', name: 'prompt', ...options, globals: 'web', keepAlive: true });
  sandbox.on('console', (level, args) => {
    const stream = level === 'warn' || level === 'error' || level === 'trace' ? process.stderr : stdout;
    stream.write(`${args.map((arg) => shown(arg, stream)).join(' ')}\n`);
  });
  sandbox.on('error', (error) => {
    const text = error instanceof errors.SandboxError ? `bulkhead: ${error.message}` : errorText(error);
    process.stderr.write(`${harmless(text, process.stderr)}\n`);
  });
  return sandbox;
}

const readAll = (fd, what) => {
  try {
    return fs.readFileSync(fd, 'utf8');
  } catch (error) {
    say(`cannot read ${what}: ${error.code === 'ENOENT' ? 'no such file' : error.message}`);
    process.exit(Exit.FAILED);
  }
};

// The script's value, or what it threw; the process ends when its timers have.
async function runFile(file, { json, ...options }) {
  const isInput = file === '-' || file === undefined;
  const source = readAll(isInput ? 0 : file, isInput ? 'standard input' : file);
  const name = isInput ? 'standard input' : path.resolve(file);
  callProgram(name, `bulkhead eval ${file ?? '-'}`);
  const sandbox = await create({ ...options, name }, json ? process.stderr : process.stdout);
  sandbox.on('error', (error) => { process.exitCode ||= exitCode(error); });
  const interrupt = new AbortController();
  process.once('SIGINT', () => interrupt.abort());
  interrupt.signal.addEventListener('abort', () => {
    sandbox.disposeSync();
    process.exitCode = Exit.INTERRUPTED;
  });
  // Neither a timer of its own nor the host will settle what the script gave.
  const never = new AbortController();
  const stop = () => never.abort(new Error('the promise that the script gave is never settled: nothing is left that could'));
  process.once('beforeExit', stop);
  try {
    if (json && !isInput && !process.stdin.isTTY) {
      const text = readAll(0, 'standard input');
      if (text.trim() !== '') await sandbox.set('input', parseInput(text));
    }
    const value = await sandbox.run(source, { filename: isInput ? 'stdin' : file, signal: AbortSignal.any([interrupt.signal, never.signal]) });
    process.off('beforeExit', stop);
    if (json) process.stdout.write(`${jsonOf(value) ?? 'null'}\n`);
    else if (value !== undefined) process.stdout.write(`${shown(value)}\n`);
    process.once('beforeExit', () => sandbox.disposeSync());
  } catch (error) {
    sandbox.disposeSync();
    if (interrupt.signal.aborted) return;
    process.exitCode = exitCode(error);
    if (json) process.stdout.write(`${described(error)}\n`);
    else if (error instanceof errors.SandboxError || error === never.signal.reason) say(error.message);
    else process.stderr.write(`${harmless(errorText(error), process.stderr)}\n`);
  }
}
const parseInput = (text) => {
  try {
    return JSON.parse(text);
  } catch (error) {
    say(`standard input is not JSON: ${error.message}`);
    process.exit(Exit.FAILED);
  }
};
const described = (error) => {
  if (error instanceof Error)
    return jsonOf({ error: { name: error.name, message: error.message, code: error.code, stack: error instanceof errors.GuestError ? error.stack : undefined } });
  try {
    return jsonOf({ error: { thrown: error } });
  } catch (limit) {
    return jsonOf({ error: { thrown: limit.message } });
  }
};

async function main() {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: {
    memory: { type: 'string' }, time: { type: 'string' }, wall: { type: 'string' }, output: { type: 'string' }, json: { type: 'boolean' },
  } });
  const { json = false, ...limits } = values;
  try {
    readOptions(limits);
  } catch (error) {
    say(`--${error.message}`);
    process.exit(Exit.FAILED);
  }
  process.once('beforeExit', journalsClosed);
  if (positionals.length === 0 && process.stdin.isTTY && process.stdout.isTTY && !json) {
    const { prompt } = require('./prompt.cjs');
    callProgram('bulkhead eval', 'bulkhead eval');
    return prompt({ create: () => create(limits), shown, errorText });
  }
  return runFile(positionals[0], { ...limits, json });
}

main().catch((error) => {
  say(error.message);
  process.exitCode = Exit.FAILED;
});
