import { NodeRule, type DecisionTree, type TreeEnsemble } from '../../runtime/ground/api/tree-ensemble.js';
import { goesLeft, interpret, leafValue } from '../../runtime/language/trees/interpreter.js';

/** The Shapley values of a game of `players` players, by the definition: all 2^n sets. */
export function shapleyValues(players: number, worth: (set: number) => number): number[] {
  const worths = Float64Array.from({ length: 2 ** players }, (_, set) => worth(set));
  const factorial = [1];
  for (let n = 1; n <= players; n++) factorial.push((factorial[n - 1] ?? 1) * n);
  const bits = (set: number): number => set.toString(2).replaceAll('0', '').length;
  return Array.from({ length: players }, (_, player) => {
    let value = 0;
    for (let set = 0; set < worths.length; set++) {
      if (set & (1 << player)) continue;
      const size = bits(set);
      const weight =
        ((factorial[size] ?? 1) * (factorial[players - 1 - size] ?? 1)) / (factorial[players] ?? 1);
      value += weight * ((worths[set | (1 << player)] ?? NaN) - (worths[set] ?? NaN));
    }
    return value;
  });
}

/** EXPVALUE of Lundberg, Erion, Lee (2018): the mean of a tree where only the features of a set are known. */
export function knownMean(
  tree: DecisionTree,
  ensemble: TreeEnsemble,
  row: Float64Array,
  set: number,
): number {
  const cover = (at: number): number => (at < 0 ? tree.cover?.leaves[~at] : tree.cover?.nodes[at]) ?? NaN;
  const mean = (at: number): number => {
    if (at < 0) return tree.leaves[~at] ?? NaN;
    const [left, right] = [tree.left[at] ?? ~0, tree.right[at] ?? ~0];
    if (set & (1 << (tree.feature[at] ?? 0))) return mean(goesLeft(tree, at, ensemble, row) ? left : right);
    return (mean(left) * cover(left) + mean(right) * cover(right)) / cover(at);
  };
  return mean(tree.feature.length === 0 ? ~0 : 0);
}

/** The exact sum of an output for the features of a set from a row, and the others from a reference. */
export function mixedSum(
  ensemble: TreeEnsemble,
  row: Float64Array,
  reference: Float64Array,
  output: number,
  set: number,
): number {
  const mixed = row.map((value, feature) => (set & (1 << feature) ? value : (reference[feature] ?? NaN)));
  return exactSum(ensemble, mixed, output);
}

/** The sum of an output without the rounding of float32. */
export function exactSum(ensemble: TreeEnsemble, row: Float64Array, output: number): number {
  if (ensemble.precision === 'float64') return interpret(ensemble, row)[output] ?? NaN;
  let sum = ensemble.base[output] ?? NaN;
  for (const tree of ensemble.trees) {
    if (tree.output !== output) continue;
    let at = tree.feature.length === 0 ? ~0 : 0;
    while (at >= 0) at = (goesLeft(tree, at, ensemble, row) ? tree.left[at] : tree.right[at]) ?? ~0;
    sum += leafValue(tree, ~at, row);
  }
  return sum;
}

/** Gives every leaf a random cover, and every node the sum of those below it. */
export function withCovers(ensemble: TreeEnsemble, random: () => number): TreeEnsemble {
  const trees = ensemble.trees.map((tree) => {
    const leaves = tree.leaves.map(() => 1 + Math.floor(random() * 50));
    const nodes = new Float64Array(tree.feature.length);
    const cover = (at: number): number => {
      if (at < 0) return leaves[~at] ?? NaN;
      return (nodes[at] = cover(tree.left[at] ?? ~0) + cover(tree.right[at] ?? ~0));
    };
    if (nodes.length > 0) cover(0);
    return { ...tree, cover: { nodes, leaves } };
  });
  return { ...ensemble, trees };
}

/** The missing rules of nodes. */
export const RULES = [
  NodeRule.none,
  NodeRule.zero,
  NodeRule.zero | NodeRule.defaultLeft,
  NodeRule.nan,
  NodeRule.nan | NodeRule.defaultLeft,
];
