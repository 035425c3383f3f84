import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Returns a path in the repository, independent of the folder of the compiled test. */
export function repositoryPath(...parts: string[]): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package-lock.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error('the tests do not run in the repository');
    folder = parent;
  }
  return join(folder, ...parts);
}

/** The command and the service. `npm run test:one` runs the compiled files, which need no bundle. */
export const BIN = started('bin.js', 'runtime/cli/bin.js');
export const MAIN = started('main.js', 'runtime/main.js');

function started(bundled: string, compiled: string): string {
  return repositoryPath('dist', process.env.TEST_COMPILED === undefined ? `bundle/${bundled}` : compiled);
}
