// The JavaScript sandbox beside vm2 and isolated-vm, in turns: the lowest and the median in nanoseconds,
// and starts in milliseconds. A machine with other work says little by its medians. `npm ci` here first; then: node bench/javascript/compare.mjs [ROUNDS]
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Sandbox, readonly, warm, cool } from '../../js/index.mjs';

const require = createRequire(import.meta.url);
const rounds = Number(process.argv[2] ?? 5);
const setup = `globalThis.o = { x: 1, f(a, b) { return a + b }, s(a) { return a }, n() { return {} }, k: 'x'.repeat(1024),
  arr: Array.from({ length: 10000 }, (_, i) => i), size(a) { return a.length }, big: 'x'.repeat(1e6),
  rows: Array.from({ length: 10000 }, (_, i) => ({ id: i, name: 'name ' + i, price: i * 1.5, tags: ['a', 'b'], ok: i % 2 === 0 })) }; o`;
const rows = Array.from({ length: 10000 }, (_, i) => ({ id: i, name: `name ${i}`, price: i * 1.5, tags: ['a', 'b'], ok: i % 2 === 0 }));
const megabyte = 'x'.repeat(1e6);
const kilobyte = 'x'.repeat(1024);
const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];
const timed = (count, body) => {
  body(count);
  const batches = [];
  for (let i = 0; i < 10; i++) {
    const begin = process.hrtime.bigint();
    body(count);
    batches.push(Number(process.hrtime.bigint() - begin) / count);
  }
  return batches;
};
const repeat = (body) => (count) => { for (let i = 0; i < count; i++) body(i); };

const peers = {
  async bulkhead() {
    const sandbox = await Sandbox.create({ time: '60 s', expose: { host: (x) => x + 1, kept: readonly({ x: 1 }, { cached: true }) } });
    const o = sandbox.runSync(setup);
    const { f, s, n, arr, size, rows: held } = o;
    const parsed = sandbox.runSync('(text) => JSON.parse(text).length');
    const loop = sandbox.runSync('(n) => { let a = 0; for (let i = 0; i < n; i++) a = host(a); return a }');
    const reads = sandbox.runSync('(n) => { let a = 0; for (let i = 0; i < n; i++) a += kept.x; return a }');
    return {
      end: () => sandbox.dispose(),
      tasks: {
        'a cached read': (count) => reads(count),
        get: repeat(() => o.x), call: repeat((i) => f(i, 2)), 'text, 1 KB': repeat(() => o.k.length), 'text there and back': repeat(() => s(kilobyte).length),
        'new object': repeat(() => n()), callback: (count) => loop(count), '10,000 numbers': repeat(() => sandbox.copySync(arr)),
        '10,000 objects in': repeat(() => size(rows)), 'the same as JSON text': repeat(() => parsed(JSON.stringify(rows))), '10,000 objects out': repeat(() => sandbox.copySync(held)),
        '1 MB of text in': repeat(() => size(megabyte)), '1 MB of text out': repeat(() => o.big),
      },
    };
  },
  async vm2() {
    const { VM } = require('vm2');
    const vm = new VM({ sandbox: { host: (x) => x + 1 } });
    const o = vm.run(setup);
    const { f, s, n, arr } = o;
    const loop = vm.run('(n) => { let a = 0; for (let i = 0; i < n; i++) a = host(a); return a }');
    return {
      end() {},
      tasks: {
        get: repeat(() => o.x), call: repeat((i) => f(i, 2)), 'text, 1 KB': repeat(() => o.k.length), 'text there and back': repeat(() => s(kilobyte).length),
        'new object': repeat(() => n()), callback: (count) => loop(count), '10,000 numbers': repeat(() => { const r = []; for (let j = 0; j < 10000; j++) r.push(arr[j]); }),
      },
    };
  },
  async 'isolated-vm'() {
    const ivm = require('isolated-vm');
    const isolate = new ivm.Isolate({ memoryLimit: 128 });
    const context = isolate.createContextSync();
    context.evalSync(setup);
    const at = (of, name) => of.getSync(name, { reference: true });
    const o = at(context.global, 'o');
    const [f, s, n, arr, size, held] = ['f', 's', 'n', 'arr', 'size', 'rows'].map((name) => at(o, name));
    const parsed = context.evalSync('(text) => JSON.parse(text).length', { reference: true });
    context.global.setSync('host', new ivm.Callback((x) => x + 1));
    const loop = context.evalSync('(n) => { let a = 0; for (let i = 0; i < n; i++) a = host(a); return a }', { reference: true });
    return {
      end: () => isolate.dispose(),
      tasks: {
        get: repeat(() => o.getSync('x')), call: repeat((i) => f.applySync(undefined, [i, 2])), 'text, 1 KB': repeat(() => o.getSync('k').length),
        'text there and back': repeat(() => s.applySync(undefined, [kilobyte]).length), 'new object': repeat(() => n.applySync(undefined, [], { result: { reference: true } })),
        callback: (count) => loop.applySync(undefined, [count]), '10,000 numbers': repeat(() => arr.copySync()),
        '10,000 objects in': repeat(() => size.applySync(undefined, [rows], { arguments: { copy: true } })), 'the same as JSON text': repeat(() => parsed.applySync(undefined, [JSON.stringify(rows)])),
        '10,000 objects out': repeat(() => held.copySync()), '1 MB of text in': repeat(() => size.applySync(undefined, [megabyte])), '1 MB of text out': repeat(() => o.getSync('big')),
      },
    };
  },
};

const figures = {};
const note = (task, peer, figure) => { ((figures[task] ??= {})[peer] ??= []).push(...[figure].flat()); };
for (let round = 0; round < rounds; round++) {
  for (const [peer, make] of Object.entries(peers)) {
    const { tasks, end } = await make();
    for (const [task, body] of Object.entries(tasks)) note(`${task}, ns`, peer, timed(/^10,000|JSON|MB/.test(task) ? 2 : 500, body));
    await end();
  }
  const since = (begin) => (performance.now() - begin);
  let begin = performance.now();
  const cold = await Sandbox.create({ tenant: 'bench' });
  await cold.run('1');
  note('cold, to a first result, ms', 'bulkhead', since(begin));
  begin = performance.now();
  const further = await Sandbox.create({ tenant: 'bench' });
  await further.run('1');
  note('a further one of a tenant, ms', 'bulkhead', since(begin));
  const pss = Number(/^Private_Dirty:\s+(\d+)/m.exec(readFileSync(`/proc/${cold.pid}/smaps_rollup`, 'latin1'))[1]) / 1024;
  note('private memory of a worker with two, MB', 'bulkhead', pss);
  await further.dispose();
  await cold.dispose();
  await warm(1);
  begin = performance.now();
  const prepared = await Sandbox.create();
  await prepared.run('1');
  note('prepared, ms', 'bulkhead', since(begin));
  cool();
  await prepared.dispose();
}
const shown = (list, digits) => (list === undefined ? '–' : `${Math.min(...list).toFixed(digits)}; ${median(list).toFixed(digits)}`);
console.log(['lowest; median', ...Object.keys(peers)].join(' | '));
for (const [task, of] of Object.entries(figures))
  console.log([task, ...Object.keys(peers).map((peer) => shown(of[peer], task.endsWith('ns') ? 0 : 2))].join(' | '));
