import { NodeRule, ZERO, type DecisionTree, type TreeEnsemble } from '../../ground/api/tree-ensemble.js';

/**
 * The reference for all faster forms, which must give the same bits. It scores one row, node by node, as the contract
 * says.
 * @param row one value for each feature, NaN if missing
 * @returns the sum of each output
 */
export function interpret(ensemble: TreeEnsemble, row: ArrayLike<number>): number[] {
  const round = ensemble.precision === 'float32' ? Math.fround : (x: number): number => x;
  const sums = [...ensemble.base];
  for (const tree of ensemble.trees) {
    const leaf = leafOf(tree, ensemble, row);
    sums[tree.output] = round((sums[tree.output] ?? 0) + leafValue(tree, leaf, row));
  }
  return sums;
}

function leafOf(tree: DecisionTree, ensemble: TreeEnsemble, row: ArrayLike<number>): number {
  let at = tree.feature.length === 0 ? ~0 : 0;
  while (at >= 0) at = (goesLeft(tree, at, ensemble, row) ? tree.left[at] : tree.right[at]) ?? ~0;
  return ~at;
}

/** Whether a row goes left at a node. */
export function goesLeft(
  tree: DecisionTree,
  node: number,
  ensemble: TreeEnsemble,
  row: ArrayLike<number>,
): boolean {
  const { precision, comparison } = ensemble;
  const rule = tree.rule[node] ?? 0;
  let value = row[tree.feature[node] ?? -1] ?? NaN;
  if (precision === 'float32') value = Math.fround(value);
  if (Number.isNaN(value)) {
    if ((rule & NodeRule.missing) !== NodeRule.none) return (rule & NodeRule.defaultLeft) !== 0;
    value = 0;
  }
  if ((rule & NodeRule.categorical) !== 0) {
    if (precision === 'float32' && value < 0) return false;
    return tree.categories[node]?.includes(Math.trunc(value)) === true;
  }
  if ((rule & NodeRule.missing) === NodeRule.zero && Math.abs(value) <= ZERO)
    return (rule & NodeRule.defaultLeft) !== 0;
  const threshold = tree.threshold[node] ?? NaN;
  return comparison === 'less' ? value < threshold : value <= threshold;
}

/** Writes for each row whether it goes left at a node: 1 or 0. */
export function goLeft(
  tree: DecisionTree,
  node: number,
  ensemble: TreeEnsemble,
  rows: readonly Float64Array[],
  to: Uint8Array,
): void {
  const rule = tree.rule[node] ?? 0;
  if ((rule & (NodeRule.zero | NodeRule.categorical)) !== 0) {
    for (const [i, row] of rows.entries()) to[i] = goesLeft(tree, node, ensemble, row) ? 1 : 0;
    return;
  }
  const [feature, threshold] = [tree.feature[node] ?? 0, tree.threshold[node] ?? NaN];
  const [isSingle, isLess] = [ensemble.precision === 'float32', ensemble.comparison === 'less'];
  const missing = goesLeft(tree, node, ensemble, []) ? 1 : 0;
  for (let i = 0; i < rows.length; i++) {
    const own = (rows[i] as Float64Array)[feature] as number;
    const value = isSingle ? Math.fround(own) : own;
    // Only NaN differs from itself.
    if (value !== value) to[i] = missing;
    else to[i] = (isLess ? value < threshold : value <= threshold) ? 1 : 0;
  }
}

/** The number that a leaf adds for a row. */
export function leafValue(tree: DecisionTree, leaf: number, row: ArrayLike<number>): number {
  const constant = tree.leaves[leaf] ?? NaN;
  const linear = tree.linear?.[leaf];
  if (linear === undefined) return constant;
  let sum = linear.constant;
  for (const [i, feature] of linear.features.entries()) {
    const value = row[feature] ?? NaN;
    if (Number.isNaN(value)) return constant;
    sum += (linear.coefficients[i] ?? NaN) * value;
  }
  return sum;
}
