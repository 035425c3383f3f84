import type { Column } from '../../ground/api/columns.js';
import type { FeatureRead } from '../compile/plan.js';
import { CounterDecoder, type WantedCount } from '../../state/counters/counter-decoder.js';
import type { Generations } from '../../state/counters/generations.js';
import type { RecordDecoder } from './table-part.js';

/**
 * Decodes counters for a table. Writes of this process invalidate the rows, as for every part. Writes of other processes are
 * not reported, because every click would be an invalidation; so a row is valid for a lease, and until a window moves.
 */
export class LeasedCounters implements RecordDecoder {
  readonly #decoder: CounterDecoder;
  readonly #lease: number;
  #now = NaN;
  #validUntil = -Infinity;

  /** @param lease milliseconds */
  constructor(wanted: readonly WantedCount[], lease: number) {
    this.#decoder = new CounterDecoder(wanted);
    this.#lease = lease;
  }

  follow(generations: Generations): void {
    this.#decoder.follow(generations);
    this.#now = NaN;
  }

  decode(
    record: Buffer | null,
    start: number,
    end: number,
    columns: readonly Column[],
    row: number,
    now: number,
  ): number {
    if (now !== this.#now) {
      this.#now = now;
      this.#decoder.begin(null, 0, 0, now);
      this.#validUntil = Math.min(now + this.#lease, this.#decoder.changesAt(now));
    }
    this.#decoder.decode(record, start, end, columns, row);
    return this.#validUntil;
  }

  missingLayouts(): void {
    // The records of counters have no layouts.
  }
}

/**
 * The counters of a read that a table may hold: those of one entity. A feature that compares with all entities changes with
 * every event of any entity.
 */
export function leasedCountsOf(read: FeatureRead): WantedCount[] | undefined {
  if (read.counters === undefined || read.counters.readsAll || read.types.length !== 1) return undefined;
  return read.wants.flatMap(({ feature: { view, feature: one } }) => {
    const feature = view.counter?.features.get(one.name);
    return view.counter === undefined || feature === undefined ? [] : [{ counter: view.counter, feature }];
  });
}

/** Everything that determines the value of a feature, apart from its record. */
export function definitionOf({ counter, feature }: WantedCount): readonly unknown[] {
  const { name, of, by, ttl } = counter;
  const { event, value, window, halfLife, over, prior, expected } = feature;
  return [name, of, by, ttl, feature.name, event, value, window, halfLife, over, prior, expected];
}
