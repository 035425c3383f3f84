import type { Column } from '../../api/columns.js';
import { Status } from '../../api/status.js';
import { writeMissing } from '../../frame/cells.js';
import { ColumnProgram } from './column-program.js';
import { ENTITY_BODY, readTail } from './entity-record.js';
import { knownLayouts, type KnownLayouts } from './known-layouts.js';
import type { WantedColumn } from './wanted-column.js';

/**
 * Reads the wanted attributes of entity records into columns of the frame. Built once for a plan; makes one small
 * program for each layout that it meets.
 */
export class EntityDecoder {
  readonly #wanted: readonly WantedColumn[];
  readonly #indices: readonly number[];
  readonly #known: KnownLayouts;
  /** In the order met: there are as many as the project had versions of the type. */
  readonly #programs: ColumnProgram[] = [];

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
    const program = this.#programOf(record, start, end);
    if (program?.run(record, start + ENTITY_BODY, end, columns, row, Status.absent) !== true)
      for (const column of columns) writeMissing(column, row, Status.failed);
    return program === undefined && end - start >= ENTITY_BODY ? -Infinity : Infinity;
  }

  /** Adds the id of the record's layout if this process does not know it yet: see LayoutRegistry.resolve. */
  missingLayouts(record: Buffer, start: number, end: number, into: Set<string>): void {
    if (end - start >= ENTITY_BODY && this.#programOf(record, start, end) === undefined)
      into.add(record.toString('hex', start, start + ENTITY_BODY));
  }

  #programOf(record: Buffer, start: number, end: number): ColumnProgram | undefined {
    if (end - start < ENTITY_BODY) return undefined;
    const low = record.readInt32LE(start);
    const high = record.readInt32LE(start + 4);
    for (const program of this.#programs) {
      if (program.layout.low === low && program.layout.high === high) return program;
    }
    const layout = this.#known.get(record.toString('hex', start, start + ENTITY_BODY));
    if (layout === undefined) return undefined;
    const program = new ColumnProgram(layout, this.#wanted, this.#indices, readTail);
    this.#programs.push(program);
    return program;
  }
}
