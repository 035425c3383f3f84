import type { Column } from '../../ground/api/columns.js';
import { Status } from '../../ground/api/status.js';
import type { JsonValue, ValueType } from '../../ground/api/types.js';
import { writeJson, writeMissing } from '../../language/frame/cells.js';
import { misfit } from '../../ground/core/value-fit.js';
import { textOf, textsOf } from './value-text.js';
import { asNumber, decodeValue, FIELDS, readerOf, type FeastData, type FeastValue } from './feast-value.js';

/** High half of the smallest 64-bit integer. Feast stores that integer for a missing time (NaT in pandas). */
const LOWEST_HIGH = -(2 ** 31);

const NUMBERS = ['int32', 'int64', 'double', 'float'] as const;
const NUMBER_LISTS: ReadonlySet<FeastValue['type']> = new Set(NUMBERS.map((of) => `${of}_list_val` as const));
const NUMBER_SETS: ReadonlySet<FeastValue['type']> = new Set(NUMBERS.map((of) => `${of}_set_val` as const));

/**
 * Writes one value of Feast into a cell. Empty bytes, null, NaN and NaT are null: Feast and pandas write them for a
 * missing value. Damaged bytes, values that do not fit the feature's type and integers that a number cannot hold
 * exactly are failed.
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

/** If several fields of the oneof are present, the last one wins; `field` is its number. */
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
        value = seconds(reader.int64()) * 1000;
        break;
      default:
        reader.skipType(tag & 7);
    }
  }
  const mayBeNaN = isNumberField(field) || field === FIELDS.unix_timestamp_val[0];
  const isNull = field === FIELDS.null_val[0] || (mayBeNaN && Number.isNaN(value));
  if (isNull) writeMissing(column, row, Status.null);
  else if (!fitsNumber(field, value, type)) writeMissing(column, row, Status.failed);
  else {
    column.values[row] = value;
    column.status[row] = Status.present;
  }
}

/** The seconds of a time; NaN for NaT. */
function seconds(int64: { readonly high: number; readonly low: number }): number {
  return int64.high === LOWEST_HIGH && int64.low === 0 ? NaN : asNumber(int64);
}

function isNumberField(field: number): boolean {
  return field >= FIELDS.int32_val[0] && field <= FIELDS.float_val[0];
}

function isWhole(field: number): boolean {
  return field === FIELDS.int32_val[0] || field === FIELDS.int64_val[0];
}

function fitsNumber(field: number, value: number, type: ValueType): boolean {
  switch (type.kind) {
    case 'int':
      return isWhole(field) && Number.isSafeInteger(value);
    case 'float':
      // Above 2^53, a double cannot hold every 64-bit integer.
      return isNumberField(field) && (isWhole(field) ? Number.isSafeInteger(value) : Number.isFinite(value));
    case 'bool':
      return field === FIELDS.bool_val[0];
    case 'timestamp':
      return field === FIELDS.unix_timestamp_val[0] && misfit(value, type) === undefined;
    default:
      return false;
  }
}

/** Writes texts, lists of texts and vectors. */
function writeOther(column: Column, row: number, value: FeastValue, type: ValueType): void {
  const json = jsonOf(value, type);
  if (json === undefined || misfit(json, type) !== undefined) writeMissing(column, row, Status.failed);
  else writeJson(column, row, json);
}

/** The value as an upload would carry it; undefined if the feature type cannot have such a value. */
function jsonOf(feast: FeastValue, type: ValueType): JsonValue | undefined {
  const { type: from, value } = feast;
  if (from === 'other') return undefined;
  if (value === null) return null;
  switch (type.kind) {
    case 'string':
    case 'ref':
      return textOf(feast);
    case 'list':
      return type.of.kind !== 'float'
        ? textsOf(feast)
        : NUMBER_SETS.has(from)
          ? numbersIn(value)
          : numbersOf(feast);
    case 'vector':
      return numbersOf(feast);
    default:
      return undefined;
  }
}

/** Undefined if the value is no list of numbers. */
function numbersOf({ type, value }: FeastValue): JsonValue | undefined {
  return NUMBER_LISTS.has(type) ? numbersIn(value) : undefined;
}

const numbersIn = (value: FeastData): JsonValue => (value as readonly FeastData[]).map(elementOf);

/** Null for a 64-bit integer that a number cannot hold exactly; a vector with a null does not fit its type. */
function elementOf(value: FeastData): JsonValue {
  if (typeof value !== 'bigint') return value as JsonValue;
  return Number.isSafeInteger(Number(value)) ? Number(value) : null;
}
