import type { TreeEnsemble } from '../../../ground/api/tree-ensemble.js';
import { LEAF_SHIFT } from '../simd/add-leaves.js';
import {
  BLOCK,
  CATEGORIES,
  GROUP,
  LINEAR,
  OPERATION_BYTES,
  PLANES,
  TERM,
  TREE,
  WIDTHS,
  type Width,
} from '../simd/memory.js';
import type { PlaneProgram } from './plane-program.js';
import type { CategoricalTests } from './node-tests.js';

/** The maximum size of the planes, so that a large model fits into the cache and needs little memory. */
const MOST_PLANE_BYTES = 8 * 1024 * 1024;
const PAGE = 65_536;

/** The layout of the memory of a plane program. All addresses are in bytes, and each is a multiple of 16. */
export interface MemoryMap {
  /** The number of blocks of the largest run. */
  readonly width: Width;
  /** A plane for each threshold of the largest group, and two more. Between runs all their bits are 0. */
  readonly first: number;
  /** For each feature of the program: not 0 if all rows have the value of the first row. */
  readonly shared: number;
  /** By feature of the program: a float64 for each row. */
  readonly values: readonly number[];
  /** By output: a sum for each row. */
  readonly sums: readonly number[];
  /** By group of numeric tests: its thresholds, padded with NaN to a power of two minus one. */
  readonly thresholds: readonly number[];
  /** By group: the planes of its nodes that send missing values right, then of those that send them left. */
  readonly planes: readonly number[];
  readonly groups: Span;
  /** By categorical feature: for each row the address of a list of planes. */
  readonly rowLists: readonly number[];
  /** The lists of planes. The first one is empty. */
  readonly lists: number;
  readonly categories: Span;
  /** By tree: its table of leaves, by code. */
  readonly leaves: readonly number[];
  /** By tree: its linear leaves. */
  readonly linear: readonly number[];
  readonly trees: Span;
  readonly pages: number;
}

/** A sequence of records of one size. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export function mapMemory(ensemble: TreeEnsemble, program: PlaneProgram): MemoryMap {
  const { tests, trees, features, leafKind } = program;
  const planeBytes = 16 * program.planes;
  const width = WIDTHS.findLast((one) => one * planeBytes <= MOST_PLANE_BYTES) ?? 1;
  const rows = width * BLOCK;
  let end = PLANES + width * planeBytes;
  const take = (bytes: number): number => {
    const at = end;
    end += Math.ceil(bytes / 16) * 16;
    return at;
  };
  const span = (bytes: number): Span => ({ start: take(bytes), end });
  const mostThresholds = Math.max(0, ...tests.numeric.map(({ thresholds }) => thresholds.length));
  return {
    width,
    first: take(width * 16 * (mostThresholds + 2)),
    shared: take(features.length * 4),
    values: features.map(() => take(rows * 8)),
    sums: ensemble.base.map(() => take(rows * (leafKind === 'float32' ? 4 : 8))),
    thresholds: tests.numeric.map(({ thresholds }) => take(2 ** searchSteps(thresholds.length) * 8)),
    planes: tests.numeric.map(({ right, left }) => take(4 * (right.length + left.length))),
    groups: span(tests.numeric.length * GROUP.bytes),
    rowLists: tests.categorical.map(() => take(rows * 4)),
    lists: take(4 + 4 * tests.categorical.reduce((sum, one) => sum + listLengths(one), 0)),
    categories: span(tests.categorical.length * CATEGORIES.bytes),
    leaves: trees.map(({ codes: { bits } }) => take(2 ** (bits + LEAF_SHIFT[leafKind]))),
    linear: ensemble.trees.map(({ linear, leaves }) =>
      leafKind === 'linear'
        ? take(
            leaves.length * LINEAR.bytes +
              (linear ?? []).reduce((sum, leaf) => sum + leaf.features.length, 0) * TERM.bytes,
          )
        : 0,
    ),
    trees: span(
      trees.reduce((sum, { operations }) => sum + TREE.bytes + (operations.length / 4) * OPERATION_BYTES, 0),
    ),
    pages: Math.ceil(end / PAGE),
  };
}

/** The number of steps of a binary search for the number of thresholds below a value. */
export function searchSteps(thresholds: number): number {
  return Math.ceil(Math.log2(thresholds + 1));
}

/** The number of cells for the lists of a feature: each list has its length, then its planes. */
function listLengths({ slotsOf, missing }: CategoricalTests): number {
  let length = 1 + missing.length;
  for (const slots of slotsOf.values()) length += 1 + slots.length;
  return length;
}
