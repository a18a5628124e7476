// Every function of fs and fs.promises, by callback, promise and synchronously: success and error. A list of
// what was called is checked against what this Node has, so that a new function is missed loudly.
import fs from "node:fs";
import { once } from "node:events";
import path from "node:path";
import { pipeline } from "node:stream/promises";

const here = process.cwd();
const seen = new Set();
const clean = (text) => String(text).replaceAll(here, "W").replace(/temp-\w{6}/g, "temp-XXXXXX");

function tell(value) {
  if (value === undefined) return "undefined";
  if (Buffer.isBuffer(value)) return `Buffer ${value.length} ${value.subarray(0, 20).toString("latin1")}`;
  if (value instanceof fs.Stats) return `Stats ${value.isFile()} ${value.isDirectory()} ${(value.mode & 0o7777).toString(8)} ${value.isDirectory() ? "" : value.size} ${value.nlink}`;
  if (value instanceof fs.Dirent) return `Dirent ${value.name} ${value.isFile()} ${value.isDirectory()} ${value.isSymbolicLink()}`;
  if (value instanceof fs.Dir) {
    value.closeSync();
    return "Dir " + clean(value.path);
  }
  if (Array.isArray(value)) return `[${value.map(tell).sort().join(", ")}]`;
  if (typeof value === "object" && value !== null) return value.constructor?.name ?? "object";
  return clean(typeof value === "bigint" ? value.toString() : value);
}
const oops = (error) => `${error.name} ${error.code} ${error.errno ?? ""} ${error.syscall ?? ""} ${clean(error.path ?? "")} ${clean(error.dest ?? "")}`;

async function show(name, act) {
  let line;
  try {
    line = tell(await act());
  } catch (error) {
    line = oops(error);
  }
  console.log(`${name}: ${line}`);
}

// The three forms of one function, each on arguments of its own (`@` is replaced by s, c or p).
async function all(name, ...given) {
  const form = (letter) => given.map((g) => (typeof g === "string" ? g.replaceAll("@", letter) : g));
  seen.add(name).add(name + "Sync");
  const label = `${name} ${given.map((g) => (typeof g === "string" ? g : typeof g)).join(" ")}`;
  if (fs[name + "Sync"]) await show(label + " (sync)", () => fs[name + "Sync"](...form("s")));
  if (fs[name]) await show(label + " (callback)", () => new Promise((ok, no) => fs[name](...form("c"), (error, ...rest) => (error ? no(error) : ok(rest[0])))));
  if (fs.promises[name]) await show(label + " (promise)", () => fs.promises[name](...form("p")));
}

const F = "tree/plain.txt", D = "tree/a", NO = "tree/absent", L = "tree/soft.txt";
const c = fs.constants;

for (const [target, mode] of [[F, c.R_OK], [F, c.X_OK], [D, c.W_OK], [NO, c.F_OK], ["tree/readonly", c.R_OK], [L, c.F_OK], ["tree/dangling", c.F_OK], ["tree/loop-a", c.F_OK]]) await all("access", target, mode);
for (const target of [F, D, NO, L, "tree/dangling", "tree/loop-a", "tree/plain.txt/x", "", "\0"]) {
  await all("stat", target);
  await all("lstat", target);
  await all("readFile", target, "utf8");
  await all("realpath", target);
  await all("readlink", target);
  await all("readdir", target);
}
seen.add("exists").add("existsSync");
for (const target of [F, D, NO, "tree/dangling"]) {
  await show("exists " + target, () => fs.existsSync(target));
  await show("exists " + target + " (callback)", () => new Promise((ok) => fs.exists(target, ok)));
}
await all("readdir", "tree", { withFileTypes: true });
await all("readdir", D, { recursive: true });
await all("readdir", "tree/many", "buffer");
await all("statfs", ".");
await all("statfs", NO);
await show("statfs.bsize", () => fs.statfsSync(".").bsize > 0);
await show("realpath.native", () => fs.realpathSync.native("tree/to-folder/c"));
await show("realpath.native callback", () => new Promise((ok, no) => fs.realpath.native(L, (e, r) => (e ? no(e) : ok(r)))));
await show("stat bigint", () => fs.statSync(F, { bigint: true }).mtimeNs);
await show("stat quietly", () => fs.statSync(NO, { throwIfNoEntry: false }));

await all("writeFile", "w-@", "written");
await all("writeFile", "w-@", "more", { flag: "a" });
await all("writeFile", "w-@", "x", { flag: "wx" });
await all("writeFile", "mode-@", "x", { mode: 0o640 });
await all("writeFile", D, "x");
await all("writeFile", NO + "/x", "x");
await all("writeFile", "flush-@", "x", { flush: true });
await all("appendFile", "w-@", " appended");
await all("appendFile", "tree/a/none/x", "x");
await all("copyFile", F, "copy-@");
await all("copyFile", F, "copy-@", c.COPYFILE_EXCL);
await all("copyFile", F, "clone-@", c.COPYFILE_FICLONE);
await all("copyFile", F, "force-@", c.COPYFILE_FICLONE_FORCE);
await all("copyFile", D, "copy-@");
await all("copyFile", NO, "copy-@");
await all("truncate", "copy-@", 3);
await all("truncate", D, 3);
await all("chmod", "copy-@", 0o600);
await all("chmod", NO, 0o600);
await all("chown", "copy-@", process.getuid(), process.getgid());
await all("chown", NO, 0, 0);
await all("lchown", "copy-@", process.getuid(), process.getgid());
await all("lchmod", "copy-@", 0o600);
await all("utimes", "copy-@", 1000000000, 1000000001.5);
await all("utimes", NO, 1, 2);
await all("lutimes", L, 1000000002, 1000000003);
await all("lutimes", NO, 1, 2);
await all("link", F, "link-@");
await all("link", F, "link-@");
await all("link", D, "linked-@");
await all("link", NO, "linked-@");
await all("symlink", F, "symlink-@");
await all("symlink", F, "symlink-@");
await all("symlink", "x", NO + "/x");
await all("readlink", "symlink-@");
await all("mkdir", "dir-@");
await all("mkdir", "dir-@");
await all("mkdir", "deep-@/er/est", { recursive: true });
await all("mkdir", "tree/plain.txt/x", { recursive: true });
await all("mkdir", "moded-@", { mode: 0o711 });
await all("mkdtemp", "temp-");
await all("mkdtemp", NO + "/temp-");
for (const name of fs.readdirSync(".")) if (name.startsWith("temp-")) fs.rmdirSync(name);
await all("rename", "link-@", "renamed-@");
await all("rename", "link-@", "renamed-@");
await all("rename", "dir-@", F);
await all("rename", "tree", "tree/a/tree");
await all("rename", "dir-@", "moded-@");
await all("rmdir", "deep-@");
await all("rmdir", F);
await all("rmdir", "moded-@");
await all("unlink", "renamed-@");
await all("unlink", "renamed-@");
await all("unlink", D);
await all("rm", "deep-@", { recursive: true });
await all("rm", "deep-@");
await all("rm", "deep-@", { force: true });
await all("rm", D);
await all("cp", "tree", "cp-@", { recursive: true, filter: (from) => !/pipe|loop|dangling|closed/.test(from) });
await all("cp", F, "cp-file-@", { preserveTimestamps: true });
await all("cp", D, "cp-x-@");
await all("cp", F, "cp-file-@", { errorOnExist: true, force: false });
await all("cp", "tree/to-folder", "cp-link-@", { recursive: true, verbatimSymlinks: true });
await all("opendir", D);
await all("opendir", F);
const PATTERN = "tree/**/*.txt";
await show("glob (sync)", () => fs.globSync(PATTERN).sort().join());
await show("glob (callback)", () => new Promise((ok, no) => fs.glob(PATTERN, (error, found) => (error ? no(error) : ok(found.sort().join())))));
await show("glob (promise)", async () => (await Array.fromAsync(fs.promises.glob(PATTERN))).sort().join());
seen.add("glob").add("globSync");
const disposable = async (made) => {
  const { path, remove } = await made;
  const before = fs.statSync(path).mode;
  await remove();
  return [path.replace(/.{6}$/, "XXXXXX"), before, fs.existsSync(path)].join();
};
await show("mkdtempDisposable (sync)", () => disposable(fs.mkdtempDisposableSync("disposable-")));
await show("mkdtempDisposable (promise)", () => disposable(fs.promises.mkdtempDisposable("disposable-")));
await show("mkdtempDisposable absent", () => fs.mkdtempDisposableSync(NO + "/x"));
seen.add("mkdtempDisposable").add("mkdtempDisposableSync");
await show("opendir iteration", async () => {
  const names = [];
  for await (const entry of await fs.promises.opendir("tree/many", { bufferSize: 4 })) names.push(entry.name);
  return names.sort().join();
});
await show("opendir read", () => {
  const folder = fs.opendirSync(D);
  const names = [];
  for (let entry; (entry = folder.readSync()); ) names.push(entry.name);
  folder.closeSync();
  return names.sort().join();
});
await show("openAsBlob", async () => (await fs.openAsBlob(F)).text());
await show("openAsBlob absent", () => fs.openAsBlob(NO));
seen.add("openAsBlob");

// Descriptors: every way to open, then what can be done with one.
for (const flag of ["r", "r+", "rs+", "w", "wx", "w+", "wx+", "a", "ax", "a+", "as"]) for (const target of ["fd-" + flag, F, D, NO + "/x", "tree/readonly", L]) {
  if (target === F && /w/.test(flag)) continue;
  if (target === L && /w|a/.test(flag)) continue;
  await show(`open ${flag} ${target}`, () => fs.closeSync(fs.openSync(target, flag, 0o664)));
}
for (const flags of [c.O_RDONLY | c.O_DIRECTORY, c.O_RDONLY | c.O_NOFOLLOW, c.O_RDWR | c.O_SYNC, c.O_WRONLY | c.O_DSYNC, c.O_RDONLY | c.O_NONBLOCK, c.O_RDONLY | c.O_NOATIME, c.O_RDONLY | c.O_DIRECT]) for (const target of [F, D, L]) await show(`open ${flags} ${target}`, () => fs.closeSync(fs.openSync(target, flags)));
["open", "openSync", "close", "closeSync"].forEach((name) => seen.add(name));
const fd = fs.openSync("fd", "w+");
const descriptor = async (name, ...rest) => {
  seen.add(name).add(name + "Sync");
  await show(`${name} (sync)`, () => fs[name + "Sync"](fd, ...rest));
  await show(`${name} (callback)`, () => new Promise((ok, no) => fs[name](fd, ...rest, (error, value) => (error ? no(error) : ok(value)))));
  await show(`${name} (bad descriptor)`, () => fs[name + "Sync"](999, ...rest));
};
await descriptor("write", "text", 0);
await descriptor("write", Buffer.from("buffer"), 0, 6, 4);
await descriptor("writev", [Buffer.from("a"), Buffer.from("bc")], 10);
await descriptor("read", Buffer.alloc(10), 0, 10, 0);
await descriptor("readv", [Buffer.alloc(3), Buffer.alloc(3)], 0);
await descriptor("fstat");
await descriptor("fchmod", 0o622);
await descriptor("fchown", process.getuid(), process.getgid());
await descriptor("futimes", 1000000010, 1000000011);
await descriptor("ftruncate", 5);
await descriptor("fsync");
await descriptor("fdatasync");
fs.futimesSync(fd, 1000000010, 1000000011);
fs.closeSync(fd);

const handle = await fs.promises.open("handle", "w+", 0o640);
const uses = {
  appendFile: ["x"], write: ["written"], writev: [[Buffer.from("v")]], writeFile: ["file"], read: [Buffer.alloc(4), 0, 4, 0], readv: [[Buffer.alloc(2)], 0],
  readFile: ["utf8"], stat: [], chmod: [0o604], chown: [process.getuid(), process.getgid()], utimes: [1000000020, 1000000021], datasync: [], sync: [], truncate: [2],
};
for (const [name, given] of Object.entries(uses)) await show("handle." + name, () => handle[name](...given));
await show("handle.writable", async () => pipeline(["some", "text"], (await fs.promises.open("handle-2", "w")).createWriteStream()));
await show("handle.lines", async () => {
  const lines = [];
  for await (const line of (await fs.promises.open("tree/many/file-005.txt")).readLines()) lines.push(line);
  return lines.join();
});
await show("handle.web", async () => {
  const h = await fs.promises.open(F);
  let text = "";
  for await (const part of h.readableWebStream()) text += Buffer.from(part).toString();
  await h.close();
  return text;
});
await handle.close().catch(() => {});
await show("closed handle", () => handle.stat());

seen.add("createReadStream").add("createWriteStream");
const streamed = async (...given) => {
  let text = "";
  for await (const part of fs.createReadStream(...given)) text += part;
  return text.length > 100 ? text.length : text;
};
await show("read stream", () => streamed(F, "utf8"));
await show("read stream, range", () => streamed(F, { start: 2, end: 4, encoding: "utf8" }));
await show("read stream, large", () => streamed("tree/big.bin", { encoding: "latin1", highWaterMark: 1000 }));
await show("read stream, absent", () => streamed(NO));
await show("read stream, folder", () => streamed(D));
await show("write stream", () => pipeline(["a", "b"], fs.createWriteStream("streamed")));
await show("write stream, append", () => pipeline(["c"], fs.createWriteStream("streamed", { flags: "a", mode: 0o600 })));
await show("write stream, absent", () => pipeline(["c"], fs.createWriteStream(NO + "/x")));
await show("pipe", () => pipeline(fs.createReadStream("tree/big.bin"), fs.createWriteStream("piped")));

["watch", "watchFile", "unwatchFile"].forEach((name) => seen.add(name));
await show("watch", async () => {
  const watcher = fs.watch(".", { persistent: true });
  const change = once(watcher, "change");
  fs.writeFileSync("watched", "x");
  const [, name] = await change;
  watcher.close();
  return name;
});
await show("watch file", async () => {
  const watcher = fs.watch(F);
  const change = once(watcher, "change");
  fs.appendFileSync(F, "more");
  const [event, name] = await change;
  watcher.close();
  return event + name;
});
await show("watch recursive", async () => {
  const watcher = fs.watch("tree/a", { recursive: true });
  const change = once(watcher, "change");
  await new Promise((ok) => setTimeout(ok, 50));
  fs.writeFileSync("tree/a/b/c/deep.txt", "deeper");
  const [, name] = await change;
  watcher.close();
  return name.split("/").pop();
});
await show("watch absent", () => fs.watch(NO));
await show("promises.watch", async () => {
  const abort = new AbortController();
  const events = fs.promises.watch("tree/many", { signal: abort.signal })[Symbol.asyncIterator]();
  const next = events.next();
  fs.writeFileSync("tree/many/fresh", "x");
  const { value } = await next;
  abort.abort();
  return value.filename;
});
await show("watchFile", async () => {
  // Appends until it is seen: a look may come late, and to a file that is written anew between its two steps.
  const writing = setInterval(() => fs.appendFileSync("watched", "x"), 60);
  const grown = await new Promise((ok) => fs.watchFile("watched", { interval: 20 }, (now, before) => ok(now.size > before.size)));
  clearInterval(writing);
  fs.unwatchFile("watched");
  fs.writeFileSync("watched", "longer");
  return grown;
});

await show("umask", () => {
  const old = process.umask(0o077);
  fs.writeFileSync("umasked", "x", { mode: 0o666 });
  process.umask(old);
  return (fs.statSync("umasked").mode & 0o777).toString(8);
});
await show("chdir", () => {
  process.chdir("tree/to-folder");
  const now = path.relative(here, process.cwd()) + fs.readdirSync(".").join();
  process.chdir(here);
  return now;
});
await show("many at once", async () => (await Promise.all(Array.from({ length: 200 }, (_, i) => fs.promises.readFile(`tree/many/file-${String(i % 40).padStart(3, "0")}.txt`)))).length);
await show("many descriptors", () => {
  const all_ = Array.from({ length: 300 }, () => fs.openSync(F));
  all_.forEach((n) => fs.closeSync(n));
  return all_.length;
});
await show("/proc/self", () => path.basename(fs.readlinkSync("/proc/self/cwd")) + fs.readFileSync("/proc/self/comm", "utf8"));
await show("/dev", () => fs.readFileSync("/dev/null").length + fs.statSync("/dev/zero").isCharacterDevice());

const known = new Set(["fdatasyncSync", "fsyncSync", "futimesSync", "fchmodSync", "fchownSync", "fstatSync", "ftruncateSync", "readSync", "readvSync", "writeSync", "writevSync"]);
for (const name of Object.keys(fs).sort())
  if (typeof fs[name] === "function" && !/^[A-Z_]/.test(name) && !seen.has(name) && !known.has(name)) console.log("never called:", name);
for (const name of Object.keys(fs.promises).sort())
  if (typeof fs.promises[name] === "function" && !seen.has(name) && !fs[name]) console.log("never called: promises", name);
