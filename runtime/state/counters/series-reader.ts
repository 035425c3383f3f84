import { SERIES_HEAD, SeriesKind, seriesStart } from '../store/codec/counter-record.js';
import { uint32At } from '../store/codec/numbers-at.js';
import { nextEpoch, oldestEpoch, sumFrom } from './buckets.js';
import type { Series } from './series.js';

/**
 * Reads series of counter records by one walk through each record. Records of one counter usually have their series in the
 * same order, so the place of a series in the last record predicts its place in the next one.
 */
export class SeriesReader {
  /** By number of the series: its value in the record that was read last. */
  readonly values: Float64Array;
  readonly #series: readonly Series[];
  readonly #lows: Int32Array;
  readonly #highs: Int32Array;
  /** By number of the series: its value in a record that lacks it. */
  readonly #absent: Float64Array;
  /** By number of the series: the oldest bucket of its window. */
  readonly #oldest: Float64Array;
  /** By place in the record: number of the series that was there last; -1 for a series that is not read. */
  readonly #places: number[] = [];
  #now = 0;

  /** @param series different ones */
  constructor(series: readonly Series[]) {
    this.#series = series;
    this.#lows = Int32Array.from(series, ({ low }) => low);
    this.#highs = Int32Array.from(series, ({ high }) => high);
    this.#absent = Float64Array.from(series, ({ kind }) => (kind === SeriesKind.last ? NaN : 0));
    this.#oldest = new Float64Array(series.length);
    this.values = new Float64Array(series.length);
  }

  numberOf({ low, high }: Series): number {
    return this.#series.findIndex((one) => one.low === low && one.high === high);
  }

  /** @param now the time of the next reads, epoch milliseconds */
  begin(now: number): void {
    this.#now = now;
    for (const [i, { window }] of this.#series.entries()) this.#oldest[i] = oldestEpoch(now, window);
  }

  /**
   * When a window drops its oldest bucket next, or a decay has lost a thousandth, from a time on. Times of last events do not
   * change. Epoch milliseconds.
   */
  changesAt(now: number): number {
    return this.#series.reduce((next, { kind, window, halfLife }) => {
      if (kind === SeriesKind.last) return next;
      return Math.min(next, kind === SeriesKind.decay ? now + halfLife / 1000 : nextEpoch(now, window));
    }, Infinity);
  }

  /**
   * Sets `values`: 0 for a series that the record lacks, NaN for the time of an event that never happened. Features with
   * different windows share the time of a last event, so it is not compared with a window here.
   * @param memory holds the record from `start` to `end`; null if there is none
   */
  read(memory: Buffer | null, start: number, end: number): void {
    this.values.set(this.#absent);
    if (memory === null) return;
    let at = seriesStart(memory, start, end);
    if (at < 0) return;
    let left = this.#series.length;
    for (let place = 0; left > 0 && at + SERIES_HEAD <= end; place++) {
      const number = this.#numberAt(place, uint32At(memory, at) | 0, uint32At(memory, at + 4) | 0);
      if (number >= 0) {
        this.values[number] = this.#valueAt(number, memory, at);
        left--;
      }
      at += SERIES_HEAD + ((memory[at + 12] as number) | ((memory[at + 13] as number) << 8));
    }
  }

  #numberAt(place: number, low: number, high: number): number {
    const guess = this.#places[place] ?? -1;
    if (guess >= 0 && this.#lows[guess] === low && this.#highs[guess] === high) return guess;
    let number = this.#lows.length - 1;
    while (number >= 0 && (this.#lows[number] !== low || this.#highs[number] !== high)) number--;
    this.#places[place] = number;
    return number;
  }

  #valueAt(number: number, memory: Buffer, at: number): number {
    const { kind, halfLife } = this.#series[number] as Series;
    const body = at + SERIES_HEAD;
    const width = memory[at + 15] as number;
    switch (kind) {
      case SeriesKind.last:
        return memory.readDoubleLE(body);
      case SeriesKind.decay:
        return memory.readDoubleLE(body) * 2 ** ((memory.readDoubleLE(body + 8) - this.#now) / halfLife);
      case SeriesKind.distinct:
        return sumFrom(memory, body, 4, this.#oldest[number] as number);
      default:
        return sumFrom(memory, body, width, this.#oldest[number] as number);
    }
  }
}
