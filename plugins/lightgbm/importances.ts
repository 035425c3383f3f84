import { ModelFileError } from 'millrace/api';

/** Relative error of a sum of gains that a file has with few digits. */
const GAIN_ERROR = 1e-3;

export function isWholeImportance(value: unknown): value is number {
  return typeof value === 'number' && value >= 0;
}

/**
 * How often the trees of a model split by each feature. A file says it too, as feature importances: where a format has no
 * count of its trees, this tells that one is missing or there twice.
 */
export class SplitCounts {
  readonly #of: readonly { all: number; gained: number; gain: number }[];

  constructor(readonly names: readonly string[]) {
    this.#of = names.map(() => ({ all: 0, gained: 0, gain: 0 }));
  }

  /** @param gains of the same nodes; none where the file has none */
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
   * @param listed by name; a feature that no tree uses is left out. Importances are counts of splits, or sums of gains.
   * @throws ModelFileError where the trees differ
   */
  check(listed: ReadonlyMap<string, number>): void {
    for (const [feature, name] of this.names.entries()) {
      const { all, gained, gain } = this.#of[feature] ?? { all: 0, gained: 0, gain: 0 };
      const value = listed.get(name) ?? 0;
      // LightGBM 2.2 and later count only the splits that gained something.
      if (value === all || value === gained || Math.abs(value - gain) <= GAIN_ERROR * gain) continue;
      throw new ModelFileError(
        `its trees split by \`${name}\` ${all} times, and its feature importances say ${value}: trees are missing, or there twice`,
      );
    }
  }
}
