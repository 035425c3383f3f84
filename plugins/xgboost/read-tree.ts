import { type DecisionTree, ModelFileError, NodeRule } from 'millrace/api';
import {
  checkCount,
  countAt,
  flagsAt,
  indexesAt,
  measuresAt,
  numbersAt,
  objectAt,
  type Json,
} from './model.js';

/** What a tree has of each node that no score depends on. */
const UNREAD = ['loss_changes', 'parents', 'sum_hessian'];

/**
 * One tree of an XGBoost model. The file has inner nodes and leaves in one numbering, a leaf's value where an inner
 * node has its threshold, and numbers that are float32. A tree whose leaves are vectors (multi_strategy:
 * multi_output_tree) becomes one tree for each output, which adds in the same order.
 * @param of the model: its outputs are as many as a vector has elements
 * @param output of a tree with plain leaves
 * @param weight multiplies the leaves, in float32: DART's
 */
export function readTree(
  json: Json,
  { outputs, features: featureCount }: { readonly outputs: number; readonly features: number },
  output: number,
  weight: number,
): DecisionTree[] {
  const parameters = objectAt(json, 'tree_param');
  const size = countAt(parameters, 'size_leaf_vector', 1);
  if (size > 1 && size !== outputs) {
    throw new ModelFileError(`its leaves have ${size} elements, and the model ${outputs} outputs`);
  }
  const lefts = indexesAt(json, 'left_children');
  const count = lefts.length;
  const told = countAt(parameters, 'num_nodes', count);
  if (told !== count) throw new ModelFileError(`\`num_nodes\` is ${told}, and it has ${count} nodes`);
  const ofFeatures = countAt(parameters, 'num_feature', 0);
  if (ofFeatures !== 0 && ofFeatures !== featureCount) {
    throw new ModelFileError(`it is of ${ofFeatures} features, and the model of ${featureCount}`);
  }
  for (const key of UNREAD) checkCount(json, key, count);
  checkCount(json, 'base_weights', count * Math.max(1, size));
  const rights = indexesAt(json, 'right_children', count);
  const features = indexesAt(json, 'split_indices', count);
  const conditions = measuresAt(json, 'split_conditions', count);
  const defaultLeft = flagsAt(json, 'default_left', count);
  const types = json['split_type'] === undefined ? [] : flagsAt(json, 'split_type', count);
  const sets = categorySets(json);
  const vectors = size > 1 ? leafVectors(json, size, count) : undefined;

  const [feature, rule, threshold] = [[] as number[], [] as number[], [] as number[]];
  const [left, right] = [[] as number[], [] as number[]];
  const leaves = Array.from({ length: Math.max(1, size) }, () => [] as number[]);
  let leafCount = 0;
  const categories: (Int32Array | undefined)[] = [];
  // Only what hangs from the root counts: pruning leaves nodes behind.
  const open: { readonly at: number; readonly hang: (child: number) => void }[] = [
    { at: 0, hang: () => undefined },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { at, hang } = next;
    const condition = conditions[at];
    if (condition === undefined || feature.length > count) throw new ModelFileError('a node leads nowhere');
    if (lefts[at] === -1) {
      hang(~leafCount++);
      for (const [i, of] of leaves.entries()) {
        const value = vectors === undefined ? condition : vectors(at, rights[at] ?? -1, i);
        of.push(Math.fround(Math.fround(value) * weight));
      }
      continue;
    }
    const node = feature.length;
    hang(node);
    feature.push(features[at] ?? 0);
    const toDefault = defaultLeft[at] === 0 ? 0 : NodeRule.defaultLeft;
    const one = { at: lefts[at] ?? -1, hang: (child: number) => (left[node] = child) };
    const other = { at: rights[at] ?? -1, hang: (child: number) => (right[node] = child) };
    if (types[at] === 1) {
      const set = sets.get(at);
      if (set === undefined) throw new ModelFileError('a categorical node has no categories');
      categories.push(set);
      threshold.push(0);
      // The categories of the file go right; here they go left, so the sides are exchanged.
      rule.push(NodeRule.categorical | NodeRule.nan | (toDefault ^ NodeRule.defaultLeft));
      open.push({ at: one.at, hang: other.hang }, { at: other.at, hang: one.hang });
    } else {
      categories.push(undefined);
      threshold.push(Math.fround(condition));
      rule.push(NodeRule.nan | toDefault);
      open.push(one, other);
    }
  }
  const nodes = {
    feature: Int32Array.from(feature),
    rule: Uint8Array.from(rule),
    threshold: Float64Array.from(threshold),
    categories,
    left: Int32Array.from(left),
    right: Int32Array.from(right),
  };
  return leaves.map((values, i) => ({
    ...nodes,
    output: vectors === undefined ? output : i,
    leaves: Float64Array.from(values),
  }));
}

/**
 * Finds an element of a leaf's vector. Since XGBoost 3.1 a leaf's right child is its number among `leaf_weights`;
 * before, `base_weights` had a vector for every node.
 */
function leafVectors(
  json: Json,
  size: number,
  nodes: number,
): (node: number, right: number, element: number) => number {
  const numbered = json['leaf_weights'] !== undefined;
  const weights = numbered ? numbersAt(json, 'leaf_weights') : measuresAt(json, 'base_weights', nodes * size);
  return (node, right, element) => {
    const weight = weights[(numbered ? right : node) * size + element];
    if (weight === undefined) throw new ModelFileError('a leaf has no weights');
    return weight;
  };
}

/** By node, its categories; files older than XGBoost 1.3 have none. */
function categorySets(json: Json): ReadonlyMap<number, Int32Array> {
  if (json['categories_nodes'] === undefined) return new Map();
  const nodes = indexesAt(json, 'categories_nodes');
  const segments = indexesAt(json, 'categories_segments', nodes.length);
  const sizes = indexesAt(json, 'categories_sizes', nodes.length);
  const categories = indexesAt(json, 'categories');
  const sets = new Map<number, Int32Array>();
  let at = 0;
  for (const [i, node] of nodes.entries()) {
    const from = at;
    at += sizes[i] ?? 0;
    if (segments[i] !== from || at < from || sets.has(node)) {
      throw new ModelFileError('`categories_segments` and `categories_sizes` do not fit together');
    }
    sets.set(node, Int32Array.from(categories.slice(from, at)).sort());
  }
  if (at === categories.length) return sets;
  throw new ModelFileError(`\`categories\` has ${categories.length} numbers instead of ${at}`);
}
