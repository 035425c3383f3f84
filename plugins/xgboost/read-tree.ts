import { Covers, type DecisionTree, ModelFileError, NodeRule, treeNodes } from 'millrace/api';
import {
  checkCount,
  countAt,
  flagsAt,
  indexesAt,
  listAt,
  measuresAt,
  numbersAt,
  objectAt,
  type Json,
} from './json.js';
import { treesOf } from './leaf-vectors.js';

/** Fields of each node that do not affect scores. */
const UNREAD = ['loss_changes', 'parents'];
const COVER = 'sum_hessian';

/**
 * Reads one tree of a saved model. In the file, inner nodes and leaves share one numbering, a leaf's value is in the
 * place of a threshold, and numbers are float32. A tree whose leaves are vectors (multi_strategy: multi_output_tree)
 * becomes one tree for each output, and sums have the same order.
 * @param of sizes of the model; vectors have one element for each output
 * @param output the output of a tree with plain leaves
 * @param weight DART's weight, which multiplies the leaves in float32
 * @param withCovers whether the tree gets its covers, which scores do not need
 */
export function readTree(
  json: Json,
  { outputs, features: featureCount }: { readonly outputs: number; readonly features: number },
  output: number,
  weight: number,
  withCovers: boolean,
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
    throw new ModelFileError(`it has ${ofFeatures} features, and the model ${featureCount}`);
  }
  for (const key of [...UNREAD, COVER]) checkCount(json, key, count);
  checkCount(json, 'base_weights', count * Math.max(1, size));
  const rights = indexesAt(json, 'right_children', count);
  const features = indexesAt(json, 'split_indices', count);
  const conditions = measuresAt(json, 'split_conditions', count);
  const defaultLeft = flagsAt(json, 'default_left', count);
  const types = json['split_type'] === undefined ? [] : flagsAt(json, 'split_type', count);
  const sets = categorySets(json);
  const coverOf = withCovers && json[COVER] !== undefined ? listAt(json, COVER) : undefined;
  const covers = new Covers();
  const vectors = size > 1 ? leafVectors(json, size, count) : undefined;

  const leaves = Array.from({ length: Math.max(1, size) }, () => [] as number[]);
  // Pruned nodes stay in the file: the root does not lead to them.
  const read = new Uint8Array(count);
  const nodes = treeNodes(0, (at) => {
    const condition = conditions[at];
    if (condition === undefined) throw new ModelFileError(`it leads to node ${at} of ${count}`);
    if (read[at] === 1) throw new ModelFileError(`it leads to node ${at} twice`);
    read[at] = 1;
    const [left, right] = [lefts[at] ?? -1, rights[at] ?? -1];
    if (coverOf !== undefined) (left === -1 ? covers.leaves : covers.nodes).push(coverOf[at]);
    if (left === -1) {
      for (const [i, values] of leaves.entries()) {
        const value = vectors === undefined ? condition : vectors(at, right, i);
        values.push(Math.fround(Math.fround(value) * weight));
      }
      return undefined;
    }
    const feature = features[at] ?? 0;
    const toDefault = defaultLeft[at] === 0 ? 0 : NodeRule.defaultLeft;
    if (types[at] !== 1) {
      return { feature, rule: NodeRule.nan | toDefault, threshold: Math.fround(condition), left, right };
    }
    const categories = sets.get(at);
    if (categories === undefined) throw new ModelFileError('a categorical node has no categories');
    // In the file the categories go right; in a `DecisionTree` they go left, so the sides are swapped.
    const rule = NodeRule.categorical | NodeRule.nan | (toDefault ^ NodeRule.defaultLeft);
    return { feature, rule, threshold: 0, categories, left: right, right: left };
  });
  return treesOf(nodes, leaves, output, covers);
}

/**
 * Finds an element of a leaf's vector. Since XGBoost 3.1 the right child of a leaf is its index in `leaf_weights`.
 * Before, `base_weights` had a vector for every node.
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

/** The categories by node. Files of versions before XGBoost 1.3 have none. */
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
