import { realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

/** Why a file may not be used. */
export interface LinkRefusal {
  readonly message: string;
  readonly help: string;
}

/** Folders outside a project that symbolic links of the project may point to. */
export class LinkedFolders {
  static readonly none = new LinkedFolders([]);

  private constructor(readonly folders: readonly string[]) {}

  /**
   * Parses `/var/cache/dvc,/mnt/mlruns`. Returns undefined if an entry is empty.
   * @param from the folder where a relative path starts
   */
  static parse(text: string, from = '.'): LinkedFolders | undefined {
    if (text.trim() === '') return LinkedFolders.none;
    const folders = text.split(',').map((entry) => entry.trim());
    return folders.includes('')
      ? undefined
      : new LinkedFolders(folders.map((folder) => resolve(from, folder)));
  }

  /**
   * Resolves a path of the project. The target must be in the project or in an allowed folder.
   * @param root the project's folder
   * @throws ErrnoException if the target does not exist
   */
  async follow(root: string, path: string): Promise<string | LinkRefusal> {
    const real = await realpath(join(root, path));
    if (isWithin(await realpath(root), real)) return real;
    for (const folder of this.folders)
      if (isWithin(await realpath(folder).catch(() => folder), real)) return real;
    return {
      message: `\`${path}\` is a link that leaves the project, to ${real}`,
      help: `allow the target's folder with MILLRACE_LINKED_FOLDERS, e.g. ${dirname(real)}`,
    };
  }
}

/** True if a path is in a folder, or is the folder. */
export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  // A name may begin with two dots, as in a mounted ConfigMap.
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
