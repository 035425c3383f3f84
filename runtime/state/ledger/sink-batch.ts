import type {
  RecordBatch,
  RecordFrame,
  RecordKind,
  SinkFormat,
  SinkMessage,
} from '../../ground/api/ledger.js';
import type { Cells } from './cells.js';
import { readReport } from './frame-splitter.js';
import { RecordDecoder, type DecodedRecord } from './record-decoder.js';
import type { RecordSchema } from './record-schema.js';
import { schemaFrame } from './schema-frame.js';

/** The media types of a batch, by the format of its sink. */
export const CONTENT_TYPES: Readonly<Record<SinkFormat, string>> = {
  columns: 'application/vnd.millrace.records',
  events: 'application/x-ndjson',
};

/** The frame of one record, with its schema. */
export interface FramedRecord {
  readonly schema: RecordSchema;
  readonly frame: Buffer;
}

/** Writes the events of a record, as JSON objects. */
export type EventsOf = (record: DecodedRecord) => Iterable<string>;

/** A batch of binary frames. */
export class ColumnsBatch implements RecordBatch {
  readonly format = 'columns';
  readonly contentType = CONTENT_TYPES.columns;
  readonly bytes: number;
  readonly #records: readonly FramedRecord[];

  constructor(records: readonly FramedRecord[]) {
    this.#records = records;
    this.bytes = records.reduce((sum, { frame }) => sum + frame.length, 0);
  }

  get count(): number {
    return this.#records.length;
  }

  get kinds(): readonly RecordKind[] {
    return kindsOf(this.#records);
  }

  schemas(): ReadonlyMap<string, Uint8Array> {
    return new Map(this.#records.map(({ schema }) => [schema.id, schemaFrame(schema)]));
  }

  frames(): readonly RecordFrame[] {
    return this.#records.map(({ schema, frame }) => ({
      kind: schema.kind,
      schemaId: schema.id,
      bytes: frame,
    }));
  }

  body(): Buffer {
    return Buffer.concat([...this.schemas().values(), ...this.#records.map(({ frame }) => frame)]);
  }

  messages(): readonly SinkMessage[] {
    const decode = decoderOfRecords();
    return this.#records.map((record) => {
      const { requestId, unit } = keysOf(decode(record));
      const bytes = Buffer.concat([schemaFrame(record.schema), record.frame]);
      return { kind: record.schema.kind, requestId, unit, bytes };
    });
  }
}

/** A batch of JSON events. */
export class EventsBatch implements RecordBatch {
  readonly format = 'events';
  readonly contentType = CONTENT_TYPES.events;
  readonly count: number;
  readonly bytes: number;
  readonly kinds: readonly RecordKind[];
  readonly #messages: readonly SinkMessage[];

  /**
   * Turns records into events, until the events have this size.
   * @throws Error if the first record cannot be turned into events
   */
  constructor(records: readonly FramedRecord[], eventsOf: EventsOf, maxBytes: number) {
    const decode = decoderOfRecords();
    const messages: SinkMessage[] = [];
    let count = 0;
    let size = 0;
    for (const record of records) {
      let ofRecord: SinkMessage[];
      try {
        ofRecord = messagesOf(decode(record), eventsOf);
      } catch (error) {
        if (count === 0) throw error;
        break; // It will be the first of the next batch.
      }
      const bytes = ofRecord.reduce((sum, message) => sum + message.bytes.length + 1, 0);
      if (count > 0 && size + bytes > maxBytes) break;
      messages.push(...ofRecord);
      size += bytes;
      count++;
    }
    this.#messages = messages;
    this.count = count;
    const taken = records.slice(0, count);
    this.kinds = kindsOf(taken);
    this.bytes = taken.reduce((sum, { frame }) => sum + frame.length, 0);
  }

  schemas(): ReadonlyMap<string, Uint8Array> {
    return new Map();
  }

  frames(): readonly RecordFrame[] {
    return [];
  }

  body(): Buffer {
    return Buffer.concat(this.#messages.flatMap(({ bytes }) => [bytes, NEW_LINE]));
  }

  messages(): readonly SinkMessage[] {
    return this.#messages;
  }
}

const NEW_LINE = Buffer.from('\n');

function messagesOf(record: DecodedRecord, eventsOf: EventsOf): SinkMessage[] {
  const { requestId, unit } = keysOf(record);
  const { kind } = record;
  return Array.from(eventsOf(record), (text) => ({ kind, requestId, unit, bytes: Buffer.from(text) }));
}

function kindsOf(records: readonly FramedRecord[]): readonly RecordKind[] {
  return [...new Set(records.map(({ schema }) => schema.kind))];
}

/** Decodes the records of one batch. The function throws an Error if a frame is not whole. */
function decoderOfRecords(): (record: FramedRecord) => DecodedRecord {
  const decoder = new RecordDecoder(readReport());
  return ({ schema, frame }) => {
    decoder.add(schema);
    const record = decoder.decode(frame);
    if (record === undefined) throw new Error(`a record of the schema ${schema.id} cannot be read`);
    return record;
  };
}

function keysOf(record: DecodedRecord): Pick<SinkMessage, 'requestId' | 'unit'> {
  return { requestId: textOf(record.field('request_id')), unit: textOf(record.field('unit')) };
}

function textOf(cells: Cells | undefined): string | undefined {
  const value = cells?.at(0);
  return typeof value === 'string' ? value : undefined;
}
