import { readCells, type Cells } from './cells.js';
import { At, COLUMN_HEAD, FrameKind } from './format.js';
import type { ReadReport } from './frame-splitter.js';
import { RECORD_KINDS, type RecordKind } from '../../ground/api/ledger.js';
import type { RecordColumn, RecordSchema } from './record-schema.js';
import type { RecordRows } from './record-writer.js';
import { isKnownColumn, readSchema, schemaIdOf } from './schema-frame.js';

/** A record as it was read. Its cells are read from its frame when they are asked for. */
export interface DecodedRecord {
  readonly schema: RecordSchema;
  readonly kind: RecordKind;
  /** The process that wrote it, as a UUID; new at each start. */
  readonly instance: string;
  /** From 1, for each instance and kind. A gap means that a record is missing. */
  readonly sequence: number;
  /** When it was written, in epoch milliseconds. */
  readonly time: number;
  readonly rows: RecordRows;
  /** The bytes of the record, as they are in the segment. */
  readonly frame: Uint8Array;
  /** A column of Millrace's own; undefined if the record has none of this name. */
  field(name: string): Cells | undefined;
  /** A value of the pipeline, by its name in expressions. */
  value(name: string): Cells | undefined;
}

interface Place {
  readonly column: RecordColumn;
  readonly index: number;
}

interface Places {
  readonly schema: RecordSchema;
  readonly fields: ReadonlyMap<string, Place>;
  readonly values: ReadonlyMap<string, Place>;
}

/** Decodes the frames of one segment, or of one batch, in their order. */
export class RecordDecoder {
  readonly #report: ReadReport;
  readonly #schemas = new Map<string, Places>();

  constructor(report: ReadReport) {
    this.#report = report;
  }

  /** Makes a schema known, as its frame does. */
  add(schema: RecordSchema): void {
    if (!this.#schemas.has(schema.id)) this.#schemas.set(schema.id, placesOf(schema));
  }

  /** The record of a frame; undefined for a schema, and for what this version does not know. */
  decode(frame: Buffer): DecodedRecord | undefined {
    if (frame[At.frameKind] === FrameKind.schema) {
      const schema = readSchema(frame);
      if (schema === undefined) this.#report.skipped++;
      else this.add(schema);
      return undefined;
    }
    const places =
      frame[At.frameKind] === FrameKind.record ? this.#schemas.get(schemaIdOf(frame)) : undefined;
    const record = places === undefined ? undefined : decodeRecord(frame, places);
    if (record === undefined) this.#report.skipped++;
    else this.#report.records++;
    return record;
  }
}

function decodeRecord(frame: Buffer, { schema, fields, values }: Places): DecodedRecord | undefined {
  if (RECORD_KINDS[(frame[At.recordKind] ?? 0) - 1] !== schema.kind) return undefined;
  const starts = columnStarts(frame, schema.columns.length);
  if (starts === undefined) return undefined;
  const rows = { candidate: frame.readUInt32LE(At.candidates), change: frame.readUInt32LE(At.changes) };
  const cells = (place: Place | undefined): Cells | undefined => {
    const start = place && starts[place.index];
    if (start === undefined) return undefined;
    const { column } = place as Place;
    return readCells(frame, start, column, column.rows === 'record' ? 1 : rows[column.rows]);
  };
  return {
    schema,
    kind: schema.kind,
    instance: uuid(frame.subarray(At.instance, At.instance + 16)),
    sequence: frame.readUInt32LE(At.sequence) + frame.readUInt32LE(At.sequence + 4) * 2 ** 32,
    time: frame.readDoubleLE(At.time),
    rows,
    frame,
    field: (name) => cells(fields.get(name)),
    value: (name) => cells(values.get(name)),
  };
}

/** Where each column starts; undefined if they do not fit into the frame. A newer minor version may add columns. */
function columnStarts(frame: Buffer, columns: number): Uint32Array | undefined {
  const starts = new Uint32Array(columns);
  let at = frame.readUInt32LE(At.head);
  for (let index = 0; index < columns; index++) {
    if (at + COLUMN_HEAD > frame.length) return undefined;
    starts[index] = at;
    at += COLUMN_HEAD + frame.readUInt32LE(at);
  }
  return at > frame.length ? undefined : starts;
}

function placesOf(schema: RecordSchema): Places {
  const of = (is: RecordColumn['is']): ReadonlyMap<string, Place> =>
    new Map(
      schema.columns.flatMap((column, index): [string, Place][] =>
        column.is === is && isKnownColumn(column) ? [[column.name, { column, index }]] : [],
      ),
    );
  return { schema, fields: of('field'), values: of('value') };
}

function uuid(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
