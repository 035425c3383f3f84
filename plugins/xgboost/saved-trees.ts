import { type DecisionTree, inTree, ModelFileError, type Pieces } from 'millrace/api';
import { asObject, countAt, indexesAt, listAt, objectAt, type Json } from './json.js';
import { readTree } from './read-tree.js';

/**
 * Reads and checks all trees of a saved model.
 * @param weights DART's weight of each tree
 * @param wanted how many iterations to use, from the first
 * @param withCovers whether the trees get their covers, which scores do not need
 * @returns the trees of these iterations
 */
export function* readTrees(
  model: Json,
  weights: readonly number[] | undefined,
  of: { readonly outputs: number; readonly features: number },
  wanted: number | 'all',
  withCovers: boolean,
): Pieces<DecisionTree[]> {
  const written = Array.from(listAt(model, 'trees'));
  const used = usedTrees(model, written.length, of.outputs, wanted);
  const groups = indexesAt(model, 'tree_info', written.length);
  if (weights !== undefined && weights.length !== written.length) {
    throw new ModelFileError('`weight_drop` does not have a weight for each tree');
  }
  const trees: DecisionTree[] = [];
  for (const [index, one] of written.entries()) {
    yield;
    const read = inTree(index, () => {
      const tree = asObject(one);
      if (countAt(tree, 'id', index) !== index)
        throw new ModelFileError(`its \`id\` is ${String(tree['id'])}`);
      const weight = weights === undefined ? 1 : Math.fround(weights[index] ?? 1);
      return readTree(tree, of, groups[index] ?? 0, weight, withCovers);
    });
    if (index < used) trees.push(...read);
  }
  return trees;
}

/** The number of trees to use, from the first. */
function usedTrees(model: Json, count: number, outputs: number, wanted: number | 'all'): number {
  const parameters = objectAt(model, 'gbtree_model_param');
  const told = countAt(parameters, 'num_trees', count);
  if (told !== count) throw new ModelFileError(`\`num_trees\` is ${told}, and it has ${count} trees`);
  const parallel = Math.max(1, countAt(parameters, 'num_parallel_tree', 1));
  const starts = iterationStarts(model, count, parallel, outputs);
  if (wanted === 'all') return count;
  const used = Number.isInteger(wanted) && wanted >= 1 ? starts[wanted] : undefined;
  if (used !== undefined) return used;
  throw new ModelFileError(`it has ${starts.length - 1} iterations, and ${wanted} are requested`);
}

/** The first tree of each iteration, and at the end the number of trees. XGBoost 2.0 and later write this list. */
function iterationStarts(model: Json, count: number, parallel: number, outputs: number): readonly number[] {
  if (model['iteration_indptr'] !== undefined) {
    const starts = indexesAt(model, 'iteration_indptr');
    const ascend = starts.every((start, i) => (i === 0 ? start === 0 : start > (starts[i - 1] ?? 0)));
    if (ascend && starts.at(-1) === count) return starts;
    throw new ModelFileError(`\`iteration_indptr\` does not ascend from 0 to ${count}, the number of trees`);
  }
  // A tree whose leaves are vectors serves all outputs.
  const isVector =
    countAt(objectAt(asObject(listAt(model, 'trees')[0] ?? {}), 'tree_param', {}), 'size_leaf_vector', 1) > 1;
  const each = isVector ? parallel : parallel * outputs;
  if (count % each !== 0) throw new ModelFileError(`it has ${count} trees, ${each} for each iteration`);
  return Array.from({ length: count / each + 1 }, (_, iteration) => iteration * each);
}
