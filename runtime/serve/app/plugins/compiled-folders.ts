import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Diagnostics } from '../../../project/config/diagnostics/diagnostics.js';
import { placeOf } from '../../../project/config/project/project-files.js';

/** The folder of a plugin. */
export interface PluginFolder {
  readonly path: string;
  /** The path in diagnostics, relative to the project or to Millrace. */
  readonly shown: string;
}

/** A message lists at most this many names. */
const MOST_NAMES = 5;

/**
 * Selects the plugin folders with compiled code. All other folders are reported in one error, because a project that
 * was copied without its compiled code lacks it everywhere.
 * @param folders of the project
 * @param shipped names of the plugins that come with Millrace
 */
export async function compiledFolders(
  folders: readonly PluginFolder[],
  shipped: ReadonlySet<string>,
  diagnostics: Diagnostics,
): Promise<readonly PluginFolder[]> {
  const isCompiled = await Promise.all(
    folders.map(async ({ path }) => (await stat(join(path, 'index.js')).catch(() => undefined))?.isFile()),
  );
  const missing = folders.filter((_, at) => isCompiled[at] !== true).map(({ path }) => basename(path));
  const [first] = missing;
  if (first !== undefined) {
    const shown = missing.slice(0, MOST_NAMES).map((name) => `plugins/${name}`);
    const more = missing.length > MOST_NAMES ? ` and ${missing.length - MOST_NAMES} more` : '';
    diagnostics.error(
      'plugin_failed',
      placeOf(missing.length === 1 ? `plugins/${first}` : 'plugins'),
      missing.length === 1
        ? `there is no compiled index.js`
        : `${missing.length} plugins have no compiled index.js: ${shown.join(', ')}${more}`,
      missing.every((name) => shipped.has(name))
        ? 'remove the folders: Millrace comes with these plugins'
        : 'a plugin written in TypeScript has to be compiled first: run `npx --no tsc` in the project, or copy its compiled files too',
    );
  }
  return folders.filter((_, at) => isCompiled[at] === true);
}
