import { sink as file } from '../../plugins/file/index.js';
import { PluginSink } from '../../runtime/state/ledger/plugin-sink.js';
import { RunningLedger } from '../../runtime/state/ledger/ledger.js';
import { RECORD_KINDS, type RecordKind } from '../../runtime/ground/api/ledger.js';
import {
  recordSchema,
  type ColumnType,
  type JsonObject,
  type RecordColumn,
  type RowGroup,
} from '../../runtime/state/ledger/record-schema.js';
import type { RecordWriter } from '../../runtime/state/ledger/record-writer.js';
import { bindingOf, createSink } from './sink-ledger.js';

/** A ledger that writes all kinds of records to segments in a folder. */
export async function fileLedger(folder: string): Promise<RunningLedger> {
  const ledger = new RunningLedger([]);
  const sink = await createSink(file, {}, { folder, name: 'file', instance: ledger.instance });
  await ledger.use([new PluginSink({ ...bindingOf(sink), take: RECORD_KINDS })], 0);
  return ledger;
}

/** A column as a test writes it: its name, what has rows of it, its type, and its cells. */
export type Written = readonly [
  name: string,
  is: 'field' | 'value',
  rows: RowGroup,
  type: ColumnType,
  cells: unknown,
];

/** Adds a record with these columns. undefined is an absent cell. */
export function addRecord(
  ledger: RunningLedger,
  kind: RecordKind,
  columns: readonly Written[],
  meta: JsonObject = {},
): void {
  const schema = recordSchema(
    kind,
    columns.map(([name, is, rows, type]): RecordColumn => ({
      name,
      is,
      rows,
      type,
      nullable: type === 'text' || type === 'float64',
    })),
    meta,
  );
  const lengthOf = (group: RowGroup): number => {
    const cells = columns.find(([, , rows]) => rows === group)?.[4];
    return Array.isArray(cells) ? cells.length : 0;
  };
  ledger.add(schema, { candidate: lengthOf('candidate'), change: lengthOf('change') }, (writer) => {
    for (const [, , rows, type, cells] of columns)
      write(writer, type, rows === 'record' ? [cells] : (cells as unknown[]));
  });
}

function write(writer: RecordWriter, type: ColumnType, cells: readonly unknown[]): void {
  if (type === 'text') writer.text(cells as (string | undefined)[]);
  else if (type === 'texts') {
    let end = 0;
    const lists = cells as string[][];
    writer.texts({ values: lists.flat(), offsets: [0, ...lists.map((list) => (end += list.length))] });
  } else {
    const numbers = Float64Array.from(cells as number[], (cell: number | undefined) => cell ?? NaN);
    const statuses = Uint8Array.from(numbers, (number) => (Number.isNaN(number) ? 2 : 0));
    writer[type as 'float64' | 'int32' | 'time'](numbers, statuses);
  }
}
