import { eachPiece, type Pieces } from '../api/pieces.js';
import type { JsonObject } from '../api/types.js';
import { encodeEntity } from '../store/entity-record.js';
import { entityKey, idProblem } from '../store/keys.js';
import type { Layout } from '../store/layout.js';
import type { StoreRecord } from '../store/store.js';
import { describe, isJsonObject, own } from '../store/value-fit.js';
import { checkAttributes } from './check-attributes.js';
import { pointerTo, shownName, type Violations } from '../api/violations.js';

/** Entities that were checked, with their ids in the same order. */
export interface EntityBatch {
  readonly ids: readonly string[];
  readonly entities: readonly JsonObject[];
}

/**
 * Checks entities of one type; an upload may hold 12 MB of them.
 * @param keyField the field that holds the id
 * @param pointer where the list is in the body
 * @returns the batch; of no use if anything was added to `violations`
 */
export function* checkEntities(
  entities: readonly unknown[],
  keyField: string,
  layout: Layout,
  pointer: string,
  violations: Violations,
): Pieces<EntityBatch> {
  const firstAt = new Map<string, number>();
  const checked: JsonObject[] = [];
  for (const [i, entity] of entities.entries()) {
    yield;
    const at = pointerTo(pointer, i);
    if (!isJsonObject(entity)) {
      violations.add(at, 'wrong_type', `expected an entity, found ${describe(entity)}`);
      continue;
    }
    const id = own(entity, keyField);
    const problem = idProblem(id);
    if (id === undefined) violations.add(at, 'missing_id', `the entity has no ${shownName(keyField)}`);
    else if (typeof id !== 'string' || problem !== undefined) {
      violations.add(
        pointerTo(at, keyField),
        'invalid_id',
        `${shownName(keyField)}: ${problem ?? 'an id is a text'}, found ${describe(id)}`,
      );
    } else {
      const first = firstAt.get(id);
      if (first === undefined) firstAt.set(id, i);
      else {
        violations.add(
          pointerTo(at, keyField),
          'duplicate_id',
          `${shownName(keyField)} ${describe(id)} is also the id of ${pointerTo(pointer, first)}`,
        );
      }
    }
    checkAttributes(entity, layout, at, violations);
    checked.push(entity);
  }
  return { ids: [...firstAt.keys()], entities: checked };
}

/** Packs a batch for the store. */
export function encodeEntities(
  { entities, ids }: EntityBatch,
  layout: Layout,
  prefix: string,
  type: string,
): Pieces<StoreRecord[]> {
  const start = entityKey(prefix, type, '');
  return eachPiece(entities, (entity, i) => {
    const id = ids[i] ?? '';
    return { key: start + id, value: encodeEntity(layout, entity, id) };
  });
}
