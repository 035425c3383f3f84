import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { BIN, ROOT, startService, type Service } from './service.js';

const PACKAGE = join(ROOT, 'clients', 'typescript');

const PAGES = [join(PACKAGE, 'README.md'), join(ROOT, 'docs', 'clients.md')];

/** Each example is a module that imports this package by its name. All are compiled at once. */
describe('the TypeScript of the pages', () => {
  let service: Service;
  const folder = join(PACKAGE, 'dist', 'documentation');
  before(async () => {
    service = await startService();
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
  });
  after(() => service.stop());

  it('compiles and runs', () => {
    const blocks = PAGES.flatMap((page) => {
      const found = [...readFileSync(page, 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)];
      assert.ok(found.length > 0, page);
      return found.map(([, text = '']) => text.replaceAll('http://127.0.0.1:5001', service.url));
    });
    const sources = blocks.map((text, at) => {
      const path = join(folder, `example-${at}.ts`);
      writeFileSync(path, text);
      return path;
    });
    run(BIN, 'types', '--write', '--out', join(folder, 'millrace-types.ts'), '--project', service.folder);
    const options = [
      '--ignoreConfig',
      '--strict',
      '--target',
      'es2022',
      '--module',
      'nodenext',
      '--types',
      'node',
    ];
    run(join(PACKAGE, 'node_modules', 'typescript', 'bin', 'tsc'), ...options, ...sources);
    for (const path of sources) assert.match(run(path.replace(/\.ts$/, '.js')), /p1/);
  });
});

function run(...args: string[]): string {
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd: PACKAGE, encoding: 'utf8' });
  assert.equal(status, 0, `${args.join(' ')}\n${stdout}${stderr}`);
  return stdout;
}
