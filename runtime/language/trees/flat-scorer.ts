import {
  NodeRule,
  ZERO,
  type DecisionTree,
  type FeatureColumn,
  type TreeEnsemble,
  type TreeScorer,
} from '../../ground/api/tree-ensemble.js';
import { leafValue } from './interpreter.js';

/**
 * The scalar form: all trees in one set of flat arrays, walked row by row. It supports every ensemble, and is faster
 * for a few rows.
 */
export class FlatScorer implements TreeScorer {
  readonly form = 'scalar';
  readonly #ensemble: TreeEnsemble;
  readonly #feature: Int32Array;
  readonly #rule: Uint8Array;
  readonly #threshold: Float64Array;
  /** For node n: the next node if its test fails at 2n, and if it holds at 2n + 1. */
  readonly #children: Int32Array;
  /** 1 if a known value only has to be compared with the threshold. */
  readonly #plain: Uint8Array;
  readonly #leaves: Float64Array;
  /** By tree: its root (a node, or `~leaf`) and its output. */
  readonly #roots: Int32Array;
  readonly #outputs: Int32Array;
  /** By node; undefined if no tree has a categorical node. */
  readonly #categories: readonly (ReadonlySet<number> | undefined)[] | undefined;
  /** By tree; undefined if no tree has linear leaves. */
  readonly #linear: readonly { readonly tree: DecisionTree; readonly firstLeaf: number }[] | undefined;
  readonly #row: Float64Array;
  readonly #sums: Float64Array;

  /** @param ensemble one that `checkEnsemble` accepted */
  constructor(ensemble: TreeEnsemble) {
    const { trees } = ensemble;
    const nodes = trees.reduce((sum, tree) => sum + tree.feature.length, 0);
    this.#ensemble = ensemble;
    this.#feature = new Int32Array(nodes);
    this.#rule = new Uint8Array(nodes);
    this.#threshold = new Float64Array(nodes);
    this.#children = new Int32Array(2 * nodes);
    this.#plain = new Uint8Array(nodes);
    this.#leaves = new Float64Array(nodes + trees.length);
    this.#roots = new Int32Array(trees.length);
    this.#outputs = Int32Array.from(trees, (tree) => tree.output);
    this.#row = new Float64Array(ensemble.features);
    this.#sums = new Float64Array(ensemble.outputs);
    const categories: (ReadonlySet<number> | undefined)[] = [];
    const linear: { tree: DecisionTree; firstLeaf: number }[] = [];
    let [node, leaf] = [0, 0];
    for (const [index, tree] of trees.entries()) {
      const [firstNode, firstLeaf] = [node, leaf];
      const moved = (child: number): number => (child >= 0 ? child + firstNode : ~(~child + firstLeaf));
      this.#roots[index] = tree.feature.length === 0 ? ~firstLeaf : firstNode;
      this.#feature.set(tree.feature, firstNode);
      this.#rule.set(tree.rule, firstNode);
      this.#threshold.set(tree.threshold, firstNode);
      for (let at = 0; at < tree.rule.length; at++) {
        const [node, rule] = [firstNode + at, tree.rule[at] ?? 0];
        this.#children[2 * node] = moved(tree.right[at] ?? ~0);
        this.#children[2 * node + 1] = moved(tree.left[at] ?? ~0);
        const isZero = (rule & NodeRule.missing) === NodeRule.zero;
        this.#plain[node] = Number(!isZero && (rule & NodeRule.categorical) === 0);
      }
      this.#leaves.set(tree.leaves, firstLeaf);
      for (const set of tree.categories) categories.push(set && new Set(set));
      linear.push({ tree, firstLeaf });
      node += tree.feature.length;
      leaf += tree.leaves.length;
    }
    this.#categories = categories.some((set) => set !== undefined) ? categories : undefined;
    this.#linear = trees.some((tree) => tree.linear !== undefined) ? linear : undefined;
  }

  score(
    rows: Int32Array,
    columns: readonly (FeatureColumn | undefined)[],
    outputs: readonly Float64Array[],
  ): void {
    const { base, precision } = this.#ensemble;
    const single = precision === 'float32';
    const [row, sums, roots, treeOutputs, leaves] = [
      this.#row,
      this.#sums,
      this.#roots,
      this.#outputs,
      this.#leaves,
    ];
    for (const index of rows) {
      for (let feature = 0; feature < row.length; feature++) {
        const column = columns[feature];
        const value = column === undefined ? NaN : (column.values[index * column.stride] ?? NaN);
        row[feature] = single ? Math.fround(value) : value;
      }
      sums.set(base);
      for (let tree = 0; tree < roots.length; tree++) {
        const leaf = this.#leaf(roots[tree] ?? 0, single);
        const to = treeOutputs[tree] ?? 0;
        const value = this.#linear === undefined ? (leaves[leaf] ?? NaN) : this.#linearValue(tree, leaf);
        const sum = (sums[to] ?? 0) + value;
        sums[to] = single ? Math.fround(sum) : sum;
      }
      for (let to = 0; to < sums.length; to++) {
        const output = outputs[to];
        if (output !== undefined) output[index] = sums[to] ?? NaN;
      }
    }
  }

  #linearValue(tree: number, leaf: number): number {
    const found = this.#linear?.[tree];
    return found === undefined ? NaN : leafValue(found.tree, leaf - found.firstLeaf, this.#row);
  }

  #leaf(root: number, single: boolean): number {
    const [row, feature, plain, threshold] = [this.#row, this.#feature, this.#plain, this.#threshold];
    const children = this.#children;
    const less = this.#ensemble.comparison === 'less';
    let at = root;
    while (at >= 0) {
      const value = row[feature[at] as number] as number;
      const bound = threshold[at] as number;
      // Only NaN differs from itself.
      const isPlain = value === value && plain[at] === 1;
      const left = isPlain
        ? less
          ? value < bound
          : value <= bound
        : this.#goesLeft(at, value, single, less);
      at = children[2 * at + Number(left)] as number;
    }
    return ~at;
  }

  /** Decides for a node that needs more than a comparison. */
  #goesLeft(node: number, of: number, single: boolean, less: boolean): boolean {
    const bits = this.#rule[node] ?? 0;
    const missing = bits & NodeRule.missing;
    const isNaN = Number.isNaN(of);
    const byDefault = (bits & NodeRule.defaultLeft) !== 0;
    if (isNaN && missing !== NodeRule.none) return byDefault;
    const value = isNaN ? 0 : of;
    if ((bits & NodeRule.categorical) !== 0) return this.#isIn(node, value, single);
    if (missing === NodeRule.zero && Math.abs(value) <= ZERO) return byDefault;
    const bound = this.#threshold[node] ?? NaN;
    return less ? value < bound : value <= bound;
  }

  #isIn(node: number, value: number, single: boolean): boolean {
    return !(single && value < 0) && this.#categories?.[node]?.has(Math.trunc(value)) === true;
  }
}
