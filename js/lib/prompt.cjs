'use strict';
// The prompt of `bulkhead eval`: lines of a person, one sandbox, until Ctrl-D.

const readline = require('node:readline');

const MOST_HISTORY = 1000;
// What V8 says of a text that only lacks its end.
const unfinished = /^(Unexpected end of input|Unterminated template literal|missing \) after argument list|Invalid regular expression: missing \/)$/;
const isUnfinished = (error, source) => {
  if (error?.name !== 'SyntaxError' || !unfinished.test(error.message)) return false;
  const place = /:(\d+):(\d+)$/.exec(error.stack ?? '');
  const lines = source.split('\n');
  return place === null || Number(place[1]) >= lines.length;
};

// Names that complete `path.`, without running a getter: evaluated inside, among guest code.
const namesOf = `((path) => {
  let value = globalThis;
  for (const name of path) {
    let found;
    for (let at = Object(value); at !== null && found === undefined; at = Object.getPrototypeOf(at)) found = Object.getOwnPropertyDescriptor(at, name);
    if (found === undefined || !('value' in found) || found.value === null || found.value === undefined) return [];
    value = found.value;
  }
  const names = new Set();
  for (let at = Object(value); at !== null && names.size < 500; at = Object.getPrototypeOf(at))
    for (const name of Object.getOwnPropertyNames(at)) if (/^[A-Za-z_$][\\w$]*$/.test(name)) names.add(name);
  return [...names].slice(0, 500);
})`;

// Of what the guest said: it goes to the terminal.
const named = (names) => (Array.isArray(names) ? names.filter((name) => typeof name === 'string' && /^[A-Za-z_$][\w$]{0,99}$/.test(name)) : []);

async function prompt({ create, shown, errorText }) {
  let sandbox = await create();
  let running;    // an AbortController while a script runs
  let buffer = '';
  const waiting = [];
  const complete = (line, done) => {
    const typed = /(?:([\w$]+(?:\.[\w$]+)*)\.)?([A-Za-z_$][\w$]*)?$/.exec(line);
    const path = typed[1] === undefined ? [] : typed[1].split('.');
    if (running !== undefined || (typed[1] === undefined && typed[2] === undefined)) return done(null, [[], line]);
    const begun = typed[2] ?? '';
    sandbox.run(`${namesOf}(${JSON.stringify(path)})`, { time: '50 ms', wall: '200 ms' })
      .then((names) => done(null, [named(names).filter((name) => name.startsWith(begun)).sort(), begun]), () => done(null, [[], line]));
  };
  const face = readline.createInterface({ input: process.stdin, output: process.stdout, prompt: '> ', historySize: MOST_HISTORY, removeHistoryDuplicates: true, completer: complete });
  const print = (text) => process.stdout.write(`${text}\n`);
  const ask = () => {
    face.setPrompt(buffer === '' ? '> ' : '... ');
    face.prompt();
  };

  const evaluate = async (source) => {
    const options = { filename: 'prompt', signal: running.signal };
    // A person who types {a: 1} means the object.
    if (/^\s*\{/.test(source) && !/;\s*$/.test(source)) {
      try {
        return await sandbox.run(`(${source.trim()}\n)`, options);
      } catch (error) {
        if (error?.name !== 'SyntaxError') throw error;
      }
    }
    return sandbox.run(source, options);
  };
  const take = async (line) => {
    const source = buffer === '' ? line : `${buffer}\n${line}`;
    buffer = '';
    if (source.trim() === '') return;
    running = new AbortController();
    try {
      const value = await evaluate(source);
      if (value !== undefined) print(shown(typeof value === 'string' ? JSON.stringify(value) : value));
    } catch (error) {
      if (isUnfinished(error, source)) buffer = source;
      else if (running.signal.aborted) print('ended');
      else print(shown(errorText(error)));
    }
    running = undefined;
    if (sandbox.lost === undefined) return;
    print('the sandbox is lost with all that it held; here is a new one');
    sandbox = await create();
  };

  let busy = false;
  face.on('line', async (line) => {
    waiting.push(line);
    if (busy) return;
    busy = true;
    while (waiting.length > 0) await take(waiting.shift());
    busy = false;
    ask();
  });
  face.on('SIGINT', () => {
    if (running !== undefined) return running.abort();
    const empty = buffer === '' && face.line === '';
    buffer = '';
    print(empty ? '\n(Ctrl-D ends the prompt)' : '');
    face.line = '';
    face.cursor = 0;
    ask();
  });
  face.on('close', () => {
    running?.abort();
    sandbox.disposeSync();
    print('');
    process.exit(0);
  });
  print('JavaScript in a sandbox: no files, no network. Ctrl-C ends a script, Ctrl-D the prompt.');
  ask();
}

module.exports = { prompt };
