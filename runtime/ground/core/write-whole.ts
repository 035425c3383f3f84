import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Writes a temporary file beside the target and renames it, so that a reader never sees a part of the file. Creates the
 * folder if it does not exist.
 * @param mode the permissions of the file; by default those of a new file
 */
export async function writeWhole(path: string, content: string | Buffer, mode?: number): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const beside = `${path}.${String(process.pid)}.tmp`;
  await writeFile(beside, content, mode === undefined ? {} : { mode });
  await rename(beside, path);
}
