// Several realms in one heap: what each has of its own, what they share, and what reaches another.
import test from 'node:test';
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Sandbox, live, callSignal, DisposedError, MemoryLimitError, TimeLimitError, HandleLimitError } from '../index.mjs';

const create = (options) => Sandbox.create({ time: '2 s', ...options });

test('a realm has a global object and built-ins of its own, in the same process', async () => {
  await using a = await create({ expose: { mine: 'a' } });
  await using b = await a.realm({ expose: { mine: 'b' } });
  assert.equal(a.pid, b.pid);
  assert.ok(b instanceof Sandbox);
  await a.run('globalThis.x = 1; Array.prototype.left = 1; Object.prototype.polluted = 1; Promise.prototype.then = () => 7; Math.max = () => 7');
  assert.deepEqual(await b.run('[typeof x, [].left, ({}).polluted, Math.max(1, 2), mine]'), ['undefined', undefined, undefined, 2, 'b']);
  assert.equal(await b.run('Promise.resolve(3)'), 3);
  assert.equal(await a.run('mine + x'), 'a1');
  assert.equal(a.runSync('Object') === b.runSync('Object'), false);
  assert.equal(b.runSync('globalThis') === a.runSync('globalThis'), false);
});

test('nothing of a realm leads to another: not by prototypes, constructors, symbols or stacks', async () => {
  await using a = await create({ expose: {} });
  await using b = await a.realm();
  await a.run('globalThis.secret = { token: "of a" }; globalThis.f = function named() { return secret.token }; globalThis[Symbol.for("shared")] = secret; 1');
  const found = await b.run(`(() => {
    const seen = new Set(), queue = [globalThis];
    for (let at = 0; at < queue.length && at < 20000; at++) {
      const add = (x) => { if ((typeof x === 'object' || typeof x === 'function') && x !== null && !seen.has(x)) { seen.add(x); queue.push(x); } };
      add(Object.getPrototypeOf(queue[at]));
      for (const key of Reflect.ownKeys(queue[at])) {
        if (key === 'token' || key === 'secret') return 'found ' + String(key);
        const d = Reflect.getOwnPropertyDescriptor(queue[at], key);
        add(d.value); add(d.get); add(d.set);
      }
    }
    return [seen.size > 500, Symbol.for('shared') in globalThis];
  })()`);
  assert.deepEqual(found, [true, false]);
});

test('a realm sees no frame of another that waits below it on the stack', async () => {
  await using a = await create();
  await using b = await a.realm();
  let stack;
  await a.set('other', () => {
    stack = b.runSync(`(() => {
      const sites = [];
      Error.prepareStackTrace = (error, list) => { for (const site of list) sites.push([site.getFunctionName(), site.getFileName(), typeof site.getThis(), typeof site.getFunction()].join()); return 'x'; };
      new Error('e').stack;
      const callers = [];
      function sloppy() { try { for (let f = sloppy.caller, i = 0; f && i < 9; f = f.caller, i++) callers.push(f.name); } catch (e) { callers.push(e.name); } }
      sloppy();
      return JSON.stringify([sites, callers]);
    })()`, { filename: 'b.js' });
    return 1;
  });
  await a.run('function waits() { return other() } waits()', { filename: 'a.js' });
  assert.ok(stack.includes('b.js'), stack);
  assert.ok(!stack.includes('a.js') && !stack.includes('waits'), stack);
});

test('what the host hands on reaches another realm as a stand-in, and comes back as itself', async () => {
  await using a = await create();
  await using b = await a.realm();
  const object = a.runSync('globalThis.o = { count: 0, add(n) { return this.count += n } }; o');
  b.setSync('given', live(object));
  assert.equal(b.runSync('given.add(2); given.count'), 2);
  assert.equal(await a.run('o.count'), 2);
  // b's own prototypes, whatever a is.
  assert.equal(b.runSync('given instanceof Object && !(given.add.constructor === (() => {}).constructor.constructor("return this")().nothing)'), true);
  a.setSync('take', (x) => x === object);
  assert.equal(a.runSync('take(o)'), true);
  b.setSync('back', () => object);
  assert.equal(b.runSync('back() === back() && typeof back().add'), 'function');
  // A function of b that a calls through the host runs in b.
  const whose = b.runSync('globalThis.name = "b"; (f) => [name, f()]');
  a.setSync('whose', whose);
  assert.deepEqual([...a.runSync('globalThis.name = "a"; whose(() => name)')], ['b', 'a']);
  assert.throws(() => b.callSync(object.add), TypeError, 'a handle of another realm is none of this one');
});

test('handles are each realm\'s own', async () => {
  await using a = await create({ handles: 100 });
  await using b = await a.realm({ handles: 100 });
  const held = a.runSync('Array.from({ length: 60 }, () => () => 1)');
  const kept = Array.from({ length: 60 }, (_, i) => held[i]);
  const others = b.runSync('Array.from({ length: 60 }, () => () => 1)');
  const more = Array.from({ length: 60 }, (_, i) => others[i]);
  assert.equal(kept.length + more.length, 120);
  const further = a.runSync('Array.from({ length: 60 }, () => () => 2)');
  assert.throws(() => Array.from({ length: 60 }, (_, i) => further[i]), HandleLimitError);
  assert.equal(b.runSync('1 + 1'), 2);
});

test('microtasks of one realm do not run in the turns of another, nor after their call was ended', async () => {
  await using a = await create({ time: '50 ms', expose: {} });
  await using b = await a.realm({ expose: {} });
  await a.set('other', () => { try { return b.runSync('globalThis.ran = 0; Promise.resolve().then(() => { ran++ }); for (;;) {}', { time: '10 ms' }); } catch (error) { return error.code; } });
  assert.equal(await a.run('globalThis.mine = 0; const p = Promise.resolve().then(() => { mine++ }); other()'), 'ERR_SANDBOX_TIME');
  assert.equal(await a.run('mine'), 1);
  assert.equal(await b.run('ran'), 0, 'an ended call goes on');
  await assert.rejects(a.run('Promise.resolve().then(function f() { Promise.resolve().then(f) }); 1'), TimeLimitError);
  assert.equal(await b.run('2'), 2);
});

test('one heap, one limit: memory of all realms together', async () => {
  await using a = await create({ memory: '24 MiB' });
  await using b = await a.realm();
  const fill = 'globalThis.kept = Array.from({ length: 10 }, () => new Array(1e5).fill(1.5)); kept.length';
  assert.equal(await a.run(fill), 10);
  const stats = [await a.stats(), await b.stats()];
  assert.ok(Math.abs(stats[0].heap - stats[1].heap) < 4e6, JSON.stringify(stats));
  await assert.rejects(b.run('const more = []; for (;;) more.push(new Array(1e5).fill(1.5))'), MemoryLimitError);
  assert.equal(await a.run('kept.length'), 10);
  await assert.rejects(a.realm({ memory: '64 MiB' }), /realm: limits are one for all/);
});

test('processor time of all calls is that of all realms', async () => {
  await using a = await create({ time: '60 ms', cpu: '150 ms' });
  await using b = await a.realm();
  const outcomes = [];
  for (let i = 0; i < 4; i++) for (const realm of [a, b]) outcomes.push(await realm.run('for (;;) {}').catch((error) => error.limit));
  assert.ok(outcomes.includes('cpu'), outcomes.join());
  await assert.rejects(b.run('1'), { limit: 'cpu' });
});

test('modules, eval and globals are each realm\'s own', async () => {
  await using a = await create({ modules: { 'x.js': 'export default "a"; globalThis.loaded = 1' } });
  await using b = await a.realm({ modules: { 'x.js': 'export default "b"' }, eval: false, globals: ['JSON'], frozen: true });
  assert.equal((await a.import('x.js')).default, 'a');
  assert.equal((await b.import('x.js')).default, 'b');
  assert.equal(await b.run('import("x.js").then((m) => m.default)'), 'b');
  assert.equal(await b.run('typeof loaded + typeof Map'), 'undefinedundefined');
  await assert.rejects(b.run('(() => {}).constructor("return 1")()'), { name: 'EvalError' });
  assert.equal(await a.run('eval("1 + 1")'), 2);
  assert.equal(await a.run('Object.isFrozen(Object.prototype)'), false);
  await using c = await a.realm();
  await assert.rejects(c.run('import("x.js")'), /has no modules/);
});

test('a realm that is disposed is gone, and the others go on', async () => {
  await using a = await create();
  for (let i = 0; i < 20; i++) {
    const b = await a.realm({ expose: { i, signal: () => callSignal() === undefined } });
    const f = await b.run('(x) => x + i');
    assert.equal(await f(1), 1 + i);
    await b.dispose();
    await assert.rejects(f(1), DisposedError);
    await assert.rejects(b.run('1'), DisposedError);
  }
  const before = (await a.stats()).heap;
  for (let i = 0; i < 30; i++) await (await a.realm()).dispose();
  assert.ok((await a.stats()).heap < before + 20e6, 'realms are collected');
  assert.equal(await a.run('6 * 7'), 42);
});

test('a realm that is not made, or not yet, takes no worker along', async () => {
  const [first, second, third] = await Promise.all([1, 2, 3].map(() => Sandbox.create({ tenant: 'realms that are not made', memory: '8 MiB', time: '5 s' })));
  assert.equal(new Set([first.pid, second.pid, third.pid]).size, 1);
  let waiting;
  await second.set('end', () => {
    waiting = assert.rejects(first.realm(), DisposedError);
    first.disposeSync();
  });
  await second.run('end()');
  await waiting;
  assert.equal(await second.run('5'), 5);
  // Its heap is full but for less than a realm needs, sooner or later.
  second.runSync('globalThis.kept = Array.from({ length: 30 }, (_, i) => new Array(12_000).fill(i)).length');
  const realms = [];
  await assert.rejects(async () => { for (;;) realms.push(await second.realm()); }, MemoryLimitError);
  assert.ok(realms.length < 40, 'none is made of what the heap has for its end');
  assert.equal(await third.run('6'), 6);
  await (await third.realm()).dispose();
  assert.equal(third.lost, undefined);
  await Promise.all([second.dispose(), third.dispose()]);
});

test('who is ended for memory again and again holds no more for it, and in the end runs no more; others of its tenant do', async () => {
  const [greedy, other] = await Promise.all([1, 2].map(() => Sandbox.create({ tenant: 'one that is greedy', memory: '8 MiB', time: '5 s' })));
  const held = [];
  for (let i = 0; i < 12; i++) {
    await assert.rejects(greedy.run('globalThis.held ||= []; for (;;) held.push(new Array(1000).fill(1.5))'), (error) => error instanceof MemoryLimitError && !error.killed);
    held.push(await greedy.stats().then(({ heap }) => heap, (error) => error));
  }
  assert.ok(held.at(-1) instanceof MemoryLimitError, String(held));
  for (const heap of held) assert.ok(!(heap > 8 << 20), String(held));
  await assert.rejects(greedy.run('1'), MemoryLimitError);
  await assert.rejects(greedy.realm(), MemoryLimitError);
  assert.equal(await other.run('6'), 6);
  await greedy.dispose();
  assert.equal(await other.run('7'), 7);
  await other.dispose();
});

test('finalizers that a disposed realm leaves behind reach nothing', async () => {
  const told = [];
  await using a = await create({ expose: {} });
  const b = await a.realm({ expose: { tell: (x) => told.push(x) } });
  await b.run('globalThis.r = new FinalizationRegistry((x) => { tell(x); Promise.resolve().then(() => tell(x)) }); for (let i = 0; i < 1e4; i++) r.register({}, i); 1');
  await b.dispose();
  for (let i = 0; i < 10; i++) {
    assert.equal(await a.run('Array.from({ length: 2e5 }, () => ({})).length'), 2e5);
    await sleep(15);
  }
  assert.deepEqual(told, []);
});

test('a finalizer that calls the host spoils no answer', async () => {
  await using a = await create({ expose: { tell: () => 1 } });
  await a.run('globalThis.r = new FinalizationRegistry((x) => { for (let i = 0; i < 3; i++) try { tell("x".repeat(1000), {}, [1, 2, 3]) } catch (e) { globalThis.said = e.message } }); 1');
  for (let i = 0; i < 12; i++) {
    assert.deepEqual(await a.run('for (let i = 0; i < 1e4; i++) r.register({}, i); [Array.from({ length: 2e5 }, () => ({})).length, "a", { b: 1 }]'), [2e5, 'a', { b: 1 }]);
    await sleep(12);
  }
  assert.equal(await a.run('said'), 'a finalizer cannot call what is outside');
  assert.equal(a.lost, undefined);
});

test('realms end with the sandbox whose heap they are in, and a realm of a realm is the sandbox\'s', async () => {
  const a = await create({ tenant: 'realms' });
  await using sibling = await create({ tenant: 'realms' });
  const b = await a.realm();
  const c = await b.realm({ expose: { x: 5 } });
  assert.equal(await c.run('x'), 5);
  await b.dispose();
  assert.equal(await c.run('x + 1'), 6);
  let told = 0;
  c.on('disposed', () => { told++; });
  await a.dispose();
  assert.ok(b.disposed && c.disposed);
  assert.equal(told, 1);
  await assert.rejects(c.run('1'), DisposedError);
  assert.equal(await sibling.run('1'), 1);
  await assert.rejects(a.realm(), DisposedError);
});

test('without waiting', () => {
  using a = Sandbox.createSync({ time: '2 s' });
  using b = a.realmSync({ expose: { n: 20 } });
  assert.equal(b.runSync('n + 1') + a.runSync('typeof n').length, 30);
  // In the middle of a call of the first.
  let made;
  a.setSync('make', () => { made = a.realmSync({ expose: { n: 1 } }); return made.runSync('n + 1'); });
  assert.equal(a.runSync('make() + 1'), 3);
  assert.equal(made.runSync('n'), 1);
  a.setSync('end', () => { made.disposeSync(); return 1; });
  assert.equal(a.runSync('end()'), 1);
  assert.equal(a.runSync('2'), 2);
});
