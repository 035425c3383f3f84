import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ParquetFile, type ParquetColumn } from '../../runtime/dataset/parquet.js';
import type { DecodedRecord } from '../../runtime/ledger/record-decoder.js';
import { readRecords } from '../../runtime/ledger/record-reader.js';
import type { RecordColumn } from '../../runtime/ledger/record-schema.js';

type Cell = string | number | undefined;

/** Rows of one folder of the compacted ledger, until they are written. */
class Table {
  readonly #columns: readonly ParquetColumn[];
  readonly #file: ParquetFile;
  #rows: Cell[][];

  constructor(folder: string, name: string, columns: readonly ParquetColumn[]) {
    mkdirSync(folder, { recursive: true });
    this.#columns = columns;
    this.#file = new ParquetFile(join(folder, `${name}.parquet`), columns);
    this.#rows = columns.map(() => []);
  }

  add(cells: readonly Cell[]): void {
    for (const [at, cell] of cells.entries()) this.#rows[at]?.push(cell);
    if ((this.#rows[0]?.length ?? 0) >= 32_768) this.#flush();
  }

  close(): void {
    this.#flush();
    this.#file.close();
  }

  #flush(): void {
    const values = this.#columns.map(({ type }, at) => {
      const cells = this.#rows[at] ?? [];
      return type === 'text'
        ? (cells as (string | undefined)[])
        : Float64Array.from(cells, (cell) => (cell === undefined ? NaN : Number(cell)));
    });
    this.#file.write(values, values[0]?.length ?? 0);
    this.#rows = this.#columns.map(() => []);
  }
}

/** Writes the tables of a ledger in the layout of `ledger compact`, straight from its records. */
export async function explodeLedger(ledger: string, out: string): Promise<void> {
  const tables = new Map<string, Table>();
  const tableOf = (folder: string, id: string, columns: () => readonly ParquetColumn[]): Table => {
    const key = `${folder}/${id}`;
    const table = tables.get(key) ?? new Table(join(out, folder), id, columns());
    tables.set(key, table);
    return table;
  };
  for await (const record of readRecords(ledger)) {
    const { kind, schema, instance, sequence } = record;
    const time = record.field('time')?.numberAt(0) ?? NaN;
    const day = `day=${new Date(time).toISOString().slice(0, 10)}`;
    const own = [instance, sequence];
    if (kind === 'feedback') {
      const columns = schema.columns;
      tableOf(`feedback/${day}`, schema.id, () => [...KEYS, ...columns.map(columnOf)]).add([
        ...own,
        ...columns.map((column) => cellOf(record, column, 0)),
      ]);
    } else if (kind === 'ranking') {
      const { pipeline, candidate_type: type } = schema.meta;
      const folder = `${day}/pipeline=${String(pipeline)}`;
      const of = (rows: string): RecordColumn[] => schema.columns.filter((column) => column.rows === rows);
      const [request, candidate] = [of('record'), of('candidate')];
      tableOf(`rankings/${folder}`, schema.id, () => [...KEYS, TYPE, ...request.map(columnOf)]).add([
        ...own,
        String(type),
        ...request.map((column) => cellOf(record, column, 0)),
      ]);
      const id = record.field('request_id')?.at(0) as string;
      const table = tableOf(`candidates/${folder}`, schema.id, () => [
        ...KEYS,
        { name: 'request_id', type: 'text', nullable: false },
        ...candidate.map(columnOf),
      ]);
      for (let row = 0; row < record.rows.candidate; row++)
        table.add([...own, id, ...candidate.map((column) => cellOf(record, column, row))]);
    }
  }
  for (const table of tables.values()) table.close();
}

const KEYS: readonly ParquetColumn[] = [
  { name: 'instance', type: 'text', nullable: false },
  { name: 'sequence', type: 'int', nullable: false },
];
const TYPE: ParquetColumn = { name: 'candidate_type', type: 'text', nullable: false };

function columnOf({ name, type }: RecordColumn): ParquetColumn {
  if (type === 'text' || type === 'texts') return { name, type: 'text', nullable: true };
  return { name, type: type === 'time' ? 'time' : type === 'bool' ? 'bool' : 'number', nullable: true };
}

function cellOf(record: DecodedRecord, { name, is }: RecordColumn, row: number): Cell {
  const value = (is === 'field' ? record.field(name) : record.value(name))?.at(row);
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'object' ? JSON.stringify(value) : value;
}
