import { NodeRule, type DecisionTree, type TreeEnsemble } from '../../runtime/ground/api/tree-ensemble.js';

/**
 * Builds a model file from its parts: the lines of the header, the lines of each tree below its number, and the part
 * after the trees. It adds the sizes of the trees, and the ending that Python's `save_model` writes.
 */
export function lightGbmFile(header: readonly string[], trees: readonly string[], end = ''): string {
  const blocks = trees.map((tree, index) => `Tree=${index}\n${tree}\n\n\n`);
  const sizes = `tree_sizes=${blocks.map(({ length }) => length).join(' ')}`;
  const last = end.includes('pandas_categorical:') ? end : `${end}\npandas_categorical:null\n`;
  return `${['tree', ...header, sizes, '', ''].join('\n')}${blocks.join('')}end of trees\n${last}`;
}

/**
 * Writes an ensemble of numeric trees with one output in the text format of LightGBM's `save_model` (version v4). It
 * contains what a reader needs, and covers, but no other values that only training knows.
 */
export function lightGbmText(ensemble: TreeEnsemble, names: readonly string[]): string {
  const header = [
    'version=v4',
    'num_class=1',
    'num_tree_per_iteration=1',
    'label_index=0',
    `max_feature_idx=${ensemble.features - 1}`,
    'objective=regression',
    `feature_names=${names.join(' ')}`,
    `feature_infos=${names.map(() => '[-3:3]').join(' ')}`,
  ];
  return lightGbmFile(header, ensemble.trees.map(treeText));
}

function treeText(tree: DecisionTree): string {
  return [
    `num_leaves=${tree.leaves.length}`,
    'num_cat=0',
    `split_feature=${tree.feature.join(' ')}`,
    `threshold=${tree.threshold.join(' ')}`,
    `decision_type=${Array.from(tree.rule, decisionType).join(' ')}`,
    `left_child=${tree.left.join(' ')}`,
    `right_child=${tree.right.join(' ')}`,
    `leaf_value=${tree.leaves.join(' ')}`,
    'is_linear=0',
    'shrinkage=1',
    ...(tree.cover === undefined
      ? []
      : [`internal_count=${tree.cover.nodes.join(' ')}`, `leaf_count=${tree.cover.leaves.join(' ')}`]),
  ].join('\n');
}

/** Bit 1: the default direction is left; bits 2 and 3: what counts as missing (none, zero, NaN). */
function decisionType(rule: number): number {
  return ((rule & NodeRule.defaultLeft) === 0 ? 0 : 2) | ((rule & NodeRule.missing) << 2);
}
