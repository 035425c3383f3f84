import type { Feature } from './features.js';
import { ROW_GROUP } from './parquet.js';

/** The values of a feature: NaN or undefined where there is none. */
export type FeatureValues = Float64Array | (string | undefined)[];

/** Rows of a data set, in columns that may be longer. */
export interface Rows {
  readonly length: number;
  readonly groups: readonly number[];
  readonly requestId: readonly string[];
  readonly time: Float64Array;
  readonly candidateId: readonly string[];
  readonly place: Int32Array;
  readonly label: Float64Array;
  readonly weight: Float64Array;
  readonly examined: Uint8Array;
  readonly features: readonly FeatureValues[];
}

const NUMBERS = ['time', 'place', 'label', 'weight', 'examined'] as const;
const TEXTS = ['requestId', 'candidateId'] as const;

/** Some rows of a data set, in columns. The rows of a request are contiguous. */
export class RowBatch implements Rows {
  length = 0;
  /** How many requests end in this batch, and how many rows each has. */
  readonly groups: number[] = [];
  requestId: string[] = [];
  time = new Float64Array(0);
  candidateId: string[] = [];
  place = new Int32Array(0);
  label = new Float64Array(0);
  weight = new Float64Array(0);
  examined = new Uint8Array(0);
  features: FeatureValues[];
  #capacity = 0;

  constructor(readonly columns: readonly Feature[]) {
    this.features = columns.map(({ type }) => (type === 'text' ? [] : new Float64Array(0)));
    this.#grow(ROW_GROUP + 1024);
  }

  get isFull(): boolean {
    return this.length >= ROW_GROUP;
  }

  /** Makes room for the rows of one more request. */
  reserve(rows: number): void {
    if (this.length + rows > this.#capacity) this.#grow(Math.max(this.length + rows, this.#capacity * 2));
  }

  /** Copies rows of whole requests behind its own. */
  append(other: Rows, from: number, rows: number, groups: readonly number[]): void {
    this.reserve(rows);
    const [at, end] = [this.length, from + rows];
    for (const name of NUMBERS) this[name].set(other[name].subarray(from, end), at);
    for (const name of TEXTS)
      for (let row = 0; row < rows; row++) this[name][at + row] = other[name][from + row] ?? '';
    for (const [feature, values] of this.features.entries()) {
      const its = other.features[feature] ?? [];
      if (values instanceof Float64Array) values.set((its as Float64Array).subarray(from, end), at);
      else
        for (let row = 0; row < rows; row++) values[at + row] = (its as (string | undefined)[])[from + row];
    }
    this.length += rows;
    this.groups.push(...groups);
  }

  /** Its rows, in columns of their length. They change with the batch. */
  rows(): Rows {
    const { length, groups } = this;
    return {
      length,
      groups,
      requestId: this.requestId.slice(0, length),
      time: this.time.subarray(0, length),
      candidateId: this.candidateId.slice(0, length),
      place: this.place.subarray(0, length),
      label: this.label.subarray(0, length),
      weight: this.weight.subarray(0, length),
      examined: this.examined.subarray(0, length),
      features: this.features.map((values) =>
        values instanceof Float64Array ? values.subarray(0, length) : values.slice(0, length),
      ),
    };
  }

  clear(): void {
    this.length = 0;
    this.groups.length = 0;
  }

  #grow(capacity: number): void {
    this.#capacity = capacity;
    this.time = grown(this.time, new Float64Array(capacity));
    this.place = grown(this.place, new Int32Array(capacity));
    this.label = grown(this.label, new Float64Array(capacity));
    this.weight = grown(this.weight, new Float64Array(capacity));
    this.examined = grown(this.examined, new Uint8Array(capacity));
    this.features = this.features.map((values) =>
      values instanceof Float64Array ? grown(values, new Float64Array(capacity)) : values,
    );
  }
}

function grown<T extends Float64Array | Int32Array | Uint8Array>(before: T, after: T): T {
  after.set(before);
  return after;
}
