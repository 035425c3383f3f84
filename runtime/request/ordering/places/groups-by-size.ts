import { countAtLeast } from './feasibility.js';

/**
 * Groups by the number of their waiting rows, the largest first. A group that loses a row changes places with the last one
 * of its size (Batagelj and Zaveršnik, "An O(m) algorithm for cores decomposition of networks", 2003): O(1).
 */
export class GroupsBySize {
  /** By group. */
  readonly #sizes: Int32Array;
  /** Groups, the largest first; those without rows are missing at the start. */
  readonly #order: Int32Array;
  /** By group: its index in the order. */
  readonly #index: Int32Array;
  /** By size: how many groups have at least so many rows. */
  readonly atLeast: Int32Array;

  /** @param sizes by group: its waiting rows; the caller lowers them by `lose` alone */
  constructor(sizes: Int32Array) {
    this.#sizes = sizes;
    this.atLeast = countAtLeast(sizes);
    const next = this.atLeast.slice(1);
    this.#order = new Int32Array(this.atLeast[1] ?? 0);
    this.#index = new Int32Array(sizes.length);
    for (const [group, size] of sizes.entries()) {
      if (size === 0) continue;
      const index = next[size] ?? 0;
      next[size] = index + 1;
      this.#order[index] = group;
      this.#index[group] = index;
    }
  }

  /** The groups with at least so many rows, from 1. */
  withAtLeast(size: number): Int32Array {
    return this.#order.subarray(0, this.atLeast[size] ?? 0);
  }

  /** A group has one row less. */
  lose(group: number): void {
    const size = this.#sizes[group] ?? 0;
    const last = (this.atLeast[size] ?? 0) - 1;
    const other = this.#order[last] ?? 0;
    const index = this.#index[group] ?? 0;
    this.#order[index] = other;
    this.#index[other] = index;
    this.#order[last] = group;
    this.#index[group] = last;
    this.atLeast[size] = last;
    this.#sizes[group] = size - 1;
  }
}
