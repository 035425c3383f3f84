import { NodeRule, type TreeEnsemble } from '../../runtime/api/tree-ensemble.js';

type Node =
  | { readonly leaf: number }
  | {
      readonly feature: string;
      readonly threshold: number;
      readonly defaultLeft: boolean;
      readonly left: Node;
      readonly right: Node;
    };

/** Trees as one first writes them: an object per node, features looked up by name in an object per row. */
export class ObjectTrees {
  readonly #roots: readonly Node[];
  readonly #base: number;

  /** @param ensemble one output; numeric nodes with the rule `nan`, compared by `<=` */
  constructor({ trees, base }: TreeEnsemble) {
    this.#base = base[0] ?? 0;
    this.#roots = trees.map((tree) => {
      const node = (at: number): Node =>
        at < 0
          ? { leaf: tree.leaves[~at] ?? 0 }
          : {
              feature: `f${tree.feature[at] ?? 0}`,
              threshold: tree.threshold[at] ?? 0,
              defaultLeft: ((tree.rule[at] ?? 0) & NodeRule.defaultLeft) !== 0,
              left: node(tree.left[at] ?? ~0),
              right: node(tree.right[at] ?? ~0),
            };
      return node(0);
    });
  }

  score(rows: readonly Readonly<Record<string, number>>[], to: Float64Array | number[]): void {
    for (const [index, row] of rows.entries()) {
      let sum = this.#base;
      for (const root of this.#roots) {
        let node = root;
        while (!('leaf' in node)) {
          const value = row[node.feature] ?? NaN;
          const left = Number.isNaN(value) ? node.defaultLeft : value <= node.threshold;
          node = left ? node.left : node.right;
        }
        sum += node.leaf;
      }
      to[index] = sum;
    }
  }
}
