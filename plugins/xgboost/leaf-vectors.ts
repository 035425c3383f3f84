import type { Covers, DecisionTree, TreeNodes } from 'millrace/api';

/**
 * One tree for plain leaves. Leaves that are vectors (multi_strategy: multi_output_tree) make one tree for each output.
 * @param leaves by element of a vector, then by leaf
 * @param output the output of a tree with plain leaves
 */
export function treesOf(
  nodes: TreeNodes,
  leaves: readonly number[][],
  output: number,
  covers: Covers,
): DecisionTree[] {
  const cover = covers.found();
  return leaves.map((values, element) => ({
    ...nodes,
    output: leaves.length > 1 ? element : output,
    leaves: Float64Array.from(values),
    ...cover,
  }));
}
