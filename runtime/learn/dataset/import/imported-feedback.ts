import type { IdHasher } from '../../../ground/core/id-hasher.js';
import type { Ledger } from '../../../state/ledger/ledger.js';
import { recordSchema, type RecordColumn, type RecordSchema } from '../../../state/ledger/record-schema.js';
import type { ForeignFeedback } from '../../../project/foreign/foreign-event.js';

const NO_ROWS = { candidate: 0, change: 0 };

/** The fields of every record, before the ids of its owners and the values of the event. */
const FIELDS: readonly RecordColumn[] = [
  column('request_id', 'field', 'text', true),
  column('time', 'field', 'time'),
  column('received', 'field', 'time'),
  column('event', 'field', 'text'),
  column('subject_type', 'field', 'text'),
  column('subject_id', 'field', 'text'),
  column('quantity', 'field', 'int32'),
  column('position', 'field', 'int32', true),
  column('outcome', 'field', 'text'),
  column('attributed', 'field', 'text', true),
];

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
  readonly #received = Date.now();

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
      writer.text(feedback.request);
      writer.time(feedback.time);
      writer.time(this.#received);
      writer.text(feedback.event);
      writer.text(type);
      writer.text(this.#hasher.shown(type, feedback.candidate));
      writer.int32(feedback.quantity);
      writer.int32(feedback.position);
      writer.text('stored');
      writer.text(undefined);
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
          ...FIELDS,
          ...ownerTypes.map((name) => column(name, 'value', 'text')),
          ...valueTypes.map(({ name, isNumber }) =>
            column(name, 'value', isNumber ? 'float64' : 'text', true),
          ),
        ],
        { event, subject_type: this.#candidateType, owners: ownerTypes, imported: true },
      );
      this.#schemas.set(key, (known = { schema, owners: ownerTypes, values: valueTypes }));
    }
    return known;
  }
}

function column(
  name: string,
  is: RecordColumn['is'],
  type: RecordColumn['type'],
  nullable = false,
): RecordColumn {
  return { name, is, rows: 'record', type, nullable };
}
