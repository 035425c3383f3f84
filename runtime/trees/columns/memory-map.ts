import type { TreeEnsemble } from '../../api/tree-ensemble.js';
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

/** What the planes may take, so that a large model keeps to the cache, and to little memory. */
const MOST_PLANE_BYTES = 8 * 1024 * 1024;
const PAGE = 65_536;

/** Where things lie in the memory of a plane program; all in bytes, each a multiple of 16. */
export interface MemoryMap {
  /** Blocks of the largest run. */
  readonly width: Width;
  /** A plane for each threshold of the largest group and two more; nothing is set there between runs. */
  readonly first: number;
  /** For each of the program's features: not 0 where all rows have the first one's value. */
  readonly shared: number;
  /** By feature of the program: a float64 for each row. */
  readonly values: readonly number[];
  /** By output: a sum for each row. */
  readonly sums: readonly number[];
  /** By group of numeric tests: its thresholds, filled up with NaN to one less than a power of two. */
  readonly thresholds: readonly number[];
  /** By group: its planes of nodes that send missing values right, then left. */
  readonly planes: readonly number[];
  readonly groups: Span;
  /** By categorical feature: the address of a list of planes for each row. */
  readonly rowLists: readonly number[];
  /** Those lists: an empty one first. */
  readonly lists: number;
  readonly categories: Span;
  /** By tree: its table of leaves, by code. */
  readonly leaves: readonly number[];
  /** By tree: its linear leaves. */
  readonly linear: readonly number[];
  readonly trees: Span;
  readonly pages: number;
}

/** Records that follow one another. */
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

/** Halvings that find the number of thresholds below a value. */
export function searchSteps(thresholds: number): number {
  return Math.ceil(Math.log2(thresholds + 1));
}

/** Numbers that the lists of a feature take: each its length, and its planes. */
function listLengths({ slotsOf, missing }: CategoricalTests): number {
  let length = 1 + missing.length;
  for (const slots of slotsOf.values()) length += 1 + slots.length;
  return length;
}
