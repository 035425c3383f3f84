import { expect } from 'chai';
import { lightGbmFile } from '../../../bench/support/lightgbm-text.js';
import { readBooster as readLightGbm } from '../../../plugins/lightgbm/booster.js';
import { readBooster as readXgBoost } from '../../../plugins/xgboost/booster.js';
import { readUbjson } from '../../../plugins/xgboost/read-ubjson.js';
import { checkEnsemble } from '../../../runtime/language/trees/check-ensemble.js';

/** Numbers in model files that would crash the process, or become other numbers, without a check. */

function xgboost(parameters: object, tree: object = {}, model: object = {}): unknown {
  const leaf = {
    default_left: [0],
    left_children: [-1],
    right_children: [-1],
    split_conditions: [1],
    split_indices: [0],
    tree_param: {},
  };
  const content = {
    learner: {
      attributes: { best_iteration: '0' },
      gradient_booster: {
        name: 'gbtree',
        model: {
          gbtree_model_param: { num_parallel_tree: '1', num_trees: '1' },
          tree_info: [0],
          trees: [{ ...leaf, ...tree }],
          ...model,
        },
      },
      learner_model_param: { base_score: '0', num_class: '0', num_feature: '1', ...parameters },
      objective: { name: 'reg:squarederror' },
    },
    version: [3, 1, 1],
  };
  return readXgBoost(Buffer.from(JSON.stringify(content)), 'raw', 'best');
}

const stump = {
  default_left: [0, 0, 0],
  left_children: [1, -1, -1],
  right_children: [2, -1, -1],
  split_conditions: [0.5, 10, 20],
  split_indices: [0, 0, 0],
};
const categorical = {
  ...stump,
  split_type: [1, 0, 0],
  categories: [1],
  categories_nodes: [0],
  categories_segments: [0],
  categories_sizes: [1],
};

/** A tree with two leaves; some of its lines are replaced. */
function lightgbm(lines: Readonly<Record<string, string>>): void {
  const tree = {
    num_leaves: '2',
    num_cat: '0',
    split_feature: '0',
    threshold: '1',
    decision_type: '2',
    left_child: '-1',
    right_child: '-2',
    leaf_value: '10 20',
    ...lines,
  };
  const text = Object.entries(tree).map(([key, value]) => `${key}=${value}`);
  const header = [
    'num_class=1',
    'label_index=0',
    'max_feature_idx=0',
    'feature_names=a',
    'feature_infos=[0:1]',
  ];
  const { ensemble } = readLightGbm(Buffer.from(lightGbmFile(header, [text.join('\n')])), 'raw');
  checkEnsemble(ensemble);
}

function lightgbmJson(node: object, treesPerIteration = 1): void {
  const content = {
    num_class: treesPerIteration,
    num_tree_per_iteration: treesPerIteration,
    max_feature_idx: 0,
    feature_names: ['a'],
    tree_info: [
      {
        tree_index: 0,
        num_leaves: 2,
        tree_structure: {
          split_index: 0,
          split_feature: 0,
          threshold: 1,
          decision_type: '<=',
          default_left: true,
          missing_type: 'None',
          left_child: { leaf_index: 0, leaf_value: 1 },
          right_child: { leaf_index: 1, leaf_value: 1 },
          ...node,
        },
      },
    ],
  };
  checkEnsemble(readLightGbm(Buffer.from(JSON.stringify(content)), 'raw').ensemble);
}

const linear = {
  is_linear: '1',
  leaf_const: '1 2',
  num_features: '0 1',
  leaf_features: '0',
  leaf_coeff: '3',
};
const sets = { num_cat: '1', decision_type: '1', threshold: '0', cat_boundaries: '0 1', cat_threshold: '2' };
/** An Int32Array would convert it to 0. */
const WRAPS = 4294967296;

describe('numbers in model files', () => {
  it('are accepted if they are valid', () => {
    xgboost({}, stump);
    xgboost({}, categorical);
    lightgbm({});
    lightgbm(linear);
    lightgbm(sets);
    lightgbmJson({});
    lightgbmJson({ decision_type: '==', threshold: '0||3' });
  });

  const wrong: readonly (readonly [what: string, read: () => unknown, message: string])[] = [
    ['a billion features', () => xgboost({ num_feature: '1000000000' }), '`num_feature` is 1000000000'],
    ['a billion classes', () => xgboost({ num_class: '1000000000' }), '`num_class` is 1000000000'],
    [
      'leaves of a billion elements',
      () => xgboost({}, { leaf_weights: [1], tree_param: { size_leaf_vector: '1000000000' } }),
      'tree 0: its leaves have 1000000000 elements',
    ],
    [
      'a feature beyond 32 bits',
      () => xgboost({}, { ...stump, split_indices: [WRAPS, 0, 0] }),
      '`split_indices`',
    ],
    [
      'half a feature',
      () => xgboost({}, { ...stump, split_indices: [0.5, 0, 0] }),
      '`split_indices` holds 0.5',
    ],
    ['a category beyond 32 bits', () => xgboost({}, { ...categorical, categories: [WRAPS] }), '`categories`'],
    [
      'too few categories',
      () => xgboost({}, { ...categorical, categories_sizes: [2] }),
      '`categories` has 1 numbers instead of 2',
    ],
    ['iterations that go back', () => xgboost({}, {}, { iteration_indptr: [0, -1] }), '`iteration_indptr`'],
    ['a list for a number', () => xgboost({ num_feature: [[1]] }), '`num_feature` is not a whole number'],
    ['lists for base_score', () => xgboost({ base_score: [[0.5]] }), 'its base_score is neither'],
    // A list of 200 lists with 200 nulls each, in 1.2 kB. Nested a few times, it would use all memory.
    [
      'UBJSON that says more elements than it has bytes',
      () => readUbjson(Buffer.from(`[#U\xc8${'[$Z#U\xc8'.repeat(200)}`, 'latin1')),
      'a length beyond its end',
    ],
    [
      'LightGBM JSON: iterations of minus one tree',
      () => lightgbmJson({}, -1),
      'it has 1 trees, -1 for each',
    ],
    [
      'LightGBM: a tree without leaves',
      () => lightgbm({ num_leaves: '0', leaf_value: '' }),
      'it has no leaves',
    ],
    [
      'LightGBM: a feature beyond 32 bits',
      () => lightgbm({ split_feature: String(WRAPS) }),
      '`split_feature` holds',
    ],
    ['LightGBM: half a feature', () => lightgbm({ split_feature: '0.5' }), '`split_feature` holds 0.5'],
    ['LightGBM: a child beyond 32 bits', () => lightgbm({ left_child: '4294967295' }), '`left_child` holds'],
    [
      'LightGBM: a negative count',
      () => lightgbm({ ...linear, num_features: '2 -1' }),
      '`num_features` holds a negative number',
    ],
    [
      'LightGBM: an infinite coefficient',
      () => lightgbm({ ...linear, leaf_coeff: 'inf' }),
      'leaf is not finite',
    ],
    [
      'LightGBM: too few sets',
      () => lightgbm({ ...sets, cat_boundaries: '0 2' }),
      '`cat_threshold` has 1 numbers instead of 2',
    ],
    [
      'LightGBM JSON: a feature beyond 32 bits',
      () => lightgbmJson({ split_feature: WRAPS }),
      'is not a whole number',
    ],
    [
      'LightGBM JSON: a category beyond 32 bits',
      () => lightgbmJson({ decision_type: '==', threshold: String(WRAPS) }),
      'is not a set of categories',
    ],
  ];
  for (const [what, read, message] of wrong)
    it(`are refused: ${what}`, () => {
      expect(read).to.throw(message);
    });
});
