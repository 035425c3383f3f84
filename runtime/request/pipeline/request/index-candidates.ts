import { MillraceError } from '../../../ground/api/errors.js';
import type { JsonObject, JsonValue } from '../../../ground/api/types.js';
import { FILTER_ROWS, LONGEST_WHERE, type EntityCondition } from '../../compile/compile-filter.js';
import type { Plan } from '../../compile/plan.js';
import type { Deadline } from '../../../ground/core/deadline.js';
import { IdList } from '../../../ground/core/parse-ids.js';
import { soon, type Pieces } from '../../../ground/core/pieces.js';
import { describe, isJsonObject, own } from '../../../ground/core/value-fit.js';
import { AS_WORD, didYouMean } from '../../../ground/core/nearest.js';
import type { PipelineDefinition } from '../../../project/config/model/pipelines.js';
import { allFields, field, nullable, readFields, wholeField } from '../../../ground/core/body-fields.js';
import { Violations } from '../../../ground/core/violations.js';
import type { ConditionColumns } from '../../../state/index/condition-columns.js';
import { entityKey } from '../../../state/store/keys.js';
import type { Store } from '../../../state/store/store.js';

/** Compiles the condition of a request; see `EntityFilters`. */
export interface CandidateFilters {
  of(entityType: string, where: string): Promise<EntityCondition | string>;
}

/** What finding candidates in the index needs. */
export interface IndexSearch {
  readonly store: Store;
  readonly filters: CandidateFilters;
  /** The most entities of a type that are read of the store; 0: none are looked at. */
  readonly most: number;
  /** What the service keeps of entities for conditions. */
  readonly columns: ConditionColumns;
  readonly now: () => number;
  /** Ranks some ids by the plan of a filter, and returns the ids that it keeps. */
  keep(plan: Plan, body: JsonObject): Promise<readonly string[]>;
}

/** The candidates that came out, for the answer and the explanation. */
export interface IndexedCandidates {
  readonly where: string;
  /** Entities that were looked at. */
  readonly scanned: number;
  /** Entities that meet the condition. */
  readonly matched: number;
  /** Candidates of the request: the first of these by id. */
  readonly taken: number;
}

interface Wanted {
  readonly where: string;
  readonly limit: number;
}

const KEYS_PER_SCAN = 1000;
const EVERY = 'true';

/** The fields of candidates that come from the index. */
export function indexFields({ limits, candidateType }: PipelineDefinition) {
  return {
    from: {
      ...field(
        { type: 'string', const: 'index' },
        (value) => value === 'index',
        '"index", or a list of candidates',
      ),
      missing: 'wrong_type',
    },
    where: nullable<string>({
      schema: { type: 'string', pattern: '\\S', maxLength: LONGEST_WHERE },
      fits: (value): value is string =>
        typeof value === 'string' && value.trim() !== '' && value.length <= LONGEST_WHERE,
      fault: () => ({
        code: 'wrong_type',
        detail: `expected an expression of at most ${LONGEST_WHERE} characters, such as ${candidateType.value}.price < 100`,
      }),
    }),
    limit: nullable(wholeField(1, limits.candidates, ', the limit of this pipeline')),
  };
}

/**
 * Reads `candidates: { from: index, where: …, limit: … }`.
 * @returns undefined if the candidates of the body are written differently
 * @throws MillraceError invalid_body
 */
export function wantedFromIndex(plan: Plan, body: unknown): Wanted | undefined {
  if (plan.definition.task !== 'rank' || !isJsonObject(body)) return undefined;
  const wanted = own(body, 'candidates');
  if (!isJsonObject(wanted)) return undefined;
  const violations = new Violations();
  const fields = indexFields(plan.definition);
  const members = Object.keys(fields);
  for (const name of Object.keys(wanted)) {
    if (members.includes(name)) continue;
    const help = didYouMean(name, members, AS_WORD) ?? `the members are ${members.join(', ')}`;
    violations.add('/candidates', 'unknown_field', `candidates has no member ${describe(name)}; ${help}`);
  }
  const read = readFields(wanted, fields, violations, { pointer: '/candidates' });
  const { where = EVERY, limit = plan.definition.limits.candidates } = allFields(
    read,
    violations,
    'The request',
  );
  return { where: where.trim(), limit };
}

/** What was found: the first ids that meet the condition, in the order of their code units. */
interface FoundIds extends Pick<IndexedCandidates, 'scanned' | 'matched'> {
  readonly ids: readonly string[];
}

/**
 * Finds the entities of the index that meet a condition, and returns the body with their ids as its candidates, ordered by
 * id. A condition on attributes of the entities themselves is answered from what the service keeps of them; for another one,
 * each entity of the type is read.
 * @throws MillraceError invalid_body, too_many_entities, deadline_exceeded, a code of STORE_READ_FAILURES
 */
export async function findInIndex(
  plan: Plan,
  body: JsonObject,
  { where, limit }: Wanted,
  search: IndexSearch,
  deadline: Deadline,
): Promise<{ readonly body: JsonObject; readonly found: IndexedCandidates }> {
  const { key, name } = plan.candidateType;
  const condition = where === EVERY ? undefined : await search.filters.of(name, where);
  if (typeof condition === 'string') {
    const violations = new Violations();
    violations.add('/candidates/where', 'invalid_expression', condition);
    violations.throwIfAny('The request');
  }
  const compiled = condition as EntityCondition | undefined;
  const { ids, scanned, matched } =
    (await findKept(name, compiled, limit, search, deadline)) ??
    (await findByReading(plan, compiled, limit, search, deadline));
  const candidates = new IdList(key, ids, true) as unknown as JsonValue;
  return { body: { ...body, candidates }, found: { where, scanned, matched, taken: ids.length } };
}

/** Looks at the kept attributes of all entities. @returns undefined if they are not kept */
async function findKept(
  type: string,
  condition: EntityCondition | undefined,
  limit: number,
  { columns, most, now }: IndexSearch,
  deadline: Deadline,
): Promise<FoundIds | undefined> {
  if (most === 0 || (condition !== undefined && condition.where === undefined)) return undefined;
  const attributes = condition?.where?.columns.followed.attributes ?? [];
  const kept = await deadline.within(columns.of(type, attributes));
  if (kept === undefined) return undefined;
  const pieces = condition?.where?.matches(kept, now()) ?? inPieces(kept.columns.ids());
  return soon(firstById(pieces, limit, kept.columns.size), () => deadline.check());
}

/** How many more ids than wanted are gathered before they are sorted. */
const GATHERED = 4000;

function* inPieces(ids: Iterable<string>): Iterable<readonly string[]> {
  let piece: string[] = [];
  for (const id of ids)
    if (piece.push(id) === FILTER_ROWS) {
      yield piece;
      piece = [];
    }
  yield piece;
}

function* firstById(pieces: Iterable<readonly string[]>, limit: number, scanned: number): Pieces<FoundIds> {
  let first: string[] = [];
  let matched = 0;
  let last: string | undefined;
  for (const ids of pieces) {
    matched += ids.length;
    for (const id of ids) if (last === undefined || id < last) first.push(id);
    if (first.length > limit + GATHERED) {
      first = first.sort().slice(0, limit);
      last = first.at(-1);
    }
    yield;
  }
  // An entity that was removed and written again in between has moved.
  return { ids: [...new Set(first.sort())].slice(0, limit), scanned, matched };
}

/** Reads each entity of the type, so its cost grows with the index. */
async function findByReading(
  plan: Plan,
  condition: EntityCondition | undefined,
  limit: number,
  search: IndexSearch,
  deadline: Deadline,
): Promise<FoundIds> {
  const ids = await idsOf(plan, search, deadline);
  const { key } = plan.candidateType;
  const kept = condition === undefined ? ids : await keepThose(ids, condition.plan, key, search, deadline);
  return { ids: kept.slice(0, limit), scanned: ids.length, matched: kept.length };
}

/** The ids of all entities of the type, in the order of their code units. */
async function idsOf(plan: Plan, { store, most }: IndexSearch, deadline: Deadline): Promise<string[]> {
  const start = entityKey(plan.prefix, plan.candidateType.name, '');
  const ids = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await store.scan(start, cursor, KEYS_PER_SCAN);
    deadline.check();
    // A scan may return a key twice.
    for (const key of page.keys) ids.add(key.slice(start.length));
    if (ids.size > most)
      throw new MillraceError(
        'too_many_entities',
        `the index has more than ${most} entities of the type ${plan.candidateType.name}, the most that a request may read`,
      );
    ({ cursor } = page);
  } while (cursor !== undefined);
  return [...ids].sort();
}

/** One slice of the ids after the other, so that other requests run in between. */
async function keepThose(
  ids: readonly string[],
  filter: Plan,
  key: string,
  search: IndexSearch,
  deadline: Deadline,
): Promise<string[]> {
  const kept: string[] = [];
  for (let from = 0; from < ids.length; from += FILTER_ROWS) {
    const candidates = ids.slice(from, from + FILTER_ROWS).map((id): JsonValue => ({ [key]: id }));
    kept.push(...(await search.keep(filter, { candidates })));
    deadline.check();
  }
  return kept;
}
