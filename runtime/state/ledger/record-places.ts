import { NameColumn, Uint32Column } from '../../ground/core/columns.js';

/** Where a record is in a ledger. */
export interface RecordPlace {
  readonly path: string;
  /** Its number among the records of the segment that can be read. */
  readonly number: number;
}

/** The places of many records: 8 bytes each. */
export class RecordPlaces {
  readonly #paths = new NameColumn();
  readonly #numbers = new Uint32Column();

  get length(): number {
    return this.#numbers.length;
  }

  push({ path, number }: RecordPlace): void {
    this.#paths.push(path);
    this.#numbers.push(number);
  }

  /** Keeps these rows only, in this order. */
  keep(order: Uint32Array): void {
    this.#paths.keep(order);
    this.#numbers.keep(order);
  }

  numberAt(row: number): number {
    return this.#numbers.at(row);
  }

  /** The rows of each segment, in ascending order; the segment of the first row is the first. */
  bySegment(): ReadonlyMap<string, Uint32Array> {
    const counts = this.#paths.counts();
    const rows = new Map(Array.from(counts, ([path, count]) => [path, new Uint32Array(count)]));
    const used = new Map<string, number>();
    for (let row = 0; row < this.length; row++) {
      const path = this.#paths.at(row);
      const at = used.get(path) ?? 0;
      used.set(path, at + 1);
      const own = rows.get(path);
      if (own !== undefined) own[at] = row;
    }
    return rows;
  }
}
