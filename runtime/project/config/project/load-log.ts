import { choiceOf } from '../model/choices.js';
import { isSeq, type Node } from 'yaml';
import { nearest } from '../../../ground/core/nearest.js';
import { parseShare } from '../../../ground/core/share.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import type { Located, SourceFile, Span } from '../yaml/source.js';
import { entryOf, itemsOf, locatedText, memberOf, spanOf, textOf } from '../yaml/tree.js';
import type { LogDefinition, RequestDefinition } from '../model/pipelines.js';

/** The unit of a request that stands for itself. */
export const REQUEST_UNIT = 'request';

/**
 * Reads `log:`. The names under `features` are checked when the pipeline is compiled.
 * @param root the pipeline
 * @param candidateType the entity type that is ranked or scored
 * @param entities the names of all entity types
 * @returns undefined if the pipeline has no `log:`
 */
export function loadLog(
  file: SourceFile,
  root: Node,
  request: RequestDefinition,
  candidateType: string,
  entities: ReadonlySet<string>,
  diagnostics: Diagnostics,
): LogDefinition | undefined {
  const entry = entryOf(file, root, 'log');
  if (entry === undefined) return undefined;
  const member = (key: string): Node | undefined => memberOf(file, entry.value, key);
  const candidates = choiceOf('pipeline.candidates', textOf(member('candidates')));
  const sample = numberOf(member('sample')) ?? 0;
  if (candidates === 'all' && sample > 0)
    diagnostics.error(
      'wrong_type',
      entryOf(file, entry.value, 'sample')?.keyAt ?? entry.keyAt,
      '`sample`: all candidates are logged, so there is nothing to sample',
      'remove the line, or write `candidates: page`',
    );
  return {
    share: readShare(file, member('share'), diagnostics),
    unit: readUnit(file, member('unit'), request, candidateType, diagnostics),
    candidates,
    sample,
    features: readFeatures(file, member('features')),
    hash: readTypes(file, member('hash'), entities, diagnostics),
    at: entry.keyAt,
  };
}

function readShare(file: SourceFile, node: Node | undefined, diagnostics: Diagnostics): number {
  const text = locatedText(file, node);
  if (text === undefined) return 1;
  const share = parseShare(text.value);
  if (share === undefined && /^[0-9.]+%$/.test(text.value))
    diagnostics.error('wrong_type', text.at, '`share`: must be from 0% to 100%');
  return share ?? 1;
}

/** `request`, or a field of the request that names an entity. */
function readUnit(
  file: SourceFile,
  node: Node | undefined,
  { fields }: RequestDefinition,
  candidateType: string,
  diagnostics: Diagnostics,
): string {
  const text = locatedText(file, node);
  if (text === undefined || text.value === REQUEST_UNIT) return REQUEST_UNIT;
  const field = fields.get(text.value);
  if (field?.kind === 'entity') return text.value;
  const units = [...fields.values()].flatMap(({ kind, name }) => (kind === 'entity' ? [name] : []));
  const known = [...units, REQUEST_UNIT];
  if (field !== undefined || text.value === candidateType) {
    const what = field === undefined ? 'what the pipeline ranks or scores' : 'a value, not an entity';
    diagnostics.error(
      'unknown_name',
      text.at,
      `\`unit\`: \`${text.value}\` is ${what}`,
      `the units here are ${known.join(', ')}`,
    );
    return REQUEST_UNIT;
  }
  const guess = nearest(text.value, known);
  diagnostics.error(
    'unknown_name',
    text.at,
    `\`unit\`: the request has no entity called \`${text.value}\``,
    guess === undefined ? `the units here are ${known.join(', ')}` : `did you mean \`${guess}\`?`,
  );
  return REQUEST_UNIT;
}

function readFeatures(file: SourceFile, node: Node | undefined): LogDefinition['features'] {
  if (!isSeq(node)) return choiceOf('pipeline.features', textOf(node));
  return itemsOf(node).flatMap((item) => locatedText(file, item) ?? []);
}

function readTypes(
  file: SourceFile,
  node: Node | undefined,
  entities: ReadonlySet<string>,
  diagnostics: Diagnostics,
): ReadonlyMap<string, Span> {
  const types = new Map<string, Span>();
  for (const item of itemsOf(node)) {
    const type = locatedText(file, item);
    if (type === undefined) continue;
    if (checkType(type, entities, diagnostics)) types.set(type.value, spanOf(file, item));
  }
  return types;
}

function checkType(type: Located<string>, entities: ReadonlySet<string>, diagnostics: Diagnostics): boolean {
  if (type.value === REQUEST_UNIT) {
    diagnostics.error(
      'reserved_name',
      type.at,
      '`hash`: the id of a request is not hashed, because feedback is joined by it',
      'remove it: do not put a person’s id into request ids',
    );
    return false;
  }
  if (entities.has(type.value)) return true;
  const guess = nearest(type.value, entities);
  diagnostics.error(
    'unknown_entity',
    type.at,
    `\`hash\`: there is no entity type \`${type.value}\``,
    guess === undefined ? `the types are ${[...entities].join(', ')}` : `did you mean \`${guess}\`?`,
  );
  return false;
}

function numberOf(node: Node | undefined): number | undefined {
  const value: unknown = node !== undefined && 'value' in node ? node.value : undefined;
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
}
