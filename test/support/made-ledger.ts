import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Status } from '../../runtime/ground/api/status.js';
import {
  recordSchema,
  type ColumnType,
  type RecordColumn,
  type RecordSchema,
  type RowGroup,
} from '../../runtime/state/ledger/record-schema.js';
import { RecordWriter } from '../../runtime/state/ledger/record-writer.js';
import { schemaFrame } from '../../runtime/state/ledger/schema-frame.js';

type Value = number | string | readonly number[] | undefined;

/** The types of the values of rankings, by name. */
export interface LoggedTypes {
  readonly request?: Readonly<Record<string, ColumnType>>;
  readonly candidate?: Readonly<Record<string, ColumnType>>;
}

export interface MadeCandidate {
  readonly id: string;
  /** 1, 2, 3 … without it. */
  readonly place?: number;
  readonly onPage?: boolean;
  readonly weight?: number;
  readonly values?: Readonly<Record<string, Value>>;
  /** The statuses of values that are not there. */
  readonly statuses?: Readonly<Record<string, number>>;
}

export interface MadeRanking {
  readonly request: string;
  readonly time: number;
  readonly candidates: readonly MadeCandidate[];
  readonly status?: string;
  readonly entities?: readonly string[];
  readonly values?: Readonly<Record<string, Value>>;
}

export interface MadeFeedback {
  readonly event: string;
  readonly subject: string;
  readonly time: number;
  readonly request?: string | undefined;
  readonly user?: string | undefined;
  readonly received?: number;
  readonly subjectType?: string;
}

export interface MadeHistory {
  readonly keys: readonly string[];
  readonly time: number;
  readonly stored?: number;
  readonly values: Readonly<Record<string, Value>>;
}

export interface RankingMeta {
  readonly pipeline?: string;
  readonly version?: string;
}

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
/** A time in 2026, at midnight. */
export const START = Date.UTC(2026, 10, 1);

const INSTANCE = Buffer.alloc(16, 7);

/** A ledger that a test writes by hand, through the writer of the service. */
export class MadeLedger {
  readonly #frames: Uint8Array[] = [];
  readonly #written = new Set<string>();
  readonly #writer = new RecordWriter();
  #sequence = 0;

  ranking(
    ranking: MadeRanking,
    types: LoggedTypes = {},
    { pipeline = 'search', version = 'v1' }: RankingMeta = {},
  ): this {
    const schema = rankingSchema(types, pipeline, version);
    const { candidates, values = {} } = ranking;
    this.#record(schema, ranking.time, candidates.length, (w) => {
      w.text(ranking.request);
      w.time(ranking.time);
      w.text(ranking.status ?? 'ok');
      const entities = ranking.entities ?? [];
      w.texts({ values: entities, offsets: [0, entities.length] }, Uint8Array.of(Status.present));
      for (const [name, type] of Object.entries(types.request ?? {})) write(w, type, [values[name]]);
      w.text(candidates.map(({ id }) => id));
      w.int32(candidates.map((_, at) => at));
      w.int32(candidates.map(({ place }, at) => place ?? at + 1));
      w.float64(candidates.map(({ weight }) => weight ?? 1));
      w.bool(candidates.map(({ onPage }) => (onPage === false ? 0 : 1)));
      for (const [name, type] of Object.entries(types.candidate ?? {}))
        write(
          w,
          type,
          candidates.map(({ values: its }) => its?.[name]),
          candidates.map(({ statuses }) => statuses?.[name]),
        );
    });
    return this;
  }

  feedback({ event, subject, time, request, user, received, subjectType = 'product' }: MadeFeedback): this {
    const schema = FEEDBACK;
    this.#record(schema, received ?? time, 0, (w) => {
      w.text(request);
      w.time(time);
      w.time(received ?? time);
      w.text(event);
      w.text(subjectType);
      w.text(subject);
      w.text('stored');
      w.text(user);
    });
    return this;
  }

  history(
    view: string,
    keys: readonly string[],
    ttl: number | null,
    types: Readonly<Record<string, ColumnType>>,
    row: MadeHistory,
  ): this {
    const schema = recordSchema(
      'history',
      [
        column('keys', 'texts'),
        column('time', 'time'),
        column('stored', 'time'),
        ...Object.entries(types).map(([name, type]) => column(name, type, 'record', 'value', true)),
      ],
      { view, keys, ttl },
    );
    const stored = row.stored ?? row.time;
    this.#record(schema, stored, 0, (w) => {
      w.texts({ values: row.keys, offsets: [0, row.keys.length] });
      w.time(row.time);
      w.time(stored);
      for (const [name, type] of Object.entries(types)) write(w, type, [row.values[name]]);
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
    if (!this.#written.has(schema.id)) this.#frames.push(schemaFrame(schema));
    this.#written.add(schema.id);
    this.#sequence += 1;
    this.#writer.begin(
      schema,
      { candidate, change: 0 },
      { instance: INSTANCE, sequence: this.#sequence, time },
    );
    fill(this.#writer);
    this.#frames.push(Uint8Array.from(this.#writer.finish()));
  }
}

function write(
  writer: RecordWriter,
  type: ColumnType,
  values: readonly Value[],
  statuses: readonly (number | undefined)[] = [],
): void {
  const codes = Uint8Array.from(
    values,
    (value, at) => statuses[at] ?? (value === undefined ? Status.absent : Status.present),
  );
  if (type === 'text') writer.text(values as (string | undefined)[], codes);
  else if (type === 'texts') writer.texts({ values: [], offsets: values.map(() => 0).concat(0) }, codes);
  else if (type === 'vector')
    writer.vector(Float32Array.from(values.flatMap((value) => value as readonly number[])), codes);
  else if (type === 'bool') writer.bool(values.map(Number), codes);
  else
    writer.float64(
      values.map((value) => (value === undefined ? NaN : Number(value))),
      codes,
    );
}

function column(
  name: string,
  type: ColumnType,
  rows: RowGroup = 'record',
  is: RecordColumn['is'] = 'field',
  nullable = false,
): RecordColumn {
  // Every vector of a test has two numbers.
  return { name, is, rows, type, nullable, ...(type === 'vector' ? { size: 2 } : {}) };
}

const FEEDBACK = recordSchema(
  'feedback',
  [
    column('request_id', 'text', 'record', 'field', true),
    column('time', 'time'),
    column('received', 'time'),
    column('event', 'text'),
    column('subject_type', 'text'),
    column('subject_id', 'text'),
    column('outcome', 'text'),
    column('user', 'text', 'record', 'value', true),
  ],
  { event: '', subject_type: 'product', owners: ['user'] },
);

const schemas = new Map<string, RecordSchema>();

function rankingSchema(
  { request = {}, candidate = {} }: LoggedTypes,
  pipeline: string,
  version: string,
): RecordSchema {
  const key = JSON.stringify([request, candidate, pipeline, version]);
  const known = schemas.get(key);
  if (known !== undefined) return known;
  const schema = recordSchema(
    'ranking',
    [
      column('request_id', 'text'),
      column('time', 'time'),
      column('status', 'text'),
      column('entities', 'texts', 'record', 'field', true),
      ...Object.entries(request).map(([name, type]) => column(name, type, 'record', 'value', true)),
      column('candidate_id', 'text', 'candidate'),
      column('sent_at', 'int32', 'candidate'),
      column('place', 'int32', 'candidate'),
      column('weight', 'float64', 'candidate'),
      column('on_page', 'bool', 'candidate'),
      ...Object.entries(candidate).map(([name, type]) => column(name, type, 'candidate', 'value', true)),
    ],
    { pipeline, pipeline_version: version, project: 'shop', candidate_type: 'product' },
  );
  schemas.set(key, schema);
  return schema;
}
