import type { Column } from '../../ground/api/columns.js';
import { Status } from '../../ground/api/status.js';
import type { CounterDefinition, CounterFeature } from '../../project/config/model/counters.js';
import { writeMissing } from '../../language/frame/cells.js';
import { SeriesKind } from '../store/codec/counter-record.js';
import { distinctSeries, seriesOf, type FeatureSeries } from './series.js';
import { SeriesReader } from './series-reader.js';
import { FIRST_GENERATIONS, type Generations } from './generations.js';

/** A feature of a counter that a plan reads. */
export interface WantedCount {
  readonly counter: CounterDefinition;
  readonly feature: CounterFeature;
}

/** What a request reads the records of counters with. */
export type CountsReader = Pick<CounterDecoder, keyof CounterDecoder>;

/** A feature with the numbers of its series in the readers. */
interface DecodedFeature {
  readonly feature: CounterFeature;
  readonly counted: number;
  /** For the time of a last event: how old it may be, in milliseconds; otherwise infinite. */
  readonly oldest: number;
  readonly over: readonly number[];
  readonly allCounted: readonly number[];
  readonly allOver: readonly number[];
  /** By class of position: the rate of all entities together. */
  readonly means: Float64Array;
}

/**
 * Writes the wanted features of counter records into columns of the frame. An entity without events has the count 0. A
 * rate without events of `over` and without a prior, and the time of a last event that never happened, are missing.
 */
export class CounterDecoder {
  readonly #wanted: readonly WantedCount[];
  #features: readonly DecodedFeature[] = [];
  /** Read the series of an entity, and those of all entities together. */
  #entity = new SeriesReader([]);
  #all = new SeriesReader([]);
  #generations: Generations;
  #version = -1;
  #now = 0;

  constructor(wanted: readonly WantedCount[], generations: Generations = FIRST_GENERATIONS) {
    this.#wanted = wanted;
    this.#generations = generations;
    this.#refresh();
  }

  /** Whether a feature compares with all entities, so that their record must be read, too. */
  get readsAll(): boolean {
    return this.#features.some(({ allOver }) => allOver.length > 0);
  }

  /** When the values of an unchanged record are next different, apart from slow decay. Epoch milliseconds. */
  changesAt(now: number): number {
    return this.#entity.changesAt(now);
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
    this.#now = now;
    this.#entity.begin(now);
    this.#all.begin(now);
    this.#all.read(memory, start, end);
    const { values } = this.#all;
    for (const { allCounted, allOver, means } of this.#features) {
      let [allOfCounted, allOfOver] = [0, 0];
      for (let i = 0; i < allOver.length; i++) {
        const counted = values[allCounted[i] as number] as number;
        const over = values[allOver[i] as number] as number;
        means[i] = over > 0 ? counted / over : 0;
        allOfCounted += counted;
        allOfOver += over;
      }
      // The rate over all positions comes last.
      if (allOver.length > 1) means[allOver.length] = allOfOver > 0 ? allOfCounted / allOfOver : 0;
    }
  }

  /**
   * Writes one row.
   * @param memory holds the record from `start` to `end`; null if the store has none for the key
   * @param columns in the order of the wanted features
   */
  decode(memory: Buffer | null, start: number, end: number, columns: readonly Column[], row: number): void {
    this.#entity.read(memory, start, end);
    const { values } = this.#entity;
    for (let f = 0; f < this.#features.length; f++) {
      const column = columns[f] as Column;
      const value = valueOf(this.#features[f] as DecodedFeature, values, this.#now);
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

  #refresh(): void {
    this.#version = this.#generations.version;
    const known = new Map<CounterDefinition, FeatureSeries[]>();
    const wanted = this.#wanted.map(({ counter, feature }) => {
      const its = known.get(counter) ?? seriesOf(counter, this.#generations.servingOf(counter.name));
      known.set(counter, its);
      return its.find((one) => one.feature === feature) as FeatureSeries;
    });
    const { entity, all } = distinctSeries(wanted);
    this.#entity = new SeriesReader(entity);
    this.#all = new SeriesReader(all);
    this.#features = wanted.map(({ feature, counted, over, allCounted, allOver }) => ({
      feature,
      counted: this.#entity.numberOf(counted),
      oldest: counted.kind === SeriesKind.last ? counted.window : Infinity,
      over: over.map((one) => this.#entity.numberOf(one)),
      allCounted: allCounted.map((one) => this.#all.numberOf(one)),
      allOver: allOver.map((one) => this.#all.numberOf(one)),
      means: new Float64Array(allOver.length + 1),
    }));
  }
}

/** @param values of the series of the entity */
function valueOf(
  { feature, counted, oldest, over, means }: DecodedFeature,
  values: Float64Array,
  now: number,
): number {
  const count = values[counted] as number;
  if (over.length === 0) return oldest === Infinity || count > now - oldest ? count : NaN;
  const { prior, expected } = feature;
  let base = 0;
  if (expected)
    for (let i = 0; i < over.length; i++)
      base += (values[over[i] as number] as number) * (means[i] as number);
  else base = values[over[0] as number] as number;
  if (prior === undefined) return base > 0 ? count / base : NaN;
  const mean = prior.mean === 'global' ? (means[expected ? over.length : 0] as number) : prior.mean;
  if (!expected) return (count + prior.weight * mean) / (base + prior.weight);
  // The assumed events have the expected rate, so they add as much above as below the line.
  const assumed = prior.weight * mean;
  return base + assumed > 0 ? (count + assumed) / (base + assumed) : NaN;
}
