import { sizeOfText } from './sizes.js';
import { TablePart, type PartWants } from './table-part.js';
import type { Room } from './text-codes.js';
import type { Column } from '../../ground/api/columns.js';
import { ID_PLACES } from '../../ground/core/parse-ids.js';

/** Counters of one entity type since the process started. */
export interface TableCounts {
  hits: number;
  misses: number;
  /** Cells read from the store because the table was not current. */
  bypasses: number;
  evictions: number;
  invalidations: number;
  flushes: number;
}

/** Estimated bytes of a map entry at V8's usual load factor, including the table's own bytes for the row. */
const ENTRY_BYTES = 64;
const FIRST_CAPACITY = 256;
/** Smaller tables are not worth shrinking. */
const LEAST_HOLLOW = 4 * FIRST_CAPACITY;
/** Capacity grows by a quarter. */
const GROWTH = 1.25;

/** Row numbers for an id that is not in the table, and for a position without an id. */
export const NOT_HERE = -1;
export const NO_ID = -2;

/**
 * The decoded entities of one type, by id: their attributes, and the features of views of this type alone. A row number
 * is valid only until the next await.
 */
export class EntityTable {
  readonly type: string;
  readonly parts: readonly TablePart[];
  readonly counts: TableCounts = {
    hits: 0,
    misses: 0,
    bypasses: 0,
    evictions: 0,
    invalidations: 0,
    flushes: 0,
  };
  /** Bytes of all rows without their texts. */
  #bytes = 0;
  readonly #rowOf = new Map<string, number>();
  readonly #ids: string[] = [];
  /** By place of an id: the row that it had when it was last looked for. */
  #rowAtPlace = new Int32Array(0);
  #free: number[] = [];
  #capacity = 0;
  /** By row: number of parts that hold it. */
  #held = new Uint8Array(0);
  /** By row: 1 if it was read since the clock hand last passed it. */
  #used = new Uint8Array(0);
  #hand = 0;
  /** Bytes of a row without its texts. */
  #rowBytes: number;

  constructor(type: string, wants: readonly PartWants[], room: Room) {
    this.type = type;
    this.parts = wants.map((want) => new TablePart(want, room));
    this.#rowBytes = this.#bytesOfRow();
  }

  /** Bytes of all rows, with their texts and what is kept beside these. */
  get bytes(): number {
    return this.parts.reduce(
      (sum, { columns }) => sum + columns.textBytes,
      this.#bytes + this.#rowAtPlace.byteLength,
    );
  }

  #bytesOfRow(): number {
    return this.parts.reduce((sum, part) => sum + part.rowBytes, ENTRY_BYTES);
  }

  get size(): number {
    return this.#rowOf.size;
  }

  /** Whether less than a quarter of the allocated rows is in use, so the memory should be freed. */
  get isHollow(): boolean {
    return this.#capacity > LEAST_HOLLOW && this.size < this.#capacity / 4;
  }

  /**
   * The rows of the first `count` ids: NOT_HERE if the table has no such id, NO_ID for an empty one.
   * @param places see `IdList`
   */
  rowsOf(ids: readonly string[], count: number, places?: Int32Array): Int32Array {
    if (places !== undefined && this.#capacity > 0) return this.#rowsAt(places, ids, count);
    const rows = new Int32Array(count);
    for (let i = 0; i < count; i++) {
      const id = ids[i] as string;
      rows[i] = id === '' ? NO_ID : (this.#rowOf.get(id) ?? NOT_HERE);
    }
    return rows;
  }

  /** Tries the row that a place had before, which costs less than a look-up of the id. No id is empty. */
  #rowsAt(places: Int32Array, ids: readonly string[], count: number): Int32Array {
    if (this.#rowAtPlace.length === 0) this.#rowAtPlace = new Int32Array(this.#places);
    const rows = new Int32Array(count);
    const rowAtPlace = this.#rowAtPlace;
    const mask = rowAtPlace.length - 1;
    for (let i = 0; i < count; i++) {
      const id = ids[i] as string;
      const at = (places[i] as number) & mask;
      let row = rowAtPlace[at] as number;
      if (this.#ids[row] !== id) {
        row = this.#rowOf.get(id) ?? NOT_HERE;
        if (row !== NOT_HERE) {
          rowAtPlace[at] = row;
          // The same string is compared faster the next time than an equal one.
          this.#ids[row] = id;
        }
      }
      rows[i] = row;
    }
    return rows;
  }

  /** A power of two, a few for each row. */
  get #places(): number {
    return Math.min(ID_PLACES, 4 << Math.ceil(Math.log2(this.#capacity + 1)));
  }

  /** Marks rows as recently used. Negative numbers are no rows. */
  touch(rows: Int32Array): void {
    for (const row of rows) if (row >= 0) this.#used[row] = 1;
  }

  /**
   * Copies the row of an id to a row of scratch columns of numbers, if the table holds one that is valid.
   * @param now epoch milliseconds
   */
  copyValid(part: TablePart, id: string, now: number, to: readonly Column[], toRow: number): boolean {
    const row = this.#rowOf.get(id);
    if (row === undefined || !((part.validUntil[row] as number) >= now)) return false;
    part.columns.copyNumbers(row, to, toRow);
    return true;
  }

  /** Stores a record that was decoded into scratch columns. */
  put(part: TablePart, id: string, from: readonly Column[], fromRow: number, validUntil: number): void {
    let row = this.#rowOf.get(id);
    if (row === undefined) {
      row = this.#newRow();
      this.#rowOf.set(id, row);
      this.#ids[row] = id;
      this.#used[row] = 0; // a row that is read only once is evicted first
      this.#bytes += this.#rowBytes + sizeOfText(id);
    }
    if (!part.has(row)) this.#held[row] = (this.#held[row] ?? 0) + 1;
    const before = part.rowBytes;
    part.put(row, from, fromRow, validUntil);
    const grown = part.rowBytes - before;
    this.#rowBytes += grown;
    this.#bytes += grown * this.size;
  }

  /** Invalidates the cells of one part for an id. */
  invalidate(part: TablePart, id: string): void {
    const row = this.#rowOf.get(id);
    if (row === undefined || !part.has(row)) return;
    part.drop(row);
    const held = (this.#held[row] ?? 1) - 1;
    this.#held[row] = held;
    if (held === 0) this.#remove(row);
  }

  /** Drops all rows and frees their memory. */
  flush(): void {
    this.#rowOf.clear();
    this.#ids.length = 0;
    this.#rowAtPlace = new Int32Array(0);
    this.#free = [];
    this.#capacity = 0;
    this.#held = new Uint8Array(0);
    this.#used = new Uint8Array(0);
    this.#hand = 0;
    this.#bytes = 0;
    for (const part of this.parts) part.reset();
    this.#rowBytes = this.#bytesOfRow();
  }

  /**
   * One round of the clock algorithm over this table, from where the hand stopped: evicts rows that were not used since
   * the hand last passed, until `enough` returns true.
   * @returns whether the round stopped early
   */
  evict(enough: () => boolean): boolean {
    for (; this.#hand < this.#capacity; this.#hand++) {
      if (enough()) return true;
      const row = this.#hand;
      if (this.#held[row] === 0) continue;
      if (this.#used[row] === 1) {
        this.#used[row] = 0;
        continue;
      }
      for (const part of this.parts) if (part.has(row)) part.drop(row);
      this.#held[row] = 0;
      this.#remove(row);
      this.counts.evictions++;
    }
    this.#hand = 0;
    return enough();
  }

  #remove(row: number): void {
    const id = this.#ids[row] ?? '';
    this.#rowOf.delete(id);
    this.#ids[row] = '';
    this.#free.push(row);
    this.#bytes -= this.#rowBytes + sizeOfText(id);
  }

  #newRow(): number {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    const row = this.#ids.length;
    if (row >= this.#capacity) this.#grow(Math.max(FIRST_CAPACITY, Math.ceil(GROWTH * this.#capacity)));
    return row;
  }

  #grow(capacity: number): void {
    this.#capacity = capacity;
    this.#rowAtPlace = new Int32Array(0);
    const held = new Uint8Array(capacity);
    held.set(this.#held);
    this.#held = held;
    const used = new Uint8Array(capacity);
    used.set(this.#used);
    this.#used = used;
    for (const part of this.parts) part.grow(capacity);
  }
}
