import type { IdHasher } from '../../../ground/core/id-hasher.js';
import { FEEDBACK_FIELDS } from '../../../state/ledger/feedback-fields.js';
import { fieldColumns, writeFields } from '../../../state/ledger/fields.js';
import type { Ledger } from '../../../state/ledger/ledger.js';
import { recordSchema, type RecordColumn, type RecordSchema } from '../../../state/ledger/record-schema.js';
import type { ForeignFeedback } from '../../../project/foreign/foreign-event.js';

const NO_ROWS = { candidate: 0, change: 0 };

interface FeedbackSchema {
  readonly schema: RecordSchema;
  readonly owners: readonly string[];
  readonly values: readonly { readonly name: string; readonly isNumber: boolean }[];
}

/** Records foreign feedback on candidates of one entity type. */
export class ImportedFeedback {
  readonly #candidateType: string;
  readonly #ledger: Ledger;
  readonly #hasher: IdHasher;
  readonly #schemas = new Map<string, FeedbackSchema>();

  /** @param hasher replaces ids as in the records of rankings, so that both can be joined */
  constructor(candidateType: string, ledger: Ledger, hasher: IdHasher) {
    this.#candidateType = candidateType;
    this.#ledger = ledger;
    this.#hasher = hasher;
  }

  add(feedback: ForeignFeedback): void {
    const { schema, owners, values } = this.#schemaOf(feedback);
    const type = this.#candidateType;
    this.#ledger.add(schema, NO_ROWS, (writer) => {
      writeFields(writer, FEEDBACK_FIELDS, {
        request_id: feedback.request,
        time: feedback.time,
        received: feedback.time,
        event: feedback.event,
        subject_type: type,
        subject_id: this.#hasher.shown(type, feedback.candidate),
        quantity: feedback.quantity,
        position: feedback.position,
        outcome: 'stored',
        attributed: undefined,
        event_id: feedback.id,
      });
      for (const owner of owners) writer.text(this.#hasher.shown(owner, feedback.owners[owner] ?? ''));
      for (const { name, isNumber } of values) {
        const value = feedback.values[name];
        if (isNumber) writer.float64(value as number);
        else writer.text(value as string);
      }
    });
  }

  #schemaOf({ event, owners, values }: ForeignFeedback): FeedbackSchema {
    const ownerTypes = Object.keys(owners).sort();
    const valueTypes = Object.entries(values)
      .filter(([, value]) => typeof value === 'number' || typeof value === 'string')
      .map(([name, value]) => ({ name, isNumber: typeof value === 'number' }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const key = JSON.stringify([event, ownerTypes, valueTypes]);
    let known = this.#schemas.get(key);
    if (known === undefined) {
      const schema = recordSchema(
        'feedback',
        [
          ...fieldColumns(FEEDBACK_FIELDS, 'record'),
          ...ownerTypes.map((name) => column(name, 'text')),
          ...valueTypes.map(({ name, isNumber }) => column(name, isNumber ? 'float64' : 'text', true)),
        ],
        { event, subject_type: this.#candidateType, owners: ownerTypes, imported: true },
      );
      this.#schemas.set(key, (known = { schema, owners: ownerTypes, values: valueTypes }));
    }
    return known;
  }
}

function column(name: string, type: RecordColumn['type'], nullable = false): RecordColumn {
  return { name, is: 'value', rows: 'record', type, nullable };
}
