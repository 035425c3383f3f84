import type { Column } from '../../../ground/api/columns.js';
import { Status } from '../../../ground/api/status.js';
import type { JsonValue, ValueType } from '../../../ground/api/types.js';
import { writeJson, writeMissing } from '../../../language/frame/cells.js';
import { fits, isJsonList, isJsonObject, own } from '../../../ground/core/value-fit.js';

/** A column that a plan reads from a record. */
export interface WantedColumn {
  /** The attribute or feature, followed by fields of inline records. */
  readonly path: readonly string[];
  /** Type of the last field of the path. */
  readonly type: ValueType;
  /** Whether the path goes through a list of records, which makes it a list column. */
  readonly list: boolean;
}

/**
 * Writes the cell of a wanted column from the JSON value of the attribute. This is the slow path, for inline records
 * and for values that were stored with another type. A value that does not fit the wanted type makes the cell failed.
 * @param value undefined if the entity does not carry the attribute
 * @param absent the status of a cell without a value
 */
export function writeFromJson(
  column: Column,
  row: number,
  value: JsonValue | undefined,
  want: WantedColumn,
  absent: number,
): void {
  if (want.list) {
    writeElements(column, row, value, want, absent);
    return;
  }
  let leaf = value;
  for (let i = 1; i < want.path.length && leaf !== undefined && leaf !== null; i++) {
    if (!isJsonObject(leaf)) {
      writeMissing(column, row, Status.failed);
      return;
    }
    leaf = carried(leaf, want.path[i] ?? '', i === want.path.length - 1 ? want.type : undefined);
  }
  if (leaf === undefined || leaf === null) writeMissing(column, row, leaf === null ? Status.null : absent);
  else if (fits(leaf, want.type)) writeJson(column, row, leaf);
  else writeMissing(column, row, Status.failed);
}

/**
 * Writes one element for each record of the list, so columns of the same list are aligned; NaN or '' for unknown
 * values.
 */
function writeElements(
  column: Column,
  row: number,
  value: JsonValue | undefined,
  want: WantedColumn,
  absent: number,
): void {
  const leaves: JsonValue[] = [];
  const found = value === undefined ? absent : value === null ? Status.null : gather(value, 1, want, leaves);
  if (found === Status.present) writeJson(column, row, leaves);
  else writeMissing(column, row, found);
}

/**
 * Collects the leaves below a value; null for each unknown leaf.
 * @returns present, failed, or the reason why there is no list
 */
function gather(value: JsonValue, step: number, want: WantedColumn, leaves: JsonValue[]): number {
  if (step < want.path.length) {
    if (isJsonList(value)) {
      for (const element of value) {
        const before = leaves.length;
        const found = element === null ? Status.absent : gather(element, step, want, leaves);
        if (found === Status.failed) return found;
        if (found !== Status.present && leaves.length === before) leaves.push(null);
      }
      return Status.present;
    }
    if (!isJsonObject(value)) return Status.failed;
    const last = step === want.path.length - 1;
    const next = carried(value, want.path[step] ?? '', last ? want.type : undefined);
    if (next === undefined || next === null) return next === null ? Status.null : Status.absent;
    return gather(next, step + 1, want, leaves);
  }
  if (!fits(value, want.type)) return Status.failed;
  if (isJsonList(value)) for (const text of value) leaves.push(text);
  else leaves.push(value);
  return Status.present;
}

/** A field of an inline record; a reference may have either spelling. */
function carried(
  object: { readonly [name: string]: JsonValue },
  name: string,
  type: ValueType | undefined,
): JsonValue | undefined {
  const value = own(object, name);
  if (type?.kind !== 'ref' || (value !== undefined && value !== null)) return value;
  return own(object, `${name}_id`) ?? value;
}
