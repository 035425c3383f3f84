import type { Column } from '../api/columns.js';
import { Status } from '../api/status.js';
import type { CounterDefinition, CounterFeature } from '../config/project/model.js';
import { writeMissing } from '../frame/cells.js';
import { findSeries, SERIES_HEAD, SeriesKind } from '../store/codec/counter-record.js';
import { oldestEpoch, sumFrom } from './buckets.js';
import { countDistinct } from './distinct.js';
import { seriesOf, type FeatureSeries, type Series } from './series.js';
import { FIRST_GENERATIONS, type Generations } from './generations.js';

/** A feature of a counter that a plan reads. */
export interface WantedCount {
  readonly counter: CounterDefinition;
  readonly feature: CounterFeature;
}

/**
 * Writes the wanted features of counter records into columns of the frame. An entity without events has the count 0. A
 * rate without events of `over` and without a prior, and the time of a last event that never happened, are missing.
 */
export class CounterDecoder {
  readonly #wanted: readonly WantedCount[];
  #series: readonly FeatureSeries[];
  #generations: Generations;
  #version = -1;
  /** By feature, then by class of position: the rate of all entities together. */
  #means: Float64Array[] = [];

  constructor(wanted: readonly WantedCount[], generations: Generations = FIRST_GENERATIONS) {
    this.#wanted = wanted;
    this.#series = [];
    this.#generations = generations;
    this.#refresh();
  }

  /** Whether a feature compares with all entities, so that their record must be read, too. */
  get readsAll(): boolean {
    return this.#series.some(({ allOver }) => allOver.length > 0);
  }

  /** Uses the generations of a running service. */
  follow(generations: Generations): void {
    this.#generations = generations;
    this.#version = -1;
  }

  /**
   * Reads the record of all entities. There must be no await between this call and the last `decode`.
   * @param memory null if the store has no such record, or if it was not read
   */
  begin(memory: Buffer | null, start: number, end: number, now: number): void {
    if (this.#version !== this.#generations.version) this.#refresh();
    this.#series.forEach(({ allCounted, allOver }, f) => {
      const means = this.#means[f] as Float64Array;
      for (let i = 0; i < allOver.length; i++) {
        const over = read(memory, start, end, allOver[i] as Series, now);
        means[i] = over > 0 ? read(memory, start, end, allCounted[i] as Series, now) / over : 0;
      }
      // The rate over all positions comes last.
      if (allOver.length > 1) {
        let [counted, over] = [0, 0];
        for (const one of allCounted) counted += read(memory, start, end, one, now);
        for (const one of allOver) over += read(memory, start, end, one, now);
        means[allOver.length] = over > 0 ? counted / over : 0;
      }
    });
  }

  /**
   * Writes one row.
   * @param memory holds the record from `start` to `end`; null if the store has none for the key
   * @param columns in the order of the wanted features
   */
  decode(
    memory: Buffer | null,
    start: number,
    end: number,
    columns: readonly Column[],
    row: number,
    now: number,
  ): void {
    for (let f = 0; f < this.#series.length; f++) {
      const column = columns[f] as Column;
      const value = this.#value(this.#series[f] as FeatureSeries, f, memory, start, end, now);
      if (Number.isNaN(value)) writeMissing(column, row, Status.missing_feature);
      else if (column.kind === 'number') {
        column.values[row] = value;
        column.status[row] = Status.present;
      }
    }
  }

  /** Writes one row that has no key. @param cause the status of the cells */
  decodeMissing(cause: number, columns: readonly Column[], row: number): void {
    for (const column of columns) writeMissing(column, row, cause);
  }

  #value(
    { feature, counted, over }: FeatureSeries,
    f: number,
    memory: Buffer | null,
    start: number,
    end: number,
    now: number,
  ): number {
    const count = read(memory, start, end, counted, now);
    if (over.length === 0) return count;
    const means = this.#means[f] as Float64Array;
    const { prior, expected } = feature;
    let base = 0;
    if (expected)
      for (let i = 0; i < over.length; i++)
        base += read(memory, start, end, over[i] as Series, now) * (means[i] as number);
    else base = read(memory, start, end, over[0] as Series, now);
    if (prior === undefined) return base > 0 ? count / base : NaN;
    const mean = prior.mean === 'global' ? (means[expected ? over.length : 0] as number) : prior.mean;
    if (!expected) return (count + prior.weight * mean) / (base + prior.weight);
    // The assumed events have the expected rate, so they add as much above as below the line.
    const assumed = prior.weight * mean;
    return base + assumed > 0 ? (count + assumed) / (base + assumed) : NaN;
  }

  #refresh(): void {
    this.#version = this.#generations.version;
    const all = new Map<CounterDefinition, FeatureSeries[]>();
    this.#series = this.#wanted.map(({ counter, feature }) => {
      const its = all.get(counter) ?? seriesOf(counter, this.#generations.servingOf(counter.name));
      all.set(counter, its);
      return its.find((one) => one.feature === feature) as FeatureSeries;
    });
    this.#means = this.#series.map(({ allOver }) => new Float64Array(allOver.length + 1));
  }
}

/** The value of a series in a record; 0 if the record lacks it, NaN for the time of an event that never happened. */
function read(memory: Buffer | null, start: number, end: number, series: Series, now: number): number {
  const at = memory === null ? -1 : findSeries(memory, start, end, series.low, series.high);
  if (memory === null || at < 0) return series.kind === SeriesKind.last ? NaN : 0;
  const body = at + SERIES_HEAD;
  const width = memory[at + 15] as number;
  switch (series.kind) {
    case SeriesKind.last: {
      const time = memory.readDoubleLE(body);
      return time > now - series.window ? time : NaN;
    }
    case SeriesKind.decay:
      return memory.readDoubleLE(body) * 2 ** ((memory.readDoubleLE(body + 8) - now) / series.halfLife);
    case SeriesKind.distinct:
      return countDistinct(memory, body, width, oldestEpoch(now, series.window));
    default:
      return sumFrom(memory, body, width, oldestEpoch(now, series.window));
  }
}
