import { eachPiece, type Pieces } from '../core/pieces.js';
import type { JsonObject } from '../api/types.js';
import { encodeEntity } from '../store/codec/entity-record.js';
import { entityKey } from '../store/keys.js';
import { idProblem, idText } from '../core/ids.js';
import type { RecordLayout } from '../store/codec/record-layout.js';
import type { StoreRecord } from '../store/store.js';
import { describe, isJsonObject, own } from '../core/value-fit.js';
import { checkAttributes } from './check-attributes.js';
import { pointerTo, shownName, type Violations } from '../core/violations.js';

/** Checked entities and their ids, in the same order; each id occurs once. */
export interface EntityBatch {
  readonly ids: readonly string[];
  readonly entities: readonly JsonObject[];
  /** Entities that were dropped because a later one has the same id. */
  readonly duplicates: number;
}

/**
 * Checks entities of one type. It yields, because an upload may hold 12 MB of entities.
 * @param keyField the field that holds the id
 * @param pointer JSON pointer of the list in the body
 * @returns the batch; invalid if anything was added to `violations`
 */
export function* checkEntities(
  entities: readonly unknown[],
  keyField: string,
  layout: RecordLayout,
  pointer: string,
  violations: Violations,
): Pieces<EntityBatch> {
  const byId = new Map<string, JsonObject>();
  let duplicates = 0;
  for (const [i, entity] of entities.entries()) {
    yield;
    const at = pointerTo(pointer, i);
    if (!isJsonObject(entity)) {
      violations.add(at, 'wrong_type', `expected an entity, found ${describe(entity)}`);
      continue;
    }
    const sent = own(entity, keyField);
    const problem = idProblem(sent);
    const id = idText(sent);
    if (sent === undefined) violations.add(at, 'missing_id', `the entity has no ${shownName(keyField)}`);
    else if (id === undefined || problem !== undefined) {
      const detail = `${shownName(keyField)}: ${problem ?? ''}, found ${describe(sent)}`;
      violations.add(pointerTo(at, keyField), 'invalid_id', detail);
    } else {
      if (byId.has(id)) duplicates++;
      byId.set(id, entity);
    }
    checkAttributes(entity, layout, at, violations);
  }
  return { ids: [...byId.keys()], entities: [...byId.values()], duplicates };
}

/** Encodes a batch as store records. */
export function encodeEntities(
  { entities, ids }: EntityBatch,
  layout: RecordLayout,
  prefix: string,
  type: string,
): Pieces<StoreRecord[]> {
  const start = entityKey(prefix, type, '');
  return eachPiece(entities, (entity, i) => {
    const id = ids[i] ?? '';
    return { key: start + id, value: encodeEntity(layout, entity, id) };
  });
}
