// Calls in the middle of calls: each has its own limits, within those of who waits for it.
import test from 'node:test';
import assert from 'node:assert/strict';
import { Sandbox, TimeLimitError } from '../index.mjs';

// Some tens of milliseconds of processor time, however loaded the machine is.
const work = 'for (let i = 0, x = 0; i < 6e7; i++) x = (x + i) | 0;';
const pairs = {
  'the same sandbox': async (options) => {
    const outer = await Sandbox.create(options);
    return { outer, inner: outer };
  },
  'a realm of it': async (options) => {
    const outer = await Sandbox.create(options);
    return { outer, inner: await outer.realm() };
  },
  'another one of its worker': async (options) => ({
    outer: await Sandbox.create({ ...options, tenant: 'nested' }), inner: await Sandbox.create({ ...options, tenant: 'nested' }),
  }),
  'one of another worker': async (options) => ({ outer: await Sandbox.create(options), inner: await Sandbox.create(options) }),
};

for (const [name, make] of Object.entries(pairs)) {
  test(`an inner call's own limit ends it alone: ${name}`, async () => {
    const { outer, inner } = await make({ time: '5 s' });
    const limits = { time: '30 ms' };
    const seen = [];
    await outer.set('ask', (source) => {
      const begin = performance.now();
      try {
        return inner.runSync(source, limits);
      } catch (error) {
        seen.push(performance.now() - begin);
        return [error.constructor.name, error.limit, error.killed].join();
      }
    });
    for (const source of ['for (;;) {}', 'try { for (;;) {} } catch {} finally { for (;;) {} }', 'for (;;) try { for (;;) {} } catch {}'])
      assert.deepEqual(await outer.run(`{ const answer = ask(${JSON.stringify(source)}); [answer, 1 + 1] }`), ['TimeLimitError,time,false', 2], source);
    assert.equal(await outer.run('ask("6 * 7")'), 42);
    assert.equal(await outer.run('var n = 0; for (let i = 0; i < 5; i++) if (ask("for (;;) {}") !== 0) n++; n'), 5);
    assert.ok(seen.every((time) => time > 25 && time < 2000), seen.join());
    // Deeper: the innermost ends, and those around it go on.
    await inner.set('deeper', () => { try { return inner.runSync('for (;;) {}', { time: '20 ms' }); } catch (error) { return error.limit; } });
    assert.equal(await outer.run('ask("deeper() + 1")'), 'time1');
    assert.equal(outer.lost ?? inner.lost, undefined);
    await outer.dispose();
    await inner.dispose();
  });

  test(`an outer call's time is that of the inner ones too: ${name}`, async () => {
    const { outer, inner } = await make({ time: '5 s' });
    let asked = 0;
    await outer.set('ask', () => { asked++; return inner.runSync(`${work} 1`, { time: '2 s' }); });
    const begin = performance.now();
    await assert.rejects(outer.run('for (;;) ask()', { time: '150 ms' }), TimeLimitError);
    await assert.rejects(outer.run('for (;;) try { ask() } catch {}', { time: '150 ms' }), TimeLimitError);
    assert.throws(() => outer.runSync('for (;;) try { ask() } catch {}', { time: '150 ms' }), TimeLimitError);
    assert.ok(performance.now() - begin < 20000, `${performance.now() - begin}`);
    assert.ok(asked >= 3 && asked < 40, `${asked} inner calls`);
    // An inner call that would take longer than the outer one has left ends with it, whatever it was granted.
    await outer.set('ask', () => { try { return inner.runSync('for (;;) {}', { time: '60 s' }); } catch (error) { return error.code; } });
    const again = performance.now();
    await assert.rejects(outer.run('ask(); for (;;) {}', { time: '100 ms' }), TimeLimitError);
    assert.ok(performance.now() - again < 1500, `${performance.now() - again}`);
    assert.equal(await outer.run('1 + 1'), 2);
    assert.equal(await inner.run('1 + 1'), 2);
    await outer.dispose();
    await inner.dispose();
  });

  test(`the clock of an outer call is the inner ones' too: ${name}`, async () => {
    const { outer, inner } = await make({ time: '20 s' });
    await outer.set('ask', (wall) => { try { return inner.runSync('for (;;) {}', { wall }); } catch (error) { return error.limit; } });
    const begin = performance.now();
    assert.equal(await outer.run('ask(40)'), 'wall');
    assert.ok(performance.now() - begin < 1500);
    const again = performance.now();
    await assert.rejects(outer.run('ask(60000)', { wall: '80 ms' }), TimeLimitError);
    assert.ok(performance.now() - again < 1500);
    assert.equal(await outer.run('1 + 1'), 2);
    await outer.dispose();
    await inner.dispose();
  });
}

test('what another worker has in flight is waited for no longer than the outer call has left', async () => {
  await using outer = await Sandbox.create({ time: '5 s' });
  await using inner = await Sandbox.create({ time: '3 s' });
  await outer.set('ask', () => inner.runSync('1 + 1'));
  for (const [limits, limit] of [[{ time: '100 ms' }, 'time'], [{ wall: '100 ms' }, 'wall']]) {
    const flight = inner.run('for (;;) {}').catch((error) => error);
    const begin = performance.now();
    await assert.rejects(outer.run('ask()', limits), { code: 'ERR_SANDBOX_TIME' }, limit);
    await assert.rejects(outer.run('for (;;) try { ask() } catch {}', limits), { code: 'ERR_SANDBOX_TIME', limit }, limit);
    assert.ok(performance.now() - begin < 1500, `${limit}: ${performance.now() - begin}`);
    // Its own call goes on.
    assert.equal((await flight).limit, 'time');
    assert.ok(performance.now() - begin > 1500);
  }
  // One that ends in time is waited for, and what it asks of the host is answered.
  await inner.set('host', (x) => x * 2);
  const flight = inner.run('let n = 0; for (let i = 0; i < 50; i++) n += host(i); n');
  assert.equal(await outer.run('ask()'), 2);
  assert.equal(await flight, 2450);
  assert.equal(outer.lost ?? inner.lost, undefined);
});

test('another sandbox of the worker has its own limits in the middle of a turn, by a stand-in too', async () => {
  await using outer = await Sandbox.create({ time: '4 s', tenant: 'nested' });
  await using inner = await Sandbox.create({ time: '50 ms', tenant: 'nested' });
  assert.equal(outer.pid, inner.pid);
  const loop = inner.runSync('() => { for (;;) {} }');
  const { global } = inner;
  inner.runSync('Object.defineProperty(globalThis, "endless", { get() { for (;;) {} } })');
  await outer.set('ask', () => { try { return loop(); } catch (error) { return [error.constructor.name, error.limit].join(); } });
  await outer.set('look', () => { try { return global.endless; } catch (error) { return [error.constructor.name, error.limit].join(); } });
  const begin = performance.now();
  assert.equal(await outer.run('[ask(), look(), 1 + 1].join(" ")'), 'TimeLimitError,time TimeLimitError,time 2');
  assert.ok(performance.now() - begin < 2000, `${performance.now() - begin}`);
});

test('all the processor time of a sandbox is what is called by stand-ins, too', async () => {
  await using sandbox = await Sandbox.create({ time: '2 s', cpu: '150 ms' });
  const busy = sandbox.runSync('() => { for (let i = 0, x = 0; i < 2e6; i++) x = (x + i) | 0; }');
  const outcomes = [];
  for (let i = 0; i < 1000 && outcomes.at(-1) !== 'cpu'; i++) {
    try {
      busy();
      outcomes.push('done');
    } catch (error) {
      outcomes.push(error.limit);
    }
  }
  assert.ok(outcomes.includes('done') && outcomes.at(-1) === 'cpu', outcomes.join());
  assert.throws(() => sandbox.global, { limit: 'cpu' });
});

test('all the processor time of a sandbox is what others is what others used for it, too', async () => {
  await using outer = await Sandbox.create({ time: '2 s', cpu: '150 ms' });
  await using inner = await Sandbox.create({ time: '2 s' });
  await outer.set('ask', () => inner.runSync(`${work} 1`));
  const outcomes = [];
  for (let i = 0; i < 12; i++) outcomes.push(await outer.run('ask()').catch((error) => error.limit ?? error.code));
  assert.ok(outcomes.includes('cpu'), outcomes.join());
});

test('calls without limits of their own, deep in one another', async () => {
  await using sandbox = await Sandbox.create({ time: '1 s' });
  await sandbox.set('down', (n) => (n === 0 ? 'bottom' : sandbox.runSync(`down(${n - 1})`, n % 2 === 0 ? { time: '900 ms' } : {})));
  assert.equal(await sandbox.run('down(20)'), 'bottom');
  await sandbox.set('down', (n) => (n === 0 ? sandbox.runSync('for (;;) {}', { time: '20 ms' }) : sandbox.runSync(`down(${n - 1})`, { time: `${500 - n} ms` })));
  await assert.rejects(sandbox.run('down(20)'), { code: 'ERR_SANDBOX_TIME' });
  assert.equal(await sandbox.run('1'), 1);
});
