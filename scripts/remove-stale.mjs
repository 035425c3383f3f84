// The compiler does not remove the output of a deleted source file, so a deleted test would continue to run.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';

const OUTPUT = /\.js(\.map)?$/;

/** Removes compiled files in `<root>/dist` whose TypeScript source does not exist. Returns their number. */
export function removeStale(root) {
  const dist = join(root, 'dist');
  if (!existsSync(dist)) return 0;
  let removed = 0;
  for (const folder of readdirSync(dist, { withFileTypes: true })) {
    // Assets are copied from packages, not compiled.
    if (!folder.isDirectory() || folder.name === 'assets') continue;
    for (const entry of readdirSync(join(dist, folder.name), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !OUTPUT.test(entry.name)) continue;
      const output = join(entry.parentPath ?? entry.path, entry.name);
      const source = join(root, relative(dist, output).replace(OUTPUT, '.ts'));
      if (existsSync(source)) continue;
      rmSync(output);
      removed += 1;
    }
  }
  return removed;
}
