import type { Column, ColumnOf } from '../api/columns.js';
import { Status, statusAt } from '../api/status.js';
import type { JsonValue, ValueType } from '../api/types.js';
import { idText } from '../core/ids.js';
import { timestampOf } from '../core/timestamp.js';
import { reserveNumbers, widenVectors } from './frame.js';

/**
 * Writing single cells. A list column is written row after row, ascending, each row once or the latest row again:
 * its values follow one another.
 */

/** Marks a cell as not known, for the reason given. */
export function writeMissing(column: Column, row: number, status: number): void {
  column.status[row] = status;
  switch (column.kind) {
    case 'number':
      column.values[row] = NaN;
      break;
    case 'text':
      column.values[row] = '';
      break;
    case 'texts':
      column.values.length = column.offsets[row] ?? 0;
      column.offsets[row + 1] = column.values.length;
      break;
    case 'numbers':
      column.offsets[row + 1] = column.offsets[row] ?? 0;
      break;
    case 'vector':
      column.values.fill(NaN, row * column.size, (row + 1) * column.size);
      break;
  }
}

/**
 * Writes a JSON value that was checked against its type; null marks the cell null. In a list, what is null or
 * undefined is an element that is not known: NaN, or ''. A number in a column of texts is an id.
 */
export function writeJson(column: Column, row: number, value: JsonValue): void {
  if (value === null) {
    writeMissing(column, row, Status.null);
    return;
  }
  column.status[row] = Status.present;
  switch (column.kind) {
    case 'number':
      column.values[row] = jsonNumber(value);
      break;
    case 'text':
      column.values[row] = idText(value) ?? '';
      break;
    case 'texts': {
      column.values.length = column.offsets[row] ?? 0;
      for (const element of value as readonly JsonValue[]) column.values.push(idText(element) ?? '');
      column.offsets[row + 1] = column.values.length;
      break;
    }
    case 'numbers': {
      const elements = value as readonly JsonValue[];
      const start = column.offsets[row] ?? 0;
      reserveNumbers(column, start + elements.length);
      for (let i = 0; i < elements.length; i++) column.values[start + i] = jsonNumber(elements[i]);
      column.offsets[row + 1] = start + elements.length;
      break;
    }
    case 'vector':
      writeVector(column, row, value as readonly number[]);
      break;
  }
}

/** Elements that float32 cannot hold make the column one of float64: they are never rounded. */
function writeVector(column: ColumnOf<'vector'>, row: number, elements: readonly number[]): void {
  const start = row * column.size;
  let values = column.values;
  for (let i = 0; i < elements.length; i++) {
    const element = elements[i] as number;
    if (values instanceof Float32Array && Math.fround(element) !== element) values = widenVectors(column);
    values[start + i] = element;
  }
}

/** A number, a bool as 0 or 1, a time as epoch milliseconds; NaN for what is none of these. */
function jsonNumber(value: JsonValue | undefined): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'string' ? timestampOf(value) : NaN;
}

/** Copies a cell, status included; both columns have one kind. */
export function copyCell(from: Column, fromRow: number, to: Column, toRow: number): void {
  to.status[toRow] = statusAt(from.status, fromRow);
  if (from.kind === 'number' && to.kind === 'number') to.values[toRow] = from.values[fromRow] ?? NaN;
  else if (from.kind === 'text' && to.kind === 'text') to.values[toRow] = from.values[fromRow] ?? '';
  else if (from.kind === 'vector' && to.kind === 'vector') {
    const { size } = from;
    const values = from.values instanceof Float64Array ? widenVectors(to) : to.values;
    values.set(from.values.subarray(fromRow * size, (fromRow + 1) * size), toRow * size);
  } else if (from.kind === 'texts' && to.kind === 'texts') {
    to.values.length = to.offsets[toRow] ?? 0;
    appendCell(from, fromRow, to);
    to.offsets[toRow + 1] = to.values.length;
  } else if (from.kind === 'numbers' && to.kind === 'numbers') {
    const start = to.offsets[toRow] ?? 0;
    to.offsets[toRow + 1] = appendNumbers(from, fromRow, to, start);
  }
}

/** Writes a list cell: texts to a list of texts, numbers to a list of numbers. */
export function writeList(
  column: Column,
  row: number,
  list: readonly string[] | Float64Array,
  status: number,
): void {
  column.status[row] = status;
  if (column.kind === 'texts' && !(list instanceof Float64Array)) {
    column.values.length = column.offsets[row] ?? 0;
    for (const text of list) column.values.push(text);
    column.offsets[row + 1] = column.values.length;
  } else if (column.kind === 'numbers') {
    const start = column.offsets[row] ?? 0;
    reserveNumbers(column, start + list.length);
    for (let i = 0; i < list.length; i++) column.values[start + i] = list[i] as number;
    column.offsets[row + 1] = start + list.length;
  }
}

/** Appends what a text or text-list cell holds to a text list. */
export function appendCell(from: Column, row: number, to: Extract<Column, { kind: 'texts' }>): void {
  if (from.kind === 'text') to.values.push(from.values[row] ?? '');
  else if (from.kind === 'texts') {
    const end = from.offsets[row + 1] ?? 0;
    for (let i = from.offsets[row] ?? 0; i < end; i++) to.values.push(from.values[i] ?? '');
  }
}

/** Writes what a number or number-list cell holds at `at` of a number list; returns where it ends. */
export function appendNumbers(
  from: Column,
  row: number,
  to: Extract<Column, { kind: 'numbers' }>,
  at: number,
): number {
  if (from.kind === 'number') {
    reserveNumbers(to, at + 1);
    to.values[at] = from.values[row] ?? NaN;
    return at + 1;
  }
  if (from.kind !== 'numbers') return at;
  const start = from.offsets[row] ?? 0;
  const end = from.offsets[row + 1] ?? 0;
  reserveNumbers(to, at + end - start);
  to.values.set(from.values.subarray(start, end), at);
  return at + end - start;
}

/** The kind of column that holds values of a type; a path through a list makes it a list. Undefined: no column can. */
export function columnKindOf(type: ValueType, throughList: boolean): Column['kind'] | undefined {
  switch (type.kind) {
    case 'int':
    case 'float':
    case 'bool':
    case 'timestamp':
      return throughList ? 'numbers' : 'number';
    case 'string':
    case 'ref':
      return throughList ? 'texts' : 'text';
    case 'vector':
      return throughList ? undefined : 'vector';
    case 'list':
      return type.of.kind === 'record' ? undefined : 'texts';
    case 'record':
      return undefined;
  }
}
