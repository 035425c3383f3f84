import type { Column } from '../../../ground/api/columns.js';
import { isKnown, statusAt } from '../../../ground/api/status.js';
import type { IdHasher } from '../../../ground/core/id-hasher.js';
import type { RecordWriter } from '../../../state/ledger/record-writer.js';

/** The ids of one record, hashed. An id that occurs several times is hashed once. */
export class HashedIds {
  readonly #hasher: IdHasher;
  readonly #known = new Map<string, Map<string, string>>();

  constructor(hasher: IdHasher) {
    this.#hasher = hasher;
  }

  shown(type: string, id: string): string {
    if (!this.#hasher.hides(type)) return id;
    let ofType = this.#known.get(type);
    if (ofType === undefined) this.#known.set(type, (ofType = new Map<string, string>()));
    let hash = ofType.get(id);
    if (hash === undefined) ofType.set(id, (hash = this.#hasher.shown(type, id)));
    return hash;
  }

  /** Writes a column of texts that are ids of the type, or are made of such ids. */
  write(
    writer: RecordWriter,
    column: Column,
    type: string,
    count: number,
    rows: Int32Array | undefined,
  ): void {
    if (column.kind !== 'text' && column.kind !== 'texts') {
      writer.column(column, rows);
      return;
    }
    const { status, stride } = column;
    const statuses = new Uint8Array(count);
    const values: string[] = [];
    const offsets = new Int32Array(count + 1);
    for (let index = 0; index < count; index++) {
      const at = (rows?.[index] ?? index) * stride;
      const byte = statusAt(status, at);
      statuses[index] = byte;
      if (column.kind === 'text') {
        values.push(isKnown(byte) ? this.shown(type, column.values[at] ?? '') : '');
        continue;
      }
      const end = column.offsets[at + 1] ?? 0;
      for (let i = column.offsets[at] ?? 0; i < end; i++)
        values.push(this.shown(type, column.values[i] ?? ''));
      offsets[index + 1] = values.length;
    }
    if (column.kind === 'text') writer.text(values, statuses);
    else writer.texts({ values, offsets }, statuses);
  }
}
