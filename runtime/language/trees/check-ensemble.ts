import { NodeRule, type DecisionTree, type TreeEnsemble } from '../../ground/api/tree-ensemble.js';

/**
 * The maximum number of nodes and leaves of an ensemble. It limits the memory that a wrong file can make the process
 * allocate.
 */
const MOST_NODES = 50_000_000;
/** The maximum number of outputs: each has a sum for every row. */
const MOST_OUTPUTS = 10_000;

/**
 * Checks that an ensemble keeps the promises of its type, since files may not. Every walk then ends at a leaf.
 * @throws Error that names the tree and its fault
 */
export function checkEnsemble(ensemble: TreeEnsemble): void {
  const { features, outputs, base, trees } = ensemble;
  if (!Number.isInteger(features) || features < 0) throw new Error('the number of features is wrong');
  if (!Number.isInteger(outputs) || outputs < 1 || base.length !== outputs) {
    throw new Error('the number of outputs is wrong');
  }
  if (outputs > MOST_OUTPUTS) throw new Error(`there are more than ${MOST_OUTPUTS} outputs`);
  if (base.some((one) => !Number.isFinite(one))) throw new Error('the base score is not finite');
  if (ensemble.precision === 'float32' && !isSingle(base)) throw new Error('the base score is not a float32');
  let nodes = 0;
  for (const [index, tree] of trees.entries()) {
    const problem = problemOf(tree, ensemble);
    if (problem !== undefined) throw new Error(`tree ${index}: ${problem}`);
    nodes += tree.feature.length;
    if (nodes > MOST_NODES) throw new Error(`there are more than ${MOST_NODES} nodes`);
  }
}

function isSingle(values: ArrayLike<number>): boolean {
  return Array.from(values).every((value) => Number.isNaN(value) || Math.fround(value) === value);
}

function problemOf(tree: DecisionTree, { features, outputs, precision }: TreeEnsemble): string | undefined {
  const { output, feature, rule, threshold, categories, left, right, leaves, linear } = tree;
  const count = feature.length;
  if (!Number.isInteger(output) || output < 0 || output >= outputs) return `its output is ${output}`;
  const columns = [rule, threshold, categories, left, right];
  if (columns.some(({ length }) => length !== count)) return 'its columns differ in length';
  if (leaves.length !== count + 1) return `it has ${leaves.length} leaves and ${count} nodes`;
  if (!leaves.every(Number.isFinite)) return 'a leaf is not finite';
  for (let node = 0; node < count; node++) {
    const of = feature[node] ?? -1;
    if (of < 0 || of >= features) return `node ${node} tests feature ${of} of ${features}`;
    const bits = rule[node] ?? 0;
    const isCategorical = (bits & NodeRule.categorical) !== 0;
    if ((bits & NodeRule.missing) > NodeRule.nan) return `node ${node} has no missing rule`;
    if (isCategorical !== (categories[node] !== undefined)) return `node ${node} lacks its categories`;
    if (isCategorical && (bits & NodeRule.missing) !== NodeRule.nan) {
      return `node ${node}: a categorical node sends NaN the default way`;
    }
    if (categories[node]?.some((one, i, all) => one < 0 || one < (all[i - 1] ?? 0)) === true) {
      return `node ${node} has invalid categories`;
    }
    if (!isCategorical && Number.isNaN(threshold[node])) return `node ${node} has no threshold`;
  }
  if (precision === 'float32') {
    if (!isSingle(leaves) || !isSingle(threshold)) return 'one of its numbers is not a float32';
    if (linear !== undefined) return 'linear leaves are float64 only';
  }
  if (linear !== undefined) {
    if (linear.length !== leaves.length) return 'its linear leaves differ in number';
    for (const { features: of, coefficients, constant } of linear) {
      if (of.length !== coefficients.length) return 'a linear leaf is wrong';
      if (!Number.isFinite(constant) || !coefficients.every(Number.isFinite)) {
        return 'a linear leaf is not finite';
      }
      if (of.some((one) => one < 0 || one >= features)) return 'a linear leaf reads an unknown feature';
    }
  }
  return shapeProblem(left, right, count);
}

/** Checks that every leaf, and every node except the root, has exactly one parent and is reached from the root. */
function shapeProblem(left: Int32Array, right: Int32Array, count: number): string | undefined {
  if (count === 0) return undefined;
  const nodeSeen = new Uint8Array(count);
  const leafSeen = new Uint8Array(count + 1);
  nodeSeen[0] = 1;
  const open = [0];
  let reached = 0;
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const child of [left[node], right[node]]) {
      if (child === undefined) return `node ${node} has no children`;
      const seen = child >= 0 ? nodeSeen : leafSeen;
      const at = child >= 0 ? child : ~child;
      if (at >= seen.length) return `node ${node} leads nowhere`;
      if (seen[at] === 1) return `${child >= 0 ? 'node' : 'leaf'} ${at} has two parents`;
      seen[at] = 1;
      if (child >= 0) open.push(child);
    }
    reached++;
  }
  return reached === count ? undefined : `${count - reached} nodes have no parent`;
}
