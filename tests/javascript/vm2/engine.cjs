'use strict';
// vm2's class VM over our Sandbox, as far as vm2's own tests and its NodeVM need it. No drop-in: what a
// host hands over is handed over as carelessly as vm2 does it, live and by reference.

const { EventEmitter } = require('node:events');
const { readFileSync } = require('node:fs');
const path = require('node:path');

const lib = path.join(__dirname, '..', '..', '..', 'js', 'lib');
const { Sandbox, endpoints } = require(path.join(lib, 'sandbox.cjs'));
const { TimeLimitError } = require(path.join(lib, 'errors.cjs'));
const { View } = require(path.join(lib, 'view.cjs'));

const prelude = readFileSync(path.join(__dirname, 'prelude.js'), 'utf8');
const made = new Set();

// The folder's own classes: its errors, its scripts, its compilers.
module.exports = ({ VMError, VMScript, lookupCompiler }) => {
  class VM extends EventEmitter {
    constructor(options = {}) {
      super();
      const { timeout, sandbox, compiler = 'javascript', compilerOptions, bufferAllocLimit = Infinity } = options;
      if (typeof bufferAllocLimit !== 'number' || bufferAllocLimit < 0 || Number.isNaN(bufferAllocLimit))
        throw new VMError('bufferAllocLimit must be a non-negative number.');
      if (sandbox && typeof sandbox !== 'object') throw new VMError('Sandbox must be object.');
      const resolved = lookupCompiler(compiler, compilerOptions);
      const box = Sandbox.createSync({ memory: '128 MiB', time: timeout || 5000, eval: options.eval !== false, ...(options.wasm === false ? { wasm: 0 } : {}) });
      const marks = new WeakMap();
      const endpoint = endpoints.get(box);
      endpoint.copying = false;
      endpoint.view = View.LIVE;
      const unwrap = endpoint.policy.unwrap;
      endpoint.policy.unwrap = (value) => {
        const mark = marks.get(value);
        return mark === undefined ? unwrap(value) : { value, view: mark, copying: false, strict: false };
      };
      box.runSync(prelude)(bufferAllocLimit);
      Object.defineProperties(this, {
        timeout: { value: timeout, writable: true, enumerable: true },
        compiler: { value: compiler, enumerable: true },
        sandbox: { value: box.global, enumerable: true },
        _box: { value: box },
        _marks: { value: marks },
        _compiler: { value: resolved },
      });
      made.add(box);
      if (sandbox) this.setGlobals(sandbox);
    }
    setGlobals(values) {
      for (const name of Object.keys(values)) this.setGlobal(name, values[name]);
      return this;
    }
    setGlobal(name, value) {
      this.sandbox[name] = value;
      return this;
    }
    getGlobal(name) {
      return this.sandbox[name];
    }
    readonly(value) {
      return this.#mark(value, View.READONLY);
    }
    freeze(value, name) {
      return this.#mark(value, View.READONLY, name);
    }
    protect(value, name) {
      return this.#mark(value, View.PROTECTED, name);
    }
    #mark(value, view, name) {
      if (Object(value) === value) this._marks.set(value, view);
      if (name) this.sandbox[name] = value;
      return value;
    }
    _addProtoMapping() {}
    _addProtoMappingFactory() {}
    _makeReadonly(value) {
      return this.readonly(value);
    }
    // script: what stands for a vm.Script (suite.cjs).
    _runScript({ code, filename, lineOffset, columnOffset }) {
      try {
        return this._box.runSync(code, { filename, lineOffset, columnOffset });
      } catch (error) {
        if (!(error instanceof TimeLimitError)) throw error;
        throw Object.assign(new Error(`Script execution timed out after ${this.timeout}ms`), { code: 'ERR_SCRIPT_EXECUTION_TIMEOUT' });
      }
    }
    run(code, options) {
      if (code instanceof VMScript) return this._runScript(code._compileVM());
      const filename = (typeof options === 'object' ? options.filename : options) || 'vm.js';
      return this._runScript({ code: this._compiler(code, filename), filename });
    }
    runFile(filename) {
      const file = path.resolve(filename);
      return this.run(readFileSync(file, 'utf8'), file);
    }
  }
  return { VM };
};

module.exports.made = made;
