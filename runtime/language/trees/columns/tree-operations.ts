import type { DecisionTree } from '../../../ground/api/tree-ensemble.js';
import { ONES, ZEROS } from '../simd/memory.js';
import { bottomUp, type LeafCodes } from './leaf-codes.js';

/** A bit of a leaf's code that may have any value. */
const OPEN = -1;

/** A tree as operations on planes. */
export interface TreeOperations {
  /**
   * Four planes for each operation: the test, the plane to select where it holds, the plane to select elsewhere, the
   * result.
   */
  readonly operations: readonly number[];
  /** The planes of the code's bits, from the lowest. */
  readonly code: readonly number[];
}

/** Planes for intermediate results, which are reused. */
export class FreePlanes {
  readonly #free: number[] = [];
  #next: number;

  constructor(readonly first: number) {
    this.#next = first;
  }

  /** The highest plane in use, plus one. */
  get end(): number {
    return this.#next;
  }

  take(): number {
    return this.#free.pop() ?? this.#next++;
  }

  release(plane: number): void {
    if (plane >= this.first) this.#free.push(plane);
  }
}

/**
 * Works from the leaves of a tree up: every node selects the bits of leaf codes from its left or right side. A bit
 * needs no operation if it is equal on both sides, or if one side accepts any value. A bit that tells the sides apart
 * is the test itself.
 * @param tests by node, the plane of its test
 */
export function treeOperations(
  tree: DecisionTree,
  tests: Int32Array,
  { bits, codes, open }: LeafCodes,
  planes: FreePlanes,
): TreeOperations {
  const operations: number[] = [];
  const below: (readonly number[])[] = [];
  const codeOf = (child: number): readonly number[] => {
    if (child >= 0) return below[child] ?? [];
    const code = codes[~child] ?? 0;
    const first = open[~child] ?? 0;
    return Array.from({ length: bits }, (_, bit) => (bit < first ? OPEN : (code >> bit) & 1 ? ONES : ZEROS));
  };
  for (const node of bottomUp(tree)) {
    const test = tests[node] ?? ZEROS;
    const left = codeOf(tree.left[node] ?? ~0);
    const right = codeOf(tree.right[node] ?? ~0);
    const selected = left.map((one, bit) => {
      const other = right[bit] ?? ZEROS;
      if (one === other || other === OPEN) return one;
      if (one === OPEN) return other;
      if (one === ONES && other === ZEROS) return test;
      const to = planes.take();
      operations.push(test, one, other, to);
      return to;
    });
    below[node] = selected;
    for (const plane of [...left, ...right]) if (!selected.includes(plane)) planes.release(plane);
  }
  const code = codeOf(tree.feature.length === 0 ? ~0 : 0).map((plane) => (plane === OPEN ? ZEROS : plane));
  for (const plane of code) planes.release(plane);
  return { operations, code };
}
