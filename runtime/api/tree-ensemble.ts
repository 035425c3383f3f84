/**
 * What a model plugin hands to the runtime: trees described exactly and without the words of any one library, and
 * what it gets back, a scorer. The description fixes every bit of the result: how values compare, what a missing one
 * does, in which precision and order leaves are added.
 */

/** Where a missing value goes, and what counts as missing, for one node. */
export const NodeRule = {
  /** NaN is taken as 0. */
  none: 0,
  /** NaN and every |x| ≤ `ZERO` go the default way. */
  zero: 1,
  /** NaN goes the default way. */
  nan: 2,
  /** Mask of the three above. */
  missing: 3,
  /** Set where the default way is left. */
  defaultLeft: 4,
  /** Set where the node tests for a set of categories; its missing rule is `nan`. */
  categorical: 8,
} as const;

/** Largest magnitude that the `zero` rule takes as missing: 1e-35 as a float32, LightGBM's kZeroThreshold. */
export const ZERO = Math.fround(1e-35);

/**
 * A binary tree in columns, one cell per inner node; node 0 is the root. Without nodes it is its single leaf.
 * A child is the index of a node, or `~leaf` for a leaf.
 */
export interface DecisionTree {
  /** The output that its leaf is added to. */
  readonly output: number;
  readonly feature: Int32Array;
  /** Bits of `NodeRule`. */
  readonly rule: Uint8Array;
  /** Of a numeric node: never NaN. */
  readonly threshold: Float64Array;
  /**
   * Of a categorical node: its categories, ascending, not negative; undefined for a numeric one. A value goes left if
   * its whole part is among them. In float64 a value in (−1, 0) is category 0; in float32 it is none.
   */
  readonly categories: readonly (Int32Array | undefined)[];
  readonly left: Int32Array;
  readonly right: Int32Array;
  /** What each leaf adds. */
  readonly leaves: Float64Array;
  /** By leaf, instead of its value where every feature of it is known (not NaN). */
  readonly linear?: readonly LinearLeaf[];
}

/** constant + Σ coefficient · feature, added in this order. */
export interface LinearLeaf {
  readonly constant: number;
  readonly features: Int32Array;
  readonly coefficients: Float64Array;
}

export interface TreeEnsemble {
  /** Number of features; a node's feature is below it. */
  readonly features: number;
  /** Number of outputs: one, or one per class. */
  readonly outputs: number;
  /**
   * `float32` rounds every feature first and every sum after each addition; thresholds, leaves and base are float32
   * already, and leaves are not linear.
   */
  readonly precision: 'float32' | 'float64';
  /** A numeric node goes left if value `<` or `<=` threshold. */
  readonly comparison: 'less' | 'less_or_equal';
  /** Added in this order. */
  readonly trees: readonly DecisionTree[];
  /** What each output's sum starts with. */
  readonly base: readonly number[];
}

/** The features of one batch: by feature, NaN where missing; `stride` 0 is one value for every row. */
export interface FeatureColumn {
  readonly values: Float64Array;
  readonly stride: 0 | 1;
}

export interface TreeScorer {
  /** How it computes: for `explain`, benches and tests. */
  readonly form: 'columns' | 'scalar';
  /**
   * Writes the sums of `rows` to `outputs[output][row]`; other rows are left alone.
   * @param columns one per feature; those of features that no tree reads may be undefined
   */
  score(
    rows: Int32Array,
    columns: readonly (FeatureColumn | undefined)[],
    outputs: readonly Float64Array[],
  ): void;
}

/** The runtime's engine of tree ensembles. */
export interface TreeCompiler {
  /** @throws Error that says what is wrong with the ensemble */
  compile(ensemble: TreeEnsemble): Promise<TreeScorer>;
}
