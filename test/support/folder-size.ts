import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Returns the bytes of all files in a folder and its subfolders. */
export async function folderSize(folder: string): Promise<number> {
  let total = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) total += (await stat(join(entry.parentPath, entry.name))).size;
  }
  return total;
}
