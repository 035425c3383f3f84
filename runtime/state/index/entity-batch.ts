import { storedId, type IdRule } from '../../ground/core/entity-id.js';
import type { JsonObject } from '../../ground/api/types.js';
import type { Pieces } from '../../ground/core/pieces.js';
import type { EntityType } from '../../project/config/model/entities.js';
import { encodeEntity } from '../store/codec/entity-record.js';
import { entityKey } from '../store/keys.js';
import { idProblem, idText } from '../../ground/core/ids.js';
import type { LaxBody } from '../../ground/core/lax-value.js';
import { JsonList, type BodyList } from '../../ground/core/json-list.js';
import type { RecordLayout } from '../store/codec/record-layout.js';
import type { StoreRecord } from '../store/store.js';
import { describe, isJsonObject, own, showOf } from '../../ground/core/value-fit.js';
import { checkAttributes } from './check-attributes.js';
import { pointerTo, shownName, type Violations } from '../../ground/core/violations.js';

/** An entity that is encoded for the store. */
export interface PackedEntity extends StoreRecord {
  readonly id: string;
}

/** What the entities of a batch have in common. */
export interface BatchType {
  readonly layout: RecordLayout;
  /** Start of every store key. */
  readonly prefix: string;
  readonly name: string;
  /** The field that holds the id. */
  readonly keyField: string;
  readonly attributes: EntityType['attributes'];
  readonly rule?: IdRule;
  /** Whether of entities with the same id only the last one is kept. */
  readonly isLastOnly: boolean;
  /** Converts the values of the entities; undefined if they are only checked. */
  readonly lax?: LaxBody | undefined;
}

/**
 * Checks entities of one type and encodes them. An upload may hold 12 MB of entities. Each is encoded before the next one is
 * read, so that the parsed entities of a large body need little memory.
 * @param pointer JSON pointer of the list in the body
 * @returns invalid if anything was added to `violations`
 */
export function* packEntities(
  entities: BodyList,
  { layout, prefix, name, keyField, attributes, rule, isLastOnly, lax }: BatchType,
  pointer: string,
  violations: Violations,
): Pieces<readonly PackedEntity[]> {
  const packed = new Map<string | number, PackedEntity>();
  const start = entityKey(prefix, name, '');
  let i = -1;
  const type = { key: keyField, attributes };
  for (const given of entities) {
    i++;
    const pause = entities instanceof JsonList ? entities.pause : undefined;
    yield pause;
    const at = pointerTo(pointer, i);
    if (!isJsonObject(given)) {
      violations.add(at, 'wrong_type', `expected an entity, found ${describe(given)}`);
      continue;
    }
    const entity = lax === undefined ? given : ((yield* lax.entity(given, type, '')) as JsonObject);
    const sent = own(entity, keyField);
    const problem = idProblem(sent);
    const idSent = idText(sent);
    const id = idSent === undefined ? undefined : storedId(rule, idSent);
    if (sent === undefined) violations.add(at, 'missing_id', `the entity has no ${shownName(keyField)}`);
    else if (id === undefined || problem !== undefined) {
      const detail = `${shownName(keyField)}: ${problem ?? ''}, found ${showOf(attributes.get(keyField))(sent)}`;
      violations.add(pointerTo(at, keyField), 'invalid_id', detail);
    }
    checkAttributes(entity, layout, at, violations, attributes);
    if (violations.count > 0 || id === undefined) {
      packed.clear();
      continue;
    }
    yield pause;
    packed.set(isLastOnly ? id : i, {
      id,
      key: start + id,
      value: encodeEntity(layout, id === idSent ? entity : { ...entity, [keyField]: id }, id),
    });
  }
  return [...packed.values()];
}
