// ES modules: what the host names, and nothing else.
import test from 'node:test';
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Sandbox, SandboxError, GuestError, TimeLimitError, MemoryLimitError, OutputLimitError, live } from '../index.mjs';

const table = {
  './plugin.js': `import { twice } from './lib/math.js'; import fs, { read } from 'fs';
    let calls = 0;
    export default function (x) { calls++; return twice(x); }
    export const text = read('a') + fs.read('b'), url = import.meta.url;
    export { calls };
    export const later = (name) => import(name).then((m) => m.twice(4));`,
  'lib/math.js': `import { name } from './deep/name.js'; export const twice = (x) => 2 * x; export { name };`,
  'lib/deep/name.js': 'export const name = import.meta.url;',
  fs: { read: (file) => `<${file}>` },
  data: { list: [1, 2], n: 7, default: 'chosen' },
};

test('a plug-in with what it imports, static and dynamic', async () => {
  await using sandbox = await Sandbox.create({ modules: table });
  const plugin = await sandbox.import('./plugin.js');
  assert.equal(await plugin.default(21), 42);
  assert.equal(plugin.text, '<a><b>');
  assert.equal(plugin.url, 'plugin.js');
  assert.equal(await plugin.later('./lib/math.js'), 8);
  assert.equal(await plugin.later('lib/math.js'), 8);
  assert.equal((await sandbox.import('lib/math.js')).name, 'lib/deep/name.js');
  assert.equal(await sandbox.run('import("./plugin.js").then((m) => m.calls)'), 1, 'the same module');
  assert.deepEqual(await sandbox.run('import("data").then(({ list, n, default: d }) => [list, n, d])'), [[1, 2], 7, 'chosen']);
});

test('at once', () => {
  using sandbox = Sandbox.createSync({ modules: table });
  const plugin = sandbox.importSync('plugin.js');
  assert.equal(plugin.default(4), 8);
  assert.equal(plugin.calls, 1, 'a live binding');
  assert.deepEqual(Object.keys(plugin), ['calls', 'default', 'later', 'text', 'url']);
  using other = Sandbox.createSync({ modules: async () => 'export default 1' });
  assert.throws(() => other.importSync('x'), /gave a promise/);
  using waits = Sandbox.createSync({ modules: { waits: 'await null; export const x = 1', throws: 'throw new TypeError("x")' } });
  assert.throws(() => waits.importSync('waits'), /awaits something/);
  assert.throws(() => waits.importSync('throws'), TypeError);
  assert.throws(() => waits.importSync('nothing'), { code: 'ERR_SANDBOX_MODULE' });
});

test('a function instead of a map', async () => {
  const asked = [];
  await using sandbox = await Sandbox.create({ modules: async (name, importer) => {
    asked.push([name, importer]);
    await sleep(2);
    return { 'a/main.js': 'export { x } from "../b/x.js"; export * as up from "../../c.js"', 'b/x.js': 'export const x = 1', 'c.js': '' }[name] ?? undefined;
  } });
  assert.equal((await sandbox.import('a/main.js')).x, 1);
  assert.deepEqual(asked, [['a/main.js', ''], ['b/x.js', 'a/main.js'], ['c.js', 'a/main.js']]);
  // Each once, by however many.
  await Promise.all([sandbox.import('a/main.js'), sandbox.import('b/x.js'), sandbox.run('import("b/x.js")')]);
  assert.equal(asked.length, 3);
});

test('cycles', async () => {
  await using sandbox = await Sandbox.create({ modules: {
    a: 'import { b } from "b"; export const a = "a"; export const get = () => b();', b: 'import { a } from "a"; export const b = () => a + "b";',
    self: 'import * as me from "self"; export const x = 1; export const same = () => me.x;',
    dead: 'import { x } from "dead2"; export const y = x;', dead2: 'import { y } from "dead"; export const x = y;',
  } });
  assert.equal(await (await sandbox.import('a')).get(), 'ab');
  assert.equal(await (await sandbox.import('self')).same(), 1);
  await assert.rejects(sandbox.import('dead'), (error) => error instanceof ReferenceError && error instanceof GuestError && /dead2?:1:/.test(error.stack));
});

test('top-level await, of promises of the host\'s too', async () => {
  await using sandbox = await Sandbox.create({ expose: { get: async (x) => x + 1 }, modules: {
    a: 'import { b } from "b"; export const a = b + await get(b)', b: 'export const b = await get(1)', fails: 'await get(1); throw new TypeError("late")',
  } });
  assert.equal((await sandbox.import('a')).a, 5);
  await assert.rejects(sandbox.import('fails'), (error) => error instanceof TypeError && /fails:1:/.test(error.stack));
  await assert.rejects(sandbox.import('fails'), /late/, 'and stays so');
});

test('mistakes name their file', async () => {
  await using sandbox = await Sandbox.create({ modules: {
    syntax: 'export const a = 1;\nexport const b = ;', name: '\nimport { nix } from "good"', good: 'export const a = 1', runs: '\n\nnull.x', from: 'import "lost"',
    attributes: 'import x from "good" with { type: "json" }', wrong: 'import "number"', via: 'import "syntax"',
  } });
  const expect = (name, check, where) => assert.rejects(sandbox.import(name), (error) => {
    assert.ok(check(error), `${name}: ${error.stack}`);
    assert.match(error.stack, where, name);
    assert.ok(!error.stack.includes('bulkhead:'), error.stack);
    return true;
  });
  await expect('syntax', (e) => e instanceof SyntaxError && e instanceof GuestError, /at syntax:2:18$/m);
  await expect('via', (e) => e instanceof SyntaxError, /at syntax:2:18$/m);
  await expect('name', (e) => e instanceof SyntaxError && e.message.includes('nix'), /at name:2:10$/m);
  await expect('runs', (e) => e instanceof TypeError && e instanceof GuestError, /at runs:3:6/);
  await expect('from', (e) => e.code === 'ERR_SANDBOX_MODULE', /"lost" is not there \(imported by from\)/);
  await expect('attributes', (e) => e instanceof TypeError, /import attributes/);
  // A script's too.
  await assert.rejects(sandbox.run('let a = 1;\n  let a;', { filename: 'formula.js' }), (error) => /^SyntaxError.*\n +at formula\.js:2:7$/m.test(error.stack));
  for (const found of [1, true, () => 1]) {
    await using other = await Sandbox.create({ modules: () => found });
    await assert.rejects(other.import('number'), /"number": a text or an object/);
  }
});

test('refused by default, and whatever is not named', async () => {
  await using none = await Sandbox.create();
  await assert.rejects(none.run('import("fs")'), /no modules/);
  await assert.rejects(none.run('eval("import(\'node:fs\')")'), /no modules/);
  await assert.rejects(none.run('new Function("return import(\'node:fs\')")()'), /no modules/);
  await assert.rejects(none.import('fs'), (error) => error instanceof SandboxError && error.code === 'ERR_SANDBOX_MODULE');
  await using some = await Sandbox.create({ modules: { a: 'export default 1' } });
  for (const name of ['fs', 'node:fs', 'process', '__proto__', 'constructor', 'toString', '/etc/passwd', './a/../../etc/passwd', 'file:///etc/passwd', '', 'data:text/javascript,export default 1'])
    await assert.rejects(some.run(`import(${JSON.stringify(name)})`), (error) => error.code === 'ERR_SANDBOX_MODULE', name);
  assert.equal(await some.run('import("a").then((m) => m.default)'), 1);
  await assert.rejects(some.run('import({ toString() { throw 7 } })'), (error) => error === 7);
});

test('what a guest asks for are its words alone', async () => {
  const asked = [];
  await using sandbox = await Sandbox.create({ modules: (name, importer) => { asked.push([typeof name, typeof importer]); return undefined; } });
  await assert.rejects(sandbox.run('import("x".repeat(2000))'), /longer than/);
  await sandbox.run('Promise.allSettled([import("a"), import(1), import(null), import(Symbol.iterator).catch(() => 0)])');
  assert.ok(asked.length >= 3);
  for (const types of asked) assert.deepEqual(types, ['string', 'string']);
});

test('limits hold while modules are loaded and evaluated', async () => {
  const create = (modules, options) => Sandbox.create({ time: '80 ms', memory: '32 MiB', modules, ...options });
  {
    await using sandbox = await create({ loop: 'for (;;) {}', loop2: 'for (;;) {}', uses: 'import "loop2"', fine: 'export default 3', late: 'await null; for (;;) {}' });
    for (const name of ['loop', 'uses', 'late']) {
      await assert.rejects(sandbox.import(name), TimeLimitError, name);
      await assert.rejects(sandbox.import(name, { wall: '200 ms' }), /was ended|not done/, `${name}, again`);
      assert.equal((await sandbox.import('fine')).default, 3, name);
    }
    await assert.rejects(sandbox.run('import("loop2")'), /was ended/);
    await assert.rejects(sandbox.run('import("uses")'), /was ended/);
    assert.equal(await sandbox.run('1 + 1'), 2);
  }
  {
    await using sandbox = await create({ eats: 'const a = []; for (;;) a.push(new Array(1000).fill({}))' }, { time: '5 s' });
    await assert.rejects(sandbox.import('eats'), MemoryLimitError);
  }
  {
    await using sandbox = await create({ large: `export default "${'x'.repeat(1e6)}"` }, { output: '64 KiB' });
    await assert.rejects(sandbox.import('large'), OutputLimitError);
    assert.equal(await sandbox.run('2'), 2);
  }
  {
    // A chain without end: each module asks for the next.
    await using sandbox = await create((name) => `import "${Number(name) + 1}"`);
    await assert.rejects(sandbox.import('0', { wall: '20 s' }), /more than 1000 modules/);
    await using slow = await create(async (name) => { await sleep(5); return `import "${Number(name) + 1}"`; });
    await assert.rejects(slow.import('0', { wall: '100 ms' }), TimeLimitError);
    await assert.rejects(slow.run('import("5000")', { wall: '100 ms' }), TimeLimitError);
  }
  {
    let asked = 0;
    await using sandbox = await create(() => { asked++; return undefined; });
    await assert.rejects(sandbox.run('(async () => { for (let i = 0;; i++) await import(`m${i}`).catch(() => 0) })()', { wall: '60 ms' }), TimeLimitError);
    await sleep(20);
    const before = asked;
    await sleep(60);
    assert.equal(asked, before, 'it goes on asking');
  }
});

test('a module that is asked for thousands of times at once is sent once', async () => {
  let asked = 0;
  await using sandbox = await Sandbox.create({ time: '5 s', modules: async () => { asked++; await sleep(5); return `export default 1; /* ${'x'.repeat(1e6)} */`; } });
  const before = process.memoryUsage().rss;
  let most = before;
  const timer = setInterval(() => { most = Math.max(most, process.memoryUsage().rss); }, 2);
  assert.equal(await sandbox.run('Promise.all(Array.from({ length: 500 }, () => import("large"))).then((all) => new Set(all).size)'), 1);
  clearInterval(timer);
  assert.equal(asked, 1);
  assert.ok(most - before < 200e6, `the host grew by ${((most - before) / 1e6).toFixed(0)} MB`);
});

test('what cannot be had is asked for once, however many want it at a time', async () => {
  let asked = 0;
  const modules = async () => { asked++; await sleep(1); throw new Error('none'); };
  await using sandbox = await Sandbox.create({ modules, time: '5 s' });
  const said = await sandbox.run(`Promise.allSettled(Array.from({ length: 3000 }, () => import('none')))
    .then((all) => all.filter(({ reason }) => reason.message === 'none').length)`);
  assert.equal(said, 3000);
  assert.ok(asked < 1000, `asked ${asked} times`);
  const before = asked;
  assert.equal(await sandbox.run("import('none').catch((error) => error.message)"), 'none');
  assert.equal(asked, before + 1, 'and again afterwards');
});

test('a name of the length of a message is refused before it is taken apart', async () => {
  await using sandbox = await Sandbox.create({ modules: {}, time: '5 s' });
  assert.match(await sandbox.run("import('./' + 'a/'.repeat(4e6)).catch((error) => error.message)"), /longer than 1000/);
});

test('what a module gets of the host follows the rules of expose', async () => {
  const state = { n: 1 };
  await using sandbox = await Sandbox.create({ modules: { state: { plain: state, open: live(state), f: () => 1 } } });
  await sandbox.run('import("state").then((m) => { m.plain.n = 5; m.open.n = 6; })');
  assert.equal(state.n, 6);
  assert.equal(await sandbox.run('import("state").then((m) => { try { return m.f.constructor.constructor("return typeof process")() } catch (e) { return e.name } })'), 'undefined');
  await assert.rejects(sandbox.run('import("state").then((m) => { "use strict"; m.f = 2 })'), TypeError);
});

test('who asked for what is told', async () => {
  await using sandbox = await Sandbox.create({ modules: { a: 'import("b").catch(() => 0)' } });
  const told = [];
  sandbox.on('module', (...args) => told.push(args));
  await sandbox.import('a');
  await sandbox.run('1');
  await sleep(10);
  assert.deepEqual(told, [['a', '', true], ['b', 'a', false]]);
});

test('mistakes in the option', async () => {
  for (const [modules, text] of [[7, /modules:/], [null, /modules:/], [{ a: 1 }, /"a" is neither/], [{ '': '' }, /a name/], [new Map([[1, '']]), /a name/]])
    await assert.rejects(Sandbox.create({ modules }), (error) => error.code === 'ERR_SANDBOX_OPTION' && text.test(error.message));
  await using sandbox = await Sandbox.create({ modules: new Map([['x', 'export default 9']]) });
  assert.equal((await sandbox.import('x')).default, 9);
  await assert.rejects(sandbox.import(1), TypeError);
});

test('a guest that asks for modules without waiting has the host asked for a thousand at most', async () => {
  let asked = 0;
  const waiting = [];
  await using sandbox = await Sandbox.create({ time: '5 s', modules: () => { asked++; return new Promise((resolve) => waiting.push(resolve)); } });
  const refused = sandbox.run('globalThis.refused = 0; for (let i = 0; i < 1100; i++) import(`m${i}`).catch(() => { refused++ }); 1');
  assert.equal(await refused, 1);
  assert.equal(asked, 1000);
  for (const resolve of waiting) resolve(undefined);
});
