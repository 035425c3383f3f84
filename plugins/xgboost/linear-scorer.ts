import type { FeatureColumn, TreeScorer } from 'millrace/api';

/** Booster gblinear: base + bias + Σ weight · feature, each step in float32. A missing feature adds nothing. */
export class LinearScorer implements Pick<TreeScorer, 'score'> {
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
      const start = Math.fround((base[output] ?? 0) + (weights[features * base.length + output] ?? 0));
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
}
