import { isMap } from 'yaml';
import { PROJECT_FILE } from '../../settings/setting-origin.js';
import { Diagnostics } from '../diagnostics/diagnostics.js';
import type { SharedServiceOptions } from '../model/project.js';
import type { Environment } from '../yaml/interpolate.js';
import { entriesOf, entryOf, spanOf } from '../yaml/tree.js';
import { readProjectFile, SERVICES_KEY } from './load-project-file.js';
import { foundWords } from './shape-words.js';

/** Reads `services:` in millrace.yaml: the options of the services of packages, by name. */
export async function loadServices(
  root: string,
  environment: Environment,
  diagnostics: Diagnostics,
): Promise<ReadonlyMap<string, SharedServiceOptions>> {
  // The file is checked elsewhere too: here its other errors do not count.
  const { source, root: node } = await readProjectFile(root, environment, new Diagnostics());
  const entry = source && node && entryOf(source, node, SERVICES_KEY);
  if (source === undefined || entry === undefined) return new Map();
  if (!isMap(entry.value)) {
    const at = entry.value === undefined ? entry.keyAt : spanOf(source, entry.value);
    const found = foundWords(source, entry.value);
    const message = `\`${SERVICES_KEY}\`: expected a mapping of services to their options, found ${found}`;
    diagnostics.error(
      'wrong_type',
      at,
      message,
      `for example \`services: { pool: { size: 8 } }\` in ${PROJECT_FILE}`,
    );
    return new Map();
  }
  return new Map(
    entriesOf(source, entry.value).map(({ key, keyAt, value }) => [
      key,
      { at: keyAt, with: value, file: source },
    ]),
  );
}
