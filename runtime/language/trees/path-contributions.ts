import type { DecisionTree, TreeEnsemble } from '../../ground/api/tree-ensemble.js';
import { goLeft } from './interpreter.js';
import { gaussLegendre } from './quadrature.js';
import { BLOCK, instantiateShapley, PAIR } from './wasm/shapley.js';

/**
 * The inner nodes of a tree, parents before children. Edge 0 leads to the root, edges 2i + 1 and 2i + 2 lead from node i to
 * its left and its right child. A path that tests a feature again only narrows what it asks of the feature, so the tests of a
 * feature on a path count as one.
 */
class TreePaths {
  /** By node: its index in the tree, its feature, the edge to it, and the nearest edge above that tests its feature; 0 if there is none. */
  readonly node: Int32Array;
  readonly feature: Int32Array;
  readonly parent: Int32Array;
  readonly before: Int32Array;
  /** By edge: the share of the training rows that pass all tests of the feature down to the edge. */
  readonly share: Float64Array;
  /** By edge: the value of its leaf; 1 if it leads to a node. */
  readonly leaf: Float64Array;
  /** The most different features on a path. */
  readonly degree: number = 0;
  /** The mean of the leaves over the training rows. */
  readonly mean: number = 0;

  constructor({ feature, left, right, leaves, cover }: DecisionTree) {
    const [count, edges] = [feature.length, 2 * feature.length + 1];
    [this.node, this.parent, this.before] = [
      new Int32Array(count),
      new Int32Array(count),
      new Int32Array(count),
    ];
    [this.share, this.leaf] = [new Float64Array(edges).fill(1), new Float64Array(edges).fill(1)];
    if (count === 0) this.mean = leaves[0] ?? NaN;
    this.feature = new Int32Array(count);
    const [degrees, reach] = [new Int32Array(edges), new Float64Array(edges).fill(1)];
    const coverOf = (at: number): number => (at < 0 ? cover?.leaves[~at] : cover?.nodes[at]) ?? NaN;
    const open = [{ at: 0, parent: 0 }];
    for (let i = 0; i < count; i++) {
      const { at, parent } = open.pop() ?? { at: 0, parent: 0 };
      const of = (this.feature[i] = feature[at] ?? 0);
      let before = parent;
      while (before !== 0 && this.feature[nodeAbove(before)] !== of)
        before = this.parent[nodeAbove(before)] ?? 0;
      [this.node[i], this.parent[i], this.before[i]] = [at, parent, before];
      for (const [side, child] of [left[at] ?? ~0, right[at] ?? ~0].entries()) {
        const edge = 2 * i + 1 + side;
        const ratio = coverOf(child) / coverOf(at);
        this.share[edge] = (this.share[before] ?? NaN) * ratio;
        reach[edge] = (reach[parent] ?? NaN) * ratio;
        const degree = (degrees[parent] ?? 0) + (before === 0 ? 1 : 0);
        degrees[edge] = degree;
        this.degree = Math.max(this.degree, degree);
        if (child >= 0) {
          open.push({ at: child, parent: edge });
          continue;
        }
        const value = leaves[~child] ?? NaN;
        this.leaf[edge] = value;
        this.mean += value * (reach[edge] ?? NaN);
      }
    }
  }
}

/** The node that an edge leaves. */
function nodeAbove(edge: number): number {
  return (edge - 1) >> 1;
}

/** What a row makes of a node: it passes all tests of the feature above and goes left or right, or it failed one of them. */
const [LEFT, RIGHT, FAILED, WAYS] = [0, 1, 2, 3];

/** The most rows × nodes that are walked between two yields: below a millisecond. */
const MOST_CELLS = 16_384;

const [WORD, NUMBER, WASM_PAGE] = [4, 8, 65_536];

/** The memory in which the rows of a tree are walked, two points at a time. */
class Scratch {
  readonly ints: Int32Array;
  readonly numbers: Float64Array;
  /** Addresses, in bytes. */
  readonly parents: number;
  readonly blocks: number;
  readonly cells: number;
  readonly gains: number;
  readonly add: ReturnType<typeof instantiateShapley>;
  /** By row: whether it goes left at a node. */
  readonly isLeft: Uint8Array;
  /** By edge: 1 / (z + t (1 − z)), and what a test of the feature gives there, which later tests of it take back. */
  readonly inverses: Float64Array;
  readonly given: Float64Array;

  constructor(
    nodes: number,
    readonly rows: number,
  ) {
    const edges = 2 * nodes + 1;
    this.blocks = edges * PAIR;
    this.gains = this.blocks + nodes * WAYS * BLOCK.bytes;
    this.cells = this.gains + rows * nodes * PAIR;
    this.parents = this.cells + rows * nodes * WORD;
    const pages = Math.ceil((this.parents + nodes * WORD) / WASM_PAGE);
    const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
    this.ints = new Int32Array(memory.buffer);
    this.numbers = new Float64Array(memory.buffer);
    this.add = instantiateShapley(memory);
    this.isLeft = new Uint8Array(rows);
    this.inverses = new Float64Array(edges).fill(1, 0, 1);
    this.given = new Float64Array(edges);
  }
}

/**
 * Path-dependent TreeSHAP: the Shapley values of Algorithm 2 in Lundberg, Erion, Lee (2018), "Consistent individualized
 * feature attribution for tree ensembles". For a leaf of value v, a feature whose tests a share z of the training rows
 * passes has
 *
 *   v (o − z) ∫₀¹ Π (z' + t (o' − z')) dt   over the other features of the path,
 *
 * with o = 1 if the row passes its tests, otherwise 0 (Owen's multilinear extension). The integral of a polynomial is a
 * sum over few points t, which is exact, and leaves of a subtree share their factors: the work is nodes × points. All
 * terms of the sum have one sign, unlike those of Algorithm 2. WebAssembly computes two points at a time.
 */
export class PathContributions {
  readonly #ensemble: TreeEnsemble;
  /** By tree; made when they are needed. */
  readonly #paths: (TreePaths | undefined)[] = [];
  /** Those that no call uses. */
  readonly #free: Scratch[] = [];
  readonly #nodes: number;

  constructor(ensemble: TreeEnsemble) {
    this.#ensemble = ensemble;
    this.#nodes = ensemble.trees.reduce((most, { feature }) => Math.max(most, feature.length), 1);
  }

  /**
   * @param rows by row, then feature; float32 if the ensemble is
   * @param to by row, then feature: the contributions are added
   * @returns the base: the mean of the sum over the training rows
   */
  *add(
    rows: readonly Float64Array[],
    output: number,
    to: readonly Float64Array[],
  ): Generator<undefined, number> {
    const { trees, base } = this.#ensemble;
    const most = Math.max(1, Math.floor(MOST_CELLS / this.#nodes));
    const scratch = this.#free.pop() ?? new Scratch(this.#nodes, most);
    let mean = base[output] ?? NaN;
    for (const [index, tree] of trees.entries()) {
      if (tree.output !== output) continue;
      const paths = (this.#paths[index] ??= new TreePaths(tree));
      mean += paths.mean;
      for (let from = 0; from < rows.length && paths.degree > 0; from += most) {
        const some = rows.slice(from, from + most);
        setCells(tree, paths, this.#ensemble, some, scratch);
        yield* addTree(paths, scratch, to.slice(from, from + most));
      }
      yield;
    }
    this.#free.push(scratch);
    return mean;
  }
}

function setCells(
  tree: DecisionTree,
  { node, parent, before }: TreePaths,
  ensemble: TreeEnsemble,
  rows: readonly Float64Array[],
  { ints, isLeft, ...at }: Scratch,
): void {
  const [count, cells, parents] = [node.length, at.cells / WORD, at.parents / WORD];
  const cellOf = (i: number, way: number): number => at.blocks + (WAYS * i + way) * BLOCK.bytes;
  for (let i = 0; i < count; i++) {
    goLeft(tree, node[i] as number, ensemble, rows, isLeft);
    ints[parents + i] = PAIR * (parent[i] as number);
    const edge = before[i] as number;
    const above = nodeAbove(edge);
    const passing = cellOf(above, edge % 2 === 1 ? LEFT : RIGHT);
    const [left, right, failed] = [cellOf(i, LEFT), cellOf(i, RIGHT), cellOf(i, FAILED)];
    for (let row = 0, cell = cells; row < rows.length; row++, cell += count) {
      const passes = edge === 0 || ints[cell + above] === passing;
      ints[cell + i] = passes ? (isLeft[row] === 1 ? left : right) : failed;
    }
  }
}

function* addTree(
  paths: TreePaths,
  scratch: Scratch,
  to: readonly Float64Array[],
): Generator<undefined, void> {
  const { numbers, parents, cells, gains } = scratch;
  const { feature } = paths;
  const count = feature.length;
  const { points, weights } = gaussLegendre(2 * Math.ceil(paths.degree / 4));
  for (let q = 0; q < points.length; q += 2) {
    for (const k of [0, 1]) setBlocks(paths, points[q + k] ?? NaN, weights[q + k] ?? NaN, k, scratch);
    for (let row = 0; row < to.length; row++) {
      numbers.fill(1, 0, PAIR / NUMBER);
      const [block, gain] = [cells + row * count * WORD, gains + row * count * PAIR];
      scratch.add(parents, parents + count * WORD, block, gain);
    }
    yield;
  }
  for (const [row, values] of to.entries()) {
    let gain = gains / NUMBER + 2 * row * count;
    for (let i = 0; i < count; i++, gain += 2) {
      const of = feature[i] as number;
      values[of] = (values[of] as number) + (numbers[gain] as number) + (numbers[gain + 1] as number);
    }
  }
  numbers.fill(0, gains / NUMBER, gains / NUMBER + 2 * to.length * count);
}

/** Sets what the blocks have for one point. @param k 0 or 1: its place in the blocks */
function setBlocks(
  { before, share, leaf }: TreePaths,
  t: number,
  weight: number,
  k: number,
  { numbers, blocks, inverses, given }: Scratch,
): void {
  const [size, gains] = [BLOCK.bytes / NUMBER, BLOCK.leftGain / NUMBER];
  for (let i = 0; i < before.length; i++) {
    const above = before[i] as number;
    const taken = given[above] as number;
    const passed = inverses[above] as number;
    for (let side = 0; side < 2; side++) {
      const edge = 2 * i + 1 + side;
      const z = share[edge] as number;
      const value = leaf[edge] as number;
      const passes = z + t * (1 - z);
      inverses[edge] = 1 / passes;
      const gives = (weight * (1 - z)) / passes;
      given[edge] = gives;
      const at = blocks / NUMBER + WAYS * size * i + 2 * side + k;
      const own = at + size * side;
      const other = at + size * (1 - side);
      numbers[own] = value * passes * passed;
      numbers[own + gains] = gives - taken;
      numbers[other] = value * z * (1 - t) * passed;
      numbers[other + gains] = weight / (t - 1) - taken;
      numbers[at + FAILED * size] = (value * z) / (share[above] as number);
    }
  }
}
