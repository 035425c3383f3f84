// The compiler keeps the output of a deleted source: a deleted test would still run, and a deleted plugin would still load.
import { existsSync, readdirSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';

const COMPILED = /\.(?:js|js\.map|d\.ts)$/;

/**
 * Removes the files in `<root>/dist` that were compiled or copied from a file that is gone, and the folders that are empty
 * then. Returns the number of files.
 */
export function removeStale(root) {
  const dist = join(root, 'dist');
  if (!existsSync(dist)) return 0;
  let removed = 0;
  for (const name of readdirSync(dist)) {
    const folder = join(dist, name);
    // The files in assets come from packages; those in bundle are written anew.
    if (name === 'assets' || name === 'bundle' || !statSync(folder).isDirectory()) continue;
    removed += clean(folder, (output) => join(root, relative(dist, output).replace(COMPILED, '.ts')));
  }
  return removed;
}

/** @param sourceOf the file that an output was made from */
function clean(folder, sourceOf) {
  let removed = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) removed += clean(path, sourceOf);
    else if (!existsSync(sourceOf(path))) {
      rmSync(path);
      removed += 1;
    }
  }
  if (readdirSync(folder).length === 0) rmdirSync(folder);
  return removed;
}
