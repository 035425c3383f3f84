import { storedId } from '../../../ground/core/entity-id.js';
import type { JsonObject, JsonValue } from '../../../ground/api/types.js';
import type { Pieces } from '../../../ground/core/pieces.js';
import { FLAG_FIELD, notAnObject, nullable, readField } from '../../../ground/core/body-fields.js';
import { Violations } from '../../../ground/core/violations.js';
import type { Plan } from '../../compile/plan.js';
import type { AttributeDefinition, EntityType } from '../../../project/config/model/entities.js';
import type { PipelineDefinition, RequestField } from '../../../project/config/model/pipelines.js';
import {
  BODY_FIELDS,
  RANKING_FIELDS,
  type PageField,
} from '../../../project/config/project/reserved-names.js';
import { IdList } from '../../../ground/core/parse-ids.js';
import { describe, isJsonObject, noObject, own } from '../../../ground/core/value-fit.js';
import { idProblem, idText } from '../../../ground/core/ids.js';
import { checkCarried, readId, readKey, UnknownFields, type CarriedPlace } from './check-carried.js';
import type { CarriedRows } from './carried.js';

/** The page that a request asks for, in the order of its candidates. */
export interface Paging {
  /** Below 0 if a part of the page lies before these candidates. */
  readonly start: number;
  readonly size: number;
}

/** A valid request. */
export interface RankingRequest {
  readonly requestId: string;
  readonly includeEvents: boolean;
  /** Candidate ids in the order sent, each once; for a pipeline that scores, the id of its one entity. */
  readonly ids: readonly string[];
  /** The places of the ids, see `IdList`; undefined for most small bodies. */
  readonly places?: Int32Array | undefined;
  /** The ids of candidates that were dropped because their id occurred earlier. */
  readonly duplicates: readonly string[];
  /** The id of each other entity in the body; a missing entity has no entry. */
  readonly entityIds: ReadonlyMap<string, string>;
  /** Attributes that the request carries, by root node. A root without carried attributes has no entry. */
  readonly carried: ReadonlyMap<string, CarriedRows>;
  readonly paging: Paging;
  /** Undeclared fields, with their number of occurrences. */
  readonly unknownFields: ReadonlyMap<string, number>;
}

/** Highest page number. */
const MOST_PAGES = 1_000_000;

/** The fields of the paging. Each may be left out. */
export const PAGE_FIELDS: Readonly<Record<PageField, PageNumber>> = {
  user_page: { least: 0, most: () => MOST_PAGES },
  user_page_size: { least: 1, most: ({ page }) => page.maxSize },
  candidate_page: { least: 0, most: () => MOST_PAGES },
  candidate_page_size: { least: 0, most: ({ limits }) => limits.candidates },
};

interface PageNumber {
  readonly least: number;
  readonly most: (definition: PipelineDefinition) => number;
}

export const INCLUDE_EVENTS = nullable(FLAG_FIELD);

/** Number of candidates that have their ids alone that are read before other work on the event loop may run. */
const PIECE = 256;
/** What another candidate counts as. */
const MORE = 32;
/** The same limit for undeclared fields. */
const MANY_UNKNOWN = 500;

/** The paging of a pipeline without pages. */
const NO_PAGING: Paging = { start: 0, size: 1 };

/**
 * Checks a body against the declarations of the pipeline.
 * @throws MillraceError invalid_body with all violations, up to a limit
 */
export function* readRequest(plan: Plan, body: unknown, requestId: string): Pieces<RankingRequest> {
  const violations = new Violations();
  if (!isJsonObject(body)) throw notAnObject(body, 'The request', 'an object');
  const unknown = new UnknownFields(plan.definition.request.unknown === 'refuse' ? violations : undefined);
  const carried = new Map<string, CarriedRows>();
  const isRanking = plan.definition.task === 'rank';
  const { ids, places, duplicates } = isRanking
    ? yield* readCandidates(plan, body, carried, unknown, violations)
    : { ids: readScored(plan, body, carried, unknown, violations), places: undefined, duplicates: [] };
  const entityIds = readFields(plan, body, carried, unknown, violations);
  const paging = isRanking ? readPaging(plan, body, ids.length + duplicates.length, violations) : NO_PAGING;
  const events = own(body, 'include_events') ?? undefined;
  const includeEvents =
    events !== undefined && readField(events, INCLUDE_EVENTS, '/include_events', violations);
  const givenId = own(body, 'request_id') ?? undefined;
  const id = givenId === undefined ? undefined : readId(givenId, '/request_id', violations);
  violations.throwIfAny('The request');
  return {
    requestId: id ?? requestId,
    includeEvents: includeEvents === true,
    ids,
    places,
    duplicates,
    entityIds,
    carried,
    paging,
    unknownFields: unknown.counts,
  };
}

function* readCandidates(
  plan: Plan,
  body: JsonObject,
  carried: Map<string, CarriedRows>,
  unknown: UnknownFields,
  violations: Violations,
): Pieces<Pick<RankingRequest, 'ids' | 'places' | 'duplicates'>> {
  const { candidateType, request } = plan.definition;
  const candidates = sentCandidates(plan, body, violations);
  if (candidates instanceof IdList) return { ids: candidates.ids, places: candidates.places, duplicates: [] };
  const key = plan.candidateType.key;
  const ids: string[] = [];
  const duplicates: string[] = [];
  const seen = new Set<string>();
  /** The candidates without duplicates; undefined while there are none. */
  let kept: JsonValue[] | undefined;
  let carriesMore = false;
  let unknownBefore = 0;
  let read = 0;
  for (let i = 0; i < candidates.length; i++) {
    if (read >= PIECE || unknown.total - unknownBefore > MANY_UNKNOWN) {
      unknownBefore = unknown.total;
      read = 0;
      yield;
    }
    const candidate = candidates[i];
    if (!isJsonObject(candidate)) {
      read += MORE;
      violations.add(`/candidates/${i}`, 'wrong_type', noObject(key, candidate));
      continue;
    }
    const isBare = hasOnly(candidate, key) && idProblem(candidate[key]) === undefined;
    read += isBare ? 1 : MORE;
    const id = isBare
      ? idText(candidate[key])
      : readKey(candidate, plan.candidateType, `/candidates/${i}/${key}`, violations);
    if (id === undefined) ids.push('');
    else if (seen.has(id)) {
      if (request.duplicates === 'refuse')
        violations.add(
          `/candidates/${i}/${key}`,
          'duplicate_id',
          'this candidate is already in the list, and the pipeline rejects duplicates',
        );
      kept ??= candidates.slice(0, i);
      duplicates.push(id);
    } else {
      seen.add(id);
      ids.push(id);
      kept?.push(candidate);
    }
    if (isBare) continue;
    const more = checkCarried(candidate, plan.candidateType, request.candidates, plan.entities, {
      pointer: `/candidates/${i}`,
      field: 'candidates',
      violations,
      unknown,
    });
    if (more) carriesMore = true;
  }
  if (carriesMore) carried.set(candidateType.value, (kept ?? candidates) as CarriedRows);
  return { ids, duplicates };
}

/** @returns an `IdList` only if each id is one of a candidate; no candidates after a violation */
function sentCandidates(plan: Plan, body: JsonObject, violations: Violations): IdList | readonly JsonValue[] {
  const { key } = plan.candidateType;
  const most = plan.definition.limits.candidates;
  const sent: unknown = own(body, 'candidates');
  const isIdList = sent instanceof IdList;
  if (isIdList && sent.isDistinct && sent.key === key && sent.ids.length <= most) return sent;
  const list = isIdList ? sent.objects() : sent;
  if (!Array.isArray(list)) {
    const found = list === undefined ? 'it is missing' : `found ${describe(list)}`;
    violations.add(
      '/candidates',
      'wrong_type',
      `expected a list of candidates such as [{"${key}":"…"}]; ${found}`,
    );
    return [];
  }
  if (list.length <= most) return list as readonly JsonValue[];
  violations.add('/candidates', 'too_many', `${list.length} candidates; this pipeline takes at most ${most}`);
  return [];
}

/** Whether an object has this property alone. It costs less than a list of its names. */
function hasOnly(object: JsonObject, key: string): boolean {
  for (const name in object) if (name !== key) return false;
  return Object.hasOwn(object, key);
}

/** Reads the entity to score, which is named after its type. */
function readScored(
  plan: Plan,
  body: JsonObject,
  carried: Map<string, CarriedRows>,
  unknown: UnknownFields,
  violations: Violations,
): string[] {
  const { candidateType: type, definition } = plan;
  const value = own(body, type.name) ?? undefined;
  if (value === undefined) {
    violations.add(`/${type.name}`, 'missing', `expected ${type.name}, but it is missing`);
    return [];
  }
  const where = { pointer: `/${type.name}`, field: type.name, violations, unknown };
  const id = readEntity(
    plan,
    value,
    { entity: type, declared: definition.request.candidates },
    where,
    carried,
  );
  return id === undefined ? [] : [id];
}

/** Reads the other entities and the scalars of the body. */
function readFields(
  plan: Plan,
  body: JsonObject,
  carried: Map<string, CarriedRows>,
  unknown: UnknownFields,
  violations: Violations,
): Map<string, string> {
  const ids = new Map<string, string>();
  const { fields } = plan.definition.request;
  for (const field of fields.values()) {
    const value = own(body, field.name) ?? undefined;
    const pointer = `/${field.name}`;
    if (value === undefined) {
      if (!field.optional && !isSpelt(body, field))
        violations.add(pointer, 'missing', `expected ${field.name}, but it is missing`);
      continue;
    }
    if (field.kind === 'scalar') continue; // an attribute of the request itself; see readScalars
    const entity = plan.entities.get(field.entity);
    if (entity === undefined) continue;
    const where = { pointer, field: field.name, violations, unknown };
    const id = readEntity(plan, value, { entity, declared: NONE }, where, carried);
    if (id !== undefined) ids.set(field.name, id);
  }
  readScalars(plan, body, carried, unknown, violations);
  return ids;
}

/** Whether a reference is given in its other spelling. */
function isSpelt(body: JsonObject, field: RequestField): boolean {
  if (field.kind !== 'scalar' || field.type.kind !== 'ref') return false;
  return (own(body, `${field.name}_id`) ?? undefined) !== undefined;
}

interface ExpectedEntity {
  readonly entity: EntityType;
  /** Attributes that the pipeline declares beside those of the type. */
  readonly declared: ReadonlyMap<string, AttributeDefinition>;
}

const NONE: ExpectedEntity['declared'] = new Map();

/** Reads an entity of the body and its carried attributes. @returns its id, if it is valid */
function readEntity(
  plan: Plan,
  value: JsonValue,
  { entity, declared }: ExpectedEntity,
  where: CarriedPlace,
  carried: Map<string, CarriedRows>,
): string | undefined {
  const { pointer, field, violations } = where;
  if (!isJsonObject(value)) {
    violations.add(pointer, 'wrong_type', noObject(entity.key, value));
    return undefined;
  }
  const given = own(value, entity.key);
  // An empty query is valid and means browsing. It does not identify an entity of the index.
  const id =
    given === '' && entity.key === 'query'
      ? ''
      : readKey(value, entity, `${pointer}/${entity.key}`, violations);
  if (checkCarried(value, entity, declared, plan.entities, where)) carried.set(field, [value]);
  return id === undefined ? undefined : storedId(entity, id);
}

/** Reads the scalars, which are attributes of the request itself. */
function readScalars(
  plan: Plan,
  body: JsonObject,
  carried: Map<string, CarriedRows>,
  unknown: UnknownFields,
  violations: Violations,
): void {
  const { fields } = plan.definition.request;
  const request = plan.entities.get('request');
  const { task, candidateType } = plan.definition;
  const isOwn = (name: string): boolean =>
    task === 'rank'
      ? RANKING_FIELDS.includes(name)
      : BODY_FIELDS.includes(name) || name === candidateType.value;
  let rest: Record<string, JsonValue> | undefined;
  for (const name of Object.keys(body)) {
    if (isOwn(name) || fields.get(name)?.kind === 'entity') continue;
    rest ??= Object.create(null) as Record<string, JsonValue>;
    rest[name] = body[name] as JsonValue;
  }
  if (request === undefined || rest === undefined) return;
  const declared = new Map(
    [...fields.values()].flatMap((field) => (field.kind === 'scalar' ? [[field.name, field] as const] : [])),
  );
  const where = { pointer: '', field: '', violations, unknown };
  if (checkCarried(rest, request, declared, plan.entities, where)) carried.set('request', [rest]);
}

/**
 * @param sent number of candidates in the body including duplicates, because a client pages over the list that it sent
 */
function readPaging(plan: Plan, body: JsonObject, sent: number, violations: Violations): Paging {
  const { definition } = plan;
  const number = (field: PageField, otherwise: number, least = PAGE_FIELDS[field].least): number => {
    const value = own(body, field) ?? undefined;
    if (value === undefined) return otherwise;
    const most = PAGE_FIELDS[field].most(definition);
    if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
    violations.add(
      `/${field}`,
      'out_of_range',
      `expected a whole number from ${least} to ${most}, found ${describe(value)}`,
    );
    return otherwise;
  };
  const userPage = number('user_page', 0);
  const size = number('user_page_size', definition.page.size);
  const candidatePage = number('candidate_page', 0);
  // No candidates give an empty answer, so their page size may be 0.
  const candidatePageSize = number('candidate_page_size', sent, sent === 0 ? undefined : 1);
  const statesBoth = [own(body, 'user_page_size'), own(body, 'candidate_page_size')].every(
    (size) => typeof size === 'number',
  );
  if (sent > 0 && statesBoth && size > candidatePageSize) {
    violations.add(
      '/user_page_size',
      'out_of_range',
      `expected at most candidate_page_size, which is ${candidatePageSize}, found ${describe(size)}`,
    );
  }
  // `candidates` is already one page of a longer list.
  const start = userPage * size - candidatePage * candidatePageSize;
  if (sent > 0 && start + size <= 0) {
    violations.add(
      '/user_page',
      'before_candidates',
      `page ${userPage} lies wholly before the candidates of candidate page ${candidatePage}`,
    );
  }
  return { start, size };
}
