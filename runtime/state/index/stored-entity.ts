import { MillraceError } from '../../ground/api/errors.js';
import type { JsonObject } from '../../ground/api/types.js';
import { own } from '../../ground/core/value-fit.js';
import { decodeEntity, layoutIdOf } from '../store/codec/entity-record.js';
import type { LayoutRegistry } from '../store/layout-registry.js';

/** What an entity type is called, and the field that holds the ids of its entities. */
export interface EntityForm {
  readonly name: string;
  readonly key: string;
}

/** Loads the unknown layouts of entity records. @throws MillraceError store_unavailable */
export async function resolveLayouts(
  layouts: LayoutRegistry,
  records: readonly (Buffer | null)[],
): Promise<void> {
  const unknown = new Set<string>();
  for (const record of records) {
    const hex = record === null ? undefined : layoutIdOf(record);
    if (hex !== undefined && layouts.get(hex) === undefined) unknown.add(hex);
  }
  if (unknown.size > 0) await layouts.resolve(unknown);
}

/**
 * Decodes an entity as it was uploaded, with the key of its type. An entity uploaded with an `entity_key` has no value
 * under the key of its type, unless the upload contained one.
 * @throws MillraceError record_unreadable; the id is an extension and not in the message, because messages are logged
 */
export function readEntity(
  record: Buffer,
  layouts: LayoutRegistry,
  { name: type, key }: EntityForm,
  id: string,
): JsonObject {
  const hex = layoutIdOf(record) ?? '';
  const layout = layouts.get(hex);
  if (layout === undefined) {
    const detail = `this ${type} is stored with layout ${hex}, but the store does not have that layout`;
    throw new MillraceError('record_unreadable', detail, {
      extensions: { entity_type: type, entity_id: id },
    });
  }
  try {
    const entity = decodeEntity(record, layout, id);
    return own(entity, key) === undefined ? Object.assign(entity, { [key]: id }) : entity;
  } catch (error) {
    throw new MillraceError('record_unreadable', `the record of this ${type} is damaged`, {
      cause: error,
      extensions: { entity_type: type, entity_id: id },
    });
  }
}
