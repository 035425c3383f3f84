import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Writes the files of a project. @param files their lines, by path */
export async function writeFiles(
  folder: string,
  files: Readonly<Record<string, readonly string[]>>,
): Promise<void> {
  for (const [path, lines] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), `${lines.join('\n')}\n`);
  }
}
