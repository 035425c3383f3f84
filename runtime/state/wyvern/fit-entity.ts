import { PLAIN_TYPES } from '../../project/config/project/parse-type.js';
import type { JsonObject, JsonValue, ValueType } from '../../ground/api/types.js';
import type { EntityType } from '../../project/config/model/entities.js';
import { cellValue } from '../../ground/core/cell-value.js';
import { misfit, showOf } from '../../ground/core/value-fit.js';
import type { RecordLayout } from '../store/codec/record-layout.js';

export interface FittedEntity {
  readonly entity: JsonObject;
  readonly isConverted: boolean;
  /** The attributes that are left out, with what is wrong. */
  readonly leftOut: readonly string[];
}

/** The types whose values the old service converted when it read an entity: `"12.5"` is a number where its class says so. */
const CONVERTED: ReadonlySet<ValueType['kind']> = new Set(PLAIN_TYPES);

/** Fits the declared attributes to their types: converts a value if that is exact, and leaves it out otherwise. */
export function fitEntity(
  entity: JsonObject,
  type: EntityType,
  { carried }: Pick<RecordLayout, 'carried'>,
): FittedEntity {
  const fitted: Record<string, JsonValue> = {};
  const leftOut: string[] = [];
  let isConverted = false;
  for (const [name, value] of Object.entries(entity)) {
    const declared = carried.get(name);
    const found =
      declared && name !== type.key
        ? misfit(value, declared.type, showOf(type.attributes.get(declared.name)))
        : undefined;
    if (declared === undefined || found === undefined) {
      fitted[name] = value;
      continue;
    }
    const converted =
      typeof value !== 'object' && CONVERTED.has(declared.type.kind)
        ? cellValue(String(value), declared.type)
        : value;
    if (misfit(converted, declared.type) === undefined) {
      fitted[name] = converted;
      isConverted = true;
    } else leftOut.push(`${name}: ${found.detail}`);
  }
  return { entity: isConverted || leftOut.length > 0 ? fitted : entity, isConverted, leftOut };
}
