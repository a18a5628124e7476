'use strict';
// What the worker's Node runs: it puts the guest's end of the membrane together, as one text that each
// guest's realm runs for itself, and hands the process over to the addon.
const { readFileSync } = require('node:fs');
const { join } = require('node:path');

const files = ['primordials', 'wire', 'view', 'limit', 'intrinsics', 'standin', 'encode', 'decode', 'membrane', 'serve', 'globals', 'limited', 'specifier', 'guest'];
const source = `(function (io) { 'use strict';
const modules = { __proto__: null };
const require = (name) => modules[name];
${files.map((name) => `modules['./${name}.cjs'] = (function (module) {${readFileSync(join(__dirname, `${name}.cjs`), 'utf8')}
return module.exports; })({ exports: undefined });`).join('\n')}
return modules['./guest.cjs'](io); })`;

// Not by require(), which would look for package files all around.
const addon = { exports: {} };
process.dlopen(addon, process.argv[2]);
addon.exports.serve(0, source);
