import type { Column, TextColumn } from '../../../ground/api/columns.js';
import type { FeatureRead, HistoryRead, HydrationNode } from '../../compile/plan.js';
import type { CountsReader } from '../../../state/counters/counter-decoder.js';
import type { Frame } from '../../../language/frame/frame.js';
import type { PartBinding } from '../../resident/resident-tables.js';
import { featureKey } from '../../../state/store/keys.js';
import { AllCounters } from './all-counters.js';
import { CounterCells } from './counter-cells.js';
import type { BatchRead } from './batch-read.js';
import { DirectRead, type CellRead } from './cell-read.js';
import { GlobalCounterCells } from './global-counter-cells.js';
import { ResidentRead } from './resident-read.js';
import type { ReadServices } from './read-services.js';
import type { ResidentSession } from './resident-session.js';
import { SourceCells, type SourceReaders } from './source-cells.js';
import type { SpanHolder } from '../../../project/tracing/trace-span.js';

/**
 * Starts the reads of one level: takes rows from the resident tables, and adds the keys of all other rows to the round
 * trip.
 */
export class LevelReads {
  readonly #prefix: string;
  readonly #frame: Frame;
  readonly #batch: BatchRead;
  readonly #session: ResidentSession | undefined;
  readonly #readers: SourceReaders | undefined;
  readonly #spans: SpanHolder | undefined;
  readonly #outside: SourceCells[] = [];
  /**
   * Rows of the resident tables, by the slot of the ids, so an entity is looked up once for its attributes and
   * features.
   */
  #rows: Map<number, Int32Array> | undefined;

  constructor(prefix: string, frame: Frame, services: ReadServices) {
    this.#prefix = prefix;
    this.#frame = frame;
    this.#batch = services.batch;
    this.#session = services.resident;
    this.#readers = services.readers;
    this.#spans = services.spans;
    this.#session?.look();
  }

  /** @param columns the columns of the node's group, or of its elements */
  entities(node: HydrationNode, columns: readonly Column[]): CellRead {
    const ids = node.list ? this.#frame.texts(node.ids).values : this.#frame.text(node.ids).values;
    const count = node.list ? ids.length : this.#count(node.scope);
    const binding = this.#session?.bindingOf(node, count);
    if (binding !== undefined)
      return this.#resident(binding, columns, node.ids, ids, count, node.distinct, this.#session);
    const numbers = new Int32Array(count);
    for (let row = 0; row < count; row++) {
      const id = ids[row] as string;
      numbers[row] = id === '' ? -1 : this.#ask(node.keyPrefix + id, node.distinct);
    }
    return new DirectRead(node.decoder, columns, numbers, node.distinct, this.#batch, this.#frame.now);
  }

  features(read: FeatureRead, columns: readonly Column[]): CellRead {
    const reader = this.#readers?.get(read);
    if (reader !== undefined) {
      const cells = new SourceCells(read, reader, columns, this.#frame);
      this.#outside.push(cells);
      return cells;
    }
    const count = this.#count(read.scope);
    const binding = this.#session?.bindingOf(read, count);
    const [slot] = read.ids;
    if (binding !== undefined && slot !== undefined) {
      const ids = this.#frame.text(slot).values;
      return this.#resident(binding, columns, slot, ids, count, read.distinct, this.#session);
    }
    if (read.counters !== undefined) return this.#counters(read, read.counters, columns, count);
    const numbers = this.#askForFeatures(read, count);
    return new DirectRead(read.decoder, columns, numbers, read.distinct, this.#batch, this.#frame.now);
  }

  #counters(read: FeatureRead, decoder: CountsReader, columns: readonly Column[], count: number): CellRead {
    const { now } = this.#frame;
    const all = (): AllCounters => new AllCounters(this.#prefix, this.#batch, this.#session, now);
    if (read.ids.length === 0) return new GlobalCounterCells(decoder, columns, count, all(), now);
    const numbers = this.#askForFeatures(read, count);
    const compared = decoder.readsAll ? all() : undefined;
    return new CounterCells(decoder, columns, numbers, compared, read.distinct, this.#batch, now);
  }

  /**
   * Adds the feedback history of an entity to the round trip. Each request reads it. Returns the number
   * of the record, or -1 if there is no id.
   */
  history({ ids, keyPrefix }: HistoryRead): number {
    const id = this.#frame.text(ids).values[0] ?? '';
    return id === '' ? -1 : this.#batch.ask(keyPrefix + id);
  }

  /**
   * Makes the one round trip of the level, and reads features outside the store in parallel; undefined if there is nothing to
   * read.
   */
  roundTrip(): Promise<unknown> | undefined {
    if (this.#outside.length === 0) return this.#batch.roundTrip();
    const reads = this.#outside.map((cells) => cells.read(this.#batch, this.#spans?.span));
    return Promise.all([this.#batch.roundTrip(), ...reads]);
  }

  #count(scope: 'request' | 'candidate'): number {
    return scope === 'candidate' ? this.#frame.count : 1;
  }

  #resident(
    binding: PartBinding,
    columns: readonly Column[],
    slot: number,
    ids: readonly string[],
    count: number,
    distinct: boolean,
    session: ResidentSession | undefined,
  ): CellRead {
    if (session === undefined) throw new Error('the binding has no session');
    let rows = this.#rows?.get(slot);
    if (rows === undefined) {
      const { places } = this.#frame;
      rows = binding.table.rowsOf(ids, count, places?.slot === slot ? places.places : undefined);
      (this.#rows ??= new Map<number, Int32Array>()).set(slot, rows);
    }
    return new ResidentRead(binding, columns, ids, rows, distinct, this.#batch, session, this.#frame.now);
  }

  #askForFeatures(read: FeatureRead, count: number): Int32Array {
    const numbers = new Int32Array(count);
    const [slot] = read.ids;
    if (read.ids.length === 1 && slot !== undefined) {
      const { values, stride } = this.#frame.text(slot);
      const keyPrefix = featureKey(this.#prefix, read.keyGroup, read.types, ['']);
      for (let row = 0; row < count; row++) {
        const id = values[row * stride] ?? '';
        numbers[row] = id === '' ? -1 : this.#ask(keyPrefix + id, read.distinct);
      }
      return numbers;
    }
    const columns = read.ids.map((slot) => this.#frame.text(slot));
    const ids = new Array<string>(columns.length);
    const met = new Map<number, number>();
    const codes = codesOfOnly(columns);
    for (let row = 0; row < count; row++) {
      const code = codes?.[row] ?? -1;
      const earlier = code < 0 ? undefined : met.get(code);
      if (earlier !== undefined) {
        numbers[row] = earlier;
        continue;
      }
      let known = true;
      for (let i = 0; i < columns.length; i++) {
        const column = columns[i];
        const id = column?.values[row * column.stride] ?? '';
        if (id === '') known = false;
        ids[i] = id;
      }
      if (!known) {
        numbers[row] = -1;
        continue;
      }
      const key = featureKey(this.#prefix, read.keyGroup, read.types, ids);
      const number = this.#ask(key, read.distinct);
      numbers[row] = number;
      if (code >= 0 && !read.distinct) met.set(code, number);
    }
    return numbers;
  }

  #ask(key: string, distinct: boolean): number {
    return distinct ? this.#batch.askDistinct(key) : this.#batch.ask(key);
  }
}

/** The codes of the only ids that differ between candidates: equal codes have equal keys. */
function codesOfOnly(columns: readonly TextColumn[]): Int32Array | undefined {
  const [differing, ...more] = columns.filter(({ stride }) => stride !== 0);
  return more.length > 0 || differing?.dictionary === undefined ? undefined : differing.codes;
}
