'use strict';
// The guests' end of the membrane as one text, which each guest's realm runs for itself. A worker gets it
// as its first message (launcher.cjs).
const { readFileSync } = require('node:fs');
const { join } = require('node:path');

const files = ['primordials', 'wire', 'view', 'limit', 'intrinsics', 'transfer', 'standin', 'plain', 'encode', 'decode', 'membrane', 'outline', 'serve', 'globals', 'limited', 'specifier', 'guest'];

let bytes;
function program() {
  if (bytes !== undefined) return bytes;
  const text = `(function (io) { 'use strict';
const modules = { __proto__: null };
const require = (name) => modules[name];
${files.map((name) => `modules['./${name}.cjs'] = (function (module) {${readFileSync(join(__dirname, `${name}.cjs`), 'utf8')}
return module.exports; })({ exports: undefined });`).join('\n')}
return modules['./guest.cjs'](io); })`;
  bytes = Buffer.from(text, 'utf8');
  // V8 reads it where it is, a byte for each character.
  if (bytes.length !== text.length) throw new Error('bulkhead: a file of the guests\' end has characters beyond ASCII');
  return bytes;
}

module.exports = { program };
