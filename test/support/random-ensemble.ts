import { NodeRule, type DecisionTree, type TreeEnsemble } from '../../runtime/ground/api/tree-ensemble.js';

/** The properties of random trees. */
export interface EnsembleShape {
  readonly trees: number;
  readonly leaves: number;
  readonly features: number;
  readonly outputs?: number;
  /** The number of distinct thresholds per feature, like a booster's bins. */
  readonly thresholds: number;
  readonly precision: TreeEnsemble['precision'];
  readonly comparison: TreeEnsemble['comparison'];
  /** The missing rules of nodes: `NodeRule` bits. */
  readonly rules: readonly number[];
  /** Features from this index on are categorical. */
  readonly categoricalFrom?: number;
  /** The number of categories of a categorical feature. A node tests for up to half of them, or 5. */
  readonly categories?: number;
  /** Grows level by level like XGBoost, if the number of leaves is a power of two. */
  readonly balanced?: boolean;
  /** The number of features of every leaf, for linear leaves. */
  readonly linear?: number | undefined;
}

/** Generates numbers in [0, 1). The same seed gives the same numbers (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Grows trees by splitting a random leaf each time, so that they are as unbalanced as trained trees. */
export function randomEnsemble(seed: number, shape: EnsembleShape): TreeEnsemble {
  const random = randomNumbers(seed);
  const round = shape.precision === 'float32' ? Math.fround : (x: number): number => x;
  const outputs = shape.outputs ?? 1;
  const grid = Array.from({ length: shape.features }, () =>
    Array.from({ length: shape.thresholds }, () => round(random() < 0.1 ? 0 : random() * 4 - 2)),
  );
  const trees = Array.from({ length: shape.trees }, (_, index) =>
    randomTree(random, round, shape, grid, index % outputs),
  );
  return {
    features: shape.features,
    outputs,
    precision: shape.precision,
    comparison: shape.comparison,
    base: Array.from({ length: outputs }, () => round(random())),
    trees,
  };
}

function randomTree(
  random: () => number,
  round: (x: number) => number,
  shape: EnsembleShape,
  grid: readonly (readonly number[])[],
  output: number,
): DecisionTree {
  const below = (count: number): number => Math.floor(random() * count);
  const count = shape.leaves - 1;
  const [left, right] = [new Int32Array(count), new Int32Array(count)];
  const feature = new Int32Array(count);
  const rule = new Uint8Array(count);
  const threshold = new Float64Array(count);
  const categories: (Int32Array | undefined)[] = [];
  /** The parent of each leaf. */
  const parents: { node: number; side: Int32Array }[] = [];
  for (let node = 0; node < count; node++) {
    const of = (feature[node] = below(shape.features));
    rule[node] = shape.rules[below(shape.rules.length)] ?? 0;
    if (of >= (shape.categoricalFrom ?? Infinity)) {
      rule[node] = NodeRule.categorical | NodeRule.nan | (random() < 0.5 ? NodeRule.defaultLeft : 0);
      const all = shape.categories ?? 12;
      const set = new Set(Array.from({ length: 1 + below(Math.max(5, all / 2)) }, () => below(all)));
      categories[node] = Int32Array.from(set).sort();
    } else {
      threshold[node] = grid[of]?.[below(shape.thresholds)] ?? 0;
      categories[node] = undefined;
    }
    const split = shape.balanced === true ? 0 : below(parents.length);
    const [place] = parents.splice(split, 1);
    if (place !== undefined) place.side[place.node] = node;
    parents.push({ node, side: left }, { node, side: right });
  }
  for (const [leaf, { node, side }] of parents.entries()) side[node] = ~leaf;
  const leaves = Float64Array.from({ length: shape.leaves }, () => round(random() - 0.5));
  const tree = { output, feature, rule, threshold, categories, left, right, leaves };
  if (shape.linear === undefined) return tree;
  const linear = Array.from(leaves, (constant) => ({
    constant,
    features: Int32Array.from({ length: shape.linear ?? 0 }, () => below(shape.features)),
    coefficients: Float64Array.from({ length: shape.linear ?? 0 }, () => random() - 0.5),
  }));
  return { ...tree, linear };
}

/** Generates values near and on the thresholds, including NaN, ±Infinity, ±0, tiny numbers and fractions. */
export function randomColumns(seed: number, ensemble: TreeEnsemble, rows: number): Float64Array[] {
  const random = randomNumbers(seed);
  const odd = [NaN, Infinity, -Infinity, 0, -0, 1e-36, -1e-36, 1e-35, Math.fround(1e-35), -0.5, 3, 7.9, -1];
  const known = Array.from({ length: ensemble.features }, () => [] as number[]);
  for (const tree of ensemble.trees)
    for (const [node, feature] of tree.feature.entries()) known[feature]?.push(tree.threshold[node] ?? 0);
  return known.map((thresholds) =>
    Float64Array.from({ length: rows }, () => {
      const kind = random();
      if (kind < 0.2) return odd[Math.floor(random() * odd.length)] ?? NaN;
      if (kind < 0.5) return thresholds[Math.floor(random() * thresholds.length)] ?? 1;
      if (kind < 0.6) return Math.floor(random() * 14);
      return random() * 5 - 2.5;
    }),
  );
}
