import { isScalar, isSeq, type Node } from 'yaml';
import { PROJECT_FILE } from '../../settings/setting-origin.js';
import { Diagnostics } from '../diagnostics/diagnostics.js';
import type { Environment } from '../yaml/interpolate.js';
import type { Located, SourceFile } from '../yaml/source.js';
import { entryOf, itemsOf, locatedText, spanOf } from '../yaml/tree.js';
import { PLUGINS_KEY, readProjectFile } from './load-project-file.js';
import { foundWords } from './shape-words.js';

/** The names that npm accepts for packages, as its documentation of package.json gives them. */
export const PACKAGE_NAME = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/;

const EXAMPLE = '`plugins: ["@acme/millrace-geo"]`';

/**
 * Reads `plugins:` in millrace.yaml: the npm packages whose plugins the project uses. Names with errors are left out.
 */
export async function loadPackages(
  root: string,
  environment: Environment,
  diagnostics: Diagnostics,
): Promise<readonly Located<string>[]> {
  // The file is checked elsewhere too: here its other errors do not count.
  const { source, root: node } = await readProjectFile(root, environment, new Diagnostics());
  const entry = source && node && entryOf(source, node, PLUGINS_KEY);
  if (source === undefined || entry === undefined) return [];
  if (!isSeq(entry.value)) {
    const at = entry.value === undefined ? entry.keyAt : spanOf(source, entry.value);
    const found = foundWords(source, entry.value);
    const message = `\`${PLUGINS_KEY}\`: expected a list of npm packages, found ${found}`;
    diagnostics.error('wrong_type', at, message, `for example ${EXAMPLE}`);
    return [];
  }
  const names = new Map<string, Located<string>>();
  for (const item of itemsOf(entry.value)) {
    const name = readName(source, item, diagnostics);
    if (name === undefined) continue;
    if (names.has(name.value))
      diagnostics.error('duplicate_name', name.at, `\`${name.value}\` is listed twice`, 'remove one of them');
    else names.set(name.value, name);
  }
  return [...names.values()];
}

function readName(source: SourceFile, item: Node, diagnostics: Diagnostics): Located<string> | undefined {
  const name = isScalar(item) ? locatedText(source, item) : undefined;
  if (name === undefined) {
    const message = `\`${PLUGINS_KEY}\`: expected the name of an npm package, found ${foundWords(source, item)}`;
    diagnostics.error('wrong_type', spanOf(source, item), message, `for example ${EXAMPLE}`);
    return undefined;
  }
  if (PACKAGE_NAME.test(name.value)) return name;
  const isVersioned = PACKAGE_NAME.test(name.value.replace(/(.)@[^/]*$/, '$1'));
  const isPath = /^[./~]|\\/.test(name.value);
  diagnostics.error(
    'invalid_name',
    name.at,
    `\`${name.value}\` cannot be the name of an npm package`,
    isPath
      ? 'a plugin in a folder needs no entry here: put the folder into plugins/'
      : isVersioned
        ? `write the name alone; package.json beside ${PROJECT_FILE} has the version`
        : `for example ${EXAMPLE}`,
  );
  return undefined;
}
