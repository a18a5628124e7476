// docs/recipes.md: every recipe runs, and prints what stands behind its last line.
import test from 'node:test';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';

const run = promisify(execFile);
const text = readFileSync(new URL('../../docs/recipes.md', import.meta.url), 'utf8');
const index = new URL('../index.mjs', import.meta.url).href;
const recipes = [...text.matchAll(/^## (.+)$[\s\S]*?^```js$([\s\S]*?)^```$/gm)].map(([, name, code]) => [name, code]);
const folder = mkdtempSync(join(tmpdir(), 'bulkhead-recipes-'));
test.after(() => rmSync(folder, { recursive: true }));

assert.equal(recipes.length, 13);
for (const [name, code] of recipes) {
  test(name, async () => {
    const file = join(folder, `${name.replace(/\W+/g, '-')}.mjs`);
    writeFileSync(file, code.replace("'bulkhead'", JSON.stringify(index))
      .replace(".resolve('typescript')", `.resolve(${JSON.stringify(createRequire(import.meta.url).resolve('typescript'))})`));
    const expected = /console\.log\(.*\); \/\/ (.+)$/m.exec(code)[1];
    const { stdout } = await run(process.execPath, [file], { timeout: 60000 });
    assert.equal(stdout.trim(), expected);
  });
}
