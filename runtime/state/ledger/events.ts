import { defaultedCause, isKnown, statusName } from '../../ground/api/status.js';
import type { JsonObject, JsonValue } from '../../ground/api/types.js';
import type { EventData, EventEnvelope, EventType } from '../../ground/core/event-types.js';
import type { Cells } from './cells.js';
import { EXPERIMENT_FIELDS, type Exclusion } from './experiment-columns.js';
import type { DecodedRecord } from './record-decoder.js';
import type { RecordColumn } from './record-schema.js';

/**
 * Turns a record into events, as JSON objects. A ranking gives the events that `include_events` gives for the candidates
 * and values that were logged. A feedback event is a CUSTOM event, and a row of a feature view gives a FEATURE event for
 * each feature.
 */
export function* eventsOfRecord(record: DecodedRecord): Generator<string, void> {
  switch (record.kind) {
    case 'ranking':
      return yield* eventsOfRanking(record);
    case 'feedback':
      return yield* eventsOfFeedback(record);
    case 'history':
      return yield* eventsOfHistory(record);
  }
}

/** The exclusion that a failed step causes. */
const NOT_INTERLEAVED: Exclusion = 'not_interleaved';

type Write = <T extends EventType>(type: T, data: EventData<T> & JsonObject) => string;

function writerOf(envelope: EventEnvelope): Write {
  const head = JSON.stringify(envelope).slice(0, -1);
  return (type, data) => `${head},"event_type":"${type}","event_data":${JSON.stringify(data)}}`;
}

function* eventsOfRanking(record: DecodedRecord): Generator<string, void> {
  const { schema, rows } = record;
  const requestId = textOf(record.field('request_id')) ?? '';
  const degraded = textsOf(record.field('degraded')).find((text) => text.startsWith('unranked='));
  const write = writerOf({
    request_id: requestId,
    run_id: textOf(record.field('run_id')) ?? null,
    api_source: metaText(schema.meta['pipeline']),
    event_timestamp: timeText(record.field('time')?.numberAt(0)),
    ...(degraded === undefined ? {} : { degraded }),
  });
  const candidateType = metaText(schema.meta['candidate_type']);
  const ids = Array.from(
    { length: rows.candidate },
    (_, row) => textOf(record.field('candidate_id'), row) ?? '',
  );
  const owners = new Owners(record, requestId, candidateType, ids);
  const models = objectOf(schema.meta['models']);

  const values = schema.columns.filter((column) => column.is === 'value');
  for (const column of values) {
    if (modelOf(column, models) !== undefined) continue;
    const cells = record.value(column.name);
    if (cells === undefined) continue;
    const seen = new Set<string>();
    for (let row = 0; row < cells.length; row++) {
      const text = write('FEATURE', {
        ...owners.of(column, row),
        feature_name: column.name,
        ...valueOf(cells, row, 'feature_value', 'feature_status'),
      });
      // Candidates that share an entity share its values.
      if (seen.has(text)) continue;
      seen.add(text);
      yield text;
    }
  }
  for (const column of values) {
    const model = modelOf(column, models);
    const cells = record.value(column.name);
    if (model === undefined || cells === undefined) continue;
    for (let row = 0; row < cells.length; row++)
      yield write('MODEL', {
        model_name: model,
        model_version: models[model] ?? null,
        ...valueOf(cells, row, 'model_output', 'model_output_status'),
        entity_identifier: ids[row] ?? requestId,
        entity_identifier_type: candidateType,
      });
  }
  yield* changesOf(record, write, candidateType, ids);
  for (const text of textsOf(record.field('custom')))
    yield write('CUSTOM', JSON.parse(text) as EventData<'CUSTOM'> & JsonObject);
  yield* experimentsOf(record, write);
  yield* placesOf(record, write, candidateType, ids);
}

/** One event for each experiment of the request. The record has the unit as `log: hash` shows it. */
function* experimentsOf(record: DecodedRecord, write: Write): Generator<string, void> {
  const [names, arms, units, exclusions] = EXPERIMENT_FIELDS.map(([name]) => textsOf(record.field(name)));
  const definitions = objectOf(record.schema.meta['experiments']);
  const status = textOf(record.field('status')) ?? 'ok';
  for (const [at, name] of (names ?? []).entries()) {
    const excluded = exclusions?.[at] ?? '';
    const definition = objectOf(definitions[name]);
    yield write('EXPERIMENTATION', {
      experiment_id: name,
      entity_id: units?.[at] ?? '',
      result: arms?.[at] ?? '',
      timestamp: timeText(record.field('time')?.numberAt(0)),
      metadata: {
        unit: metaText(definition['unit']),
        mode: metaText(definition['mode']),
        excluded: excluded === '' ? null : excluded,
        status,
      },
      has_error: excluded === NOT_INTERLEAVED || status !== 'ok',
    });
  }
}

function* changesOf(
  record: DecodedRecord,
  write: Write,
  candidateType: string,
  ids: readonly string[],
): Generator<string, void> {
  const { schema, rows } = record;
  const names = Array.isArray(schema.meta['steps']) ? (schema.meta['steps'] as readonly JsonValue[]) : [];
  const [steps, candidates, before, after] = ['step', 'row', 'before', 'after'].map((name) =>
    record.field(name),
  );
  const change = (row: number, step: number, from: number | null, to: number): string =>
    write('BUSINESS_LOGIC', {
      entity_identifier: ids[row] ?? '',
      entity_identifier_type: candidateType,
      business_logic_pipeline_order: step,
      business_logic_name: metaText(names[step - 1]),
      old_score: from,
      new_score: to,
    });
  const [scoreStep, ...others] = numbersOf(schema.meta['score_steps']);
  // A record has the base score, and not which of several steps set it.
  if (scoreStep !== undefined && others.length === 0) {
    const from = schema.meta['task'] === 'score' ? null : 0;
    const base = record.field('base_score');
    for (let row = 0; row < rows.candidate; row++) {
      const score = base?.at(row);
      if (typeof score === 'number' && score !== from) yield change(row, scoreStep, from, score);
    }
  }
  for (let at = 0; at < rows.change; at++) {
    const oldScore = before?.at(at);
    const newScore = after?.at(at);
    // A rule that only pins or buries changes no score.
    if (typeof oldScore !== 'number' || typeof newScore !== 'number') continue;
    yield change(candidates?.numberAt(at) ?? -1, steps?.numberAt(at) ?? 0, oldScore, newScore);
  }
}

/** The candidates in their final order, and those of the page. */
function* placesOf(
  record: DecodedRecord,
  write: Write,
  candidateType: string,
  ids: readonly string[],
): Generator<string, void> {
  const [places, scores, onPage] = ['place', 'score', 'on_page'].map((name) => record.field(name));
  const placed = Array.from(ids, (_, row) => ({ row, place: places?.numberAt(row) ?? 0 }))
    .filter(({ place }) => place > 0)
    .sort((a, b) => a.place - b.place);
  const scoreOf = (row: number): number | null => finite(scores?.numberAt(row));
  for (const { row, place } of placed)
    yield write('CANDIDATE', {
      entity_identifier: ids[row] ?? '',
      entity_identifier_type: candidateType,
      candidate_score: scoreOf(row),
      candidate_order: place - 1,
    });
  if (record.schema.meta['task'] === 'score') return;
  for (const { row, place } of placed)
    if (onPage?.numberAt(row) === 1)
      yield write('IMPRESSION', {
        entity_identifier: ids[row] ?? '',
        entity_identifier_type: candidateType,
        impression_score: scoreOf(row),
        impression_order: place - 1,
      });
}

const FEEDBACK_FIELDS = ['event', 'quantity', 'position', 'outcome', 'attributed'] as const;

function* eventsOfFeedback(record: DecodedRecord): Generator<string, void> {
  const write = writerOf({
    request_id: textOf(record.field('request_id')) ?? null,
    run_id: null,
    api_source: 'feedback',
    event_timestamp: timeText(record.field('time')?.numberAt(0)),
  });
  const fields = FEEDBACK_FIELDS.flatMap((name): [string, JsonValue][] => {
    const value = jsonOf(record.field(name), 0);
    return value === null ? [] : [[name, value]];
  });
  const values = record.schema.columns.flatMap(({ is, name }): [string, JsonValue][] =>
    is === 'value' ? [[name, jsonOf(record.value(name), 0)]] : [],
  );
  yield write('CUSTOM', {
    entity_identifier: textOf(record.field('subject_id')) ?? '',
    entity_identifier_type: textOf(record.field('subject_type')) ?? '',
    ...Object.fromEntries([...fields, ...values]),
  });
}

function* eventsOfHistory(record: DecodedRecord): Generator<string, void> {
  const { meta, columns } = record.schema;
  const write = writerOf({
    request_id: null,
    run_id: null,
    api_source: 'history',
    event_timestamp: timeText(record.field('time')?.numberAt(0)),
  });
  const types = Array.isArray(meta['keys']) ? (meta['keys'] as readonly JsonValue[]).map(metaText) : [];
  for (const { is, name } of columns) {
    const cells = is === 'value' ? record.value(name) : undefined;
    if (cells === undefined) continue;
    yield write('FEATURE', {
      feature_identifier: textsOf(record.field('keys')).join(':'),
      feature_identifier_type: types.join(':'),
      feature_name: `${metaText(meta['view'])}:${name}`,
      ...valueOf(cells, 0, 'feature_value', 'feature_status'),
    });
  }
}

/** Which entity a value is of. A record has the ids of the request's entities and of the candidates, and no others. */
class Owners {
  readonly #requestId: string;
  readonly #candidateType: string;
  readonly #ids: readonly string[];
  /** By name of a value: the types of its entity or composite, joined by `:`. */
  readonly #typesOf: JsonObject;
  readonly #entities: ReadonlyMap<string, string>;

  constructor(record: DecodedRecord, requestId: string, candidateType: string, ids: readonly string[]) {
    this.#requestId = requestId;
    this.#candidateType = candidateType;
    this.#ids = ids;
    this.#typesOf = objectOf(record.schema.meta['of']);
    this.#entities = new Map(
      textsOf(record.field('entities')).map((text): [string, string] => {
        const split = text.indexOf('=');
        return [text.slice(0, split), text.slice(split + 1)];
      }),
    );
  }

  of(
    { name, rows }: RecordColumn,
    row: number,
  ): Pick<EventData<'FEATURE'>, 'feature_identifier' | 'feature_identifier_type'> {
    const candidate = rows === 'candidate' ? this.#ids[row] : undefined;
    const types = this.#typesOf[name];
    if (typeof types === 'string') {
      const ids = types
        .split(':')
        .map((type) =>
          type === this.#candidateType ? (candidate ?? this.#entities.get(type)) : this.#entities.get(type),
        );
      if (!ids.includes(undefined))
        return { feature_identifier: ids.join(':'), feature_identifier_type: types };
    }
    return candidate === undefined
      ? { feature_identifier: this.#requestId, feature_identifier_type: 'request' }
      : { feature_identifier: candidate, feature_identifier_type: this.#candidateType };
  }
}

/** The model step that a value is the prediction of. */
function modelOf({ name }: RecordColumn, models: JsonObject): string | undefined {
  const step = name.slice(0, name.indexOf(':'));
  return /^[^:.]+:[^:.]+$/.test(name) && Object.hasOwn(models, step) ? step : undefined;
}

/** The value of a cell, its status, and the cause of a default. */
function valueOf<V extends string, S extends string>(
  cells: Cells,
  row: number,
  valueField: V,
  statusField: S,
): Record<V | S, JsonValue> {
  const byte = cells.statusAt(row);
  const cause = defaultedCause(byte);
  return {
    [valueField]: isKnown(byte) ? jsonOf(cells, row) : null,
    [statusField]: statusName(byte),
    ...(cause === undefined ? {} : { [`${statusField}_cause`]: cause }),
  } as Record<V | S, JsonValue>;
}

function jsonOf(cells: Cells | undefined, row: number): JsonValue {
  const value = cells?.at(row);
  if (value === undefined) return null;
  if (typeof value === 'number') return finite(value);
  // A bool is 0 or 1 in every event.
  return typeof value === 'boolean' ? Number(value) : value;
}

function finite(value: number | undefined): number | null {
  return value !== undefined && Number.isFinite(value) ? value : null;
}

function textOf(cells: Cells | undefined, row = 0): string | undefined {
  const value = cells?.at(row);
  return typeof value === 'string' ? value : undefined;
}

function textsOf(cells: Cells | undefined): readonly string[] {
  const value = cells?.at(0);
  return Array.isArray(value) ? (value as readonly string[]) : [];
}

function timeText(time: number | undefined): string {
  return time !== undefined && Number.isFinite(time) ? new Date(time).toISOString() : '';
}

function numbersOf(value: JsonValue | undefined): readonly number[] {
  return Array.isArray(value) ? (value as readonly number[]) : [];
}

function metaText(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
