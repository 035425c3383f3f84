import { isUtf8 } from 'node:buffer';
import type { SchemaTree } from 'hyparquet';
import type { JsonValue, ValueType } from '../../ground/api/types.js';
import type { ColumnTypes } from './csv.js';
import type { InputRow } from './rows.js';

/** The value of a cell is not allowed; its row is rejected. */
export class UnfitCell extends Error {}

/** A cell that its parser could not read, and the reason. */
class Unreadable {
  constructor(readonly problem: string) {}
}

/** How hyparquet converts cells. Times are epoch milliseconds; finer parts are cut off. */
export const PARSERS = {
  timestampFromMilliseconds: (time: bigint): number => Number(time),
  timestampFromMicroseconds: (time: bigint): number => floorDivide(time, 1000n),
  timestampFromNanoseconds: (time: bigint): number => floorDivide(time, 1_000_000n),
  dateFromDays: (days: number): number => days * 86_400_000,
  stringFromBytes: (bytes: Uint8Array | undefined): string | Unreadable | undefined => {
    if (bytes === undefined) return undefined;
    return isUtf8(bytes)
      ? Buffer.from(bytes).toString('utf8')
      : new Unreadable('the text is not encoded in UTF-8');
  },
  jsonFromBytes: (bytes: Uint8Array | undefined): unknown => {
    if (bytes === undefined) return undefined;
    try {
      return JSON.parse(Buffer.from(bytes).toString('utf8'));
    } catch {
      return new Unreadable('the text is not JSON');
    }
  },
};

/** Rounds towards the past, also before 1970. */
function floorDivide(time: bigint, by: bigint): number {
  return Number((time - (((time % by) + by) % by)) / by);
}

/** Columns of decimal numbers and their number of decimal places, by the names of cells in messages. */
export type Scales = ReadonlyMap<string, number>;

/** @param root the schema of a file */
export function decimalScales(root: SchemaTree): Scales {
  const scales = new Map<string, number>();
  function walk(node: SchemaTree, name: string): void {
    const { converted_type: type, scale = 0 } = node.element;
    if (type === 'DECIMAL') scales.set(name, scale);
    // A list wraps its element in groups that have no name in messages.
    const isList = type === 'LIST' || node.element.repetition_type === 'REPEATED';
    for (const child of node.children) walk(child, isList ? name : `${name}.${child.element.name}`);
  }
  for (const child of root.children) walk(child, child.element.name);
  return scales;
}

/** How the cells of a file are read. */
export interface CellTypes {
  /** The declared types of columns. */
  readonly declared: ColumnTypes;
  readonly scales: Scales;
}

/**
 * Converts a record of a Parquet file to a row. An empty cell or a NaN means that the attribute is absent.
 * @throws UnfitCell if JSON cannot represent a cell
 */
export function toRow(
  record: Readonly<Record<string, unknown>>,
  line: number,
  { declared, scales }: CellTypes,
): InputRow {
  const fields: [string, JsonValue][] = [];
  let bytes = 0;
  for (const [name, cell] of Object.entries(record)) {
    const value = toJson(cell, name, declared.get(name), scales);
    if (value === undefined) continue;
    fields.push([name, value]);
    bytes += name.length + 6 + sizeOf(value);
  }
  return { line, value: Object.fromEntries(fields), bytes };
}

/** Converts a cell to JSON. Returns undefined if the cell is empty. */
function toJson(
  cell: unknown,
  name: string,
  type: ValueType | undefined,
  scales: Scales,
): JsonValue | undefined {
  switch (typeof cell) {
    case 'string':
    case 'boolean':
      return cell;
    case 'number':
      return numberToJson(cell, name, type, scales);
    case 'bigint':
      if (isText(type)) return String(cell);
      if (Number.isSafeInteger(Number(cell))) return Number(cell);
      throw new UnfitCell(`${name}: ${String(cell)} is too large for a number to hold exactly`);
    case 'object':
      break;
    default:
      return undefined;
  }
  if (cell === null) return undefined;
  if (cell instanceof Unreadable) throw new UnfitCell(`${name}: ${cell.problem}`);
  if (cell instanceof Uint8Array) throw new UnfitCell(`${name}: expected a text or a number, found bytes`);
  if (Array.isArray(cell) || ArrayBuffer.isView(cell)) {
    const of = type?.kind === 'list' ? type.of : undefined;
    return Array.from(cell as ArrayLike<unknown>, (element) => {
      if (typeof element === 'number' && Number.isNaN(element))
        throw new UnfitCell(`${name}: an element is not a number`);
      return toJson(element, name, of, scales) ?? null;
    });
  }
  return Object.fromEntries(
    Object.entries(cell).flatMap(([key, inner]): [string, JsonValue][] => {
      const value = toJson(inner, `${name}.${key}`, undefined, scales);
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

function numberToJson(
  cell: number,
  name: string,
  type: ValueType | undefined,
  scales: Scales,
): JsonValue | undefined {
  if (Number.isNaN(cell)) return undefined;
  if (!Number.isFinite(cell)) throw new UnfitCell(`${name}: ${String(cell)} is not a finite number`);
  if (isText(type) && Number.isSafeInteger(cell)) return String(cell);
  const scale = scales.get(name);
  // A decimal is read as its digits times a power of ten: 435 × 0.01 = 4.350000000000000…5. The intended number is
  // 4.35.
  return scale === undefined || Math.abs(cell) >= 1e21 ? cell : Number(cell.toFixed(Math.min(100, scale)));
}

/** True if a whole number represents a string. Ids are often stored as numbers. */
function isText(type: ValueType | undefined): boolean {
  return type?.kind === 'string' || type?.kind === 'ref';
}

function sizeOf(value: JsonValue): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'object' && value !== null) return Buffer.byteLength(JSON.stringify(value));
  return 8;
}
