import { isKnown, Status } from '../../ground/api/status.js';
import { aligned, COLUMN_HEAD, CONSTANT, StatusForm, Storage } from './format.js';
import type { ColumnType, RecordColumn } from './record-schema.js';

export type CellValue = number | string | boolean | readonly string[] | readonly number[] | undefined;

/** One column of a record that was read. */
export interface Cells {
  readonly type: ColumnType;
  readonly length: number;
  /** One status a row, if the column is nullable. */
  readonly status?: Uint8Array;
  /** The value of a row; undefined if its status has none. */
  at(row: number): CellValue;
  /** The number of a row; NaN if there is none, or if the column is not of numbers. A bool is 0 or 1. */
  numberAt(row: number): number;
  /** An element of a row's vector, counted from 0; NaN if there is none, or if the column is not of vectors. */
  elementAt(row: number, element: number): number;
  /** `present` in a column that is not nullable. */
  statusAt(row: number): number;
}

type Values = (row: number) => CellValue;

/**
 * Reads one column.
 * @param frame the frame of the record
 * @param start where the column starts in the frame
 * @param rows how many rows the record has of this column
 */
export function readCells(frame: Buffer, start: number, column: RecordColumn, rows: number): Cells {
  const end = start + COLUMN_HEAD + frame.readUInt32LE(start);
  const body = start + COLUMN_HEAD;
  const statuses = statusBytes(frame, start, rows);
  const values = body + (frame[start + 5] === StatusForm.bytes ? aligned(rows) : 0);
  const tag = frame[start + 4] ?? 0;
  const isConstant = (tag & CONSTANT) !== 0;
  const read = reader(frame, values, end, tag & ~CONSTANT, isConstant ? Math.min(rows, 1) : rows, column);
  const hasValue = (row: number): boolean =>
    row >= 0 && row < rows && (!column.nullable || isKnown(statuses[row]));
  const place = (row: number): number => (isConstant ? 0 : row);
  const isBool = column.type === 'bool';
  let elements: Float64Array | Float32Array | undefined;
  return {
    type: column.type,
    length: rows,
    ...(column.nullable && { status: statuses }),
    at: (row) => {
      if (!hasValue(row)) return undefined;
      const value = read(place(row));
      return isBool ? value === 1 : value;
    },
    numberAt: (row) => {
      if (!hasValue(row)) return NaN;
      const value = read(place(row));
      return typeof value === 'number' ? value : NaN;
    },
    elementAt: (row, element) => {
      if (column.type !== 'vector' || element >= (column.size ?? 1) || !hasValue(row)) return NaN;
      elements ??= elementsOf(frame, values, tag & ~CONSTANT, column, isConstant ? Math.min(rows, 1) : rows);
      return elements[place(row) * (column.size ?? 1) + element] ?? NaN;
    },
    statusAt: (row) => (column.nullable ? (statuses[row] ?? Status.absent) : Status.present),
  };
}

/** The elements of a column of vectors. */
function elementsOf(
  { buffer, byteOffset }: Buffer,
  start: number,
  storage: number,
  { size }: RecordColumn,
  rows: number,
): Float64Array | Float32Array {
  const count = rows * (size ?? 1);
  return storage === Storage.float64
    ? new Float64Array(buffer, byteOffset + start, count)
    : new Float32Array(buffer, byteOffset + start, count);
}

function statusBytes(frame: Buffer, start: number, rows: number): Uint8Array {
  const body = start + COLUMN_HEAD;
  if (frame[start + 5] === StatusForm.bytes) return frame.subarray(body, body + rows);
  return new Uint8Array(rows).fill(frame[start + 6] ?? Status.absent);
}

function reader(
  frame: Buffer,
  start: number,
  end: number,
  storage: number,
  rows: number,
  { type, size }: RecordColumn,
): Values {
  const { buffer, byteOffset } = frame;
  const at = byteOffset + start;
  switch (storage) {
    case Storage.float64:
    case Storage.float32: {
      const count = type === 'vector' ? rows * (size ?? 1) : rows;
      const values =
        storage === Storage.float64
          ? new Float64Array(buffer, at, count)
          : new Float32Array(buffer, at, count);
      if (type !== 'vector') return (row) => values[row];
      const width = size ?? 1;
      return (row) => Array.from(values.subarray(row * width, (row + 1) * width));
    }
    case Storage.int32: {
      const values = new Int32Array(buffer, at, rows);
      return (row) => values[row];
    }
    case Storage.uint8: {
      const values = new Uint8Array(buffer, at, rows);
      return (row) => values[row];
    }
    case Storage.text: {
      const ends = new Uint32Array(buffer, at, rows);
      const first = start + rows * 4;
      return (row) => frame.toString('utf8', first + endOf(ends, row - 1), first + endOf(ends, row));
    }
    case Storage.texts: {
      const ends = new Uint32Array(buffer, at, rows);
      const items = frame.readUInt32LE(start + rows * 4);
      const itemEnds = new Uint32Array(buffer, at + rows * 4 + 4, items);
      const first = start + rows * 4 + 4 + items * 4;
      return (row) => {
        const texts: string[] = [];
        for (let item = endOf(ends, row - 1); item < endOf(ends, row); item++) {
          texts.push(
            frame.toString('utf8', first + endOf(itemEnds, item - 1), first + endOf(itemEnds, item)),
          );
        }
        return texts;
      };
    }
    case Storage.numbers: {
      const ends = new Uint32Array(buffer, at, rows);
      const first = aligned(start + rows * 4);
      const values = new Float64Array(buffer, byteOffset + first, Math.max(0, Math.floor((end - first) / 8)));
      return (row) => Array.from(values.subarray(endOf(ends, row - 1), endOf(ends, row)));
    }
    default:
      return () => undefined;
  }
}

function endOf(ends: Uint32Array, row: number): number {
  return row < 0 ? 0 : (ends[row] ?? 0);
}
