/** Counts distinct values by a walk through all values, without what a record computes when a value is added. */
import { MOST_EXACT } from '../../../../runtime/state/counters/distinct.js';

const REGISTERS = 256;
const ALPHA = 0.7213 / (1 + 1.079 / REGISTERS);

export class DistinctOracle {
  #isSketch = false;
  /** By hash: the newest bucket that has it. */
  readonly #hashes = new Map<number, number>();

  /** Adds values, and drops those whose bucket is older than `oldest`. */
  add(added: readonly { readonly hash: number; readonly epoch: number }[], oldest: number): void {
    for (const [hash, epoch] of this.#hashes) if (epoch < oldest) this.#hashes.delete(hash);
    for (const { hash, epoch } of added)
      if (epoch >= oldest) this.#hashes.set(hash, Math.max(epoch, this.#hashes.get(hash) ?? epoch));
    if (this.#hashes.size === 0) this.#isSketch = false;
    else if (this.#hashes.size > MOST_EXACT) this.#isSketch = true;
  }

  /** The number of distinct values in buckets that are not older than `oldest`. */
  count(oldest: number): number {
    const within = [...this.#hashes].flatMap(([hash, epoch]) => (epoch >= oldest ? [hash] : []));
    if (!this.#isSketch) return within.length;
    const ranks = new Uint8Array(REGISTERS);
    for (const hash of within) {
      const register = hash >>> 24;
      const rank = Math.min(24, Math.clz32(hash << 8)) + 1;
      if (rank > (ranks[register] ?? 0)) ranks[register] = rank;
    }
    const sum = ranks.reduce((total, rank) => total + 2 ** -rank, 0);
    const empty = ranks.filter((rank) => rank === 0).length;
    const raw = (ALPHA * REGISTERS * REGISTERS) / sum;
    return Math.round(raw <= 2.5 * REGISTERS && empty > 0 ? REGISTERS * Math.log(REGISTERS / empty) : raw);
  }
}
