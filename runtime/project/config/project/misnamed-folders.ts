import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { nearest } from '../../../ground/core/nearest.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { FILE_KINDS } from '../yaml/file-kinds.js';
import { placeOf } from './project-files.js';

const PATHS = [...Object.values(FILE_KINDS).map(({ folder }) => folder.split('/')), ['plugins']];

/** The folders of a project that are read, by the folder that contains them. */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  '': [...new Set(PATHS.flatMap(([top = '']) => top))],
  schemas: PATHS.flatMap(([, inner]) => inner ?? []),
};

/** Warns of folders whose names are nearly those of folders that are read: what they contain has no effect. */
export async function warnOfMisnamedFolders(root: string, diagnostics: Diagnostics): Promise<void> {
  for (const [parent, known] of Object.entries(FOLDERS)) {
    for (const name of await foldersIn(join(root, parent))) {
      if (known.includes(name)) continue;
      const meant = nearest(name, known);
      if (meant === undefined || !(await hasFiles(join(root, parent, name), meant))) continue;
      const path = (one: string): string => (parent === '' ? one : `${parent}/${one}`);
      diagnostics.warning(
        'misnamed_folder',
        placeOf(path(name)),
        `the folder ${path(name)}/ is not read`,
        `did you mean ${path(meant)}/? Rename the folder`,
      );
    }
  }
}

async function foldersIn(path: string): Promise<string[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort();
  } catch {
    return []; // a folder that cannot be read is reported where it is needed
  }
}

/** Whether a folder has what Millrace would read in the folder that was meant. */
async function hasFiles(path: string, meant: string): Promise<boolean> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return meant === 'plugins' || meant === 'schemas'
      ? entries.some((entry) => entry.isDirectory())
      : entries.some((entry) => entry.isFile() && /\.ya?ml$/i.test(entry.name));
  } catch {
    return false;
  }
}
