import { NodeRule, type TreeEnsemble } from '../../runtime/ground/api/tree-ensemble.js';

type Node =
  | { readonly leaf: number; readonly linear: readonly Term[] | undefined; readonly constant: number }
  | {
      readonly feature: string;
      readonly threshold: number;
      readonly categories: ReadonlySet<number> | undefined;
      readonly defaultLeft: boolean;
      readonly left: Node;
      readonly right: Node;
    };

interface Term {
  readonly feature: string;
  readonly coefficient: number;
}

/** Trees in the simplest form: one object per node, and features looked up by name in one object per row. */
export class ObjectTrees {
  readonly #roots: readonly { readonly node: Node; readonly output: number }[];
  readonly #base: readonly number[];
  readonly #less: boolean;
  readonly #single: boolean;

  /** @param ensemble nodes with the rule `nan` */
  constructor({ trees, base, comparison, precision }: TreeEnsemble) {
    this.#base = base;
    this.#less = comparison === 'less';
    this.#single = precision === 'float32';
    this.#roots = trees.map((tree) => {
      const node = (at: number): Node => {
        if (at < 0) {
          const linear = tree.linear?.[~at];
          return {
            leaf: tree.leaves[~at] ?? 0,
            constant: linear?.constant ?? 0,
            linear:
              linear &&
              Array.from(linear.features, (feature, i) => ({
                feature: `f${feature}`,
                coefficient: linear.coefficients[i] ?? 0,
              })),
          };
        }
        const set = tree.categories[at];
        return {
          feature: `f${tree.feature[at] ?? 0}`,
          threshold: tree.threshold[at] ?? 0,
          categories: set && new Set(set),
          defaultLeft: ((tree.rule[at] ?? 0) & NodeRule.defaultLeft) !== 0,
          left: node(tree.left[at] ?? ~0),
          right: node(tree.right[at] ?? ~0),
        };
      };
      return { node: node(tree.feature.length === 0 ? ~0 : 0), output: tree.output };
    });
  }

  /** @param to indexed by output, then row */
  score(rows: readonly Readonly<Record<string, number>>[], to: readonly (Float64Array | number[])[]): void {
    for (const [index, row] of rows.entries()) {
      const sums = [...this.#base];
      for (const { node: root, output } of this.#roots) {
        let node = root;
        while (!('leaf' in node)) {
          const value = row[node.feature] ?? NaN;
          const left = Number.isNaN(value)
            ? node.defaultLeft
            : node.categories !== undefined
              ? !(this.#single && value < 0) && node.categories.has(Math.trunc(value))
              : this.#less
                ? value < node.threshold
                : value <= node.threshold;
          node = left ? node.left : node.right;
        }
        let added = node.leaf;
        if (node.linear !== undefined) {
          let sum = node.constant;
          for (const { feature, coefficient } of node.linear) sum += coefficient * (row[feature] ?? NaN);
          if (!Number.isNaN(sum)) added = sum;
        }
        const sum = (sums[output] ?? 0) + added;
        sums[output] = this.#single ? Math.fround(sum) : sum;
      }
      for (const [output, sum] of sums.entries()) (to[output] ?? [])[index] = sum;
    }
  }
}
