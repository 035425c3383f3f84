import type { Column } from '../../../ground/api/columns.js';
import { Status } from '../../../ground/api/status.js';
import type { FeatureDefinition, FeatureView } from '../../../project/config/model/views.js';
import { RecordReader } from './record-reader.js';
import { DefaultCells } from './default-cells.js';
import { eventTimeAt, findSegment, layoutAt, SEGMENT_BODY, segmentEnd, viewId } from './feature-record.js';
import { knownLayouts, type KnownLayouts } from './known-layouts.js';
import type { WantedColumn } from './wanted-column.js';

/** A feature that a plan reads. */
export interface WantedFeature {
  readonly view: FeatureView;
  readonly feature: FeatureDefinition;
}

/** The features of one view, and the data needed to read them. */
interface WantedView {
  readonly view: FeatureView;
  readonly low: number;
  readonly high: number;
  readonly wanted: readonly WantedColumn[];
  readonly indices: readonly number[];
  readonly readers: RecordReader[];
}

/**
 * Decodes the wanted features of feature records into columns of the frame, each cell with its status. Rows expire by
 * the ttl and the policy of their view at the time of the request. A declared default replaces missing, null and
 * expired values but never a failed read. The views of one decoder share a record.
 */
export class FeatureDecoder {
  readonly #views: readonly WantedView[];
  readonly #defaults: DefaultCells;
  readonly #known: KnownLayouts;

  constructor(wanted: readonly WantedFeature[], known: KnownLayouts = knownLayouts) {
    this.#known = known;
    const columns = wanted.map(({ feature }) => ({ path: [feature.name], type: feature.type, list: false }));
    this.#defaults = new DefaultCells(wanted.map(({ feature }) => feature));
    const views = new Map(wanted.map(({ view }) => [view.name, view]));
    this.#views = [...views.values()].map((view) => {
      const indices = wanted.flatMap((want, i) => (want.view.name === view.name ? [i] : []));
      const id = viewId(view.name);
      return {
        view,
        low: id.readInt32LE(0),
        high: id.readInt32LE(4),
        wanted: columns.filter((_, i) => indices.includes(i)),
        indices,
        readers: [],
      };
    });
  }

  /**
   * Writes one row. Rows are written in ascending order; the latest row may be written again.
   * @param record the memory that holds the record, from `start` to `end`; null if the store has none for the key
   * @param columns in the order of the wanted features
   * @param now epoch milliseconds; decides which rows have expired
   * @returns until when the row stays valid, epoch milliseconds: the next expiry of one of its views, or Infinity;
   *   -Infinity if the layout of a segment is unknown
   */
  decode(
    record: Buffer | null,
    start: number,
    end: number,
    columns: readonly Column[],
    row: number,
    now: number,
  ): number {
    let validUntil = Infinity;
    for (const view of this.#views) {
      const at = record === null ? -1 : findSegment(record, start, end, view.low, view.high);
      if (record === null || at < 0) {
        for (const i of view.indices) this.#defaults.write(columns, i, row, Status.missing_feature);
      } else validUntil = Math.min(validUntil, this.#decodeSegment(view, record, at, end, columns, row, now));
    }
    return validUntil;
  }

  /** Writes one row that has no key to read because an entity of the key is unknown; `cause` is the reason. */
  decodeMissing(cause: number, columns: readonly Column[], row: number): void {
    for (let i = 0; i < columns.length; i++) this.#defaults.write(columns, i, row, cause);
  }

  /** The event time of a view's row, epoch milliseconds; undefined if the record has none. @param name of the view */
  eventTimes(name: string): (record: Buffer | null) => number | undefined {
    const view = this.#views.find((one) => one.view.name === name);
    return (record) => {
      const at =
        record === null || view === undefined
          ? -1
          : findSegment(record, 0, record.length, view.low, view.high);
      return record === null || at < 0 ? undefined : eventTimeAt(record, at);
    };
  }

  /** Adds the ids of layouts that this process does not know; see LayoutRegistry.resolve. */
  missingLayouts(record: Buffer, start: number, end: number, into: Set<string>): void {
    for (const view of this.#views) {
      const at = findSegment(record, start, end, view.low, view.high);
      if (at >= 0 && this.#readerOf(view, record, at) === undefined)
        into.add(record.toString('hex', layoutAt(at), layoutAt(at) + 8));
    }
  }

  #decodeSegment(
    wantedView: WantedView,
    record: Buffer,
    at: number,
    recordEnd: number,
    columns: readonly Column[],
    row: number,
    now: number,
  ): number {
    const { view, indices } = wantedView;
    const time = eventTimeAt(record, at);
    const isExpired = view.ttl !== null && !(now - time <= view.ttl);
    if (isExpired && view.expired !== 'stale') {
      const status = view.expired === 'fail' ? Status.failed : Status.expired;
      for (const i of indices) this.#defaults.write(columns, i, row, status);
      return Infinity;
    }
    const validUntil = view.ttl === null || isExpired ? Infinity : time + view.ttl;
    const reader = this.#readerOf(wantedView, record, at);
    const end = segmentEnd(record, at, recordEnd);
    if (reader?.read(record, at + SEGMENT_BODY, end, columns, row, Status.missing_feature) !== true) {
      for (const i of indices) this.#defaults.write(columns, i, row, Status.failed);
      return reader === undefined ? -Infinity : validUntil;
    }
    for (const i of indices) {
      const column = columns[i] as Column;
      const status = column.status[row] as number;
      if (status !== Status.present) this.#defaults.write(columns, i, row, status);
      else if (isExpired) column.status[row] = Status.stale;
    }
    return validUntil;
  }

  #readerOf(view: WantedView, record: Buffer, at: number): RecordReader | undefined {
    const low = record.readInt32LE(layoutAt(at));
    const high = record.readInt32LE(layoutAt(at) + 4);
    for (const reader of view.readers) {
      if (reader.layout.low === low && reader.layout.high === high) return reader;
    }
    const layout = this.#known.get(record.toString('hex', layoutAt(at), layoutAt(at) + 8));
    if (layout === undefined) return undefined;
    const reader = new RecordReader(layout, view.wanted, view.indices, undefined);
    view.readers.push(reader);
    return reader;
  }
}
