import type { EventKind, EventValueType } from '../../project/config/model/events.js';
import { inBackground } from '../../ground/core/background.js';
import type { IdHasher } from '../../ground/core/id-hasher.js';
import type { Pieces } from '../../ground/core/pieces.js';
import { own } from '../../ground/core/value-fit.js';
import { Usage } from '../../ground/core/usage.js';
import type { JsonValue } from '../../ground/api/types.js';
import { FEEDBACK_FIELDS } from '../../state/ledger/feedback-fields.js';
import { fieldColumns, writeFields } from '../../state/ledger/fields.js';
import type { Ledger } from '../../state/ledger/ledger.js';
import { recordSchema, type RecordColumn, type RecordSchema } from '../../state/ledger/record-schema.js';
import type { RecordWriter } from '../../state/ledger/record-writer.js';
import type { CheckedFeedback, FeedbackEvent } from './check-feedback.js';
import type { EventOutcome } from './merge-events.js';

const NO_ROWS = { candidate: 0, change: 0 };

/** Records the events of feedback in the ledger, after the feedback is answered. */
export class FeedbackRecords {
  /** Work that is not done yet. */
  readonly usage = new Usage();
  readonly #ledger: Ledger;
  readonly #hasher: IdHasher;
  readonly #attributes: ReadonlyMap<string, readonly string[]>;
  readonly #schemas = new Map<string, RecordSchema>();

  /**
   * @param hasher replaces ids as in the records of rankings, so that both can be joined
   * @param attributes see `recordedAttributes`
   */
  constructor(
    ledger: Ledger,
    hasher: IdHasher,
    attributes: ReadonlyMap<string, readonly string[]> = new Map(),
  ) {
    this.#ledger = ledger;
    this.#hasher = hasher;
    this.#attributes = attributes;
  }

  /**
   * @param outcomes by position in the events
   * @param received when the feedback arrived, epoch milliseconds
   * @returns when the ledger has the records; its sinks may not have them yet
   */
  add(
    feedback: CheckedFeedback,
    outcomes: readonly (EventOutcome | 'unused')[],
    received: number,
  ): Promise<void> {
    if (!this.#ledger.takes('feedback') || feedback.events.length === 0) return Promise.resolve();
    const adding = inBackground(this.#addEach(feedback, outcomes, received));
    this.usage.hold(adding);
    return adding;
  }

  *#addEach(
    feedback: CheckedFeedback,
    outcomes: readonly (EventOutcome | 'unused')[],
    received: number,
  ): Pieces<void> {
    for (const [i, event] of feedback.events.entries()) {
      const schema = this.#schemaOf(event, feedback.owners);
      const outcome = outcomes[i] ?? 'unused';
      this.#ledger.add(schema, NO_ROWS, (writer) => this.#write(writer, event, feedback, outcome, received));
      yield;
    }
  }

  /** The recorded attributes that an event carries, as texts. */
  #carriedBy({ subject }: FeedbackEvent): (readonly [name: string, text: string])[] {
    const names = this.#attributes.get(subject.type) ?? [];
    return names.flatMap((name): [string, string][] => {
      const value = own(subject.carried, name);
      return typeof value === 'string' ? [[name, value]] : [];
    });
  }

  #schemaOf(event: FeedbackEvent, owners: CheckedFeedback['owners']): RecordSchema {
    const { kind, subject } = event;
    const types = owners.map(({ type }) => type);
    const carried = this.#carriedBy(event).map(([name]) => `${subject.type}.${name}`);
    const key = JSON.stringify([kind.name, subject.type, types, carried]);
    let schema = this.#schemas.get(key);
    if (schema === undefined) {
      const meta = { event: kind.name, subject_type: subject.type, owners: types };
      schema = recordSchema(
        'feedback',
        [
          ...fieldColumns(FEEDBACK_FIELDS, 'record'),
          ...valuesOf(kind),
          ...[...types, ...carried].map(textColumn),
        ],
        meta,
      );
      this.#schemas.set(key, schema);
    }
    return schema;
  }

  #write(
    writer: RecordWriter,
    event: FeedbackEvent,
    { requestId, owners }: CheckedFeedback,
    outcome: string,
    received: number,
  ): void {
    const { kind, subject, id, time, quantity, position, values } = event;
    writeFields(writer, FEEDBACK_FIELDS, {
      request_id: requestId,
      time,
      received,
      event: kind.name,
      subject_type: subject.type,
      subject_id: this.#hasher.shown(subject.type, subject.id),
      quantity,
      position,
      outcome,
      attributed: undefined, // only a reader can attribute the event
      event_id: id,
    });
    for (const [name, type] of kind.values) writeValue(writer, type, values.get(name));
    for (const owner of owners) writer.text(this.#hasher.shown(owner.type, owner.id));
    for (const [, text] of this.#carriedBy(event)) writer.text(text);
  }
}

function textColumn(name: string): RecordColumn {
  return { name, is: 'value', rows: 'record', type: 'text', nullable: false };
}

/** `int` has up to 53 bits. */
const COLUMN_TYPES: Readonly<Record<EventValueType['kind'], RecordColumn['type']>> = {
  float: 'float64',
  int: 'float64',
  bool: 'bool',
  string: 'text',
};

function valuesOf({ values }: EventKind): RecordColumn[] {
  return Array.from(values, ([name, { kind }]) => ({
    name,
    is: 'value',
    rows: 'record',
    type: COLUMN_TYPES[kind],
    nullable: true,
  }));
}

function writeValue(writer: RecordWriter, { kind }: EventValueType, value: JsonValue | undefined): void {
  switch (kind) {
    case 'float':
    case 'int':
      writer.float64(value as number | undefined);
      break;
    case 'bool':
      writer.bool(value === undefined ? undefined : Number(value));
      break;
    case 'string':
      writer.text(value as string | undefined);
  }
}
