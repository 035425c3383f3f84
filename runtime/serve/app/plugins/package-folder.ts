import { readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isWithin, type LinkedFolders, type LinkRefusal } from '../../../project/settings/linked-folders.js';

/** An installed package. */
export interface InstalledPackage {
  /** Its folder, without links. */
  readonly path: string;
}

/**
 * Finds an npm package as Node does: in the `node_modules` of the project's folder, then of the folders above it.
 * A package may be a link, as in a workspace, if it leads to a place below the folder with that `node_modules`, or to a
 * folder that the operator allows.
 * @returns undefined if it is not installed
 */
export async function findPackageFolder(
  project: string,
  name: string,
  linked: LinkedFolders,
): Promise<InstalledPackage | LinkRefusal | undefined> {
  for (const folder of foldersUp(project)) {
    const path = join(folder, 'node_modules', name);
    if (!(await isFolder(path))) continue;
    const real = await realpath(path);
    const allowed = [folder, ...linked.folders];
    for (const one of allowed)
      if (isWithin(await realpath(one).catch(() => one), real)) return { path: real };
    return {
      message: `its folder in node_modules is a link that leaves the project, to ${real}`,
      help: `allow the target's folder with MILLRACE_LINKED_FOLDERS, e.g. ${dirname(real)}`,
    };
  }
  return undefined;
}

/** The names of the packages that are installed for a project, for the guess at a misspelt name. */
export async function installedPackages(project: string): Promise<string[]> {
  const names: string[] = [];
  for (const folder of foldersUp(project)) {
    const modules = join(folder, 'node_modules');
    for (const entry of await readdir(modules).catch(() => [])) {
      if (!entry.startsWith('@')) names.push(entry);
      else
        names.push(...(await readdir(join(modules, entry)).catch(() => [])).map((one) => `${entry}/${one}`));
    }
  }
  return names;
}

function* foldersUp(project: string): Iterable<string> {
  for (let folder = resolve(project); ; folder = dirname(folder)) {
    yield folder;
    if (dirname(folder) === folder) return;
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}
