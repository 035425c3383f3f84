import { type DecisionTree, type LinearLeaf, ModelFileError, NodeRule } from 'millrace/api';
import { indexes, numbers, wholeNumber, type Fields } from './text-fields.js';
import { bitSet, ruleOf } from './tree-fields.js';

/** Fields of each node, and of each leaf, that do not affect scores. Old versions have only some of them. */
const OF_NODES = ['split_gain', 'internal_value', 'internal_weight', 'internal_count'];
const OF_LEAVES = ['leaf_weight', 'leaf_count'];

/**
 * Reads the block of one tree.
 * @param withCovers whether the tree gets its covers, which scores do not need
 * @throws ModelFileError
 */
export function readTree(fields: Fields, output: number, withCovers: boolean): DecisionTree {
  const leafCount = wholeNumber(fields, 'num_leaves');
  if (leafCount === 0) throw new ModelFileError('it has no leaves');
  const nodes = leafCount - 1;
  // A tree with one leaf has these lines empty, or only some of them.
  if (nodes > 0) {
    for (const key of OF_NODES) checkCount(fields, key, nodes);
    for (const key of OF_LEAVES) checkCount(fields, key, leafCount);
  }
  const feature = Int32Array.from(nodes === 0 ? [] : indexes(fields, 'split_feature', nodes));
  const written = nodes === 0 ? [] : numbers(fields, 'threshold', nodes);
  const rule = Uint8Array.from(
    nodes === 0 ? [] : numbers(fields, 'decision_type', nodes, new Array<number>(nodes).fill(0)),
    ruleOf,
  );
  const sets = categorySets(fields);
  const threshold = new Float64Array(nodes);
  const categories = written.map((value, node) => {
    if (((rule[node] ?? 0) & NodeRule.categorical) === 0) {
      threshold[node] = value;
      return undefined;
    }
    const set = sets[value];
    if (set === undefined) throw new ModelFileError('a set of categories is missing');
    return set;
  });
  const tree = {
    output,
    feature,
    rule,
    threshold,
    categories,
    left: Int32Array.from(nodes === 0 ? [] : indexes(fields, 'left_child', nodes)),
    right: Int32Array.from(nodes === 0 ? [] : indexes(fields, 'right_child', nodes)),
    leaves: Float64Array.from(numbers(fields, 'leaf_value', leafCount)),
    ...(withCovers ? coverOf(fields, leafCount) : {}),
  };
  const isLinear = wholeNumber(fields, 'is_linear', 0);
  if (isLinear > 1) throw new ModelFileError(`\`is_linear\` is ${isLinear}`);
  return isLinear === 1 ? { ...tree, linear: linearLeaves(fields, leafCount) } : tree;
}

/** How many training rows reached each part. The only leaf of a tree has them all. */
function coverOf(fields: Fields, leaves: number): Pick<DecisionTree, 'cover'> {
  if (leaves === 1) return { cover: { nodes: new Float64Array(0), leaves: Float64Array.of(1) } };
  if (!fields.has('internal_count') || !fields.has('leaf_count')) return {};
  const read = (key: string, count: number): Float64Array => Float64Array.from(numbers(fields, key, count));
  return { cover: { nodes: read('internal_count', leaves - 1), leaves: read('leaf_count', leaves) } };
}

/** Counts numbers without parsing them, because these lines are half of a file. */
function checkCount(fields: Fields, key: string, count: number): void {
  const text = fields.get(key);
  if (text === undefined) return;
  let found = 0;
  let inWord = false;
  for (let at = 0; at < text.length; at++) {
    const isSpace = text.charCodeAt(at) === 0x20;
    if (!isSpace && !inWord) found++;
    inWord = !isSpace;
  }
  if (found !== count) throw new ModelFileError(`\`${key}\` has ${found} numbers instead of ${count}`);
}

/** `num_cat` bit sets in sequence. The boundaries are the start of each and the end of the last. */
function categorySets(fields: Fields): Int32Array[] {
  const count = wholeNumber(fields, 'num_cat');
  if (count === 0) {
    if (fields.has('cat_boundaries')) throw new ModelFileError('`num_cat` is 0, and there are categories');
    return [];
  }
  const boundaries = indexes(fields, 'cat_boundaries', count + 1);
  if (boundaries.some((at, i) => (i === 0 ? at !== 0 : at < (boundaries[i - 1] ?? 0))))
    throw new ModelFileError('`cat_boundaries` does not ascend from 0');
  const bits = numbers(fields, 'cat_threshold', boundaries.at(-1));
  return Array.from({ length: count }, (_, i) => bitSet(bits.slice(boundaries[i], boundaries[i + 1])));
}

function linearLeaves(fields: Fields, count: number): LinearLeaf[] {
  const constants = numbers(fields, 'leaf_const', count);
  const sizes = indexes(fields, 'num_features', count);
  if (sizes.some((size) => size < 0)) throw new ModelFileError('`num_features` holds a negative number');
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const features = indexes(fields, 'leaf_features', total);
  const coefficients = numbers(fields, 'leaf_coeff', total);
  let at = 0;
  return sizes.map((size, leaf) => {
    const [from, to] = [at, (at += size)];
    return {
      constant: constants[leaf] ?? 0,
      features: Int32Array.from(features.slice(from, to)),
      coefficients: Float64Array.from(coefficients.slice(from, to)),
    };
  });
}
