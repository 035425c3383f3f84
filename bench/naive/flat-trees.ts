import { NodeRule, type TreeEnsemble } from '../../runtime/ground/api/tree-ensemble.js';

/** Trees in flat arrays over rows in one dense array, without objects and names. */
export class FlatTrees {
  readonly #feature: Int32Array;
  readonly #threshold: Float64Array;
  readonly #defaultLeft: Uint8Array;
  /** Child ≥ 0 is a node; otherwise it is `~leaf`. */
  readonly #children: Int32Array;
  readonly #leaves: Float64Array;
  readonly #roots: Int32Array;
  readonly #features: number;
  readonly #base: number;

  /**
   * @param ensemble with one output; numeric nodes with the rule `nan`, compared by `<=`; no tree is a single leaf
   */
  constructor({ trees, base, features }: TreeEnsemble) {
    const nodes = trees.reduce((sum, tree) => sum + tree.feature.length, 0);
    this.#features = features;
    this.#base = base[0] ?? 0;
    this.#feature = new Int32Array(nodes);
    this.#threshold = new Float64Array(nodes);
    this.#defaultLeft = new Uint8Array(nodes);
    this.#children = new Int32Array(2 * nodes);
    this.#leaves = Float64Array.from(trees.flatMap((tree) => [...tree.leaves]));
    this.#roots = new Int32Array(trees.length);
    let [node, leaf] = [0, 0];
    for (const [index, tree] of trees.entries()) {
      this.#roots[index] = node;
      this.#feature.set(tree.feature, node);
      this.#threshold.set(tree.threshold, node);
      this.#defaultLeft.set(
        tree.rule.map((rule) => (rule & NodeRule.defaultLeft) >> 2),
        node,
      );
      const moved = (child: number): number => (child >= 0 ? child + node : ~(~child + leaf));
      for (let i = 0; i < tree.feature.length; i++) {
        this.#children[2 * (node + i)] = moved(tree.right[i] ?? ~0);
        this.#children[2 * (node + i) + 1] = moved(tree.left[i] ?? ~0);
      }
      node += tree.feature.length;
      leaf += tree.leaves.length;
    }
  }

  score(rows: Float64Array, count: number, to: Float64Array | number[]): void {
    const [feature, threshold, defaultLeft] = [this.#feature, this.#threshold, this.#defaultLeft];
    const [children, leaves, roots] = [this.#children, this.#leaves, this.#roots];
    for (let row = 0; row < count; row++) {
      const start = row * this.#features;
      let sum = this.#base;
      for (let tree = 0; tree < roots.length; tree++) {
        let at = roots[tree] ?? 0;
        while (at >= 0) {
          const value = rows[start + (feature[at] ?? 0)] ?? NaN;
          // Only NaN differs from itself.
          const left = value !== value ? (defaultLeft[at] ?? 0) : Number(value <= (threshold[at] ?? NaN));
          at = children[2 * at + left] ?? ~0;
        }
        sum += leaves[~at] ?? NaN;
      }
      to[row] = sum;
    }
  }
}
