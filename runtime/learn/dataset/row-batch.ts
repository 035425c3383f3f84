import type { Feature } from './features.js';
import { ROW_GROUP } from './parquet.js';

/** The values of a feature: NaN or undefined where there is none. */
export type FeatureValues = Float64Array | (string | undefined)[];

/** Some rows of a data set, in columns. The rows of a request are contiguous. */
export class RowBatch {
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
