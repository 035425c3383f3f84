import type { Column, ColumnOf } from '../../ground/api/columns.js';
import type { EntityKeeper } from '../../ground/api/entity-keeper.js';
import { Status } from '../../ground/api/status.js';
import { writeList, writeMissing } from '../../language/frame/cells.js';

type Value = number | string | readonly string[] | Float64Array;

/** The kinds of columns that it keeps. */
export const KEPT_KINDS = ['number', 'text', 'texts', 'numbers'] as const;

/** The most characters of its texts, so that long texts of many entities do not fill the memory. */
const MOST_CHARACTERS = 100_000_000;

/** Attributes of all entities of a type, for conditions on some or all of them. */
export class KeptColumns implements EntityKeeper {
  readonly #rows = new Map<string, number>();
  /** By row; undefined for a row that is free. */
  readonly #ids: (string | undefined)[] = [];
  readonly #free: number[] = [];
  /** By attribute, by row. */
  readonly #values: Value[][];
  readonly #statuses: number[][];
  #characters = 0;

  constructor(attributes: number) {
    this.#values = Array.from({ length: attributes }, () => []);
    this.#statuses = Array.from({ length: attributes }, () => []);
  }

  get size(): number {
    return this.#rows.size;
  }

  get isFull(): boolean {
    return this.#characters > MOST_CHARACTERS;
  }

  /** The number of rows, free ones included. */
  get rows(): number {
    return this.#ids.length;
  }

  ids(): Iterable<string> {
    return this.#rows.keys();
  }

  /** The id of an entity; undefined if the row is free. */
  idAt(row: number): string | undefined {
    return this.#ids[row];
  }

  /** The rows of entities, in their order; -1 for one that it does not keep. */
  rowsOf(ids: readonly string[]): Int32Array {
    return Int32Array.from(ids, (id) => this.#rows.get(id) ?? -1);
  }

  put(id: string, columns: readonly Column[]): undefined {
    const known = this.#rows.get(id);
    const row = known ?? this.#free.pop() ?? this.#rows.size;
    this.#rows.set(id, row);
    this.#ids[row] = id;
    for (const [i, column] of columns.entries()) {
      const values = this.#values[i] as Value[];
      const value = valueOf(column);
      this.#characters += lengthOf(value) - lengthOf(values[row]);
      values[row] = value;
      (this.#statuses[i] as number[])[row] = column.status[0] ?? Status.absent;
    }
  }

  remove(id: string): void {
    const row = this.#rows.get(id);
    if (row === undefined) return;
    this.#rows.delete(id);
    this.#ids[row] = undefined;
    this.#free.push(row);
  }

  /**
   * Writes the attributes of some rows into columns of a frame.
   * @param columns by attribute; undefined for one that is not wanted
   */
  fill(rows: Int32Array, columns: readonly (Column | undefined)[]): void {
    for (const [i, column] of columns.entries()) {
      if (column === undefined) continue;
      const values = this.#values[i] as Value[];
      const statuses = this.#statuses[i] as number[];
      if (column.kind === 'number') {
        fillNumbers(column, rows, values, statuses);
        continue;
      }
      for (let to = 0; to < rows.length; to++) {
        const row = rows[to] as number;
        if (row === -1) writeMissing(column, to, Status.missing_entity);
        else write(column, to, values[row] as Value, statuses[row] as number);
      }
    }
  }
}

/** Most conditions compare numbers, and this is several times as fast as cell by cell. */
function fillNumbers(
  { values, status }: ColumnOf<'number'>,
  rows: Int32Array,
  from: readonly Value[],
  statuses: readonly number[],
): void {
  for (let to = 0; to < rows.length; to++) {
    const row = rows[to] as number;
    values[to] = row === -1 ? NaN : (from[row] as number);
    status[to] = row === -1 ? Status.missing_entity : (statuses[row] as number);
  }
}

function lengthOf(value: Value | undefined): number {
  if (typeof value === 'string') return value.length;
  if (!Array.isArray(value)) return 0;
  let length = 0;
  for (const text of value as readonly string[]) length += text.length;
  return length;
}

function valueOf(column: Column): Value {
  switch (column.kind) {
    case 'number':
    case 'text':
      return column.values[0] as Value;
    case 'texts':
    case 'numbers':
      return column.values.slice(0, column.offsets[1]);
    case 'vector':
      throw new TypeError('vectors are not kept');
  }
}

function write(column: Column, row: number, value: Value, status: number): void {
  if (column.kind === 'number' || column.kind === 'text') {
    column.status[row] = status;
    column.values[row] = value as never;
  } else writeList(column, row, value as readonly string[] | Float64Array, status);
}
