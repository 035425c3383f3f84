import type { Cells } from '../../../state/ledger/cells.js';
import type { DecodedRecord } from '../../../state/ledger/record-decoder.js';
import type { RecordColumn, RecordSchema } from '../../../state/ledger/record-schema.js';
import { RANKING_NAMES } from '../../../state/ledger/ranking-fields.js';
import { ownerOf } from '../scan-ledger.js';
import type { ParquetColumn, ParquetType } from '../parquet.js';

/** The tables of a compacted ledger. */
export type Table = 'rankings' | 'candidates' | 'feedback' | 'history';

type Cell = number | string | undefined;

/** A column of a table, and how a record fills it. */
export interface TableColumn extends ParquetColumn {
  /** Reads the cells of a record. @returns the cell of a row */
  read(record: DecodedRecord): (row: number) => Cell;
}

/**
 * The columns of a table for the records of one schema: what identifies a record, then Millrace's own columns, then values. A
 * value that has the name of one of Millrace's own columns, also of one that only other records have, is called
 * `value:NAME`.
 */
export function columnsOf(table: Table, schema: RecordSchema): TableColumn[] {
  const group = table === 'candidates' ? 'candidate' : 'record';
  const columns: TableColumn[] = [
    plain('instance', 'text', ({ instance }) => instance),
    plain('sequence', 'int', ({ sequence }) => sequence),
  ];
  if (table === 'candidates') {
    columns.push(
      plain('request_id', 'text', (record) => textCell(record, 'request_id'), true),
      plain('time', 'time', (record) => record.field('time')?.numberAt(0), true),
    );
  }
  if (table === 'rankings')
    for (const name of ['candidate_type', 'pipeline_version'] as const) columns.push(metaText(name, schema));
  if (table === 'feedback') columns.push(plain('owner', 'text', ownerOf, true));
  if (table === 'history') columns.push(plain('ttl', 'int', () => numberOf(schema.meta.ttl), true));
  const taken = new Set(columns.map(({ name }) => name));
  const own = table === 'rankings' || table === 'candidates' ? RANKING_NAMES[group] : [];
  for (const column of schema.columns) {
    if (column.rows !== group) continue;
    const isTaken = taken.has(column.name) || (column.is === 'value' && own.includes(column.name));
    const name = isTaken ? `value:${column.name}` : column.name;
    if (column.is === 'field' && isTaken) continue;
    taken.add(name);
    columns.push(valueColumn(name, column));
  }
  return columns;
}

function plain(
  name: string,
  type: ParquetType,
  cell: (record: DecodedRecord) => Cell,
  nullable = false,
): TableColumn {
  return {
    name,
    type,
    nullable,
    read: (record) => {
      const value = cell(record);
      return () => value;
    },
  };
}

function metaText(name: string, { meta }: RecordSchema): TableColumn {
  const value = meta[name];
  return plain(name, 'text', () => (typeof value === 'string' ? value : undefined), true);
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function textCell(record: DecodedRecord, name: string): string | undefined {
  const value = record.field(name)?.at(0);
  return typeof value === 'string' ? value : undefined;
}

function valueColumn(name: string, { name: own, is, type }: RecordColumn): TableColumn {
  const parquet = parquetType(type);
  return {
    name,
    type: parquet,
    // A damaged or older record can lack any column.
    nullable: true,
    read: (record) => {
      const cells = is === 'field' ? record.field(own) : record.value(own);
      if (cells === undefined) return () => undefined;
      return parquet === 'text' ? (row) => textAt(cells, row) : (row) => numberAt(cells, row);
    },
  };
}

function numberAt(cells: Cells, row: number): number | undefined {
  const value = cells.numberAt(row);
  return Number.isNaN(value) ? undefined : value;
}

/** Lists are JSON. */
function textAt(cells: Cells, row: number): string | undefined {
  const value = cells.at(row);
  if (value === undefined || typeof value === 'string') return value;
  return JSON.stringify(value);
}

function parquetType(type: RecordColumn['type']): ParquetType {
  switch (type) {
    case 'float64':
    case 'float32':
      return 'number';
    case 'int32':
    case 'uint8':
      return 'int';
    case 'bool':
      return 'bool';
    case 'time':
      return 'time';
    default:
      return 'text';
  }
}
