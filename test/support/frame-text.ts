import { crc32 } from 'node:zlib';
import { At, COLUMN_HEAD } from '../../runtime/state/ledger/format.js';
import type { DecodedRecord } from '../../runtime/state/ledger/record-decoder.js';
import { cellsOf } from './memory-ledger.js';

/**
 * A record as lines: its kind and rows, then each column in the order of its bytes, with its cells. A field also has the
 * CRC of its bytes. A value has none, since the bytes of an absent cell are those of an earlier request.
 * @param varying columns whose cells differ from run to run, such as the milliseconds
 */
export function frameText(record: DecodedRecord, varying: ReadonlySet<string>): string {
  const { frame, schema, rows } = record;
  const bytes = Buffer.from(frame);
  let at = bytes.readUInt32LE(At.head);
  const lines = schema.columns.map((column) => {
    const start = at;
    at += COLUMN_HEAD + bytes.readUInt32LE(at);
    const name = `  ${column.rows} ${column.is} ${column.name}: ${column.type}${column.nullable ? '?' : ''}`;
    if (varying.has(column.name)) return name;
    const cells = JSON.stringify(cellsOf(record, column.name).map((cell) => cell ?? null));
    const crc = column.is === 'field' ? ` ${crc32(bytes.subarray(start, at)).toString(16)}` : '';
    return `${name} ${cells}${crc}`;
  });
  return [`${record.kind} ${JSON.stringify(rows)}`, ...lines].join('\n');
}
