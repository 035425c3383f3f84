import { isKnown } from '../../../ground/api/status.js';
import type { JsonObject, JsonValue, ValueType } from '../../../ground/api/types.js';
import type { EntityType } from '../../../project/config/model/entities.js';
import type { PipelineDefinition } from '../../../project/config/model/pipelines.js';
import type { Cells } from '../../../state/ledger/cells.js';
import { PLACE } from '../../compile/check-component.js';
import type { DecodedRecord } from '../../../state/ledger/record-decoder.js';

/** A request, read from its ranking record. */
export interface LoggedRequest {
  readonly requestId: string;
  /** When the request came, in epoch milliseconds. */
  readonly time: number;
  /** What the pipeline can be run with again. It asks for the first page. */
  readonly body: JsonObject & { readonly candidates: readonly JsonObject[] };
  /** In the order sent. */
  readonly candidates: readonly LoggedCandidate[];
  /** What the request may have held, and the record does not. Empty if the body is that of the request. */
  readonly lacks: readonly string[];
}

interface LoggedCandidate {
  readonly id: string;
  /** 1-based; 0 if it was removed. */
  readonly place: number;
  readonly onPage: boolean;
}

type RequestSchema = Pick<PipelineDefinition, 'name' | 'candidateType' | 'request' | 'retrieve'>;

/**
 * Reads from a record what a request to a pipeline held. The pipeline need not be the one that was logged, but it is asked
 * the same: a field that it does not declare is left out.
 * @returns undefined for a record of another kind, of a request that failed, or without candidates
 */
export function loggedRequest(
  record: DecodedRecord,
  { candidateType, request, retrieve }: RequestSchema,
  entities: ReadonlyMap<string, EntityType>,
): LoggedRequest | undefined {
  if (record.kind !== 'ranking' || textOf(record.field('status')) !== 'ok') return undefined;
  const ids = record.field('candidate_id');
  if (ids === undefined || ids.length === 0) return undefined;
  const type = candidateType.value;
  const lacks = new Set<string>();
  const body: Record<string, JsonValue> = {};
  putEntities(record, request, entities, body, lacks);
  for (const field of request.fields.values()) {
    if (field.kind !== 'scalar') continue;
    const value = carriedValue(record.value(`request.${field.name}`), 0, field.type);
    if (value === undefined) lacks.add(field.name);
    else if (value !== null) body[field.name] = value;
  }
  const [places, onPage] = [record.field('place'), record.field('on_page')];
  const carried = Array.from(request.candidates, ([name, { type: valueType }]) => ({
    name,
    valueType,
    cells: record.value(`${type}.${name}`),
  }));
  const key = keyOf(type, entities);
  const candidates: LoggedCandidate[] = [];
  const sent: JsonObject[] = [];
  for (let row = 0; row < ids.length; row++) {
    const id = String(ids.at(row));
    const candidate: Record<string, JsonValue> = { [key]: id };
    for (const { name, valueType, cells } of carried) {
      const value = carriedValue(cells, row, valueType);
      if (value === undefined) lacks.add(`${type}.${name}`);
      else if (value !== null) candidate[name] = value;
    }
    candidates.push({ id, place: numberOf(places, row), onPage: onPage?.at(row) === true });
    sent.push(candidate);
  }
  // A request that sends its candidates has no outputs of retrievers.
  for (const { as, use } of retrieve?.retrievers ?? []) {
    const { value: name } = as ?? use;
    const places = record.value(`${name}:${PLACE}`);
    const isAbsent = (row: number): boolean => places !== undefined && !isKnown(places.statusAt(row));
    if (!Array.from({ length: ids.length }, (_, row) => row).every(isAbsent)) lacks.add(name);
  }
  if (numberOf(record.field('sent'), 0) > candidates.length) lacks.add('candidates');
  if (hashedTypes(record).has(type)) lacks.add(type);
  return {
    requestId: textOf(record.field('request_id')) ?? '',
    time: numberOf(record.field('time'), 0),
    body: { ...body, candidates: sent },
    candidates,
    lacks: [...lacks].sort(),
  };
}

/** The pipeline that a record is of; undefined if it does not say. */
export function loggedPipeline({ schema }: DecodedRecord): string | undefined {
  const { pipeline } = schema.meta;
  return typeof pipeline === 'string' ? pipeline : undefined;
}

/** The record names entities by their types, in the order of the fields. */
function putEntities(
  record: DecodedRecord,
  { fields }: RequestSchema['request'],
  entities: ReadonlyMap<string, EntityType>,
  body: Record<string, JsonValue>,
  lacks: Set<string>,
): void {
  const ids = new Map<string, string[]>();
  const logged = record.field('entities')?.at(0);
  for (const text of Array.isArray(logged) ? (logged as readonly string[]) : []) {
    const at = text.indexOf('=');
    const type = text.slice(0, at);
    ids.set(type, [...(ids.get(type) ?? []), text.slice(at + 1)]);
  }
  const hashed = hashedTypes(record);
  const entityFields = [...fields.values()].flatMap((field) => (field.kind === 'entity' ? [field] : []));
  for (const { name, entity } of entityFields) {
    const known = ids.get(entity) ?? [];
    if (known.length === 0) continue;
    const sameType = entityFields.filter((other) => other.entity === entity).length;
    // With fewer ids than fields of the type, it is not known which field an id was in.
    const id = known.length < sameType ? undefined : known.splice(0, 1)[0];
    if (id === undefined || hashed.has(entity)) lacks.add(name);
    else body[name] = { [keyOf(entity, entities)]: id };
  }
}

function hashedTypes({ schema }: DecodedRecord): ReadonlySet<unknown> {
  const { log } = schema.meta;
  const hash = typeof log === 'object' && log !== null && 'hash' in log ? log.hash : undefined;
  return new Set(Array.isArray(hash) ? (hash as unknown[]) : []);
}

/** The value of a cell; null if it has none, undefined if it was not logged. */
function carriedValue(cells: Cells | undefined, row: number, { kind }: ValueType): JsonValue | undefined {
  if (cells === undefined) return undefined;
  if (!isKnown(cells.statusAt(row))) return null;
  const value = cells.at(row);
  // Records hold the booleans of a pipeline as numbers.
  return kind === 'bool' ? value === 1 || value === true : (value ?? null);
}

/** The field of a request's entity, or of its candidates, that holds the id. */
export function keyOf(type: string, entities: ReadonlyMap<string, EntityType>): string {
  return entities.get(type)?.key ?? `${type}_id`;
}

function textOf(cells: Cells | undefined): string | undefined {
  const value = cells?.at(0);
  return typeof value === 'string' ? value : undefined;
}

function numberOf(cells: Cells | undefined, row: number): number {
  const value = cells?.at(row);
  return typeof value === 'number' ? value : 0;
}
