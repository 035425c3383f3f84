import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ROOT, startService, type Service } from './service.js';

const PACKAGE = join(ROOT, 'clients', 'typescript');

/** Runs the TypeScript of the pages. Each example is compiled as a module that imports this package by its name. */
describe('the TypeScript of', () => {
  let service: Service;
  const folder = join(PACKAGE, 'dist', 'documentation');
  before(async () => {
    service = await startService();
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
  });
  after(() => service.stop());

  for (const [name, page] of [
    ['README', join(PACKAGE, 'README.md')],
    ['clients', join(ROOT, 'docs', 'clients.md')],
  ] as const)
    it(`${name}.md runs`, () => {
      const blocks = [...readFileSync(page, 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)].map(
        ([, text = '']) => text,
      );
      assert.ok(blocks.length > 0);
      for (const [at, text] of blocks.entries()) {
        const path = join(folder, `${name}-${at}.ts`);
        writeFileSync(path, text.replaceAll('http://127.0.0.1:5001', service.url));
        const bin = join(ROOT, 'dist', 'runtime', 'cli', 'bin.js');
        run(bin, 'types', '--write', '--out', join(folder, 'millrace-types.ts'), '--project', service.folder);
        run(
          join(PACKAGE, 'node_modules', 'typescript', 'bin', 'tsc'),
          ...[
            '--ignoreConfig',
            '--strict',
            '--target',
            'es2022',
            '--module',
            'nodenext',
            '--types',
            'node',
            path,
          ],
        );
        const printed = run(path.replace(/\.ts$/, '.js'));
        assert.match(printed, /p1/);
      }
    });
});

function run(...args: string[]): string {
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd: PACKAGE, encoding: 'utf8' });
  assert.equal(status, 0, `${args.join(' ')}\n${stdout}${stderr}`);
  return stdout;
}
