import { createHash } from 'node:crypto';
import type { DecodedRecord } from '../../state/ledger/record-decoder.js';
import { MILLION, type DataSetOptions } from './options.js';
import { entityOf, entityTypesOf } from './scan-ledger.js';

/** Where a request goes. `outside`: it is not in the asked range of time. */
export type Part = 'train' | 'holdout' | 'gap' | 'censored' | 'outside';

interface Splittable {
  readonly id: string;
  readonly time: number;
  readonly pages: readonly DecodedRecord[];
}

/** Decides which part of the data set a request belongs to. */
export class Splitter {
  readonly #options: DataSetOptions;
  /** Rankings after this time are younger than the window. */
  readonly #latest: number;
  /** The time of the first request held out; undefined for a split by hash. */
  readonly at: number | undefined;
  #unnamed = 0;
  readonly #types = new Set<string>();

  /**
   * @param times of the rankings that may be in the data set; they are sorted
   * @param end the time of the last record
   */
  constructor(options: DataSetOptions, times: Float64Array, end: number) {
    this.#options = options;
    this.#latest = end - options.window;
    const { split } = options;
    if (split.by === 'hash') return;
    times.sort();
    const count = upperBound(times, this.#latest);
    const first = Math.floor((count * split.train) / MILLION);
    this.at = first < count ? times[first] : Infinity;
  }

  partOf(request: Splittable): Part {
    const { since, until, split, gap } = this.#options;
    const { time } = request;
    if (time < since || time >= until) return 'outside';
    if (time > this.#latest) return 'censored';
    if (split.by === 'hash')
      return isInShare(this.#keyOf(request, split.type), split.train) ? 'train' : 'holdout';
    const at = this.at ?? Infinity;
    if (time >= at) return 'holdout';
    return time < at - gap ? 'train' : 'gap';
  }

  /** Continues from the counts of a build that was stopped. */
  restore({ unnamed, otherTypes }: Pick<Splitter, 'unnamed' | 'otherTypes'>): void {
    this.#unnamed = unnamed;
    for (const type of otherTypes) this.#types.add(type);
  }

  /** How many requests have no entity of the type that a split by hash names. */
  get unnamed(): number {
    return this.#unnamed;
  }

  /** The types of the entities of the requests that have none of the type that a split by hash names. */
  get otherTypes(): ReadonlySet<string> {
    return this.#types;
  }

  /** A request without an entity of the type is divided by its own id. */
  #keyOf({ id, pages }: Splittable, type: string): string {
    if (type === 'request') return id;
    const [first] = pages;
    const key = first === undefined ? undefined : entityOf(first, type);
    if (key === undefined) {
      this.#unnamed++;
      for (const other of first === undefined ? [] : entityTypesOf(first)) this.#types.add(other);
    }
    return key ?? id;
  }
}

/**
 * Whether a key is in the first so many millionths of all keys: by the first 32 bits of its MD5, which any SQL engine can
 * compute too.
 */
export function isInShare(key: string, millionths: number): boolean {
  const hash = createHash('md5').update(key).digest().readUInt32BE(0);
  return hash * MILLION < millionths * 2 ** 32;
}

/** How many of the sorted numbers are not greater. */
function upperBound(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? Infinity) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}
