import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import type { EntityType } from '../config/model/entities.js';
import { cellValue } from '../../ground/core/cell-value.js';
import type { ForeignEntity } from './foreign-event.js';
import { isMissing } from './read-values.js';

/** The entity as the index takes it: texts become what the project declares for their attributes. */
export function fittedEntity(
  { id, values }: Pick<ForeignEntity, 'id' | 'values'>,
  { attributes, key }: EntityType,
): JsonObject {
  const own: [string, JsonValue][] = [];
  for (const [name, value] of Object.entries(values)) {
    const type = attributes.get(name)?.type;
    if (isMissing(value)) continue;
    if (typeof value === 'string') own.push([name, cellValue(value, type)]);
    else own.push([name, type?.kind === 'string' && typeof value !== 'object' ? String(value) : value]);
  }
  return { ...Object.fromEntries(own), [key]: id };
}
