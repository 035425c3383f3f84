import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the installed package, which is itself a project: the nearest one above with `pipelines/`. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'pipelines', 'ranking.yaml'))) {
    const above = dirname(folder);
    if (above === folder) throw new Error('the package has lost its pipelines folder');
    folder = above;
  }
  return folder;
}
