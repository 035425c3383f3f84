import { realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';

/** Why a file may not be used. */
export interface LinkRefusal {
  readonly message: string;
  readonly help: string;
}

/** Folders outside a project that links of the project may lead to. */
export class LinkedFolders {
  static readonly none = new LinkedFolders([]);

  private constructor(readonly folders: readonly string[]) {}

  /** Reads `/var/cache/dvc,/mnt/mlruns`; undefined where an entry is empty. */
  static parse(text: string): LinkedFolders | undefined {
    if (text.trim() === '') return LinkedFolders.none;
    const folders = text.split(',').map((entry) => entry.trim());
    return folders.includes('') ? undefined : new LinkedFolders(folders.map((folder) => resolve(folder)));
  }

  /**
   * Where a path of the project leads, if it leads to a file or folder of the project, or of a folder that is allowed.
   * @param root the project's folder
   * @throws ErrnoException where nothing is there
   */
  async follow(root: string, path: string): Promise<string | LinkRefusal> {
    const real = await realpath(join(root, path));
    if (isWithin(await realpath(root), real)) return real;
    for (const folder of this.folders)
      if (isWithin(await realpath(folder).catch(() => folder), real)) return real;
    return {
      message: `\`${path}\` is a link that leaves the project, to ${real}`,
      help: `links may lead to folders that MILLRACE_LINKED_FOLDERS names, e.g. ${dirname(real)}`,
    };
  }
}

/** Whether a path lies in a folder, or is the folder. */
export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  // A name may begin with two dots, as those of a mounted ConfigMap do.
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
