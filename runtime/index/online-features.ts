import type { Column } from '../api/columns.js';
import { inTurns, type Pieces } from '../core/pieces.js';
import { DEFAULTED, feastStatus, isKnown, statusAt, type FeastStatus } from '../api/status.js';
import type { JsonValue, ValueType } from '../api/types.js';
import { columnKindOf } from '../frame/cells.js';
import { looseColumn } from '../frame/frame.js';
import type { EntityType, FeatureView } from '../config/project/model.js';
import { JsonWriter, type JsonText } from '../core/json-writer.js';
import { Deadline } from '../core/deadline.js';
import { FeatureDecoder, type WantedFeature } from '../store/codec/feature-decoder.js';
import { featureKey } from '../store/keys.js';
import type { LayoutRegistry } from '../store/layout-registry.js';
import type { Store } from '../store/store.js';
import { sourceKey, type FeatureSources, type SourceRows } from './feature-source.js';
import {
  readOnlineRequest,
  type AskedFeature,
  type EntityColumn,
  type OnlineRequest,
} from './online-request.js';
import { StatusCounts } from './status-counts.js';

export interface OnlineFeaturesParts {
  readonly store: Store;
  readonly layouts: LayoutRegistry;
  /** Start of every store key. */
  readonly prefix: string;
  readonly views: ReadonlyMap<string, FeatureView>;
  readonly types: ReadonlyMap<string, EntityType>;
  /** Of the views that are not in the store. */
  readonly sources: FeatureSources;
  /** Epoch milliseconds. */
  readonly clock?: () => number;
  /** How long a request may take, milliseconds. */
  readonly limitMs?: number;
}

/** What a request has cost and found, for the metrics. */
export interface OnlineReport {
  readonly roundTrips: number;
  readonly keysRead: number;
  readonly featureStatuses: StatusCounts;
}

/** What is answered: one list for each entity and feature, one element for each row. */
export interface OnlineAnswer {
  readonly metadata: { readonly feature_names: readonly string[] };
  readonly results: readonly {
    readonly values: readonly JsonValue[];
    readonly statuses: readonly FeastStatus[];
    readonly event_timestamps: readonly string[];
  }[];
}

/** What Feast gives where there is no time. */
const NO_TIME = '1970-01-01T00:00:00Z';
const NO_TIME_TEXT = JSON.stringify(NO_TIME);

/** Features that one read brings: views with the same keys, in the same place. */
interface Group {
  readonly keys: readonly EntityColumn[];
  readonly source: string | undefined;
  readonly asked: AskedFeature[];
}

/** A group's cells, and when its rows were true. */
interface GroupCells {
  readonly columns: readonly Column[];
  readonly eventTimes: EventTimes;
}

/** Of a view: by row, epoch milliseconds; undefined where it has no row. */
type EventTimes = (view: string) => (row: number) => number | undefined;

/** Rows that are decoded, or values that are written, before others may have their turn. */
const PIECE = 64;

/**
 * Reads features for other programs, in the shape of Feast's feature server: the values that ranking reads, by the same
 * decoders, with the same expiry and defaults.
 */
export class OnlineFeatures {
  readonly #parts: OnlineFeaturesParts;
  readonly #clock: () => number;
  readonly #limitMs: number;

  constructor(parts: OnlineFeaturesParts) {
    this.#parts = parts;
    this.#clock = parts.clock ?? Date.now;
    this.#limitMs = parts.limitMs ?? 1000;
  }

  /**
   * Body `{features: ["view:feature"], entities: {name: [ids]}, full_feature_names?}`: at most 250 features and 1000 rows.
   * A default stands among the values where ranking would read it; the status then says why it had to.
   * @param gone aborted when the client is
   * @param arrived when the request arrived, by `performance.now()`: the time limit counts from here
   * @throws MillraceError invalid_body, unknown_view, store_unavailable, deadline_exceeded
   */
  async read(
    body: unknown,
    gone?: AbortSignal,
    arrived?: number,
  ): Promise<{ readonly answer: JsonText<OnlineAnswer>; readonly report: OnlineReport }> {
    const request = readOnlineRequest(body, this.#parts.views, this.#parts.types);
    const now = this.#clock();
    const groups = groupsOf(request.features);
    const deadline = new Deadline(this.#limitMs, gone, undefined, arrived);
    try {
      const cells = await Promise.all(groups.map((group) => this.#read(group, request.rows, now, deadline)));
      const featureStatuses = new StatusCounts();
      groups.forEach(({ asked }, g) =>
        asked.forEach(({ view }, i) =>
          featureStatuses.count(view.name, cells[g]?.columns[i] as Column, request.rows),
        ),
      );
      return {
        answer: await inTurns(writeAnswer(request, groups, cells), () => deadline.check()),
        report: { roundTrips: groups.length, keysRead: groups.length * request.rows, featureStatuses },
      };
    } finally {
      deadline.end();
    }
  }

  async #read(group: Group, rows: number, now: number, deadline: Deadline): Promise<GroupCells> {
    const wanted = group.asked.map(({ view, feature }): WantedFeature => ({ view, feature }));
    const columns = wanted.map(({ feature }) => columnFor(feature.type, rows));
    const ids = Array.from({ length: rows }, (_, row) => group.keys.map((key) => key.ids[row] ?? ''));
    const eventTimes =
      group.source === undefined
        ? await this.#readStore(wanted, ids, columns, now, deadline)
        : await this.#readSource(wanted, ids, columns, now, deadline);
    return { columns, eventTimes };
  }

  async #readStore(
    wanted: readonly WantedFeature[],
    ids: readonly (readonly string[])[],
    columns: readonly Column[],
    now: number,
    deadline: Deadline,
  ): Promise<EventTimes> {
    const { store, layouts, prefix } = this.#parts;
    const [first] = wanted;
    if (first === undefined) return () => () => undefined;
    const { group, of } = first.view;
    const decoder = new FeatureDecoder(wanted);
    const keys = ids.map((key) => featureKey(prefix, group, of, key));
    const records = await deadline.within(store.read(keys, deadline.signal));
    const missing = new Set<string>();
    for (const record of records)
      if (record !== null) decoder.missingLayouts(record, 0, record.length, missing);
    if (missing.size > 0) await deadline.within(layouts.resolve(missing));
    await decodeRows(records.length, deadline, (row) => {
      const record = records[row] ?? null;
      decoder.decode(record, 0, record?.length ?? 0, columns, row, now);
    });
    return (view) => {
      const timeOf = decoder.eventTimes(view);
      return (row) => timeOf(records[row] ?? null);
    };
  }

  async #readSource(
    wanted: readonly WantedFeature[],
    ids: readonly (readonly string[])[],
    columns: readonly Column[],
    now: number,
    deadline: Deadline,
  ): Promise<EventTimes> {
    const reader = this.#parts.sources.readerOf(wanted);
    const rows: SourceRows = await deadline.within(reader.read(ids, deadline.signal));
    await decodeRows(ids.length, deadline, (row) => {
      rows.decode(row, columns, row, now);
    });
    return (view) => (row) => rows.eventTime(row, view);
  }
}

/** Decodes rows in turns of the event loop. */
function decodeRows(rows: number, deadline: Deadline, decode: (row: number) => void): Promise<void> {
  const work = function* (): Pieces<void> {
    for (let row = 0; row < rows; row++) {
      decode(row);
      if (row % PIECE === PIECE - 1) yield;
    }
  };
  return inTurns(work(), () => deadline.check());
}

function groupsOf(features: readonly AskedFeature[]): Group[] {
  const groups = new Map<string, Group>();
  for (const asked of features) {
    const { view, keys } = asked;
    const source = sourceKey(view);
    const id = JSON.stringify([source ?? null, view.group, view.of, keys.map(({ name }) => name)]);
    const group = groups.get(id);
    if (group === undefined) groups.set(id, { keys, source, asked: [asked] });
    else group.asked.push(asked);
  }
  return [...groups.values()];
}

function columnFor(type: ValueType, rows: number): Column {
  const kind = columnKindOf(type, false);
  if (kind === undefined) throw new Error('a feature has a column');
  const shape =
    kind === 'vector'
      ? { kind, scope: 'candidate' as const, size: type.kind === 'vector' ? type.size : 0 }
      : { kind, scope: 'candidate' as const };
  return looseColumn(shape, rows);
}

/** Writes the answer a column at a time: a list of times is written once for all features of a view. */
function* writeAnswer(
  { rows, entities, features }: OnlineRequest,
  groups: readonly Group[],
  cells: readonly GroupCells[],
): Pieces<JsonText<OnlineAnswer>> {
  const columns = new Map<AskedFeature, Column>();
  const times = new Map<FeatureView, JsonText>();
  for (const [g, { asked }] of groups.entries()) {
    const { columns: read, eventTimes } = cells[g] as GroupCells;
    for (const [i, one] of asked.entries()) {
      columns.set(one, read[i] as Column);
      if (!times.has(one.view)) times.set(one.view, yield* timesText(rows, eventTimes(one.view.name)));
    }
  }
  const writer = new JsonWriter();
  const names = [...entities, ...features].map(({ name }) => name);
  writer.write(`{"metadata":{"feature_names":${JSON.stringify(names)}},"results":[`);
  let start = '{"values":[';
  for (const { sent } of entities) {
    writer.write(start + JSON.stringify(sent).slice(1));
    writer.write(`,"statuses":${repeated('"PRESENT"', rows)}`);
    writer.write(`,"event_timestamps":${repeated(NO_TIME_TEXT, rows)}}`);
    start = ',{"values":[';
    yield;
  }
  for (const one of features) {
    const column = columns.get(one) as Column;
    writer.write(start);
    yield* writeValues(writer, column, rows, one.feature.type);
    writer.write(`],"statuses":${statusesText(column, rows)},"event_timestamps":`);
    writer.add(times.get(one.view) as JsonText);
    writer.write('}');
    start = ',{"values":[';
  }
  writer.write(']}');
  return writer.end();
}

/** Values go to JSON.stringify many at a time, but a list or vector of thousands of elements by itself. */
function* writeValues(writer: JsonWriter, column: Column, rows: number, type: ValueType): Pieces<void> {
  let cells: JsonValue[] = [];
  let elements = 0;
  let separator = '';
  for (let row = 0; row < rows; row++) {
    const cell = isKnown(column.status[row]) ? valueAt(column, row, type) : null;
    cells.push(cell);
    elements += Array.isArray(cell) ? cell.length : 1;
    if (elements < 16 * PIECE && row < rows - 1) continue;
    writer.write(separator + JSON.stringify(cells).slice(1, -1));
    separator = ',';
    cells = [];
    elements = 0;
    yield;
  }
}

/** By status byte. */
const STATUS_TEXTS = Array.from({ length: 2 * DEFAULTED }, (_, byte) => JSON.stringify(feastStatus(byte)));

function statusesText({ status }: Column, rows: number): string {
  const [first] = status;
  let same = 1;
  while (same < rows && status[same] === first) same++;
  if (same >= rows) return repeated(STATUS_TEXTS[statusAt(status, 0)] ?? '', rows);
  let text = STATUS_TEXTS[statusAt(status, 0)] ?? '';
  for (let row = 1; row < rows; row++) text += `,${STATUS_TEXTS[statusAt(status, row)] ?? ''}`;
  return `[${text}]`;
}

function repeated(text: string, times: number): string {
  return times === 0 ? '[]' : `[${`${text},`.repeat(times - 1)}${text}]`;
}

/** The list of a view's times. Rows that were written together have one time, whose text is made once. */
function* timesText(rows: number, timeOf: (row: number) => number | undefined): Pieces<JsonText> {
  const texts = new Map<number | undefined, string>();
  const writer = new JsonWriter();
  writer.write('[');
  for (let row = 0; row < rows; row++) {
    const time = timeOf(row);
    let text = texts.get(time);
    if (text === undefined) {
      text = `"${timeText(time)}"`;
      texts.set(time, text);
    }
    writer.write(row === 0 ? text : `,${text}`);
    if (row % PIECE === PIECE - 1) yield;
  }
  writer.write(']');
  return writer.end();
}

function valueAt(column: Column, row: number, type: ValueType): JsonValue {
  switch (column.kind) {
    case 'number': {
      const value = column.values[row] ?? NaN;
      return type.kind === 'bool' ? value !== 0 : value;
    }
    case 'text':
      return column.values[row] ?? null;
    case 'texts':
      return column.values.slice(column.offsets[row], column.offsets[row + 1]);
    case 'numbers':
      return Array.from(column.values.subarray(column.offsets[row], column.offsets[row + 1]));
    case 'vector':
      return Array.from(column.values.subarray(row * column.size, (row + 1) * column.size));
  }
}

/** The JSON form of a protobuf Timestamp: no fraction, milliseconds or microseconds. */
function timeText(time: number | undefined): string {
  if (time === undefined || !(Math.abs(time) <= 8.64e15)) return NO_TIME;
  const micros = Math.round((time - Math.floor(time)) * 1000);
  const text = new Date(Math.floor(time)).toISOString();
  if (micros > 0 && micros < 1000) return `${text.slice(0, -1)}${String(micros).padStart(3, '0')}Z`;
  return text.replace('.000Z', 'Z');
}
