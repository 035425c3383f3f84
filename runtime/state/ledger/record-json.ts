import { Status, statusName } from '../../ground/api/status.js';
import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import { MAX_TIME } from '../../ground/core/timestamp.js';
import type { CellValue, Cells } from './cells.js';
import type { DecodedRecord } from './record-decoder.js';
import type { RecordColumn, RowGroup } from './record-schema.js';

/**
 * A record as JSON. Fields stand in the record, in each of its `candidates` and in each of its `changes`; values of the
 * pipeline stand below `values`. What has no value is left out; if it has another status than `absent`, `statuses` has the
 * status by name. Times are ISO texts; a number that JSON cannot hold is null.
 */
export function recordJson(record: DecodedRecord): JsonObject {
  const { kind, instance, sequence, time, schema, rows } = record;
  const ofGroup = (group: RowGroup): readonly ReadColumn[] =>
    schema.columns.filter((column) => column.rows === group).flatMap((column) => readColumn(record, column));
  const list = (group: 'candidate' | 'change'): JsonObject[] => {
    const columns = ofGroup(group);
    return Array.from({ length: rows[group] }, (_, row) => rowJson(columns, row));
  };
  return {
    kind,
    instance,
    sequence,
    written: new Date(time).toISOString(),
    meta: schema.meta,
    ...rowJson(ofGroup('record'), 0),
    ...(kind === 'ranking' || rows.candidate > 0 ? { candidates: list('candidate') } : {}),
    ...(kind === 'ranking' || rows.change > 0 ? { changes: list('change') } : {}),
  };
}

interface ReadColumn {
  readonly column: RecordColumn;
  readonly cells: Cells;
}

function readColumn(record: DecodedRecord, column: RecordColumn): ReadColumn[] {
  const cells = column.is === 'field' ? record.field(column.name) : record.value(column.name);
  return cells === undefined ? [] : [{ column, cells }];
}

function rowJson(columns: readonly ReadColumn[], row: number): JsonObject {
  const fields: Record<string, JsonValue> = {};
  const values: Record<string, JsonValue> = {};
  const statuses: Record<string, string> = {};
  for (const { column, cells } of columns) {
    const { name, is } = column;
    const value = cells.at(row);
    const status = cells.statusAt(row);
    if (status !== Status.present && status !== Status.absent) statuses[name] = statusName(status);
    if (value !== undefined) (is === 'field' ? fields : values)[name] = jsonOf(value, cells);
  }
  return {
    ...fields,
    ...(Object.keys(values).length === 0 ? {} : { values }),
    ...(Object.keys(statuses).length === 0 ? {} : { statuses }),
  };
}

function jsonOf(value: NonNullable<CellValue>, { type }: Cells): JsonValue {
  if (typeof value === 'object') return [...value];
  if (typeof value !== 'number') return value;
  if (!Number.isFinite(value)) return null;
  return type === 'time' && Math.abs(value) <= MAX_TIME ? new Date(value).toISOString() : value;
}
