import type { Column } from '../../api/columns.js';
import { Status } from '../../api/status.js';
import { writeMissing } from '../../frame/cells.js';
import { RecordReader } from './record-reader.js';
import { ENTITY_BODY, readTail } from './entity-record.js';
import { knownLayouts, type KnownLayouts } from './known-layouts.js';
import type { WantedColumn } from './wanted-column.js';

/**
 * Reads the wanted attributes of entity records into columns of the frame. Built once for a plan; makes one small
 * reader for each layout that it meets.
 */
export class EntityDecoder {
  readonly #wanted: readonly WantedColumn[];
  readonly #indices: readonly number[];
  readonly #known: KnownLayouts;
  /** In the order met: there are as many as the project had versions of the type. */
  readonly #readers: RecordReader[] = [];

  constructor(wanted: readonly WantedColumn[], known: KnownLayouts = knownLayouts) {
    this.#wanted = wanted.map(({ path, type, list }) => ({ path, type, list }));
    this.#indices = wanted.map((_, i) => i);
    this.#known = known;
  }

  /**
   * Writes one row. Rows are written in ascending order; the latest may be written again.
   * @param record the memory that the record lies in, from `start` to `end`; null where the index has no such entity
   * @param columns in the order of the wanted columns
   * @returns until when the row stays as it is: Infinity; -Infinity where the record's layout is not known
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

  /** Adds the id of the record's layout if this process does not know it yet: see LayoutRegistry.resolve. */
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
