import { basename, dirname } from 'node:path';
import { readFile } from 'node:fs/promises';
import { isMap, stringify, type Node } from 'yaml';
import { checkShape } from '../../../project/config/project/check-shape.js';
import { yamlSchema } from '../../../project/config/project/schemas.js';
import { foundWords } from '../../../project/config/project/shape-words.js';
import { Diagnostics } from '../../../project/config/diagnostics/diagnostics.js';
import { SourceFile } from '../../../project/config/yaml/source.js';
import { entriesOf, itemsOf, memberOf, spanOf } from '../../../project/config/yaml/tree.js';
import { parseYaml } from '../../../project/config/yaml/yaml-document.js';
import { isReady, type ImportMapping, type ImportSource } from '../../../project/foreign/mapping.js';
import { CommandFailure, DiagnosedUsageError } from '../../../project/config/diagnostics/failure.js';
import { fileProblem } from '../../../ground/core/file-problem.js';

/** The keys that each kind of source can have. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  ready: ['files', 'map'],
  entities: ['files', 'into', 'map', 'decimal_comma'],
  rankings: [
    'files',
    'into',
    'map',
    'where',
    'positions_from',
    'feedback',
    'feedback_at',
    'send',
    'carry',
    'pool',
    'decimal_comma',
    'places',
  ],
  feedback: ['files', 'into', 'map', 'where', 'positions_from', 'event', 'values', 'decimal_comma'],
};

/**
 * Reads a mapping.
 * @param candidateType the entity type of the candidates, if it is known
 * @throws DiagnosedUsageError; CommandFailure if the file cannot be read
 */
export async function readMapping(
  path: string,
  candidateType: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Promise<ImportMapping> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new CommandFailure(`cannot read ${path}: ${fileProblem(error)}`);
  });
  const file = new SourceFile(path, text);
  const diagnostics = new Diagnostics();
  const root = parseYaml(file, env, diagnostics, 'import: old_shop');
  if (root !== undefined && !isMap(root))
    diagnostics.error(
      'wrong_type',
      spanOf(file, root),
      `expected a mapping, found ${foundWords(file, root)}`,
      'start the file with `import: old_shop`',
    );
  else if (root !== undefined) {
    checkShape(root, yamlSchema('import-map'), diagnostics, { file, start: 0, end: 0 });
    if (diagnostics.all.length === 0) checkSources(file, root, candidateType, diagnostics);
  }
  if (root === undefined || diagnostics.all.length > 0) throw new DiagnosedUsageError(diagnostics.all);
  return root.toJSON() as ImportMapping;
}

/** Checks what depends on the kind of a source. */
function checkSources(
  file: SourceFile,
  root: Node,
  candidateType: string | undefined,
  diagnostics: Diagnostics,
): void {
  for (const node of itemsOf(memberOf(root, 'sources'))) {
    const source = (node as unknown as { toJSON(): ImportSource }).toJSON();
    const mapNode = memberOf(node, 'map') ?? node;
    const kind = isReady(source) ? 'ready' : (source as { readonly into?: string }).into;
    if (kind === undefined) {
      diagnostics.error(
        'missing_key',
        spanOf(file, node),
        'the key `into` is missing',
        'write `into: rankings` for candidates that were shown, `into: feedback` for clicks, or `into: entities`',
      );
      continue;
    }
    for (const { key, keyAt } of entriesOf(file, node))
      if (KEYS[kind]?.includes(key) === false)
        diagnostics.error(
          'unknown_key',
          keyAt,
          `\`${key}\` has no meaning ${kind === 'ready' ? 'for a log that Millrace knows' : `with \`into: ${kind}\``}`,
          `keys are ${KEYS[kind].join(', ')}`,
        );
    if (isReady(source)) continue;
    const need = (name: string, why: string): void => {
      if (!Object.hasOwn(source.map, name))
        diagnostics.error('missing_key', spanOf(file, mapNode), `\`map\` has no \`${name}\``, why);
    };
    if (source.into === 'entities') {
      if (Object.keys(source.map).length !== 1)
        diagnostics.error(
          'wrong_type',
          spanOf(file, mapNode),
          '`map` of entities has one entry: the entity type and the column of its id',
          'for example `map: { product: item_id }`',
        );
    } else if (candidateType !== undefined)
      need(candidateType, 'it names the column with the id of the candidate');
    if (source.into === 'feedback') {
      if (!Object.hasOwn(source, 'event'))
        diagnostics.error(
          'missing_key',
          spanOf(file, node),
          'the key `event` is missing',
          'write `event: click`, or the kinds by the values of the column `type`',
        );
      else if (typeof source.event === 'object')
        need('type', 'it names the column whose values are under `event`');
    }
  }
}

/** The text of a mapping's file. */
export function mappingText(mapping: ImportMapping, notes: ReadonlyMap<string, readonly string[]>): string {
  const parts = mapping.sources.map((source) => {
    const [first = ''] = source.files;
    const lines = (notes.get(first) ?? []).map((note) => `  # ${note}\n`).join('');
    const text = stringify([source], { lineWidth: 110, flowCollectionPadding: true });
    return lines + text.replace(/^(?=.)/gm, '  ');
  });
  return (
    `# How \`millrace ledger import\` reads files of another system (docs/import.md).\n` +
    `import: ${mapping.import}\nsources:\n${parts.join('')}`
  );
}

/** A name for an import, from the folder or file that is imported. */
export function importName(word: string): string {
  const base = basename(word) === '.' ? basename(dirname(word)) : basename(word);
  const name = base
    .toLowerCase()
    .replace(/\..*$/, '')
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[^a-z]+|_+$/g, '');
  return name === '' ? 'foreign' : name;
}
