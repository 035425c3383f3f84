/** Columns that grow: for so many rows that an object for each would need too much memory. */

const FIRST_LENGTH = 1024;

class Column<Values extends Float64Array | Uint32Array> {
  readonly #make: new (length: number) => Values;
  #values: Values;
  length = 0;

  constructor(make: new (length: number) => Values) {
    this.#make = make;
    this.#values = new make(FIRST_LENGTH);
  }

  push(value: number): void {
    if (this.length === this.#values.length) {
      const wider = new this.#make(2 * this.length);
      wider.set(this.#values);
      this.#values = wider;
    }
    this.#values[this.length++] = value;
  }

  /** @returns 0 if there is no such row */
  at(row: number): number {
    return row < this.length ? (this.#values[row] ?? 0) : 0;
  }

  /** Keeps these rows only, in this order. */
  keep(order: Uint32Array): void {
    const kept = new this.#make(Math.max(FIRST_LENGTH, order.length));
    for (let at = 0; at < order.length; at++) kept[at] = this.at(order[at] ?? 0);
    this.#values = kept;
    this.length = order.length;
  }
}

/** Whole numbers from 0 to 2^32 − 1. */
export class Uint32Column extends Column<Uint32Array> {
  constructor() {
    super(Uint32Array);
  }
}

export class Float64Column extends Column<Float64Array> {
  constructor() {
    super(Float64Array);
  }
}

/** Texts that repeat: each is held once, and has a number. */
export class Names {
  readonly #numbers = new Map<string, number>();
  readonly #names: string[] = [];

  /** The number of a name, which is new if the name is. */
  add(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    this.#numbers.set(name, this.#names.length);
    return this.#names.push(name) - 1;
  }

  numberOf(name: string): number | undefined {
    return this.#numbers.get(name);
  }

  at(number: number): string | undefined {
    return this.#names[number];
  }
}

/** A column of texts that repeat. */
export class NameColumn {
  readonly #names = new Names();
  readonly #rows = new Uint32Column();

  push(name: string): void {
    this.#rows.push(this.#names.add(name));
  }

  /** @returns an empty text if there is no such row */
  at(row: number): string {
    return row < this.#rows.length ? (this.#names.at(this.#rows.at(row)) ?? '') : '';
  }

  keep(order: Uint32Array): void {
    this.#rows.keep(order);
  }

  /** The rows of each text, in the order of their first rows. */
  counts(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (let row = 0; row < this.#rows.length; row++) {
      const name = this.at(row);
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return counts;
  }
}
