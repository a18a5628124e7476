// The package that `make npm` packs, installed in an empty folder: no compiler, no bulkhead, no tree.
import test, { after, before } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const tree = fileURLToPath(new URL('../..', import.meta.url));
const program = process.env.BULKHEAD ?? join(tree, 'build/dev/bin/bulkhead');
const addons = process.env.BULKHEAD_ADDONS ?? join(tree, 'build/dev/js');
const npm = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'npm')).find(existsSync);
// Other hosts than this one, where somebody has them.
const hosts = [process.execPath, ...(process.env.BULKHEAD_TEST_HOSTS ?? '').split(delimiter).filter(Boolean)];
const anybody = process.getuid() === 0 ? { uid: 1000, gid: 1000 } : {};

let folder;
const own = (path) => { if (process.getuid() === 0) execFileSync('chown', ['-R', '1000:1000', path]); };
const environment = () => ({ PATH: join(folder, 'bin'), HOME: join(folder, 'home') });
const run = (host, source, extra = {}) => {
  const result = spawnSync(host, ['--input-type=module', '-e', source], { cwd: join(folder, 'app'), encoding: 'utf8', timeout: 60000, env: { ...environment(), ...extra }, ...anybody });
  return { ...result, said: result.stdout + result.stderr };
};
const one = `import { Sandbox } from 'bulkhead';
  const sandbox = await Sandbox.create({ expose: { host: (x) => x + 1 } });
  console.log(await sandbox.run('[1, 2, 3].map((x) => host(x)).join()'), sandbox.pid > 0);
  await sandbox.dispose();`;

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'bulkhead-package-'));
  chmodSync(folder, 0o755);
  // As `make npm` has them in its build folder.
  for (const [name, from] of [['bin/bulkhead', program], ['js/host.node', join(addons, 'host.node')], ['js/worker.node', join(addons, 'worker.node')]]) {
    mkdirSync(dirname(join(folder, 'build', name)), { recursive: true });
    symlinkSync(from, join(folder, 'build', name));
  }
  execFileSync('python3', ['-B', join(tree, 'scripts/npm'), '--build', join(folder, 'build'), '--to', folder]);
  // All that is on the path: what npm itself runs by.
  for (const name of ['bin', 'home', 'app']) mkdirSync(join(folder, name));
  symlinkSync(process.execPath, join(folder, 'bin/node'));
  symlinkSync('/bin/sh', join(folder, 'bin/sh'));
  own(join(folder, 'home'));
  writeFileSync(join(folder, 'app/package.json'), '{ "name": "app", "private": true }');
  own(join(folder, 'app'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

test('is installed by npm as anybody, offline, without a compiler', { skip: npm === undefined && 'needs npm' }, () => {
  const packed = readdirSync(folder).find((name) => name.endsWith('.tgz'));
  const done = spawnSync(process.execPath, [npm, 'install', '--offline', '--omit=optional', '--no-audit', '--no-fund', join(folder, packed)],
    { cwd: join(folder, 'app'), encoding: 'utf8', timeout: 120000, env: environment(), ...anybody });
  assert.equal(done.status, 0, done.stdout + done.stderr);
  assert.ok(existsSync(join(folder, 'app/node_modules/bulkhead/prebuilt/bin/bulkhead')));
});

// Where there is no npm, as it would have unpacked it.
before(() => {
  if (npm !== undefined) return;
  const to = join(folder, 'app/node_modules/bulkhead');
  mkdirSync(to, { recursive: true });
  execFileSync('tar', ['-xzf', join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz'))), '-C', to, '--strip-components=1']);
  own(join(folder, 'app'));
});

test('no link of its documents is dead', () => {
  const place = join(folder, 'app/node_modules/bulkhead');
  const names = readdirSync(place).filter((name) => name.endsWith('.md'));
  assert.deepEqual(names.sort(), ['README.md', 'recipes.md']);
  let links = 0;
  for (const name of names) {
    const text = readFileSync(join(place, name), 'utf8');
    const headings = (file) => [...readFileSync(join(place, file), 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, words]) => words.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-'));
    for (const [link, target] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (link.includes('://')) continue;
      links++;
      const [file, heading] = target.split('#');
      assert.ok(existsSync(join(place, file)), `${name}: ${target}`);
      if (heading !== undefined) assert.ok(headings(file || name).includes(heading), `${name}: ${target}`);
    }
  }
  assert.ok(links >= 5);
});

for (const host of hosts)
  test(`runs in ${host === process.execPath ? 'this Node' : host}`, () => {
    const { said, status } = run(host, one, host === process.execPath ? {} : { BULKHEAD_NODE: process.execPath });
    assert.equal(said.trim(), '2,3,4 true');
    assert.equal(status, 0);
  });

test('of a folder whose name has spaces and colons', () => {
  const odd = join(folder, 'app/a b:c');
  mkdirSync(odd);
  cpSync(join(folder, 'app/node_modules'), join(odd, 'node_modules'), { recursive: true });
  own(odd);
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', one], { cwd: odd, encoding: 'utf8', timeout: 60000, env: environment(), ...anybody });
  assert.equal(stdout.trim() + stderr, '2,3,4 true');
});

test('says what is to be done where a part is of another version or not there', () => {
  const fake = join(folder, 'fake');
  writeFileSync(fake, '#!/bin/sh\n[ "$1" = --version ] && echo bulkhead 9.9.9 && exit 0\nexit 125\n', { mode: 0o755 });
  const { version } = JSON.parse(readFileSync(join(tree, 'js/package.json'), 'utf8'));
  assert.match(run(process.execPath, one, { BULKHEAD: fake }).said, new RegExp(`fake is version 9\\.9\\.9, and this package is ${version.replaceAll('.', '\\.')}: install the same of both`));
  const sync = one.replace('await Sandbox.create', 'Sandbox.createSync');
  assert.match(run(process.execPath, sync, { BULKHEAD: fake }).said, /fake is version 9\.9\.9/);
  // Nor does the program start a worker for a package of another version.
  const refused = spawnSync(program, ['isolate', '--for', '9.9.9', '--', '/bin/true'], { stdio: ['ignore', 'pipe', 'pipe', 'pipe'], encoding: 'utf8' });
  assert.match(refused.stderr, /the Node package is 9\.9\.9: install the same of both/);
  assert.notEqual(refused.status, 0);

  writeFileSync(fake, '#!/bin/sh\necho fake: error while loading shared libraries >&2\nexit 127\n', { mode: 0o755 });
  assert.match(run(process.execPath, one, { BULKHEAD: fake }).said, /fake cannot be run: fake: error while loading/);

  const prebuilt = join(folder, 'app/node_modules/bulkhead/prebuilt');
  renameSync(prebuilt, `${prebuilt}.away`);
  try {
    assert.match(run(process.execPath, one).said, /no bulkhead program.*`make npm`.*`make install`.*BULKHEAD names/s);
  } finally {
    renameSync(`${prebuilt}.away`, prebuilt);
  }
});

test('a worker\'s Node of another kind is named', () => {
  const old = join(folder, 'old');
  writeFileSync(old, '#!/bin/sh\nif [ "$1" = --version ]; then echo v22.0.0; exit 0; fi\nexit 1\n', { mode: 0o755 });
  assert.match(run(process.execPath, one, { BULKHEAD_NODE: old }).said, /old is v22\.0\.0, and workers are made of Node\.js 24/);
});

test('native parts of nobody\'s beside the package are not loaded', () => {
  const modules = join(folder, 'app/elsewhere/node_modules');
  cpSync(join(folder, 'app/node_modules'), modules, { recursive: true });
  rmSync(join(modules, 'bulkhead/prebuilt'), { recursive: true });
  // Where builds and installations are, seen from a package that is neither.
  for (const place of [join(modules, 'build/release'), join(modules, 'build/dev')]) {
    mkdirSync(join(place, 'bin'), { recursive: true });
    mkdirSync(join(place, 'js'));
    symlinkSync(program, join(place, 'bin/bulkhead'));
    for (const name of ['host.node', 'worker.node']) symlinkSync(join(addons, name), join(place, 'js', name));
  }
  const above = join(folder, 'app');
  mkdirSync(join(above, 'bin'), { recursive: true });
  mkdirSync(join(above, 'lib/bulkhead'), { recursive: true });
  symlinkSync(program, join(above, 'bin/bulkhead'));
  for (const name of ['host.node', 'worker.node']) symlinkSync(join(addons, name), join(above, 'lib/bulkhead', name));
  own(join(folder, 'app'));
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', one], { cwd: join(folder, 'app/elsewhere'), encoding: 'utf8', timeout: 60000, env: environment(), ...anybody });
  assert.match(stdout + stderr, /no bulkhead program.*Looked for [^,]*elsewhere\/node_modules\/bulkhead\/prebuilt\/bin\/bulkhead$/m);
});

test('says which Node it needs where that is an older one', () => {
  const older = `Object.defineProperty(process, 'version', { value: 'v20.20.2' }); await import('bulkhead')`;
  const { status, said } = run(process.execPath, older);
  assert.notEqual(status, 0);
  assert.match(said, /bulkhead needs Node 22 or newer; this is v20\.20\.2/);
});
