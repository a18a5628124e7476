// A call ends with all that it began: by its wall clock, by a signal, with its sandbox.
import test from 'node:test';
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Sandbox, callSignal, TimeLimitError, DisposedError } from '../index.mjs';

// A host with functions that tell how often they were called.
function host() {
  const counts = { pause: 0, now: 0 };
  const expose = { pause: () => { counts.pause++; return sleep(1); }, now: () => { counts.now++; return 1; } };
  return { counts, expose };
}
async function assertStill(counts) {
  const before = { ...counts };
  await sleep(150);
  assert.deepEqual(counts, before, 'the guest goes on');
  assert.ok(counts.pause + counts.now > 1);
}

test('what goes on by promises of the host\'s ends with wall', async () => {
  for (const source of [
    '(async () => { for (;;) await pause() })()',
    '(async () => { for (;;) try { await pause() } catch {} finally { await pause() } })()',
    '(async () => { for (;;) await pause() })(); new Promise(() => {})',
    '(async () => { for await (const x of (async function* () { for (;;) yield await pause() })()); })()',
  ]) {
    const { counts, expose } = host();
    await using sandbox = await Sandbox.create({ expose });
    await assert.rejects(sandbox.run(source, { wall: '60 ms' }), TimeLimitError, source);
    await sleep(30);
    await assertStill(counts);
    assert.equal(await sandbox.run('1 + 1'), 2);
  }
});

test('a then of the guest\'s ends with the call that gave it', async () => {
  await using sandbox = await Sandbox.create({ time: '50 ms' });
  // Each asks for the next: without an end of the call the host's engine would go on.
  const forever = 'const next = () => ({ then(resolve) { count = (globalThis.count ?? 0) + 1; resolve(next()); } }); next()';
  await assert.rejects(sandbox.run(`var count = 0; ${forever}`, { wall: '1 s' }), TimeLimitError);
  await sleep(30);
  const before = await sandbox.run('count');
  await sleep(100);
  assert.equal(await sandbox.run('count'), before);
  assert.ok(before > 1);
  await assert.rejects(sandbox.run('({ then() { for (;;); } })'), TimeLimitError);
});

test('a signal that outlives its calls keeps none of them', async () => {
  const { signal } = new AbortController();
  let listeners = 0;
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...args) => { listeners++; return addEventListener.apply(signal, args); };
  signal.removeEventListener = (...args) => { listeners--; return removeEventListener.apply(signal, args); };
  await using sandbox = await Sandbox.create();
  for (let i = 0; i < 20; i++) await sandbox.run('1', { signal });
  await sleep(1);
  assert.equal(listeners, 0);
});

test('a wall clock beyond what timers know', async () => {
  await using sandbox = await Sandbox.create({ expose: { pause: () => new Promise((resolve) => { setTimeout(resolve, 20); }) } });
  assert.equal(await sandbox.run('pause().then(() => 7)', { wall: '100000 min' }), 7);
});

test('what a call leaves behind ends with its wall, though it has answered', async () => {
  const { counts, expose } = host();
  await using sandbox = await Sandbox.create({ expose, globals: 'web' });
  assert.equal(await sandbox.run('(async () => { for (;;) await pause() })(); 7', { wall: '60 ms' }), 7);
  assert.equal(await sandbox.run('setInterval(now, 1); setTimeout(function f() { now(); setTimeout(f, 1) }, 1); 8', { wall: '60 ms' }), 8);
  await sleep(90);
  await assertStill(counts);
});

test('calls of the host in a loop end with wall, before time', async () => {
  const { counts, expose } = host();
  await using sandbox = await Sandbox.create({ time: '5 s', expose });
  const begin = performance.now();
  for (const source of ['for (;;) now()', 'for (;;) try { now() } catch {} finally { now() }', 'for (;;) { try { for (;;) now() } finally { continue } }'])
    await assert.rejects(sandbox.run(source, { wall: '50 ms' }), TimeLimitError, source);
  assert.throws(() => sandbox.runSync('for (;;) try { now() } catch {}', { wall: '50 ms' }), TimeLimitError);
  assert.ok(performance.now() - begin < 3000, `${performance.now() - begin}`);
  await assertStill({ pause: 0, ...counts });
});

test('a call that is over is refused the host, and cannot catch that', async () => {
  const asked = [];
  const slow = () => { for (const end = performance.now() + 80; performance.now() < end;); };
  await using sandbox = await Sandbox.create({ expose: { slow, ask: (x) => asked.push(x) } });
  await assert.rejects(sandbox.run('slow(); try { ask(1) } catch { ask(2) } finally { ask(3) } ask(4)', { wall: '40 ms' }), TimeLimitError);
  assert.throws(() => sandbox.runSync('slow(); try { ask(5) } catch { ask(6) } finally { ask(7) } ask(8)', { wall: '40 ms' }), TimeLimitError);
  assert.deepEqual(asked, []);
  assert.equal(await sandbox.run('ask(9)'), 1);
});

test('no code of a call runs once it is over', async () => {
  await using sandbox = await Sandbox.create({ expose: { later: () => sleep(60) } });
  await assert.rejects(sandbox.run('globalThis.ran = 0; (async () => { try { await later() } finally { ran++ } })()', { wall: '20 ms' }), TimeLimitError);
  await sleep(120);
  assert.equal(await sandbox.run('ran'), 0);
});

test('other calls of the sandbox go on', async () => {
  const { counts, expose } = host();
  await using sandbox = await Sandbox.create({ expose });
  const long = sandbox.run('(async () => { for (let i = 0; i < 60; i++) await pause(); return "done" })()');
  await assert.rejects(sandbox.run('(async () => { for (;;) await pause() })()', { wall: '30 ms' }), TimeLimitError);
  assert.equal(await long, 'done');
  await sleep(20);
  await assertStill(counts);
});

test('one call in the middle of another', async () => {
  await using sandbox = await Sandbox.create();
  await sandbox.set('inner', () => { try { return sandbox.runSync('for (;;) touch()', { wall: '30 ms' }); } catch (error) { return error.code; } });
  await sandbox.set('touch', () => 1);
  assert.equal(await sandbox.run('inner()'), 'ERR_SANDBOX_TIME');
  // The outer one's end is the inner one's.
  await sandbox.set('inner', () => sandbox.runSync('for (;;) touch()', { wall: '10 s' }));
  const begin = performance.now();
  await assert.rejects(sandbox.run('inner()', { wall: '50 ms' }), TimeLimitError);
  assert.ok(performance.now() - begin < 2000);
});

test('promises that nobody will settle are forgotten', async () => {
  await using sandbox = await Sandbox.create({ handles: 64, expose: { later: () => sleep(15) } });
  for (let i = 0; i < 100; i++) {
    await assert.rejects(sandbox.run('later().then(() => 1)', { wall: '5 ms' }), TimeLimitError);
    if (i % 20 !== 0) continue;
    // Collected inside, and told.
    await sleep(30);
    globalThis.gc();
    await sleep(70);
    for (let j = 0; j < 8; j++) await sandbox.run('Array.from({ length: 1e5 }, () => ({})).length');
  }
  assert.equal(await sandbox.run('later().then(() => 5)'), 5);
});

test('a signal ends what runs, what waits and what is queued', async () => {
  const { counts, expose } = host();
  await using sandbox = await Sandbox.create({ time: '20 s', expose });
  for (const source of ['for (;;) {}', 'try { for (;;) {} } finally { for (;;) {} }', 'new Promise(() => {})', '(async () => { for (;;) await pause() })()']) {
    const controller = new AbortController();
    const begin = performance.now();
    setTimeout(() => controller.abort(new Error('enough')), 40);
    await assert.rejects(sandbox.run(source, { signal: controller.signal }), /^Error: enough$/, source);
    assert.ok(performance.now() - begin < 2000, source);
    assert.equal(await sandbox.run('1 + 1'), 2, source);
  }
  await sleep(20);
  await assertStill(counts);
  const loop = new AbortController();
  const running = sandbox.run('for (;;) {}', { signal: loop.signal });
  const queued = sandbox.run('now(); 1', { signal: loop.signal });
  setTimeout(() => loop.abort(), 20);
  await assert.rejects(running, { name: 'AbortError' });
  await assert.rejects(queued, { name: 'AbortError' });
  assert.equal(counts.now, 0);
  await assert.rejects(sandbox.run('1', { signal: AbortSignal.abort() }), { name: 'AbortError' });
  await assert.rejects(sandbox.run('1', { signal: 1 }), /signal: an AbortSignal/);
});

test('functions of the host are told when the call that called them is over', async () => {
  const told = [];
  let listens;
  const listen = () => {
    callSignal().addEventListener('abort', function () { told.push(this.reason?.code ?? this.reason?.name); });
    listens();
    return new Promise(() => {});
  };
  const listening = () => new Promise((resolve) => { listens = resolve; });
  assert.equal(callSignal(), undefined);
  const sandbox = await Sandbox.create({ expose: { listen } });
  let heard = listening();
  await assert.rejects(sandbox.run('listen()', { wall: '500 ms' }), TimeLimitError);
  await heard;
  const controller = new AbortController();
  heard = listening();
  const pending = sandbox.run('listen()', { signal: controller.signal });
  heard.then(() => controller.abort());
  await assert.rejects(pending, { name: 'AbortError' });
  heard = listening();
  const last = sandbox.run('listen()');
  await heard;
  await sandbox.dispose();
  await assert.rejects(last, DisposedError);
  assert.deepEqual(told, ['ERR_SANDBOX_TIME', 20, 'ERR_SANDBOX_DISPOSED']);
  assert.equal(callSignal(), undefined);
});

test('a call that is done leaves no signal with its sandbox, nor with the signal that it was given', async () => {
  const given = [];
  const told = new Set();
  await using sandbox = await Sandbox.create({ expose: { listen: () => { const signal = callSignal(); told.add(signal); given.push(new WeakRef(signal)); } } });
  for (let i = 0; i < 50; i++) await sandbox.run('listen()', { time: '50 ms' });
  assert.equal(told.size, 1, 'calls that end with their sandbox have its signal');
  told.clear();
  given.length = 0;
  const lasting = new AbortController();
  for (let i = 0; i < 50; i++) await sandbox.run('listen()', { signal: lasting.signal });
  told.clear();
  await sleep(5);
  for (let i = 0; i < 5; i++) {
    globalThis.gc();
    await sleep(5);
  }
  const held = given.filter((ref) => ref.deref() !== undefined).length;
  assert.ok(held <= 2, `${held} of 50 signals are held`);
  assert.ok(!lasting.signal.aborted);
});
