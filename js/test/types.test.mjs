// index.d.ts: says what is there, and refuses what is a mistake.
import test from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import * as bulkhead from '../index.mjs';

const declarations = fileURLToPath(new URL('../index.d.ts', import.meta.url));
const source = ts.createSourceFile(declarations, readFileSync(declarations, 'utf8'), ts.ScriptTarget.Latest, true);
const named = (name) => source.statements.findLast((each) => each.name?.text === name);
const members = (name) => named(name).members.filter((each) => each.name !== undefined).map((each) => each.name.getText());

test('what it declares is there, and nothing else', () => {
  const values = source.statements.filter((each) => ts.isClassDeclaration(each) || ts.isFunctionDeclaration(each)).map((each) => each.name.text);
  assert.deepEqual(new Set(values), new Set(Object.keys(bulkhead)));
  for (const name of members('Sandbox')) {
    const key = /^\[Symbol\.(\w+)\]$/.exec(name);
    const place = ['create', 'createSync'].includes(name) ? bulkhead.Sandbox : bulkhead.Sandbox.prototype;
    assert.ok((key === null ? name : Symbol[key[1]]) in place, name);
  }
});

test('options and codes of errors are those that are known', async () => {
  const known = async (make) => {
    const { message } = await make.catch((error) => error);
    return new Set(/known are ([\w, ]+)/.exec(message)[1].split(', '));
  };
  assert.deepEqual(new Set([...members('SandboxOptions'), ...members('Limits')]), await known(bulkhead.Sandbox.create({ nothing: 1 })));
  await using sandbox = await bulkhead.Sandbox.create();
  const ofRealms = named('RealmOptions').type.typeArguments[1].types.map((each) => each.literal.text);
  assert.deepEqual(new Set(ofRealms), await known(sandbox.realm({ nothing: 1 })));
  const codes = new Set(named('SandboxErrorCode').type.types.map((each) => each.literal.text));
  const files = ['errors', 'limit', 'link', 'membrane', 'encode', 'modules', 'options', 'policy-host', 'sandbox', 'node-host', 'pool', 'limited'];
  const used = new Set(files.flatMap((name) => readFileSync(new URL(`../lib/${name}.cjs`, import.meta.url), 'utf8').match(/ERR_SANDBOX_[A-Z]+/g) ?? []));
  assert.deepEqual(used, codes);
});

// Of Node's own types what the program uses.
const node = `
interface AbortSignal { readonly aborted: boolean; throwIfAborted(): void }
declare var AbortSignal: { prototype: AbortSignal; new (): AbortSignal };
declare class AbortController { signal: AbortSignal; abort(): void }
declare const console: { log(...args: any[]): void };`;
const uses = `
import { Sandbox, GuestError, LostError, MemoryLimitError, SandboxError, TimeLimitError, byValue, callSignal, isGuest, limit, live, protected_, readonly, revoke, transfer, warm } from 'bulkhead';
interface Item { net: number; tax: number }
export async function use(db: { find(id: number): string }) {
  await using sandbox = await Sandbox.create({ memory: '64 MiB', time: 100, expose: { log: console.log, db: readonly(db), live: live({ n: 1 }), limit, transfer } });
  const price = await sandbox.run<(item: Item) => number>('(item) => item.net * (1 + item.tax)', { time: '10 ms', signal: new AbortController().signal });
  const twelve: number = await price({ net: 10, tax: 0.2 });
  const object = await sandbox.run<{ name: string; greet(to: string): string }>('…');
  const name: string = object.name, greeting: Promise<string> = object.greet('you');
  const now: number = sandbox.runSync<number>('1') + sandbox.callSync<number>(price, [{ net: 1, tax: 0 }]);
  const realm: Sandbox = await sandbox.realm({ globals: ['console'], frozen: true });
  const plugin = await sandbox.import<{ default(text: string): string }>('plugin.js');
  const text: string = await plugin.default('text');
  const { default: Plugin } = await sandbox.import<{ default: new (n: number) => { kind: string; add(n: number): number } }>('class.js');
  const made = await new Plugin(1), kind: string = made.kind, sum: Promise<number> = made.add(1);
  for await (const one of await sandbox.run<Generator<number>>('…')) one.toFixed();
  const cache: Uint8Array = await sandbox.cache('1');
  await sandbox.run('1', { cache });
  sandbox.shared?.write(new Float32Array(4), 16);
  const bytes: Uint8Array | undefined = sandbox.shared?.read(0, 4);
  await sandbox.set('bytes', transfer(new Uint8Array(4)));
  sandbox.on('lost', (error) => { const code: string = error.code; });
  sandbox.on('console', (level, args) => { const first: unknown = args[0]; });
  try {
    await sandbox.call(price, [1], { this: undefined, wall: '1 s' });
  } catch (error) {
    if (error instanceof TimeLimitError) { const killed: boolean = error.killed; const which: 'time' | 'wall' | 'cpu' | 'background' = error.limit; }
    else if (error instanceof MemoryLimitError || error instanceof LostError) error.code === 'ERR_SANDBOX_MEMORY';
    else if (error instanceof GuestError) error.message;
    else if (error instanceof SandboxError) error.code;
  }
  revoke(db);
  await warm(2, { memory: '32 MiB' });
  byValue([1]); protected_({}); isGuest(name); callSignal()?.throwIfAborted(); greeting; twelve; now; realm; text;
}
export async function mistakes(sandbox: Sandbox) {
  // @ts-expect-error: no such option
  await Sandbox.create({ memry: '64 MiB' });
  // @ts-expect-error: no such globals
  await Sandbox.create({ globals: 'all' });
  // @ts-expect-error: limits are of the sandbox
  await sandbox.realm({ memory: '1 GiB' });
  // @ts-expect-error: by create() alone
  new Sandbox();
  // @ts-expect-error: no such event
  sandbox.on('gone', () => {});
  // @ts-expect-error: of bytes alone
  transfer({});
  // @ts-expect-error: of objects alone
  live(1);
  const f = await sandbox.run<(n: number) => number>('(n) => n');
  // @ts-expect-error: a promise, in another process
  const sum: number = f(1) + 1;
  // @ts-expect-error: a text
  await f('1');
  // @ts-expect-error: a duration
  await sandbox.run('1', { time: {} });
  // @ts-expect-error: no such code
  if (new LostError().code === 'ERR_SANDBOX_LOOST') return sum;
  return sum;
}`;

// Without types of Node's or of the web's, for a language that is older than ours.
const bare = `
import { Sandbox, callSignal, type Signal } from 'bulkhead';
export async function use(signal: Signal) {
  const sandbox = await Sandbox.create();
  await sandbox.run('1', { signal, time: 5 });
  sandbox.once('lost', (error) => { const code: string = error.code; });
  const cache: Uint8Array = await sandbox.cache('1');
  const reason: unknown = callSignal()?.reason;
  // @ts-expect-error: no signal
  await sandbox.run('1', { signal: {} });
  await sandbox.dispose();
}`;

function errorsOf(texts, lib) {
  const options = {
    target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler, strict: true, noEmit: true,
    lib, types: [], paths: { bulkhead: [declarations] },
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (name) => texts.has(name) || fileExists(name);
  host.readFile = (name) => texts.get(name) ?? readFile(name);
  host.getSourceFile = (name, language, ...rest) =>
    (texts.has(name) ? ts.createSourceFile(name, texts.get(name), language, true) : getSourceFile(name, language, ...rest));
  const program = ts.createProgram([...texts.keys()], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) =>
    `${file?.fileName}:${file === undefined ? '' : file.getLineAndCharacterOfPosition(start).line + 1}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`);
}

test('a program that is right has no errors, and one that is wrong has them', () => {
  assert.deepEqual(errorsOf(new Map([['/app/node.d.ts', node], ['/app/use.ts', uses]]), ['lib.esnext.d.ts']), []);
});

test('a program without types of Node\'s has no errors', () => {
  assert.deepEqual(errorsOf(new Map([['/app/use.ts', bare]]), ['lib.es2022.d.ts']), []);
});
