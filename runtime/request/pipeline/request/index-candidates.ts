import { MillraceError } from '../../../ground/api/errors.js';
import type { JsonObject, JsonValue } from '../../../ground/api/types.js';
import { FILTER_ROWS, LONGEST_WHERE } from '../../compile/compile-filter.js';
import type { Plan } from '../../compile/plan.js';
import type { Deadline } from '../../../ground/core/deadline.js';
import { describe, isJsonObject, own } from '../../../ground/core/value-fit.js';
import { nearest } from '../../../ground/core/nearest.js';
import { Violations } from '../../../ground/core/violations.js';
import { entityKey } from '../../../state/store/keys.js';
import type { Store } from '../../../state/store/store.js';

/** Compiles the condition of a request; see `EntityFilters`. */
export interface CandidateFilters {
  of(entityType: string, where: string): Promise<Plan | string>;
}

/** What finding candidates in the index needs. */
export interface IndexSearch {
  readonly store: Store;
  readonly filters: CandidateFilters;
  /** The most entities of a type that are looked at. */
  readonly most: number;
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
const MEMBERS = ['from', 'where', 'limit'];
const EVERY = 'true';

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
  for (const name of Object.keys(wanted)) {
    if (MEMBERS.includes(name)) continue;
    const near = nearest(name, MEMBERS);
    const help = near === undefined ? `the members are ${MEMBERS.join(', ')}` : `did you mean ${near}?`;
    violations.add('/candidates', 'unknown_field', `candidates has no member ${describe(name)}; ${help}`);
  }
  const from = own(wanted, 'from');
  if (from !== 'index')
    violations.add(
      '/candidates/from',
      'wrong_type',
      `expected "index", or a list of candidates, found ${describe(from)}`,
    );
  const where = own(wanted, 'where') ?? EVERY;
  if (typeof where !== 'string' || where.trim() === '' || where.length > LONGEST_WHERE)
    violations.add(
      '/candidates/where',
      'wrong_type',
      `expected an expression of at most ${LONGEST_WHERE} characters, such as ${plan.candidateType.name}.price < 100`,
    );
  const most = plan.definition.limits.candidates;
  const limit = own(wanted, 'limit') ?? most;
  if (typeof limit !== 'number' || !Number.isInteger(limit) || limit < 1 || limit > most)
    violations.add(
      '/candidates/limit',
      'out_of_range',
      `expected a whole number from 1 to ${most}, the limit of this pipeline, found ${describe(limit)}`,
    );
  violations.throwIfAny('The request');
  return { where: (where as string).trim(), limit: limit as number };
}

/**
 * Finds the entities of the index that meet a condition, and returns the body with their ids as its candidates, ordered by
 * id. It looks at each entity of the type, so its cost grows with the index.
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
  const filter = where === EVERY ? undefined : await search.filters.of(name, where);
  if (typeof filter === 'string') {
    const violations = new Violations();
    violations.add('/candidates/where', 'invalid_expression', filter);
    violations.throwIfAny('The request');
  }
  const ids = await idsOf(plan, search, deadline);
  const kept = typeof filter === 'object' ? await keepThose(ids, filter, key, search, deadline) : ids;
  const taken = kept.slice(0, limit);
  return {
    body: { ...body, candidates: taken.map((id): JsonValue => ({ [key]: id })) },
    found: { where, scanned: ids.length, matched: kept.length, taken: taken.length },
  };
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
        `the index has more than ${most} entities of the type ${plan.candidateType.name}, the most that a request may look at`,
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
