import type { Column } from '../../../ground/api/columns.js';
import type { JsonObject, JsonValue } from '../../../ground/api/types.js';
import type { RecordLayout, StoredField } from './record-layout.js';
import { readField, State, stateOf } from './packed-body.js';
import { own } from '../../../ground/core/value-fit.js';
import { writeFromJson, type WantedColumn } from './wanted-column.js';

/** A column that is decoded from JSON: a path into inline records, or a field with another type or no type. */
export interface JsonStep {
  readonly column: number;
  readonly want: WantedColumn;
  /** The fields that may hold the attribute; if empty, only the tail can hold it. */
  readonly fields: readonly StoredField[];
  /** The names of the attribute in the tail. */
  readonly names: readonly string[];
}

/** Reads the tail of the record that has its body at `at` and ends at `end`. Features have no tail. */
export type TailReader = (record: Buffer, at: number, end: number, layout: RecordLayout) => JsonObject;

/**
 * Writes one row of the columns that are decoded from JSON.
 * @returns false if the bytes are damaged
 */
export function readJson(
  record: Buffer,
  at: number,
  end: number,
  layout: RecordLayout,
  steps: readonly JsonStep[],
  readTail: TailReader | undefined,
  columns: readonly Column[],
  row: number,
  absent: number,
): boolean {
  let tail: JsonObject | undefined;
  const tailOnce = (): JsonObject | undefined => (tail ??= readTail?.(record, at, end, layout));
  try {
    for (const step of steps) {
      const value = jsonValue(record, at, end, layout, step, tailOnce);
      writeFromJson(columns[step.column] as Column, row, value, step.want, absent);
    }
    return true;
  } catch (error) {
    // A length that points outside the record, or invalid JSON. Any other error is a bug.
    if (error instanceof RangeError || error instanceof SyntaxError) return false;
    throw error;
  }
}

/** The attribute as it was sent; undefined if the record does not contain it. */
function jsonValue(
  record: Buffer,
  at: number,
  end: number,
  layout: RecordLayout,
  { fields, names }: JsonStep,
  readTail: () => JsonObject | undefined,
): JsonValue | undefined {
  let isNull = false;
  let mayBeInTail = fields.length === 0;
  for (const field of fields) {
    const state = stateOf(record, at, field);
    if (state === State.present) return readField(record, at, end, layout, field);
    if (state === State.sent) mayBeInTail = true;
    if (state === State.null) isNull = true;
  }
  const tail = mayBeInTail ? readTail() : undefined;
  for (const name of tail === undefined ? [] : names) {
    const value = tail === undefined ? undefined : own(tail, name);
    if (value !== undefined && value !== null) return value;
    if (value === null) isNull = true;
  }
  return isNull ? null : undefined;
}

/** Finds the other places of an attribute: the other spelling of a reference, or the tail. */
export function jsonStep(layout: RecordLayout, want: WantedColumn, column: number): JsonStep {
  const name = want.path[0] ?? '';
  const names = want.path.length === 1 && want.type.kind === 'ref' ? [name, `${name}_id`] : [name];
  const spelt = name.endsWith('_id') ? layout.byName.get(name.slice(0, -3)) : undefined;
  const fields = names.map((candidate) => layout.byName.get(candidate));
  if (spelt?.alternative === name) fields.push(spelt);
  return { column, want, fields: fields.filter((field) => field !== undefined), names };
}
