import { DEFAULTED, STATUS_NAMES, Status, statusName, type StatusName } from '../../ground/api/status.js';
import { Random } from '../../ground/core/random.js';
import type { Feature } from './features.js';
import type { FeatureSummary } from './manifest.js';
import type { RowBatch } from './row-batch.js';

/** The rows that quantiles are made of. */
const SAMPLED = 10_000;
const DECILES = 10;
const MOST_VALUES = 20;

/** One count for each code, the last but one for defaulted cells, the last for values that were not logged. */
const CODES = DEFAULTED + 2;
const NOT_LOGGED = DEFAULTED + 1;

/** Counts of statuses, and a random sample of the rows of the train part, for the manifest. */
export class Summaries {
  readonly #features: readonly Feature[];
  readonly #statuses: Float64Array;
  readonly #sample: (number | string | undefined)[][];
  readonly #random = new Random(1);
  #rows = 0;

  constructor(features: readonly Feature[]) {
    this.#features = features;
    this.#statuses = new Float64Array(features.length * CODES);
    this.#sample = features.map(() => []);
  }

  /** @param statuses of rows of a feature; undefined: all are present */
  count(feature: number, statuses: Uint8Array | undefined, rows: ArrayLike<number>): void {
    const base = feature * CODES;
    if (statuses === undefined) {
      this.#add(base + Status.present, rows.length);
      return;
    }
    for (let at = 0; at < rows.length; at++)
      this.#add(base + Math.min(statuses[rows[at] ?? 0] ?? Status.absent, DEFAULTED), 1);
  }

  countAll(feature: number, status: number | 'not_logged', rows: number): void {
    const code = status === 'not_logged' ? NOT_LOGGED : Math.min(status, DEFAULTED);
    this.#add(feature * CODES + code, rows);
  }

  /** Takes rows of the train part into the sample (Vitter's algorithm R). */
  sample({ length, features }: RowBatch): void {
    for (let row = 0; row < length; row++) {
      this.#rows += 1;
      const place = this.#rows <= SAMPLED ? this.#rows - 1 : Math.floor(this.#random.next() * this.#rows);
      if (place >= SAMPLED) continue;
      for (let at = 0; at < features.length; at++) {
        const sample = this.#sample[at];
        if (sample !== undefined) sample[place] = features[at]?.[row];
      }
    }
  }

  /** The counts of statuses so far. */
  get statuses(): Float64Array {
    return this.#statuses;
  }

  /** Continues from the counts of a build that was stopped. The sample is taken again from its rows. */
  restore(statuses: Float64Array): void {
    this.#statuses.set(statuses);
  }

  get sampled(): number {
    return Math.min(this.#rows, SAMPLED);
  }

  features(): FeatureSummary[] {
    return this.#features.map(({ name, column, type, scope }, at) => {
      const values = this.#sample[at] ?? [];
      const known = values.filter((value) => value !== undefined && !Number.isNaN(value));
      return {
        name,
        ...(column === name ? {} : { column }),
        type,
        scope,
        statuses: this.#statusesOf(at),
        missing: values.length === 0 ? 0 : (values.length - known.length) / values.length,
        ...(type === 'number'
          ? { quantiles: quantiles(known as number[]) }
          : { values: mostFrequent(known as string[]) }),
      };
    });
  }

  #statusesOf(feature: number): FeatureSummary['statuses'] {
    const counts: Partial<Record<StatusName | 'not_logged', number>> = {};
    for (let code = 0; code < CODES; code++) {
      const count = this.#statuses[feature * CODES + code] ?? 0;
      if (count === 0) continue;
      const name = code === NOT_LOGGED ? 'not_logged' : statusName(code);
      counts[name] = (counts[name] ?? 0) + count;
    }
    const order = [...STATUS_NAMES, 'not_logged'] as const;
    return Object.fromEntries(
      order.flatMap((name) => (counts[name] === undefined ? [] : [[name, counts[name]]])),
    );
  }

  #add(place: number, count: number): void {
    this.#statuses[place] = (this.#statuses[place] ?? 0) + count;
  }
}

/** The minimum, nine deciles and the maximum. Empty without values. */
function quantiles(values: readonly number[]): readonly number[] {
  const sorted = Float64Array.from(values).sort();
  if (sorted.length === 0) return [];
  return Array.from(
    { length: DECILES + 1 },
    (_, decile) => sorted[Math.round((decile / DECILES) * (sorted.length - 1))] ?? NaN,
  );
}

function mostFrequent(values: readonly string[]): { value: string; share: number }[] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))
    .slice(0, MOST_VALUES)
    .map(([value, count]) => ({ value, share: count / values.length }));
}
