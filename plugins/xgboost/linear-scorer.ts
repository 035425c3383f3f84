import type { FeatureColumn, SumExplainer, TreeScorer } from 'millrace/api';

/** Booster gblinear: base + bias + Σ weight · feature, each step in float32. A missing feature adds nothing. */
export class LinearScorer implements Pick<TreeScorer, 'score'>, SumExplainer {
  readonly precision = 'float32';

  /**
   * @param weights for each feature the weights of all outputs, then the biases, as in the file
   * @param base the base score by output
   */
  constructor(
    readonly features: number,
    readonly weights: Float32Array,
    readonly base: readonly number[],
  ) {}

  score(
    rows: Int32Array,
    columns: readonly (FeatureColumn | undefined)[],
    outputs: readonly Float64Array[],
  ): void {
    const { features, weights, base } = this;
    for (const [output, values] of outputs.entries()) {
      const start = this.#start(output);
      for (const row of rows) values[row] = start;
      for (let feature = 0; feature < features; feature++) {
        const column = columns[feature];
        const weight = weights[feature * base.length + output] ?? 0;
        if (column === undefined) continue;
        for (const row of rows) {
          const value = Math.fround(column.values[row * column.stride] ?? NaN);
          if (Number.isNaN(value)) continue;
          values[row] = Math.fround((values[row] ?? 0) + Math.fround(value * weight));
        }
      }
    }
  }

  *contributions(
    rows: readonly Float64Array[],
    output: number,
    to: readonly Float64Array[],
  ): Generator<undefined, number> {
    for (const [i, row] of rows.entries()) {
      yield* this.difference(row, NONE, output, to[i] ?? NONE);
    }
    return this.#start(output);
  }

  *difference(
    row: Float64Array,
    reference: Float64Array,
    output: number,
    to: Float64Array,
  ): Generator<undefined, void> {
    for (let feature = 0; feature < this.features; feature++) {
      const weight = this.weights[feature * this.base.length + output] ?? 0;
      to[feature] = (to[feature] ?? 0) + weight * (added(row[feature]) - added(reference[feature]));
    }
    yield;
  }

  /** The sum without features. */
  #start(output: number): number {
    return Math.fround(
      (this.base[output] ?? 0) + (this.weights[this.features * this.base.length + output] ?? 0),
    );
  }
}

const NONE = new Float64Array(0);

/** A missing feature adds nothing. */
function added(value = NaN): number {
  return Number.isNaN(value) ? 0 : Math.fround(value);
}
