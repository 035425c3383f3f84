import type { JsonValue, ValueType } from '../../ground/api/types.js';
import { Status } from '../../ground/api/status.js';
import type { FeatureView } from '../../project/config/model/views.js';
import { inBackground } from '../../ground/core/background.js';
import type { IdHasher } from '../../ground/core/id-hasher.js';
import type { Pieces } from '../../ground/core/pieces.js';
import { timestampOf } from '../../ground/core/timestamp.js';
import type { Usage } from '../../ground/core/usage.js';
import { fieldColumns, writeFields, type Field } from '../ledger/fields.js';
import type { Ledger } from '../ledger/ledger.js';
import { recordSchema, type RecordColumn, type RecordSchema } from '../ledger/record-schema.js';
import type { RecordWriter } from '../ledger/record-writer.js';
import { decodeSegment, segmentAt } from '../store/codec/feature-record.js';
import type { RecordLayout } from '../store/codec/record-layout.js';

const NO_ROWS = { candidate: 0, change: 0 };

/** The fields of a row, before its features. */
const HISTORY_FIELDS = [
  ['keys', 'texts'],
  ['time', 'time'],
  ['stored', 'time'],
] as const satisfies readonly Field[];

/** A row that the store has, or that lost against a newer one. */
export interface PushedRow {
  /** In the order of the view's entity types. */
  readonly ids: readonly string[];
  /** Epoch milliseconds. */
  readonly eventTime: number;
  /** As it was sent to the store. */
  readonly segment: Buffer;
}

export interface HistoryRecordParts {
  readonly ledger: Ledger;
  /** Replaces ids as in the records of rankings. */
  readonly hasher: IdHasher;
  /** Counts work that is not done yet. */
  readonly usage: Usage;
}

/**
 * Records the pushed rows of a view with `history: true` in the ledger, after the push is answered. Private features are
 * left out.
 */
export class HistoryRecords {
  readonly #ledger: Ledger;
  readonly #usage: Usage;
  readonly #hasher: IdHasher;
  readonly #keys: readonly string[];
  readonly #layout: RecordLayout;
  readonly #schema: RecordSchema;
  readonly #features: readonly ValueType[];
  readonly #names: readonly string[];

  constructor(
    { name, of, ttl, features }: FeatureView,
    layout: RecordLayout,
    { ledger, hasher, usage }: HistoryRecordParts,
  ) {
    this.#ledger = ledger;
    this.#hasher = hasher;
    this.#usage = usage;
    this.#keys = of;
    this.#layout = layout;
    const shown = [...features.values()].filter(({ isPrivate }) => isPrivate !== true);
    this.#names = shown.map((feature) => feature.name);
    this.#features = shown.map(({ type }) => type);
    const columns: RecordColumn[] = [
      ...fieldColumns(HISTORY_FIELDS, 'record'),
      ...shown.map((feature) => featureColumn(feature.name, feature.type)),
    ];
    this.#schema = recordSchema('history', columns, { view: name, keys: of, ttl });
  }

  /** @param stored when the store had acknowledged the rows, epoch milliseconds */
  add(rows: readonly PushedRow[], stored: number): void {
    if (rows.length === 0 || !this.#ledger.takes('history')) return;
    this.#usage.hold(inBackground(this.#addEach(rows, stored)));
  }

  *#addEach(rows: readonly PushedRow[], stored: number): Pieces<void> {
    for (const row of rows) {
      this.#ledger.add(this.#schema, NO_ROWS, (writer) => this.#write(writer, row, stored));
      yield;
    }
  }

  #write(writer: RecordWriter, { ids, eventTime, segment }: PushedRow, stored: number): void {
    const values = decodeSegment(segment, segmentAt(segment, 0), this.#layout);
    const keys = ids.map((id, i) => this.#hasher.shown(this.#keys[i] ?? '', id));
    writeFields(writer, HISTORY_FIELDS, { keys, time: eventTime, stored });
    for (const [i, name] of this.#names.entries())
      writeFeature(writer, this.#features[i] as ValueType, values[name] ?? undefined, this.#hasher);
  }
}

function featureColumn(name: string, type: ValueType): RecordColumn {
  const column = { name, is: 'value', rows: 'record', nullable: true } as const;
  switch (type.kind) {
    case 'int':
    case 'float':
      return { ...column, type: 'float64' };
    case 'bool':
      return { ...column, type: 'bool' };
    case 'timestamp':
      return { ...column, type: 'time' };
    case 'list':
      return { ...column, type: type.of.kind === 'float' ? 'numbers' : 'texts' };
    case 'vector':
      return { ...column, type: 'vector', size: type.size };
    case 'string':
    case 'ref':
    case 'record':
      return { ...column, type: 'text' };
  }
}

const ABSENT = Uint8Array.of(Status.absent);

function writeFeature(
  writer: RecordWriter,
  type: ValueType,
  value: JsonValue | undefined,
  hasher: IdHasher,
): void {
  switch (type.kind) {
    case 'int':
    case 'float':
      writer.float64(value as number | undefined);
      break;
    case 'bool':
      writer.bool(value === undefined ? undefined : Number(value));
      break;
    case 'timestamp':
      writer.time(value === undefined ? undefined : timestampOf(value));
      break;
    case 'list': {
      const { of } = type;
      if (of.kind === 'float') {
        const numbers = (value ?? []) as readonly number[];
        writer.numbers(
          { values: numbers, offsets: [0, numbers.length] },
          value === undefined ? ABSENT : undefined,
        );
        break;
      }
      const sent = (value ?? []) as readonly string[];
      const texts = of.kind === 'ref' ? sent.map((id) => hasher.shown(of.entity, id)) : sent;
      writer.texts({ values: texts, offsets: [0, texts.length] }, value === undefined ? ABSENT : undefined);
      break;
    }
    case 'vector':
      if (value === undefined) writer.vector(new Float32Array(type.size), ABSENT);
      else writer.vector(Float64Array.from(value as readonly number[]));
      break;
    case 'ref':
      writer.text(value === undefined ? undefined : hasher.shown(type.entity, value as string));
      break;
    case 'string':
    case 'record': // no feature is a record
      writer.text(value as string | undefined);
  }
}
