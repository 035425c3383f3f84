import { lightGbmFile } from '../../bench/support/lightgbm-text.js';
import { NodeRule, type DecisionTree, type TreeEnsemble } from '../../runtime/ground/api/tree-ensemble.js';

/**
 * Writes LightGBM's `save_model` text with numbers, optionally with linear leaves, category sets and several classes.
 */
export function lightGbmText(ensemble: TreeEnsemble, linear: boolean): string {
  const { features, outputs } = ensemble;
  const names = Array.from({ length: features }, (_, i) => `c${i}`);
  const header = [
    'version=v4',
    `num_class=${outputs}`,
    `num_tree_per_iteration=${outputs}`,
    'label_index=0',
    `max_feature_idx=${features - 1}`,
    outputs === 1 ? 'objective=binary sigmoid:1' : `objective=multiclass num_class:${outputs}`,
    `feature_names=${names.join(' ')}`,
    `feature_infos=${names.map(() => '[-3:3]').join(' ')}`,
  ];
  return lightGbmFile(
    header,
    ensemble.trees.map((tree) => lightGbmTree(tree, linear)),
  );
}

function lightGbmTree(tree: DecisionTree, linear: boolean): string {
  const sets = tree.categories.flatMap((set) => (set === undefined ? [] : [set]));
  let set = 0;
  const thresholds = Array.from(tree.threshold, (value, node) =>
    tree.categories[node] === undefined ? value : set++,
  );
  const words = sets.map((members) => [members.reduce((bits, one) => bits | (1 << one), 0) >>> 0]);
  const leaves = Array.from(tree.leaves);
  return [
    `num_leaves=${leaves.length}`,
    `num_cat=${sets.length}`,
    `split_feature=${tree.feature.join(' ')}`,
    `threshold=${thresholds.join(' ')}`,
    `decision_type=${Array.from(tree.rule, decisionType).join(' ')}`,
    `left_child=${tree.left.join(' ')}`,
    `right_child=${tree.right.join(' ')}`,
    ...(sets.length === 0
      ? []
      : [
          `cat_boundaries=0 ${words.map((_, i) => i + 1).join(' ')}`,
          `cat_threshold=${words.flat().join(' ')}`,
        ]),
    `leaf_value=${leaves.join(' ')}`,
    ...(linear
      ? [
          'is_linear=1',
          `leaf_const=${leaves.join(' ')}`,
          `num_features=${leaves.map((_, i) => i % 2).join(' ')}`,
          `leaf_features=${leaves.flatMap((_, i) => (i % 2 === 0 ? [] : [0])).join(' ')}`,
          `leaf_coeff=${leaves.flatMap((_, i) => (i % 2 === 0 ? [] : [0.5])).join(' ')}`,
        ]
      : ['is_linear=0']),
    'shrinkage=1',
  ].join('\n');
}

function decisionType(rule: number): number {
  if ((rule & NodeRule.categorical) !== 0) return 1;
  return ((rule & NodeRule.defaultLeft) === 0 ? 0 : 2) | ((rule & NodeRule.missing) << 2);
}

const MISSING = ['None', 'Zero', 'NaN'];

/** Returns what `dump_model()` gives for the same model. */
export function lightGbmJson({ features, outputs, trees }: TreeEnsemble): unknown {
  const nodeOf = (tree: DecisionTree, at: number): unknown => {
    if (at < 0) return { leaf_index: ~at, leaf_value: tree.leaves[~at] };
    const rule = tree.rule[at] ?? 0;
    const set = tree.categories[at];
    return {
      split_index: at,
      split_feature: tree.feature[at],
      threshold: set === undefined ? tree.threshold[at] : set.join('||'),
      decision_type: set === undefined ? '<=' : '==',
      default_left: (rule & NodeRule.defaultLeft) !== 0,
      missing_type: MISSING[rule & NodeRule.missing],
      left_child: nodeOf(tree, tree.left[at] ?? ~0),
      right_child: nodeOf(tree, tree.right[at] ?? ~0),
    };
  };
  const names = Array.from({ length: features }, (_, i) => `c${i}`);
  return {
    name: 'tree',
    version: 'v4',
    num_class: outputs,
    num_tree_per_iteration: outputs,
    max_feature_idx: features - 1,
    objective: outputs === 1 ? 'regression' : `multiclass num_class:${outputs}`,
    average_output: false,
    feature_names: names,
    feature_infos: Object.fromEntries(
      names.map((name) => [name, { min_value: -3, max_value: 3, values: [] }]),
    ),
    tree_info: trees.map((tree, index) => ({
      tree_index: index,
      num_leaves: tree.leaves.length,
      tree_structure: nodeOf(tree, tree.feature.length === 0 ? ~0 : 0),
    })),
    pandas_categorical: null,
  };
}

/**
 * Returns what XGBoost's `save_model` writes: trees whose leaves are numbers, or vectors with one element per output.
 */
export function xgboostJson(
  { features, outputs, trees }: TreeEnsemble,
  vectors: boolean,
  dart: boolean,
): unknown {
  const model = {
    gbtree_model_param: { num_parallel_tree: '1', num_trees: String(trees.length) },
    iteration_indptr: trees.map((_, i) => i).concat(trees.length),
    tree_info: trees.map((_, index) => (vectors ? 0 : index % outputs)),
    trees: trees.map((tree) => xgboostTree(tree, vectors ? outputs : 1, features)),
  };
  return {
    learner: {
      attributes: { best_iteration: String(Math.floor(trees.length / outputs) - 1) },
      feature_names: Array.from({ length: features }, (_, i) => `c${i}`),
      feature_types: Array.from({ length: features }, () => 'float'),
      gradient_booster: dart
        ? { name: 'dart', gbtree: { name: 'gbtree', model }, weight_drop: trees.map(() => 0.5) }
        : { name: 'gbtree', model },
      learner_model_param: {
        base_score: outputs === 1 ? '[5E-1]' : `[${Array.from({ length: outputs }, () => '5E-1').join()}]`,
        num_class: String(outputs === 1 ? 0 : outputs),
        num_feature: String(features),
        num_target: '1',
      },
      objective: { name: outputs === 1 ? 'binary:logistic' : 'multi:softprob' },
    },
    version: [3, 1, 1],
  };
}

function xgboostTree(tree: DecisionTree, size: number, features: number): unknown {
  const inner = tree.feature.length;
  const at = (child: number | undefined): number =>
    child === undefined ? -1 : child >= 0 ? child : inner + ~child;
  const none = Array.from(tree.leaves, () => 0);
  const sets = tree.categories.flatMap((set, node) => (set === undefined ? [] : [{ node, set }]));
  let from = 0;
  return {
    default_left: [...Array.from(tree.rule, (rule) => Number((rule & NodeRule.defaultLeft) !== 0)), ...none],
    left_children: [...Array.from(tree.left, at), ...none.map(() => -1)],
    right_children: [...Array.from(tree.right, at), ...none.map((_, leaf) => (size > 1 ? leaf : -1))],
    split_conditions: [...tree.threshold, ...tree.leaves],
    split_indices: [...tree.feature, ...none],
    split_type: [...tree.categories.map((set) => Number(set !== undefined)), ...none],
    categories: sets.flatMap(({ set }) => [...set]),
    categories_nodes: sets.map(({ node }) => node),
    categories_segments: sets.map(({ set }) => (from += set.length) - set.length),
    categories_sizes: sets.map(({ set }) => set.length),
    ...(size > 1
      ? {
          leaf_weights: Array.from(tree.leaves).flatMap((value) => Array.from({ length: size }, () => value)),
        }
      : {}),
    tree_param: {
      num_feature: String(features),
      num_nodes: String(inner + none.length),
      size_leaf_vector: String(size),
    },
  };
}

/** The booster gblinear. */
export function xgboostLinear(features: number): unknown {
  const file = xgboostJson({ features, outputs: 1, trees: [] } as unknown as TreeEnsemble, false, false);
  const { learner } = file as { learner: Record<string, unknown> };
  learner['gradient_booster'] = {
    name: 'gblinear',
    model: { weights: Array.from({ length: features + 1 }, (_, i) => i / 4) },
  };
  learner['attributes'] = {};
  return file;
}
