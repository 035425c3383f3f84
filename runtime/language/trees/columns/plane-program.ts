import type { Pieces } from '../../../ground/core/pieces.js';
import type { TreeEnsemble } from '../../../ground/api/tree-ensemble.js';
import type { LeafKind } from '../simd/add-leaves.js';
import { FIRST_PLANE } from '../simd/memory.js';
import { leafCodes, type LeafCodes } from './leaf-codes.js';
import { collectTests, type NodeTests } from './node-tests.js';
import { FreePlanes, treeOperations } from './tree-operations.js';

/** An ensemble with more nodes uses the scalar form, because the program would need much memory. */
const MOST_NODES = 2_000_000;

/** An ensemble as tests and operations on planes of bits. */
export interface PlaneProgram {
  readonly leafKind: LeafKind;
  readonly tests: NodeTests;
  /** The features whose values are read, in the order of their index in the program. */
  readonly features: readonly number[];
  readonly trees: readonly ProgramTree[];
  /** The number of planes, including the fixed ones. */
  readonly planes: number;
}

export interface ProgramTree {
  readonly codes: LeafCodes;
  /** Four planes for each operation: test, left, right, result. */
  readonly operations: Int32Array;
  /** The planes of the code's bits, from the lowest. */
  readonly code: readonly number[];
}

/**
 * @returns undefined if the ensemble needs the scalar form: a tree has thousands of leaves, or there are too many
 * nodes
 */
export function* planeProgram(ensemble: TreeEnsemble): Pieces<PlaneProgram | undefined> {
  const { trees, precision } = ensemble;
  const nodes = trees.reduce((sum, tree) => sum + tree.feature.length, 0);
  if (nodes > MOST_NODES || trees.length === 0) return undefined;
  const tests = yield* collectTests(ensemble);
  const free = new FreePlanes(FIRST_PLANE + tests.slots);
  const compiled: ProgramTree[] = [];
  for (const [index, tree] of trees.entries()) {
    yield;
    const codes = leafCodes(tree);
    if (codes === undefined) return undefined;
    const planes = (tests.slotOf[index] ?? new Int32Array(0)).map((slot) => FIRST_PLANE + slot);
    const { operations, code } = treeOperations(tree, planes, codes, free);
    compiled.push({ codes, operations: Int32Array.from(operations), code });
  }
  const linear = trees.flatMap((tree) => (tree.linear ?? []).flatMap((leaf) => [...leaf.features]));
  const isLinear = trees.some((tree) => tree.linear !== undefined);
  return {
    leafKind: isLinear ? 'linear' : precision,
    tests,
    features: [...new Set([...tests.numeric.map(({ feature }) => feature), ...linear])],
    trees: compiled,
    planes: free.end,
  };
}
