import { isSeq } from 'yaml';
import { didYouMean } from '../../../ground/core/nearest.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import type { Section } from '../yaml/section.js';
import type { Located, Span } from '../yaml/source.js';
import { locatedText, spanOf } from '../yaml/tree.js';
import type { LogDefinition, RequestDefinition } from '../model/pipelines.js';

/** The unit of a request that stands for itself. */
export const REQUEST_UNIT = 'request';

type LogSection = Section<'pipeline.log'>;

/**
 * Reads `log:`. The names under `features` are checked when the pipeline is compiled.
 * @param candidateType the entity type that is ranked or scored
 * @param entities the names of all entity types
 * @returns undefined if the pipeline has no `log:`
 */
export function loadLog(
  pipeline: Section<'pipeline'>,
  request: RequestDefinition,
  candidateType: string,
  entities: ReadonlySet<string>,
): LogDefinition | undefined {
  const entry = pipeline.entry('log');
  if (entry === undefined) return undefined;
  const log = pipeline.section('log');
  const candidates = log.word('candidates') ?? 'page';
  const sample = log.whole('sample') ?? 0;
  if (candidates === 'all' && sample > 0)
    log.diagnostics.error(
      'wrong_type',
      log.keyAt('sample'),
      '`sample`: all candidates are logged, so there is nothing to sample',
      'remove the line, or write `candidates: page`',
    );
  return {
    share: log.share('share') ?? 1,
    unit: readUnit(log, request, candidateType),
    candidates,
    sample,
    features: isSeq(log.value('features')) ? log.texts('features') : (log.word('features') ?? 'models'),
    hash: readTypes(log, entities),
    at: entry.keyAt,
  };
}

/** `request`, or a field of the request that names an entity. */
function readUnit(log: LogSection, { fields }: RequestDefinition, candidateType: string): string {
  const text = log.located('unit');
  if (text === undefined || text.value === REQUEST_UNIT) return REQUEST_UNIT;
  const field = fields.get(text.value);
  if (field?.kind === 'entity') return text.value;
  const units = [...fields.values()].flatMap(({ kind, name }) => (kind === 'entity' ? [name] : []));
  const known = [...units, REQUEST_UNIT];
  const all = `the units here are ${known.join(', ')}`;
  if (field !== undefined || text.value === candidateType) {
    const what = field === undefined ? 'what the pipeline ranks or scores' : 'a value, not an entity';
    log.diagnostics.error('unknown_name', text.at, `\`unit\`: \`${text.value}\` is ${what}`, all);
    return REQUEST_UNIT;
  }
  log.diagnostics.error(
    'unknown_name',
    text.at,
    `\`unit\`: the request has no entity called \`${text.value}\``,
    didYouMean(text.value, known) ?? all,
  );
  return REQUEST_UNIT;
}

function readTypes(log: LogSection, entities: ReadonlySet<string>): ReadonlyMap<string, Span> {
  const types = new Map<string, Span>();
  for (const item of log.items('hash')) {
    const type = locatedText(log.file, item);
    if (type !== undefined && checkType(type, entities, log.diagnostics))
      types.set(type.value, spanOf(log.file, item));
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
  diagnostics.error(
    'unknown_entity',
    type.at,
    `\`hash\`: there is no entity type \`${type.value}\``,
    didYouMean(type.value, entities) ?? `the types are ${[...entities].join(', ')}`,
  );
  return false;
}
