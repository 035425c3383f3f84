import type { Column } from '../api/columns.js';
import { Status } from '../api/status.js';
import type { JsonValue, ValueType } from '../api/types.js';
import { writeJson, writeMissing } from '../frame/cells.js';
import { misfit } from '../store/value-fit.js';
import { asNumber, decodeValue, FIELDS, readerOf, type FeastData, type FeastValue } from './feast-value.js';

/**
 * Writes one value of Feast's into a cell. No bytes, null and NaN are null: Feast writes the first, and pandas the last,
 * for a value that is not there. What does not fit the feature's type, and damaged bytes, are failed.
 */
export function writeCell(column: Column, row: number, bytes: Uint8Array, type: ValueType): void {
  if (bytes.length === 0) {
    writeMissing(column, row, Status.null);
    return;
  }
  try {
    if (column.kind === 'number') writeNumber(column, row, bytes, type);
    else writeOther(column, row, decodeValue(bytes), type);
  } catch {
    writeMissing(column, row, Status.failed);
  }
}

/** The last field of the oneof counts; its number, of which the value is. */
function writeNumber(
  column: Extract<Column, { kind: 'number' }>,
  row: number,
  bytes: Uint8Array,
  type: ValueType,
): void {
  const reader = readerOf(bytes);
  let field = 0;
  let value = NaN;
  while (reader.pos < bytes.length) {
    const tag = reader.uint32();
    field = tag >>> 3;
    switch (field) {
      case FIELDS.int32_val[0]:
        value = reader.int32();
        break;
      case FIELDS.int64_val[0]:
        value = asNumber(reader.int64());
        break;
      case FIELDS.double_val[0]:
        value = reader.double();
        break;
      case FIELDS.float_val[0]:
        value = reader.float();
        break;
      case FIELDS.bool_val[0]:
        value = reader.bool() ? 1 : 0;
        break;
      case FIELDS.unix_timestamp_val[0]:
        value = asNumber(reader.int64()) * 1000;
        break;
      default:
        reader.skipType(tag & 7);
    }
  }
  const isNull = field === FIELDS.null_val[0] || (Number.isNaN(value) && isNumberField(field));
  if (isNull) writeMissing(column, row, Status.null);
  else if (!fitsNumber(field, value, type)) writeMissing(column, row, Status.failed);
  else {
    column.values[row] = value;
    column.status[row] = Status.present;
  }
}

function isNumberField(field: number): boolean {
  return field >= FIELDS.int32_val[0] && field <= FIELDS.float_val[0];
}

function fitsNumber(field: number, value: number, type: ValueType): boolean {
  switch (type.kind) {
    case 'int':
      return field <= FIELDS.int64_val[0] && isNumberField(field) && Number.isSafeInteger(value);
    case 'float':
      return isNumberField(field) && Number.isFinite(value);
    case 'bool':
      return field === FIELDS.bool_val[0];
    case 'timestamp':
      return field === FIELDS.unix_timestamp_val[0] && misfit(value, type) === undefined;
    default:
      return false;
  }
}

/** Texts, lists of texts and vectors. */
function writeOther(column: Column, row: number, value: FeastValue, type: ValueType): void {
  const json = jsonOf(value, type);
  if (json === undefined || misfit(json, type) !== undefined) writeMissing(column, row, Status.failed);
  else writeJson(column, row, json);
}

/** The value as an upload would carry it, or undefined where the type can have no such value. */
function jsonOf({ type: from, value }: FeastValue, type: ValueType): JsonValue | undefined {
  if (value === null) return null;
  switch (type.kind) {
    case 'string':
      return typeof value === 'string' ? value : undefined;
    case 'ref':
      return idOf(value);
    case 'list':
      return Array.isArray(value)
        ? (value as readonly FeastData[]).map((one) => idOf(one) ?? null)
        : undefined;
    case 'vector':
      return Array.isArray(value) && from !== 'unix_timestamp_list_val'
        ? (value as readonly FeastData[]).map((one) =>
            typeof one === 'bigint' ? Number(one) : (one as JsonValue),
          )
        : undefined;
    default:
      return undefined;
  }
}

/** Ids are texts here and often numbers in Feast. */
function idOf(value: FeastData): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'bigint' || typeof value === 'number' ? String(value) : undefined;
}
