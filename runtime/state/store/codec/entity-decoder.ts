import type { Column } from '../../../ground/api/columns.js';
import { Status } from '../../../ground/api/status.js';
import { writeMissing } from '../../../language/frame/cells.js';
import { RecordReader } from './record-reader.js';
import { ENTITY_BODY, readTail } from './entity-record.js';
import { knownLayouts, type KnownLayouts } from './known-layouts.js';
import type { WantedColumn } from './wanted-column.js';

/**
 * Decodes the wanted attributes of entity records into columns of the frame. It is built once for a plan, and creates
 * one small reader for each layout.
 */
export class EntityDecoder {
  readonly #wanted: readonly WantedColumn[];
  readonly #indices: readonly number[];
  readonly #known: KnownLayouts;
  /** In the order of first use; there is one for each version of the type's declaration. */
  readonly #readers: RecordReader[] = [];

  constructor(wanted: readonly WantedColumn[], known: KnownLayouts = knownLayouts) {
    this.#wanted = wanted.map(({ path, type, list }) => ({ path, type, list }));
    this.#indices = wanted.map((_, i) => i);
    this.#known = known;
  }

  /**
   * Writes one row. Rows are written in ascending order; the latest row may be written again.
   * @param record the memory that holds the record, from `start` to `end`; null if the index has no such entity
   * @param columns in the order of the wanted columns
   * @returns until when the row stays valid: Infinity, or -Infinity if the layout of the record is unknown
   */
  decode(record: Buffer | null, start: number, end: number, columns: readonly Column[], row: number): number {
    if (record === null) {
      for (const column of columns) writeMissing(column, row, Status.missing_entity);
      return Infinity;
    }
    const reader = this.#readerOf(record, start, end);
    if (reader?.read(record, start + ENTITY_BODY, end, columns, row, Status.absent) !== true)
      for (const column of columns) writeMissing(column, row, Status.failed);
    return reader === undefined && end - start >= ENTITY_BODY ? -Infinity : Infinity;
  }

  /** Adds the layout id of the record if this process does not know the layout; see LayoutRegistry.resolve. */
  missingLayouts(record: Buffer, start: number, end: number, into: Set<string>): void {
    if (end - start >= ENTITY_BODY && this.#readerOf(record, start, end) === undefined)
      into.add(record.toString('hex', start, start + ENTITY_BODY));
  }

  #readerOf(record: Buffer, start: number, end: number): RecordReader | undefined {
    if (end - start < ENTITY_BODY) return undefined;
    const low = record.readInt32LE(start);
    const high = record.readInt32LE(start + 4);
    for (const reader of this.#readers) {
      if (reader.layout.low === low && reader.layout.high === high) return reader;
    }
    const layout = this.#known.get(record.toString('hex', start, start + ENTITY_BODY));
    if (layout === undefined) return undefined;
    const reader = new RecordReader(layout, this.#wanted, this.#indices, readTail);
    this.#readers.push(reader);
    return reader;
  }
}
