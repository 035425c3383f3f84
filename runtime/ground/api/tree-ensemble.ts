/**
 * What a model plugin gives to the runtime, and what it gets back. It gives an exact description of trees, independent
 * of any library. It gets a scorer. The description determines every bit of the result: how values compare, where
 * missing values go, and in which precision and order leaves are added.
 */

/** For one node: which values are missing, and where they go. */
export const NodeRule = {
  /** NaN counts as 0. */
  none: 0,
  /** NaN and every |x| ≤ `ZERO` go the default way. */
  zero: 1,
  /** NaN goes the default way. */
  nan: 2,
  /** The mask of the three rules above. */
  missing: 3,
  /** Set if the default way is left. */
  defaultLeft: 4,
  /** Set if the node tests for a set of categories. Its missing rule is `nan`. */
  categorical: 8,
} as const;

/** The largest magnitude that the `zero` rule treats as missing: 1e-35 as a float32, kZeroThreshold of LightGBM. */
export const ZERO = Math.fround(1e-35);

/**
 * A binary tree in columns, one cell per inner node; node 0 is the root. Without nodes it is its single leaf.
 * A child is the index of a node, or `~leaf` for a leaf.
 */
export interface DecisionTree {
  /** The output that the leaf is added to. */
  readonly output: number;
  readonly feature: Int32Array;
  /** Bits of `NodeRule`. */
  readonly rule: Uint8Array;
  /** The threshold of a numeric node; never NaN. */
  readonly threshold: Float64Array;
  /**
   * The categories of a categorical node, ascending and not negative; undefined for a numeric node. A value goes left
   * if its integer part is among them. In float64, a value in (−1, 0) is category 0; in float32 it is no category.
   */
  readonly categories: readonly (Int32Array | undefined)[];
  readonly left: Int32Array;
  readonly right: Int32Array;
  /** The value of each leaf. */
  readonly leaves: Float64Array;
  /** For each leaf, a linear function that replaces its value if all features of the function are known (not NaN). */
  readonly linear?: readonly LinearLeaf[];
  /** How many training rows reached each node and leaf, or their weight. Only explanations read it. */
  readonly cover?: { readonly nodes: Float64Array; readonly leaves: Float64Array };
}

/** constant + Σ coefficient · feature, added in this order. */
export interface LinearLeaf {
  readonly constant: number;
  readonly features: Int32Array;
  readonly coefficients: Float64Array;
}

export interface TreeEnsemble {
  /** The number of features. Features of nodes are below it. */
  readonly features: number;
  /** The number of outputs: one, or one for each class. */
  readonly outputs: number;
  /**
   * `float32` rounds every feature first, and the sum after each addition. Thresholds, leaves and base must be
   * float32, and leaves are not linear.
   */
  readonly precision: 'float32' | 'float64';
  /** The comparison with which a numeric node sends a value left: value `<` or `<=` threshold. */
  readonly comparison: 'less' | 'less_or_equal';
  /** Trees are added in this order. */
  readonly trees: readonly DecisionTree[];
  /** The start value of each output's sum. */
  readonly base: readonly number[];
}

/** One feature of a batch. Missing values are NaN. `stride` 0 means one value for all rows. */
export interface FeatureColumn {
  readonly values: Float64Array;
  readonly stride: 0 | 1;
}

export interface TreeScorer {
  /** The form of computation, for `explain`, benchmarks and tests. */
  readonly form: 'columns' | 'scalar';
  /**
   * Writes the sums of `rows` to `outputs[output][row]`. Other rows do not change.
   * @param columns one for each feature; undefined is allowed for features that no tree reads
   */
  score(
    rows: Int32Array,
    columns: readonly (FeatureColumn | undefined)[],
    outputs: readonly Float64Array[],
  ): void;
}

/** Divides sums among features. A row has one value for each feature, NaN if it is missing. */
export interface SumExplainer {
  /** Undefined if the contributions are what was added. */
  readonly method?: 'tree_shap';
  /** With `float32`, the sums were rounded while they were made: contributions differ from them by that much. */
  readonly precision: TreeEnsemble['precision'];
  /**
   * Divides the sums of rows: the sum of a row is the base and its contributions. For trees these are the values of
   * path-dependent TreeSHAP. It pauses at each yield.
   * @param to by row, then feature: the contributions are added
   * @returns the base
   */
  readonly contributions:
    | ((
        rows: readonly Float64Array[],
        output: number,
        to: readonly Float64Array[],
      ) => Generator<'own slice' | undefined, number>)
    /** Why only differences can be divided. */
    | string;
  /**
   * Divides the difference between the sums of a row and of a reference. For trees these are the values of
   * interventional TreeSHAP with one reference. It pauses at each yield.
   * @param to by feature: the contributions are added
   */
  difference(
    row: Float64Array,
    reference: Float64Array,
    output: number,
    to: Float64Array,
  ): Generator<'own slice' | undefined, void>;
}

/** The runtime's engine of tree ensembles. */
export interface TreeCompiler {
  /** @throws Error that says what is wrong with the ensemble */
  compile(ensemble: TreeEnsemble): Promise<TreeScorer>;
  /** Explains the sums of an ensemble that `compile` accepts. It needs `cover` for more than differences. */
  explain(ensemble: TreeEnsemble): SumExplainer;
}
