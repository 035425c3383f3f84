import type { Column, ColumnOf } from '../../ground/api/columns.js';
import { Status, statusAt } from '../../ground/api/status.js';
import type { JsonValue, ValueType } from '../../ground/api/types.js';
import { idText } from '../../ground/core/ids.js';
import { timestampOf } from '../../ground/core/timestamp.js';
import { checkElements, MOST_REPEATED, reserveNumbers, widenVectors } from './frame.js';

/**
 * Writes single cells. The rows of a list column are written in ascending order. Only the last written row can be
 * written again, because the values of all rows follow one another.
 */

/** Marks a cell as unknown, for the given reason. */
export function writeMissing(column: Column, row: number, status: number): void {
  column.status[row] = status;
  switch (column.kind) {
    case 'number':
      column.values[row] = NaN;
      break;
    case 'text':
      writeText(column, row, '');
      break;
    case 'texts':
      startTexts(column, row);
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
 * Writes a JSON value that was checked against its type. Null marks the cell null. A null or undefined element of a
 * list becomes an unknown element: NaN, or ''. A number in a column of strings is an id.
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
      writeText(column, row, idText(value) ?? '');
      break;
    case 'texts': {
      startTexts(column, row);
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

function writeText(column: ColumnOf<'text'>, row: number, text: string): void {
  column.values[row] = text;
  if (column.dictionary !== undefined && column.codes !== undefined) column.codes[row] = -1;
}

/** Drops the values from a row on. */
export function startTexts(column: ColumnOf<'texts'>, row: number): void {
  const { values, codes } = column;
  const length = column.offsets[row] ?? 0;
  if (values.length > length) values.length = length;
  if (codes !== undefined && codes.length > length) codes.length = length;
}

/** If float32 cannot hold an element exactly, the column changes to float64. Elements are never rounded. */
function writeVector(column: ColumnOf<'vector'>, row: number, elements: readonly number[]): void {
  const start = row * column.size;
  let values = column.values;
  for (let i = 0; i < elements.length; i++) {
    const element = elements[i] as number;
    if (values instanceof Float32Array && Math.fround(element) !== element) values = widenVectors(column);
    values[start + i] = element;
  }
}

/** Converts to a number: a bool is 0 or 1, a time is epoch milliseconds, anything else is NaN. */
function jsonNumber(value: JsonValue | undefined): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'string' ? timestampOf(value) : NaN;
}

/** Copies a cell with its status. Both columns must have the same kind. */
export function copyCell(from: Column, fromRow: number, to: Column, toRow: number): void {
  to.status[toRow] = statusAt(from.status, fromRow);
  const allowed = from.stride < to.stride ? MOST_REPEATED : undefined;
  if (from.kind === 'number' && to.kind === 'number') to.values[toRow] = from.values[fromRow] ?? NaN;
  else if (from.kind === 'text' && to.kind === 'text') writeText(to, toRow, from.values[fromRow] ?? '');
  else if (from.kind === 'vector' && to.kind === 'vector') {
    const { size } = from;
    const values = from.values instanceof Float64Array ? widenVectors(to) : to.values;
    values.set(from.values.subarray(fromRow * size, (fromRow + 1) * size), toRow * size);
  } else if (from.kind === 'texts' && to.kind === 'texts') {
    startTexts(to, toRow);
    appendCell(from, fromRow, to, allowed?.texts);
    to.offsets[toRow + 1] = to.values.length;
  } else if (from.kind === 'numbers' && to.kind === 'numbers') {
    const start = to.offsets[toRow] ?? 0;
    to.offsets[toRow + 1] = appendNumbers(from, fromRow, to, start, allowed?.numbers);
  }
}

/** Writes a list cell: strings to a list of strings, or numbers to a list of numbers. */
export function writeList(
  column: Column,
  row: number,
  list: readonly string[] | Float64Array,
  status: number,
): void {
  column.status[row] = status;
  if (column.kind === 'texts' && !(list instanceof Float64Array)) {
    startTexts(column, row);
    for (const text of list) column.values.push(text);
    column.offsets[row + 1] = column.values.length;
  } else if (column.kind === 'numbers') {
    const start = column.offsets[row] ?? 0;
    reserveNumbers(column, start + list.length);
    for (let i = 0; i < list.length; i++) column.values[start + i] = list[i] as number;
    column.offsets[row + 1] = start + list.length;
  }
}

/** Appends the content of a text or text-list cell to a text list. @param allowed elements of the list column */
export function appendCell(
  from: Column,
  row: number,
  to: Extract<Column, { kind: 'texts' }>,
  allowed?: number,
): void {
  if (from.kind === 'text') to.values.push(from.values[row] ?? '');
  else if (from.kind === 'texts') {
    const end = from.offsets[row + 1] ?? 0;
    checkElements(to.values.length + end - (from.offsets[row] ?? 0), allowed);
    for (let i = from.offsets[row] ?? 0; i < end; i++) to.values.push(from.values[i] ?? '');
  }
}

/**
 * Writes the content of a number or number-list cell to a number list, starting at `at`. Returns the offset after it.
 */
export function appendNumbers(
  from: Column,
  row: number,
  to: Extract<Column, { kind: 'numbers' }>,
  at: number,
  allowed?: number,
): number {
  if (from.kind === 'number') {
    reserveNumbers(to, at + 1);
    to.values[at] = from.values[row] ?? NaN;
    return at + 1;
  }
  if (from.kind !== 'numbers') return at;
  const start = from.offsets[row] ?? 0;
  const end = from.offsets[row + 1] ?? 0;
  reserveNumbers(to, at + end - start, allowed);
  to.values.set(from.values.subarray(start, end), at);
  return at + end - start;
}

/** Counts the elements of lists that the rows of one read repeat, because they refer to one entity. */
export class RepeatedLists {
  #counts: Map<Column, number> | undefined;

  /**
   * Counts the list of a cell that was written. @returns the number of its elements
   * @throws MillraceError invalid_body if a column repeats too many elements
   */
  add(column: Column, row: number): number {
    if (column.kind !== 'texts' && column.kind !== 'numbers') return 0;
    const length = (column.offsets[row + 1] ?? 0) - (column.offsets[row] ?? 0);
    const counts = (this.#counts ??= new Map<Column, number>());
    const all = (counts.get(column) ?? 0) + length;
    counts.set(column, all);
    checkElements(all, MOST_REPEATED[column.kind]);
    return length;
  }
}

/**
 * Returns the kind of column that holds values of a type. A path through a list needs a list column. Returns
 * undefined if no column can hold them.
 */
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
      if (type.of.kind === 'record') return undefined;
      return type.of.kind === 'float' ? 'numbers' : 'texts';
    case 'record':
      return undefined;
  }
}
