import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import type { RowReader } from './foreign-event.js';
import type { EntitySource } from './mapping.js';
import { readId, valueAt } from './read-values.js';
import { fieldName } from './request-fields.js';

const MOST_DEPTH = 3;

/**
 * Reads rows that hold one entity each. All columns but the id are attributes: `unitPrice` becomes `unit_price`, and the
 * keys of a nested object become attributes too, such as `size_width`.
 */
export function entityReader(source: EntitySource): RowReader {
  const [[type, path] = ['', '']] = Object.entries(source.map);
  return {
    read(row, output) {
      const id = readId(valueAt(row, path), path, output);
      if (id === undefined) return;
      const values = new Map<string, JsonValue>();
      addAttributes(row, '', path, values, MOST_DEPTH);
      output.event({ is: 'entity', type, id, time: NaN, values: Object.fromEntries(values) });
    },
  };
}

/** Of two columns that get the same name, the first one counts. */
function addAttributes(
  object: JsonObject,
  prefix: string,
  idPath: string,
  values: Map<string, JsonValue>,
  depth: number,
): void {
  for (const [key, value] of Object.entries(object)) {
    const path = prefix + key;
    if (path === idPath) continue;
    const name = fieldName(path);
    if (name !== undefined && !values.has(name)) values.set(name, value);
    if (typeof value === 'object' && value !== null && !Array.isArray(value) && depth > 0)
      addAttributes(value as JsonObject, `${path}.`, idPath, values, depth - 1);
  }
}
