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
 * Combines several scores into one, over the rows of the step. Each input costs n log n.
 *
 * rrf is reciprocal rank fusion, Σ weight / (k + rank) (Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion
 * outperforms Condorcet and individual Rank Learning Methods", SIGIR 2009). Equal values share the better rank. The
 * other methods are weighted sums of the values, after each input was scaled by itself.
 */
export class Fuse implements FeatureComponent {
  readonly readsRowsOnly = true;
  readonly outputs = { score: 'number' } as const;
  readonly #parts: readonly Part[];
  readonly #method: FuseMethod;
  /** Scratch memory that all requests share. It is filled and read without an await between. */
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
      // Equal values do not distinguish candidates.
      else if (all.min === all.max) part = 0;
      else part = weight * (method.name === 'min_max' ? all.minMax(value) : all.zScore(value));
      score.values[row] = (score.values[row] ?? NaN) + part;
    }
  }

  /** The distribution over the rows that have a value. */
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
