import { ModelFileError } from './model-file.js';
import type { DecisionTree } from '../api/tree-ensemble.js';

/** An inner node of a tree in a model file. `left` and `right` are parts of the file. */
export interface SplitNode<Part> {
  readonly feature: number;
  /** Bits of `NodeRule`. */
  readonly rule: number;
  /** 0 for a categorical node. */
  readonly threshold: number;
  /** The categories of a categorical node that go left. */
  readonly categories?: Int32Array | undefined;
  readonly left: Part;
  readonly right: Part;
}

/** The inner nodes of a `DecisionTree`. */
export type TreeNodes = Omit<DecisionTree, 'output' | 'leaves' | 'linear' | 'cover'>;

/** Collects covers while `treeNodes` reads a tree, in the same order. */
export class Covers {
  readonly nodes: unknown[] = [];
  readonly leaves: unknown[] = [];

  /** The covers of the tree; none if one is not a number. */
  found(): Pick<DecisionTree, 'cover'> {
    if (this.leaves.length === 0) return {};
    if (![...this.nodes, ...this.leaves].every((one) => typeof one === 'number')) return {};
    return {
      cover: {
        nodes: Float64Array.from(this.nodes as number[]),
        leaves: Float64Array.from(this.leaves as number[]),
      },
    };
  }
}

/**
 * Reads the nodes of a tree from its root. Trees can be deep, so this function does not recurse.
 * @param read reads one part: an inner node, or undefined for a leaf. Leaves have the order of these calls.
 */
export function treeNodes<Part>(
  root: Part,
  read: (part: Part, depth: number) => SplitNode<Part> | undefined,
): TreeNodes {
  const nodes: SplitNode<Part>[] = [];
  const left: number[] = [];
  const right: number[] = [];
  let leaves = 0;
  const open: { part: Part; depth: number; side: number[]; parent: number }[] = [
    { part: root, depth: 0, side: [], parent: 0 },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { part, depth, side, parent } = next;
    const node = read(part, depth);
    if (node === undefined) {
      side[parent] = ~leaves++;
      continue;
    }
    const number = nodes.length;
    side[parent] = number;
    nodes.push(node);
    open.push({ part: node.left, depth: depth + 1, side: left, parent: number });
    open.push({ part: node.right, depth: depth + 1, side: right, parent: number });
  }
  return {
    feature: Int32Array.from(nodes, ({ feature }) => feature),
    rule: Uint8Array.from(nodes, ({ rule }) => rule),
    threshold: Float64Array.from(nodes, ({ threshold }) => threshold),
    categories: nodes.map(({ categories }) => categories),
    left: Int32Array.from(left),
    right: Int32Array.from(right),
  };
}

/**
 * Reads one tree of a model file.
 * @throws ModelFileError whose message begins with the number of the tree
 */
export function inTree<T>(index: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ModelFileError)) throw error;
    throw new ModelFileError(`tree ${index}: ${error.message}`, error.help);
  }
}
