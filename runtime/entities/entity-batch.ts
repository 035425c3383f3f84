import { setImmediate } from 'node:timers/promises';
import type { JsonObject } from '../api/types.js';
import { encodeEntity } from '../store/entity-record.js';
import { entityKey, idProblem, idText } from '../store/keys.js';
import type { Layout } from '../store/layout.js';
import type { StoreRecord } from '../store/store.js';
import { describe, isJsonObject, own } from '../store/value-fit.js';
import { checkAttributes } from './check-attributes.js';
import { pointerTo, shownName, type Violations } from '../api/violations.js';

/** Entities that were checked, with their ids in the same order; each id once. */
export interface EntityBatch {
  readonly ids: readonly string[];
  readonly entities: readonly JsonObject[];
  /** Entities that were left out, since a later one has the same id. */
  readonly duplicates: number;
}

/**
 * Checks entities of one type.
 * @param keyField the field that holds the id
 * @param pointer where the list is in the body
 * @returns the batch; of no use if anything was added to `violations`
 */
export function checkEntities(
  entities: readonly unknown[],
  keyField: string,
  layout: Layout,
  pointer: string,
  violations: Violations,
): EntityBatch {
  const byId = new Map<string, JsonObject>();
  let duplicates = 0;
  entities.forEach((entity, i) => {
    const at = pointerTo(pointer, i);
    if (!isJsonObject(entity)) {
      violations.add(at, 'wrong_type', `expected an entity, found ${describe(entity)}`);
      return;
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
  });
  return { ids: [...byId.keys()], entities: [...byId.values()], duplicates };
}

/** Bytes that are packed before others get their turn: some milliseconds of work, where an upload may hold 12 MB. */
const TURN_BYTES = 256 * 1024;

/** Packs a batch for the store, with breaks in which requests are answered. */
export async function encodeEntities(
  batch: EntityBatch,
  layout: Layout,
  prefix: string,
  type: string,
): Promise<StoreRecord[]> {
  const start = entityKey(prefix, type, '');
  const records: StoreRecord[] = [];
  let bytes = 0;
  for (const [i, entity] of batch.entities.entries()) {
    const id = batch.ids[i] ?? '';
    const value = encodeEntity(layout, entity, id);
    records.push({ key: start + id, value });
    bytes += value.length;
    if (bytes < TURN_BYTES) continue;
    bytes = 0;
    await setImmediate();
  }
  return records;
}
