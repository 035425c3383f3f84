import { createHash } from 'node:crypto';
import type { RecordKind } from '../../ground/api/ledger.js';

/**
 * The types of columns. `time` is epoch milliseconds. `vector` has `size` numbers a row; `texts` and `numbers` have a
 * list a row.
 */
export const COLUMN_TYPES = [
  'float64',
  'float32',
  'int32',
  'uint8',
  'bool',
  'time',
  'text',
  'texts',
  'numbers',
  'vector',
] as const;
export type ColumnType = (typeof COLUMN_TYPES)[number];

/** What a column has a row for: the record, each logged candidate, or each change of a score. */
export const ROW_GROUPS = ['record', 'candidate', 'change'] as const;
export type RowGroup = (typeof ROW_GROUPS)[number];

export interface RecordColumn {
  readonly name: string;
  /** `field`: a column of Millrace's own. `value`: a value of the pipeline, named as in expressions. */
  readonly is: 'field' | 'value';
  readonly rows: RowGroup;
  readonly type: ColumnType;
  /** A nullable column has a status for each row (runtime/ground/api/status.ts). */
  readonly nullable: boolean;
  /** The numbers of a row of a `vector`. */
  readonly size?: number;
}

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };
export type JsonObject = Readonly<Record<string, Json>>;

export interface RecordSchema {
  readonly kind: RecordKind;
  readonly columns: readonly RecordColumn[];
  /** What all records of this schema share, such as the pipeline and its version. */
  readonly meta: JsonObject;
  /** 16 hex digits: a hash of all the rest. Equal schemas have equal ids in all processes. */
  readonly id: string;
}

/** Makes a schema, and its id. */
export function recordSchema(
  kind: RecordKind,
  columns: readonly RecordColumn[],
  meta: JsonObject,
): RecordSchema {
  const frozen = Object.freeze(columns.map((column) => Object.freeze({ ...column })));
  return Object.freeze({ kind, columns: frozen, meta, id: schemaId({ kind, columns: frozen, meta }) });
}

/** The text of a schema in a schema frame. Its keys are sorted, so that equal schemas have one text. */
export function schemaText({ kind, columns, meta }: Omit<RecordSchema, 'id'>): string {
  return JSON.stringify(sorted({ kind, columns, meta } as unknown as Json));
}

function schemaId(schema: Omit<RecordSchema, 'id'>): string {
  return createHash('sha256').update(schemaText(schema)).digest('hex').slice(0, 16);
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map((item: Json) => sorted(item));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value as Record<string, Json>).sort(([a], [b]) =>
    a < b ? -1 : a > b ? 1 : 0,
  );
  return Object.fromEntries(entries.map(([name, part]) => [name, sorted(part)]));
}
