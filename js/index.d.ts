// bulkhead: JavaScript that somebody else wrote, in a process of its own, with limits that hold.
//
// How values cross, in one paragraph. Primitives, plain data (arrays and plain objects that hold
// nothing but data all the way down), Date, RegExp, Map, Set, Error, buffers and typed arrays are
// copied: the other side gets real ones. Promises become promises. Functions, and objects that have
// methods or are of a class, stay where they are; the other side gets a stand-in, and
// whoever hands a stand-in back hands back the original. What the language itself has is the guest's own
// inside, and a stand-in for the guest's own when the guest hands it over: `constructor` of a guest's
// object is one (undefined for a list). A host's function that a guest calls with `this` undefined or
// null has an empty frozen object as `this`.
//
// Two faces of one sandbox. The asynchronous one (`run`, `call`) never makes the event loop wait: a
// guest's function becomes a function that returns a promise, and a guest's object that has methods
// becomes a frozen copy of its data with such functions on it. The synchronous one (`runSync`,
// `callSync`, `global`) gives live stand-ins: each read, write and call crosses at once and waits for
// the answer, no longer than the limits say.

// Needs no types of Node's: a program that has them, or the web's, finds its own AbortSignal here.

/// <reference lib="esnext.disposable" />

/** The program's own AbortSignal; where it has no types of one, what the sandbox uses of it. */
export type Signal = typeof globalThis extends { AbortSignal: { prototype: infer S } } ? S : {
  readonly aborted: boolean;
  readonly reason: any;
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
};

/** An EventEmitter of Node's, with the events of `Events`. */
export interface Emitter<Events extends Record<keyof Events, unknown[]>> {
  on<K extends keyof Events>(name: K, listener: (...args: Events[K]) => void): this;
  once<K extends keyof Events>(name: K, listener: (...args: Events[K]) => void): this;
  off<K extends keyof Events>(name: K, listener: (...args: Events[K]) => void): this;
  addListener<K extends keyof Events>(name: K, listener: (...args: Events[K]) => void): this;
  removeListener<K extends keyof Events>(name: K, listener: (...args: Events[K]) => void): this;
  prependListener<K extends keyof Events>(name: K, listener: (...args: Events[K]) => void): this;
  prependOnceListener<K extends keyof Events>(name: K, listener: (...args: Events[K]) => void): this;
  removeAllListeners(name?: keyof Events): this;
  emit<K extends keyof Events>(name: K, ...args: Events[K]): boolean;
  listeners(name: keyof Events): Function[];
  rawListeners(name: keyof Events): Function[];
  listenerCount(name: keyof Events): number;
  eventNames(): (string | symbol)[];
  setMaxListeners(count: number): this;
  getMaxListeners(): number;
}

/** Bytes, or a text: '64 MiB', '512 KiB', '1 GiB'. */
export type Size = number | string;
/** Milliseconds, or a text: '100 ms', '2 s'. */
export type Duration = number | string;

export interface Limits {
  /** V8's heap. Default '64 MiB'; at least '8 MiB'. */
  memory?: Size;
  /** All ArrayBuffers together. Default: as `memory`. */
  buffers?: Size;
  /** All WebAssembly memories of a worker together. Default: as `memory`; 0 takes WebAssembly away. */
  wasm?: Size;
  /** CPU time of one call, with the microtasks it leaves behind. Default '1 s'. */
  time?: Duration;
  /** Time of one call by the clock on the wall, from asking on, what a promise of the guest waits for
   *  included. At its end the call is over with all that goes on because of it, answered or not: its
   *  code is ended, promises of the host's that it waits for and timers that it set lead to nothing,
   *  and it is refused further calls of the host. Default: none; ten times `time` and a second for
   *  each stretch of guest code. A call that the host makes later, of a function that it was given, is
   *  a call of its own. */
  wall?: Duration;
  /** CPU time of all calls together. Default: none. */
  cpu?: Duration;
  /** CPU time of what a call goes on with after its first stretch of guest code, be it answered or not: after
   *  promises of the host's, and in timers. A tenth of the time by the clock comes on top, and each stretch counts as
   *  0.1 ms more than it took. At its end the call is over, as by `wall`: promises of the guest's that the host waits
   *  for are rejected, or the event 'error' says so. false: none. Default: ten times `time`. */
  background?: Duration | false;
  /** The native stack of guest code. Default and most '1 MiB'. */
  stack?: Size;
  /** The largest message in either direction: arguments, results, errors; and, of a guest's, what it costs the host to
   *  make, of which a Map or a function is more than its few bytes. Default '16 MiB'. */
  output?: Size;
  /** Objects, functions and promises that one side holds of the other. What it has dropped is collected before there are
   *  too many. Default 65,536. */
  handles?: number;
}

export interface SandboxOptions extends Limits {
  /** What the guest finds as globals. Plain data is copied, the rest is reached by reference. */
  expose?: Record<string, unknown>;
  /** What `import` finds, inside and by `sandbox.import()`: names and what they lead to, or a function
   *  that is asked once for each name. A text is the source of an ES module; an object is a module of the
   *  host's, with its properties as exports (by the rules of `expose`) and itself as the default, unless
   *  it has one. Nothing: that name is refused. A specifier that begins with './' or '../' is of its
   *  importer's folder, every other one is a name. Default: `import` is refused. */
  modules?: Record<string, Module> | Map<string, Module> | ((name: string, importer: string) => Module | undefined | Promise<Module | undefined>);
  /** 'none': only what `expose` names and the language cannot do without; 'ecmascript' (default):
   *  the language; 'web': also console (events 'console'), timers, queueMicrotask, TextEncoder,
   *  TextDecoder, atob, btoa, structuredClone; 'node': also `global`, setImmediate and a Buffer of the
   *  guest's own (the npm package "buffer", to be installed beside this one); or the names of those
   *  wanted, 'Buffer' among them. */
  globals?: 'none' | 'ecmascript' | 'web' | 'node' | readonly string[];
  /** What of the language the guest does not have, by path: 'Intl', 'Array.prototype.sort', 'Math.random'. */
  without?: readonly string[];
  /** eval and Function in the guest. Default true. */
  eval?: boolean;
  /** Freezes the guest's intrinsics before its first line. Default false. */
  frozen?: boolean;
  /** What becomes of an error in the background of which no listener of 'error' hears: 'warn' (default): the first one
   *  of a sandbox is a warning of the process's, on standard error; 'throw': an uncaught exception; 'ignore'. */
  unheard?: 'warn' | 'throw' | 'ignore';
  /** The guest's timers keep the program running. Default false: only while a promise of the guest's is waited for. */
  keepAlive?: boolean;
  /** What the journal calls it. Default: its tenant, or 'sandbox'. */
  name?: string;
  /** Where its decisions are kept: true (default): the user's journal, which `bulkhead log` shows; a
   *  file's path: there; false: nowhere. */
  journal?: boolean | string;
  /** Under which code caches are authenticated (`cache()`): a secret of 16 bytes or more. Default: one of this
   *  process, which no other knows. */
  cacheKey?: string | Uint8Array;
  /** Memory that host and guest both have, in whole pages: the guest's global `shared`, a SharedArrayBuffer, and
   *  `sandbox.shared`, which copies out of it and into it. Such a sandbox has a worker of its own, and its realms do
   *  not have the memory. Up to '512 MiB'. Default: none. */
  shared?: Size;
  /** Sandboxes of the same tenant may share a worker process; others never do. Default: of its own.
   *  Code caches are of a tenant, too. */
  tenant?: string;
  /** 'isolate' (default): V8 alone. 'node' comes later and is refused so far. */
  runtime?: 'isolate';
}

/** A realm has the limits of the sandbox whose heap it is in; of these, what is not given is as there,
 *  but for `expose` and `modules`. */
export type RealmOptions = Pick<SandboxOptions, 'expose' | 'modules' | 'globals' | 'without' | 'eval' | 'frozen' | 'handles' | 'name' | 'unheard'>;

/** The source of an ES module, or what a module of the host's exports. */
export type Module = string | object;

/** Limits of one call: tighter than the sandbox's, never wider. They nest. A call that begins in the middle
 *  of another one and waits for its answer (`runSync` in a function that a guest called), in the same
 *  sandbox or any other, has its own limits within what is left of the outer one's, and what it uses counts
 *  for that as well. Its own limits end it alone: the function of the host gets the error. */
export interface Within {
  time?: Duration;
  wall?: Duration;
  /** Ends the call, as its wall clock would; what waits for it is rejected with the signal's reason. */
  signal?: Signal;
}

export interface RunOptions extends Within {
  /** In stack traces. Default 'sandbox.js'. */
  filename?: string;
  /** What `cache()` gave for this source, in a sandbox of the same tenant; without `tenant` a TypeError. One that was altered, or is of another source, tenant, key or
   *  version of the engine, is refused: the source is compiled, and the journal says so. */
  cache?: Uint8Array;
  /** The number of the first line, less one. */
  lineOffset?: number;
  columnOffset?: number;
}

export interface CallOptions extends Within {
  this?: unknown;
}

/** A guest's value as the asynchronous face gives it: functions return promises, `new` of a class gives one, and what
 *  is gone through (generators, iterators, collections) is gone through by `for await`. Accessors, where a type does not
 *  tell them from data, are promises too. A Proxy is refused. */
export type Remote<T> = T extends (...args: infer A) => infer R
  ? (...args: A) => Promise<Remote<Awaited<R>>>
  : T extends new (...args: infer A) => infer I
    ? new (...args: A) => Promise<Remote<I>>
    : T extends Date | RegExp | Error | ArrayBuffer | ArrayBufferView | Map<any, any> | Set<any> | string
      ? T
      : T extends readonly unknown[]
        ? { readonly [K in keyof T]: Remote<T[K]> }
        : T extends Iterable<infer V> | AsyncIterable<infer V>
          ? AsyncIterable<Remote<Awaited<V>>> & { readonly [K in Extract<keyof T, string>]: Remote<T[K]> }
          : T extends object
            ? { readonly [K in keyof T]: Remote<T[K]> }
            : T;

/** Memory that a guest has as its global `shared`. What is read is a copy, which the guest changes no more; what
 *  does not fit is a RangeError. After the end of the sandbox: DisposedError. */
export interface SharedMemory {
  /** Bytes. */
  readonly size: number;
  read(offset?: number, length?: number): Uint8Array;
  write(bytes: ArrayBufferView, offset?: number): void;
}

export interface Stats {
  /** Bytes of V8's heap in use. */
  heap: number;
  /** Bytes of ArrayBuffers. */
  buffers: number;
  /** CPU milliseconds of the worker process since its start. */
  cpu: number;
  /** Objects of the host that the guest holds, and of the guest that the host holds. */
  exported: number;
  imported: number;
}

export interface SandboxEvents {
  /** The worker ended. `error` says why; every pending call is rejected with it. */
  lost: [error: SandboxError];
  disposed: [];
  /** What goes wrong where nobody waits for it: `from` tells where. 'rejection': a promise of the guest's that nothing
   *  handles, which is also how a microtask and an async function of the host's fail; 'timer'; 'promise': what went on
   *  after a promise of the host's was ended; 'callback': a promise that the host got of the guest and did not look
   *  at. What a guest throws is what it threw, mostly a GuestError. */
  error: [error: unknown, background: { readonly sandbox: string; readonly from: 'rejection' | 'timer' | 'promise' | 'callback' }];
  /** Only with the global console: level ('log', 'error', …) and arguments. */
  console: [level: string, args: unknown[]];
  /** A module was asked for: its name, by whom, and whether it is there. */
  module: [name: string, importer: string, found: boolean];
}

export interface Sandbox extends Emitter<SandboxEvents> {}
export class Sandbox implements AsyncDisposable, Disposable {
  private constructor();
  /** Starts a worker, or takes a warm one. */
  static create(options?: SandboxOptions): Promise<Sandbox>;
  /** The same; the event loop waits some tens of milliseconds where no worker is warm. */
  static createSync(options?: SandboxOptions): Sandbox;

  /** Runs a script and gives its last value; a promise is awaited. */
  run<T = any>(source: string, options?: RunOptions): Promise<Remote<Awaited<T>>>;
  /** What the engine makes of a script, for `run` with the option `cache`: authenticated, for sandboxes of
   *  the same tenant and `cacheKey`. The engine believes what is in one: a worker that was taken over can take
   *  over those that use its caches. So a sandbox without `tenant` makes none and takes none: a TypeError. */
  cache(source: string, options?: Within & { filename?: string }): Promise<Uint8Array>;
  /** The namespace of a module, once it and all that it imports are evaluated. */
  import<T = any>(specifier: string, options?: Within): Promise<Remote<T>>;
  /** Calls a guest's function, from whichever face it came. */
  call<T = any>(target: Function, args?: readonly unknown[], options?: CallOptions): Promise<Remote<Awaited<T>>>;

  /** Runs a script at once. Results are live stand-ins. */
  runSync<T = any>(source: string, options?: RunOptions): T;
  /** The namespace of a module at once, live; neither it nor `modules` may wait for anything. */
  importSync<T = any>(specifier: string, options?: Within): T;
  /** Calls a guest's function at once, from whichever face it came. */
  callSync<T = any>(target: Function, args?: readonly unknown[], options?: CallOptions): T;
  /** The guest's global object, live (synchronous). */
  readonly global: any;
  /** A copy of the plain data that a live stand-in stands for, in one crossing. */
  copySync<T = any>(standIn: T): T;

  /** Another realm in the same heap: a global object, built-ins and handles of its own, with its own
   *  `expose`; nothing of one realm leads to another but what the host hands on. It is a Sandbox like others,
   *  and ends with this one at the latest. Limits are one for all realms; so is the fate of the heap. */
  realm(options?: RealmOptions): Promise<Sandbox>;
  realmSync(options?: RealmOptions): Sandbox;

  /** Adds or replaces a global of the guest, by the rules of `expose`. */
  set(name: string, value: unknown): Promise<void>;
  setSync(name: string, value: unknown): void;

  stats(): Promise<Stats>;

  /** The memory of the option `shared`; undefined without it. */
  readonly shared: SharedMemory | undefined;
  /** The process id of the worker, as the host sees it. */
  readonly pid: number;
  readonly disposed: boolean;
  /** Why the worker ended, if it did. */
  readonly lost: SandboxError | undefined;

  /** Ends the sandbox and everything that either side holds of the other. */
  dispose(): Promise<void>;
  disposeSync(): void;
  [Symbol.asyncDispose](): Promise<void>;
  [Symbol.dispose](): void;
}

/** Live and writable: reached by reference even where it is plain data, and all that it leads to. */
export function live<T extends object>(value: T): T;
/** Live; the guest changes neither it nor what it leads to (methods that it calls may). What is no plain
 *  data is reached like this anyway; this is for data that should not be copied. */
export function readonly<T extends object>(value: T, options?: {
  /** What the guest has read it keeps, and asks no more: for what does not change. Default false. */
  cached?: boolean;
}): T;
/** Live; the guest may set data, of which the object gets a copy: neither functions nor accessors, nor anything
 *  that holds some. */
export function protected_<T extends object>(value: T): T;
/** Copied, wherever it crosses; what cannot be copied is an error. */
export function byValue<T>(value: T): T;
/** Bytes that cross and are gone where they were: the buffer is detached once the message that it is part of is
 *  written; the other side gets one of its own, under its own limits. An ArrayBuffer or a view of all of one, neither
 *  resizable nor shared. For guests: handed over by `expose` or `modules` it is the guest's own. */
export function transfer<T extends ArrayBuffer | ArrayBufferView>(value: T): T;
/** Takes a host object away from every sandbox that holds it: reading it throws there from now on, and so does calling
 *  a method on it and handing it over. */
export function revoke(value: object): void;
/** Is this a stand-in for something of a guest? */
export function isGuest(value: unknown): boolean;

/** In a function of the host that a guest has called, before that first waits: aborted when the guest's
 *  call is over, so that what was begun for it can end too. Elsewhere undefined. */
export function callSignal(): Signal | undefined;

/** For guests: handed over by `expose` or `modules` it is the guest's own. `await limit(20, f, ...args)`
 *  calls f(...args) with 20 ms of processor time for it and all that it leaves to promises, within what
 *  its caller has; `{ value }` is what f gives. A callee that takes longer is ended, whatever it does,
 *  and the caller gets a RangeError with the code 'ERR_SANDBOX_TIME'. */
export function limit<A extends unknown[], R>(milliseconds: number, callee: (...args: A) => R, ...args: A): Promise<{ value: Awaited<R> }>;

/** Keeps this many workers started, each with a sandbox of these limits, so that one is ready in a
 *  millisecond. Default 0. */
export function warm(count: number, options?: SandboxOptions): Promise<void>;
/** Ends every warm worker. */
export function cool(): void;

export type SandboxErrorCode =
  | 'ERR_SANDBOX_TIME'
  | 'ERR_SANDBOX_MEMORY'
  | 'ERR_SANDBOX_STACK'
  | 'ERR_SANDBOX_OUTPUT'
  | 'ERR_SANDBOX_HANDLES'
  | 'ERR_SANDBOX_LOST'
  | 'ERR_SANDBOX_DISPOSED'
  | 'ERR_SANDBOX_COPY'
  | 'ERR_SANDBOX_MODULE'
  | 'ERR_SANDBOX_OPTION';

/** What the sandbox itself says. Never thrown by guest code. */
export class SandboxError extends Error {
  readonly code: SandboxErrorCode;
}
export class TimeLimitError extends SandboxError {
  /** The worker had to be killed; the sandbox is lost. */
  readonly killed: boolean;
  /** Which limit it was. */
  readonly limit: 'time' | 'wall' | 'cpu' | 'background';
}
export class MemoryLimitError extends SandboxError {
  readonly killed: boolean;
}
/** Not thrown, but what a guest's stack overflow is an instance of, besides RangeError. */
export class StackLimitError extends SandboxError {
  static [Symbol.hasInstance](value: unknown): boolean;
}
export class OutputLimitError extends SandboxError {}
export class HandleLimitError extends SandboxError {}
export class LostError extends SandboxError {}
export class DisposedError extends SandboxError {}
/** What every error that guest code threw is an instance of, besides its own class (TypeError, …). */
export class GuestError extends Error {
  static [Symbol.hasInstance](value: unknown): boolean;
}
