'use strict';
// Buffer for guests: the npm package `buffer`, as one text that a guest's realm runs for itself
// (guest.cjs). Who wants it installs it; nothing of it runs in the host.

const fs = require('node:fs');
const { createRequire } = require('node:module');
const { SandboxError } = require('./errors.cjs');

const wantsBuffer = (globals) => globals === 'node' || (Array.isArray(globals) && globals.includes('Buffer'));

let text;
function bufferProgram() {
  if (text !== undefined) return text;
  let files;
  try {
    const main = require.resolve('buffer/');
    const beside = createRequire(main);
    // Each after what it asks for.
    files = [['base64-js', beside.resolve('base64-js')], ['ieee754', beside.resolve('ieee754')], ['buffer', main]];
  } catch {
    throw new SandboxError('ERR_SANDBOX_OPTION', 'globals: the Buffer of a guest is the npm package "buffer", which is not installed beside bulkhead: npm install buffer@6');
  }
  const parts = files.map(([name, file]) => `modules['${name}'] = ((module) => { (function (exports) {${fs.readFileSync(file, 'utf8')}
}).call(undefined, module.exports); return module.exports; })({ exports: {} });`);
  // Of the language it keeps what it uses, whatever becomes of the globals.
  return text = `(() => { 'use strict'; const modules = { __proto__: null };
const { Array, ArrayBuffer, BigInt, DataView, Error, JSON, Math, Number, Object, RangeError, SharedArrayBuffer, String, Symbol, TypeError, Uint8Array, isFinite, isNaN, parseInt } = globalThis;
const require = (name) => modules[name];
${parts.join('\n')}
return modules.buffer.Buffer; })()`;
}

module.exports = { wantsBuffer, bufferProgram };
