import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A path below the repository's root, wherever the compiled test lies in it. */
export function repositoryPath(...parts: string[]): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error('the tests run outside the repository');
    folder = parent;
  }
  return join(folder, ...parts);
}
