import { sizeOfText } from './sizes.js';
import { TablePart, type PartWants } from './table-part.js';
import type { Column } from '../api/columns.js';

/** What was counted of one type since the process began, and what its table holds now. */
export interface TableCounts {
  hits: number;
  misses: number;
  /** Cells asked for while the table could not be trusted, and so read from the store. */
  bypasses: number;
  evictions: number;
  invalidations: number;
  flushes: number;
}

/** Of the id's map entry, at the load that V8 keeps its maps at, with the table's own bytes for a row. */
const ENTRY_BYTES = 64;
const FIRST_CAPACITY = 256;
/** Rows of a table that is too small for its memory to matter. */
const LEAST_HOLLOW = 4 * FIRST_CAPACITY;
/** Rows are made a quarter ahead. */
const GROWTH = 1.25;

/** Row numbers of ids: of one that is not in the table, and of a place that names none. */
export const NOT_HERE = -1;
export const NO_ID = -2;

/**
 * The entities of one type that are kept in process, found by id; with their attributes, and the features of views that
 * are of this type alone. Row numbers are good until the next await.
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
  /** Bytes of all rows. */
  bytes = 0;
  readonly #rowOf = new Map<string, number>();
  readonly #ids: string[] = [];
  #free: number[] = [];
  #capacity = 0;
  /** By row: how many parts are there. */
  #held = new Uint8Array(0);
  /** By row: 1 if it was asked for since the hand last came by. */
  #used = new Uint8Array(0);
  #hand = 0;
  /** Bytes of a row without its texts. */
  #rowBytes: number;

  constructor(type: string, wants: readonly PartWants[]) {
    this.type = type;
    this.parts = wants.map((want) => new TablePart(want));
    this.#rowBytes = this.#bytesOfRow();
  }

  #bytesOfRow(): number {
    return this.parts.reduce((sum, part) => sum + part.rowBytes, ENTRY_BYTES);
  }

  get size(): number {
    return this.#rowOf.size;
  }

  /** Whether most of the rows that there is memory for are gone: others may need that memory. */
  get isHollow(): boolean {
    return this.#capacity > LEAST_HOLLOW && this.size < this.#capacity / 4;
  }

  /** The row of an id, or NOT_HERE. */
  rowOf(id: string): number {
    return this.#rowOf.get(id) ?? NOT_HERE;
  }

  /** Says that a row was asked for, so that it stays. */
  touch(row: number): void {
    this.#used[row] = 1;
  }

  /** Keeps a record that was decoded into scratch columns. */
  put(part: TablePart, id: string, from: readonly Column[], fromRow: number, validUntil: number): void {
    let row = this.#rowOf.get(id);
    if (row === undefined) {
      row = this.#newRow();
      this.#rowOf.set(id, row);
      this.#ids[row] = id;
      this.#used[row] = 0; // a row that is asked for only once is the first to go
      this.bytes += this.#rowBytes + sizeOfText(id);
    }
    if (!part.has(row)) this.#held[row] = (this.#held[row] ?? 0) + 1;
    const before = part.rowBytes;
    this.bytes += part.put(row, from, fromRow, validUntil);
    const grown = part.rowBytes - before;
    this.#rowBytes += grown;
    this.bytes += grown * this.size;
  }

  /** Drops what one part holds of an id. */
  invalidate(part: TablePart, id: string): void {
    const row = this.#rowOf.get(id);
    if (row === undefined || !part.has(row)) return;
    this.bytes -= part.drop(row);
    const held = (this.#held[row] ?? 1) - 1;
    this.#held[row] = held;
    if (held === 0) this.#remove(row);
  }

  /** Drops everything, and gives the memory back. */
  flush(): void {
    this.#rowOf.clear();
    this.#ids.length = 0;
    this.#free = [];
    this.#capacity = 0;
    this.#held = new Uint8Array(0);
    this.#used = new Uint8Array(0);
    this.#hand = 0;
    this.bytes = 0;
    for (const part of this.parts) part.reset();
    this.#rowBytes = this.#bytesOfRow();
  }

  /**
   * One round of the clock over this table, from where it stopped: evicts rows that were not asked for since it last
   * came by, until `enough` says so.
   * @returns whether the round stopped before its end
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
      for (const part of this.parts) if (part.has(row)) this.bytes -= part.drop(row);
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
    this.bytes -= this.#rowBytes + sizeOfText(id);
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
    const held = new Uint8Array(capacity);
    held.set(this.#held);
    this.#held = held;
    const used = new Uint8Array(capacity);
    used.set(this.#used);
    this.#used = used;
    for (const part of this.parts) part.grow(capacity);
  }
}
