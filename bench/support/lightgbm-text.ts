import { NodeRule, type DecisionTree, type TreeEnsemble } from '../../runtime/api/tree-ensemble.js';

/**
 * An ensemble of numeric trees with one output, as the text that LightGBM's `save_model` writes (version v4): what a
 * reader of the format needs, without what only training knew.
 */
export function lightGbmText(ensemble: TreeEnsemble, names: readonly string[]): string {
  return [
    'tree',
    'version=v4',
    'num_class=1',
    'num_tree_per_iteration=1',
    'label_index=0',
    `max_feature_idx=${ensemble.features - 1}`,
    'objective=regression',
    `feature_names=${names.join(' ')}`,
    `feature_infos=${names.map(() => '[-3:3]').join(' ')}`,
    '',
    ...ensemble.trees.map(treeText),
    'end of trees',
    '',
  ].join('\n');
}

function treeText(tree: DecisionTree, index: number): string {
  return [
    `Tree=${index}`,
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
    '',
  ].join('\n');
}

/** Bit 1: the default way is left; bits 2 and 3: what counts as missing (none, zero, NaN). */
function decisionType(rule: number): number {
  return ((rule & NodeRule.defaultLeft) === 0 ? 0 : 2) | ((rule & NodeRule.missing) << 2);
}
