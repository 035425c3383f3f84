// The compiler leaves the output of a deleted source where it is, and a deleted test would go on running.
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';

const OUTPUT = /\.js(\.map)?$/;

/** Removes compiled files in `<root>/dist` whose TypeScript source is gone. Returns how many. */
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
