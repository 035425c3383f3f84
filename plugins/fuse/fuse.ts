import {
  Distribution,
  type FeatureComponent,
  type Input,
  isKnown,
  type NumberColumn,
  Status,
  statusAt,
  type StepInput,
  type StepOutput,
} from 'millrace/api';
import type { Method, Missing } from './options.generated.js';

/** `missing` is the scaled value of an input that is missing. */
type FuseMethod =
  | { readonly name: 'rrf'; readonly k: number }
  | { readonly name: Exclude<Method, 'rrf'>; readonly missing: Missing };

export interface Part {
  readonly input: Input<'number'>;
  readonly weight: number;
}

/**
 * One score of several, over the rows of the step; n log n for each.
 *
 * rrf is reciprocal rank fusion, Σ weight / (k + rank) (Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms
 * Condorcet and individual Rank Learning Methods", SIGIR 2009); equal values share the better rank. The others are the
 * weighted sum of the values, each on the scale of its own input.
 */
export class Fuse implements FeatureComponent {
  readonly outputs = { score: 'number' } as const;
  readonly #parts: readonly Part[];
  readonly #method: FuseMethod;
  /** Scratch that requests share: nothing awaits between filling it and reading it. */
  #known = new Float64Array(0);

  constructor(parts: readonly Part[], method: FuseMethod) {
    this.#parts = parts;
    this.#method = method;
  }

  compute(input: StepInput, output: StepOutput): void {
    const score = output.number('score');
    const parts = this.#parts.map(({ input: of, weight }) => ({ column: input.column(of), weight }));
    this.#begin(
      input.rows,
      parts.map(({ column }) => column),
      score,
    );
    for (const { column, weight } of parts) this.#add(input, column, weight, score);
  }

  /** A row that will have a score starts at 0. Any other row gets the status of its first unknown input. */
  #begin(rows: Int32Array, columns: readonly NumberColumn[], score: NumberColumn): void {
    const needsAll = this.#method.name !== 'rrf' && this.#method.missing === 'absent';
    const needsNone = this.#method.name !== 'rrf' && !needsAll;
    for (const row of rows) {
      let known = 0;
      let unknown: number | undefined;
      for (const column of columns) {
        const status = statusAt(column.status, row * column.stride);
        if (isKnown(status)) known++;
        else unknown ??= status;
      }
      const isScored = needsNone || (needsAll ? known === columns.length : known > 0);
      score.values[row] = isScored ? 0 : NaN;
      score.status[row] = isScored ? Status.present : (unknown ?? Status.absent);
    }
  }

  #add(input: StepInput, column: NumberColumn, weight: number, score: NumberColumn): void {
    const { values, status, stride } = column;
    const method = this.#method;
    const all = this.#distribution(input, column);
    for (const row of input.rows) {
      if (score.status[row] !== Status.present) continue;
      const cell = row * stride;
      const value = values[cell] ?? NaN;
      let part: number;
      if (!isKnown(status[cell])) {
        part = method.name === 'rrf' || method.missing === 'absent' ? 0 : weight * method.missing;
      } else if (method.name === 'rrf') part = weight / (method.k + all.rank(value));
      // Where all values are equal they tell nobody apart.
      else if (all.min === all.max) part = 0;
      else part = weight * (method.name === 'min_max' ? all.minMax(value) : all.zScore(value));
      score.values[row] = (score.values[row] ?? NaN) + part;
    }
  }

  /** Of the rows that have a value. */
  #distribution({ rows }: StepInput, { values, status, stride }: NumberColumn): Distribution {
    if (this.#known.length < rows.length) this.#known = new Float64Array(rows.length);
    let length = 0;
    for (const row of rows) {
      const cell = row * stride;
      if (isKnown(status[cell])) this.#known[length++] = values[cell] ?? NaN;
    }
    return new Distribution(this.#known.subarray(0, length).sort());
  }
}
