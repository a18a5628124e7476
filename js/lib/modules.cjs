'use strict';
// The ES modules of a sandbox as the host sees them: where a name leads, and the loading of all that a
// module asks for. Compiling, linking and running happen inside.

const { types } = require('node:util');
const { Op } = require('./wire.cjs');
const { SandboxError } = require('./errors.cjs');
const specifier = require('./specifier.cjs');

const MOST_MODULES = 1000;

const refuse = (text) => {
  throw new SandboxError('ERR_SANDBOX_MODULE', text);
};
// Before it is looked at: a guest's words may be as long as a message.
const moduleName = (name, importer) => {
  if (name.length > specifier.MOST || importer.length > specifier.MOST) refuse(`the name of a module is longer than ${specifier.MOST} characters`);
  return specifier.moduleName(name, importer);
};
const specifiers = (endpoint) => {
  const count = endpoint.link.reader.count(5);
  const list = [];
  for (let i = 0; i < count; i++) list.push(endpoint.decodeText());
  return list;
};
// What the guest is asked while modules are loaded.
class Request {
  constructor(op, write, read) {
    this.op = op;
    this.write = write;
    this.read = read;
  }
}
const compile = (name, source) => new Request(Op.COMPILE, (endpoint) => {
  endpoint.encodeText(name);
  endpoint.encodeText(source);
}, specifiers);
// An object of the host's: each of its own properties is an export, and it is the default, unless it
// names one.
const make = (name, object) => new Request(Op.MODULE, (endpoint) => {
  const names = Object.keys(object);
  const values = names.map((key) => object[key]);
  if (!names.includes('default')) {
    names.push('default');
    values.push(object);
  }
  endpoint.encodeText(name);
  endpoint.link.writer.u32(names.length);
  for (let i = 0; i < names.length; i++) {
    endpoint.encodeText(names[i]);
    endpoint.encode(values[i]);
  }
}, () => []);

class Modules {
  #table;
  #known = new Map();    // by name: the specifiers that it asks for
  #loading = new Map();  // by name: a promise of them, and who asked
  #tell;

  // table: a map of names, or a function of a name and its importer's (options.cjs); tell: is told of
  // each that is asked for.
  constructor(table, tell) {
    this.#table = table;
    this.#tell = tell;
  }

  // Everything that `name` needs. ask(request) asks the guest and waits; ask.isOver() tells whether that
  // is why it failed.
  async load(name, importer, ask, seen = new Set()) {
    if (seen.has(name)) return;
    seen.add(name);
    for (const wanted of await this.#wanted(name, importer, ask)) await this.load(moduleName(wanted, name), name, ask, seen);
  }
  // Once for all who ask at a time, which a guest may do thousands of times. Only who asked for the
  // sake of a call that is over meanwhile has failed for itself alone.
  async #wanted(name, importer, ask) {
    for (let other; (other = this.#loading.get(name)) !== undefined;) {
      try {
        return await other.loading;
      } catch (error) {
        if (!other.ask.isOver()) throw error;
      }
    }
    if (this.#known.has(name)) return this.#known.get(name);
    // Before the host is asked: a guest may name what it likes, and not wait.
    if (this.#known.size + this.#loading.size >= MOST_MODULES) refuse(`more than ${MOST_MODULES} modules in a sandbox`);
    const found = this.#find(name, importer);
    const loading = (async () => this.#learn(name, await ask(this.#request(name, importer, types.isPromise(found) ? await found : found))))();
    this.#loading.set(name, { loading, ask });
    try {
      return await loading;
    } finally {
      this.#loading.delete(name);
    }
  }
  loadSync(name, importer, ask, seen = new Set()) {
    if (seen.has(name)) return;
    seen.add(name);
    if (!this.#known.has(name)) {
      const found = this.#find(name, importer);
      if (types.isPromise(found)) refuse('importSync: the resolver of modules gave a promise');
      this.#learn(name, ask(this.#request(name, importer, found)));
    }
    for (const wanted of this.#known.get(name)) this.loadSync(moduleName(wanted, name), name, ask, seen);
  }
  #learn(name, wanted) {
    if (this.#known.size >= MOST_MODULES) refuse(`more than ${MOST_MODULES} modules in a sandbox`);
    this.#known.set(name, wanted);
    return wanted;
  }
  #find(name, importer) {
    return typeof this.#table === 'function' ? this.#table(name, importer) : this.#table.get(name);
  }
  #request(name, importer, found) {
    const allowed = found !== undefined && found !== null;
    this.#tell(name, importer, allowed);
    if (!allowed) refuse(`module "${name}" is not there${importer === '' ? '' : ` (imported by ${importer})`}`);
    if (typeof found === 'string') return compile(name, found);
    if (typeof found !== 'object') refuse(`module "${name}": a text or an object of what it exports`);
    return make(name, found);
  }
}

module.exports = { Modules, moduleName };
