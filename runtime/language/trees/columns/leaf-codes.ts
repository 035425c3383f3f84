import type { DecisionTree } from '../../../ground/api/tree-ensemble.js';

/** The maximum number of bits of a leaf's code. The index of a leaf in a table of float64 has 16 bits. */
const MOST_CODE_BITS = 13;

/**
 * Up to this many bits, codes are assembled at once and their tables stay small. A lopsided tree gets some spare bits.
 */
const BITS_OF_A_BYTE = 8;
const BITS_TO_SPARE = 2;

export interface LeafCodes {
  /** The number of bits of a code. */
  readonly bits: number;
  /** By leaf: its lowest code. */
  readonly codes: Int32Array;
  /** By leaf: this many of the lowest bits may have any value. */
  readonly open: Uint8Array;
}

/**
 * Gives each leaf of a tree a code. The code of the leaf that a row reaches can be computed bit by bit for 128 rows at
 * a time, with few operations. If each side of a node fits into half of its codes, one bit tells the sides apart, and
 * this bit is the result of the node's test. Otherwise codes are given from right to left, so that most bits are equal
 * on both sides. A leaf that is alone in a half has all codes of that half, and the other bits do not matter.
 * @returns undefined if the tree has more leaves than there are codes
 */
export function leafCodes(tree: DecisionTree): LeafCodes | undefined {
  const bits = Math.ceil(Math.log2(tree.leaves.length));
  if (bits > MOST_CODE_BITS) return undefined;
  const sizes = leafCounts(tree);
  const roomy = Math.max(bits, Math.min(bits + BITS_TO_SPARE, BITS_OF_A_BYTE));
  return assign(tree, sizes, depthOf(tree) <= bits ? bits : roomy);
}

/** The number of nodes on the longest path to a leaf. */
function depthOf(tree: DecisionTree): number {
  const depths = new Int32Array(tree.feature.length);
  for (const node of bottomUp(tree)) {
    for (const child of [tree.left[node] ?? ~0, tree.right[node] ?? ~0])
      depths[node] = Math.max(depths[node] ?? 0, 1 + (child < 0 ? 0 : (depths[child] ?? 0)));
  }
  return depths[0] ?? 0;
}

/** By node: the number of leaves below it. Children may come before their parents, so this walks down, then up. */
function leafCounts(tree: DecisionTree): Int32Array {
  const counts = new Int32Array(tree.feature.length);
  for (const node of bottomUp(tree)) {
    for (const child of [tree.left[node] ?? ~0, tree.right[node] ?? ~0])
      counts[node] = (counts[node] ?? 0) + (child < 0 ? 1 : (counts[child] ?? 0));
  }
  return counts;
}

/** The nodes of a tree, each after both of its children. */
export function bottomUp(tree: DecisionTree): number[] {
  const order: number[] = [];
  const open = tree.feature.length === 0 ? [] : [0];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    order.push(node);
    for (const child of [tree.left[node], tree.right[node]])
      if (child !== undefined && child >= 0) open.push(child);
  }
  return order.reverse();
}

function assign(tree: DecisionTree, sizes: Int32Array, bits: number): LeafCodes {
  const alone = new Uint8Array(tree.leaves.length);
  const codes = new Int32Array(tree.leaves.length);
  const open = [{ at: tree.feature.length === 0 ? ~0 : 0, base: 0, bits }];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    const { at, base } = part;
    if (at < 0) {
      codes[~at] = base;
      alone[~at] = part.bits;
      continue;
    }
    const [left, right] = [tree.left[at] ?? ~0, tree.right[at] ?? ~0];
    const [leftSize, rightSize] = [sizeOf(left, sizes), sizeOf(right, sizes)];
    const half = 2 ** (part.bits - 1);
    if (leftSize <= half && rightSize <= half) {
      // The bit is the result of the test: 1 for left, so the left side gets the ones.
      open.push({ at: left, base: base + half, bits: part.bits - 1 });
      open.push({ at: right, base, bits: part.bits - 1 });
    } else consecutive(tree, at, base, codes);
  }
  return { bits, codes, open: alone };
}

/** Codes are given from right to left, so that the left side has the higher ones here too. */
function consecutive(tree: DecisionTree, root: number, base: number, codes: Int32Array): void {
  let next = base;
  const open = [root];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (at < 0) codes[~at] = next++;
    else open.push(tree.left[at] ?? ~0, tree.right[at] ?? ~0);
  }
}

function sizeOf(child: number, sizes: Int32Array): number {
  return child < 0 ? 1 : (sizes[child] ?? 1);
}
