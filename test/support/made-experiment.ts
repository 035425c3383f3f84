import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  EXPERIMENT_FIELDS,
  EXPLORE_FIELDS,
  TEAM_FIELD,
} from '../../runtime/state/ledger/experiment-columns.js';
import {
  recordSchema,
  type JsonObject,
  type RecordColumn,
  type RecordSchema,
} from '../../runtime/state/ledger/record-schema.js';
import { RecordWriter } from '../../runtime/state/ledger/record-writer.js';
import { schemaFrame } from '../../runtime/state/ledger/schema-frame.js';

/** A candidate of a made request, in the order of the page. */
export interface MadeShown {
  readonly id: string;
  readonly team?: string;
  /** The place without exploration. */
  readonly before?: number;
  readonly propensity?: number;
  readonly marginal?: number;
  /** False for a candidate of another page of the same ranking. */
  readonly onPage?: boolean;
}

export interface MadeExposure {
  readonly request: string;
  readonly time: number;
  readonly experiment?: string;
  readonly arm?: string;
  readonly unit?: string;
  readonly excluded?: string;
  readonly ms?: number;
  readonly status?: string;
  readonly degraded?: boolean;
  readonly shown?: readonly MadeShown[];
  readonly user?: string;
}

export interface MadeAct {
  readonly event: string;
  readonly subject: string;
  readonly time: number;
  readonly request?: string | undefined;
  readonly user?: string | undefined;
  readonly revenue?: number;
  readonly id?: string;
}

const INSTANCE = Buffer.alloc(16, 9);

const column = (
  name: string,
  type: RecordColumn['type'],
  rows: RecordColumn['rows'] = 'record',
  nullable = false,
  is: RecordColumn['is'] = 'field',
): RecordColumn => ({ name, is, rows, type, nullable });

/** The columns of a service that are read of experiments, and those that experiments add. */
const rankingSchema = (experiments: JsonObject): RecordSchema =>
  recordSchema(
    'ranking',
    [
      column('request_id', 'text'),
      column('time', 'time'),
      column('status', 'text'),
      column('degraded', 'texts'),
      column('sent', 'int32'),
      column('share', 'float64'),
      column('ms', 'float64'),
      column('entities', 'texts'),
      ...EXPERIMENT_FIELDS.map(([name, type]) => column(name, type)),
      column('candidate_id', 'text', 'candidate'),
      column('sent_at', 'int32', 'candidate'),
      column('place', 'int32', 'candidate'),
      column('weight', 'float64', 'candidate'),
      column('on_page', 'bool', 'candidate'),
      column(TEAM_FIELD[0], TEAM_FIELD[1], 'candidate', true),
      ...EXPLORE_FIELDS.map(([name, type, nullable]: readonly [string, RecordColumn['type'], string?]) =>
        column(name, type, 'candidate', nullable !== undefined),
      ),
    ],
    {
      pipeline: 'search',
      pipeline_version: 'v1',
      candidate_type: 'product',
      log: { unit: 'user' },
      experiments,
    },
  );

const FEEDBACK = recordSchema(
  'feedback',
  [
    column('request_id', 'text', 'record', true),
    column('time', 'time'),
    column('received', 'time'),
    column('event', 'text'),
    column('subject_type', 'text'),
    column('subject_id', 'text'),
    column('event_id', 'text', 'record', true),
    column('revenue', 'float64', 'record', true, 'value'),
    column('user', 'text', 'record', true, 'value'),
  ],
  { subject_type: 'product', owners: ['user'] },
);

/** A ledger of experiments and explored rankings that a test writes by hand. */
export class MadeExperiment {
  readonly #ranking: RecordSchema;
  readonly #frames: Uint8Array[];
  readonly #writer = new RecordWriter();
  #sequence = 0;

  /** @param experiments what the schema says of them */
  constructor(experiments: JsonObject = {}) {
    this.#ranking = rankingSchema(experiments);
    this.#frames = [schemaFrame(this.#ranking), schemaFrame(FEEDBACK)];
  }

  request(made: MadeExposure): this {
    const { shown = [{ id: 'p1' }], experiment } = made;
    const one = (value: string): { values: string[]; offsets: number[] } =>
      experiment === undefined ? { values: [], offsets: [0, 0] } : { values: [value], offsets: [0, 1] };
    const entities = made.user === undefined ? [] : [`user=${made.user}`];
    this.#record(this.#ranking, made.time, shown.length, (w) => {
      w.text(made.request);
      w.time(made.time);
      w.text(made.status ?? 'ok');
      const degraded = made.degraded === true ? ['skipped=ltr'] : [];
      w.texts({ values: degraded, offsets: [0, degraded.length] });
      w.int32(shown.length);
      w.float64(1);
      w.float64(made.ms ?? 5);
      w.texts({ values: entities, offsets: [0, entities.length] });
      w.texts(one(experiment ?? ''));
      w.texts(one(made.arm ?? ''));
      w.texts(one(made.unit ?? ''));
      w.texts(one(made.excluded ?? ''));
      w.text(shown.map(({ id }) => id));
      w.int32(shown.map((_, at) => at));
      w.int32(shown.map((_, at) => at + 1));
      w.float64(shown.map(() => 1));
      w.bool(shown.map(({ onPage }) => (onPage === false ? 0 : 1)));
      w.text(shown.map(({ team }) => team));
      w.int32(shown.map(({ before }, at) => before ?? at + 1));
      for (const values of [
        shown.map(({ propensity }) => propensity ?? NaN),
        shown.map(({ marginal, propensity }) => marginal ?? propensity ?? NaN),
        shown.map(({ propensity }) => (propensity === undefined ? NaN : 0)),
      ])
        w.float64(
          values,
          Uint8Array.from(values, (value) => (Number.isNaN(value) ? 2 : 0)),
        );
    });
    return this;
  }

  act({ event, subject, time, request, user, revenue, id }: MadeAct): this {
    this.#record(FEEDBACK, time, 0, (w) => {
      w.text(request);
      w.time(time);
      w.time(time);
      w.text(event);
      w.text('product');
      w.text(subject);
      w.text(id);
      w.float64(revenue);
      w.text(user);
    });
    return this;
  }

  /** Writes the segment. @returns the folder */
  write(folder: string): string {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'made-000001.mlr'), Buffer.concat(this.#frames));
    return folder;
  }

  #record(schema: RecordSchema, time: number, candidate: number, fill: (writer: RecordWriter) => void): void {
    this.#sequence += 1;
    const stamp = { instance: INSTANCE, sequence: this.#sequence, time };
    this.#writer.begin(schema, { candidate, change: 0 }, stamp);
    fill(this.#writer);
    this.#frames.push(Uint8Array.from(this.#writer.finish()));
  }
}
