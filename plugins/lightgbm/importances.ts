import { ModelFileError } from 'millrace/api';

/** The relative error of a sum of gains, which a file may write with few digits. */
const GAIN_ERROR = 1e-3;

export function isWholeImportance(value: unknown): value is number {
  return typeof value === 'number' && value >= 0;
}

/**
 * Counts how often the trees of a model split by each feature. The file states this too, as feature importances. If a
 * format does not count its trees, a difference shows a missing or duplicate tree.
 */
export class SplitCounts {
  readonly #of: readonly { all: number; gained: number; gain: number }[];

  constructor(readonly names: readonly string[]) {
    this.#of = names.map(() => ({ all: 0, gained: 0, gain: 0 }));
  }

  /** @param gains the gains of the same nodes; empty if the file has none */
  add(features: ArrayLike<number>, gains: ArrayLike<number>): void {
    for (let node = 0; node < features.length; node++) {
      const counts = this.#of[features[node] ?? -1];
      if (counts === undefined) continue;
      const gain = gains[node] ?? 0;
      counts.all++;
      if (!(gain > 0)) continue;
      counts.gained++;
      counts.gain += gain;
    }
  }

  /**
   * @param listed importances by name: counts of splits, or sums of gains; features that no tree uses are missing
   * @throws ModelFileError if the trees differ from the importances
   */
  check(listed: ReadonlyMap<string, number>): void {
    for (const [feature, name] of this.names.entries()) {
      const { all, gained, gain } = this.#of[feature] ?? { all: 0, gained: 0, gain: 0 };
      const value = listed.get(name) ?? 0;
      // LightGBM 2.2 and later count only splits with a positive gain.
      if (value === all || value === gained || Math.abs(value - gain) <= GAIN_ERROR * gain) continue;
      throw new ModelFileError(
        `its trees split by \`${name}\` ${all} times, and its feature importances say ${value}: trees are missing or duplicate`,
      );
    }
  }
}
