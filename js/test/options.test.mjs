// A mistake in a name is refused: a limit that is not in force is worse than an error.
import test, { after } from 'node:test';
import assert from 'node:assert/strict';
import { Sandbox } from '../index.mjs';

const sandbox = await Sandbox.create({ tenant: 'options', modules: { m: 'export default 1' } });
after(() => sandbox.dispose());
const refused = (text) => ({ code: 'ERR_SANDBOX_OPTION', message: text });

test('unknown options of a call', async () => {
  const f = await sandbox.run('() => 1');
  await assert.rejects(sandbox.run('1', { timeout: 5 }), refused(/^run: unknown option "timeout" \(is "time" meant\?\); known are time, wall, signal, filename/));
  await assert.rejects(sandbox.run('1', { filname: 'x' }), refused(/is "filename" meant/));
  await assert.rejects(sandbox.call(f, [], { self: {} }), refused(/^call: unknown option "self"; known are .*this/));
  await assert.rejects(sandbox.import('m', { Wall: 1 }), refused(/^import: unknown option "Wall" \(is "wall" meant\?\)/));
  await assert.rejects(sandbox.cache('1', { lineOffset: 1 }), refused(/^cache: unknown option "lineOffset"/));
  await assert.rejects(sandbox.run('1', 'x.js'), refused(/^run: its options are an object/));
  assert.throws(() => sandbox.runSync('1', { tim: 1 }), refused(/is "time" meant/));
  assert.throws(() => sandbox.callSync(f, [], { self: {} }), refused(/^call/));
  assert.throws(() => sandbox.importSync('m', { x: 1 }), refused(/^import/));
  assert.equal(await sandbox.run('1', { time: '1 s', wall: '5 s', filename: 'x.js', lineOffset: 1, columnOffset: 1 }), 1);
});

test('unknown names', async () => {
  await assert.rejects(Sandbox.create({ memry: 1 }), refused(/unknown option "memry" \(is "memory" meant\?\)/));
  await assert.rejects(Sandbox.create({ globals: 'wbe' }), refused(/is "web" meant/));
  await assert.rejects(Sandbox.create({ globals: ['consol'] }), refused(/^globals: nothing is called "consol" \(is "console" meant\?\)/));
  await assert.rejects(Sandbox.create({ globals: ['log'] }), refused(/^globals: nothing is called "log"; what is yours is handed over by expose/));
  await assert.rejects(sandbox.realm({ nam: 'x' }), refused(/^realm: unknown option "nam" \(is "name" meant\?\)/));
  await assert.rejects(sandbox.realm({ memory: 1 }), refused(/^realm: limits are one for all realms/));
  const given = await Sandbox.create({ globals: ['console', 'Math', 'undefined', 'globalThis', 'setImmediate'] });
  assert.deepEqual(await given.run('[typeof console, typeof Math, typeof Array, typeof setImmediate]'), ['object', 'object', 'undefined', 'function']);
  await given.dispose();
});
