import type { Column } from '../api/columns.js';
import { DEFAULTED, isKnown, Status } from '../api/status.js';
import type { JsonValue, ValueType } from '../api/types.js';
import { columnKindOf } from '../frame/cells.js';
import { looseColumn } from '../frame/frame.js';
import type { EntityType, FeatureView } from '../config/model.js';
import { Deadline } from '../pipeline/deadline.js';
import { FeatureDecoder, type WantedFeature } from '../store/feature-decoder.js';
import { eventTimeAt, findSegment, viewId } from '../store/feature-record.js';
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

/** One list for each entity and feature, one element for each row. */
export interface OnlineAnswer {
  readonly metadata: { readonly feature_names: readonly string[] };
  readonly results: readonly {
    readonly values: readonly JsonValue[];
    readonly statuses: readonly OnlineStatus[];
    readonly event_timestamps: readonly string[];
  }[];
}

/** As Feast spells them (FieldStatus of its ServingService.proto). */
export type OnlineStatus = 'INVALID' | 'PRESENT' | 'NULL_VALUE' | 'NOT_FOUND' | 'OUTSIDE_MAX_AGE';

/** What Feast gives where there is no time. */
const NO_TIME = '1970-01-01T00:00:00Z';

/** Features that one read brings: views with the same keys, in the same place. */
interface Group {
  readonly keys: readonly EntityColumn[];
  readonly source: string | undefined;
  readonly asked: AskedFeature[];
}

/** A group's cells, and when its rows were true. */
interface GroupCells {
  readonly columns: readonly Column[];
  readonly eventTime: (row: number, view: string) => number | undefined;
}

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
   * @throws MillraceError invalid_body, unknown_view, store_unavailable, deadline_exceeded
   */
  async read(
    body: unknown,
    gone?: AbortSignal,
  ): Promise<{ readonly answer: OnlineAnswer; readonly report: OnlineReport }> {
    const request = readOnlineRequest(body, this.#parts.views, this.#parts.types);
    const now = this.#clock();
    const groups = groupsOf(request.features);
    const deadline = new Deadline(this.#limitMs, gone);
    try {
      const cells = await Promise.all(groups.map((group) => this.#read(group, request.rows, now, deadline)));
      const featureStatuses = new StatusCounts();
      groups.forEach(({ asked }, g) =>
        asked.forEach(({ view }, i) =>
          featureStatuses.count(view.name, cells[g]?.columns[i] as Column, request.rows),
        ),
      );
      return {
        answer: answerOf(request, groups, cells),
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
    const eventTime =
      group.source === undefined
        ? await this.#readStore(wanted, ids, columns, now, deadline)
        : await this.#readSource(wanted, ids, columns, now, deadline);
    return { columns, eventTime };
  }

  async #readStore(
    wanted: readonly WantedFeature[],
    ids: readonly (readonly string[])[],
    columns: readonly Column[],
    now: number,
    deadline: Deadline,
  ): Promise<GroupCells['eventTime']> {
    const { store, layouts, prefix } = this.#parts;
    const [first] = wanted;
    if (first === undefined) return () => undefined;
    const { group, of } = first.view;
    const decoder = new FeatureDecoder(wanted);
    const keys = ids.map((key) => featureKey(prefix, group, of, key));
    const records = await deadline.within(store.read(keys, deadline.signal));
    const missing = new Set<string>();
    for (const record of records)
      if (record !== null) decoder.missingLayouts(record, 0, record.length, missing);
    if (missing.size > 0) await deadline.within(layouts.resolve(missing));
    records.forEach((record, row) => void decoder.decode(record, 0, record?.length ?? 0, columns, row, now));
    return (row, view) => {
      const record = records[row] ?? null;
      const id = viewId(view);
      const at =
        record === null ? -1 : findSegment(record, 0, record.length, id.readInt32LE(0), id.readInt32LE(4));
      return record === null || at < 0 ? undefined : eventTimeAt(record, at);
    };
  }

  async #readSource(
    wanted: readonly WantedFeature[],
    ids: readonly (readonly string[])[],
    columns: readonly Column[],
    now: number,
    deadline: Deadline,
  ): Promise<GroupCells['eventTime']> {
    const reader = this.#parts.sources.readerOf(wanted);
    const rows: SourceRows = await deadline.within(reader.read(ids, deadline.signal));
    for (let row = 0; row < ids.length; row++) rows.decode(row, columns, row, now);
    return (row, view) => rows.eventTime(row, view);
  }
}

function answerOf(
  request: OnlineRequest,
  groups: readonly Group[],
  cells: readonly GroupCells[],
): OnlineAnswer {
  const results = new Map<AskedFeature, OnlineAnswer['results'][number]>();
  groups.forEach(({ asked }, g) =>
    asked.forEach((one, i) => {
      const { columns, eventTime } = cells[g] as GroupCells;
      results.set(one, resultOf(one, columns[i] as Column, request.rows, eventTime));
    }),
  );
  return {
    metadata: { feature_names: [...request.entities, ...request.features].map(({ name }) => name) },
    results: [
      ...request.entities.map(({ sent }) => ({
        values: sent,
        statuses: sent.map((): OnlineStatus => 'PRESENT'),
        event_timestamps: sent.map(() => NO_TIME),
      })),
      ...request.features.flatMap((one) => results.get(one) ?? []),
    ],
  };
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

function resultOf(
  { view, feature }: AskedFeature,
  column: Column,
  rows: number,
  eventTime: GroupCells['eventTime'],
): OnlineAnswer['results'][number] {
  const values: JsonValue[] = [];
  const statuses: OnlineStatus[] = [];
  const times: string[] = [];
  for (let row = 0; row < rows; row++) {
    const status = column.status[row] ?? Status.absent;
    values.push(isKnown(status) ? valueAt(column, row, feature.type) : null);
    statuses.push(onlineStatus(status));
    times.push(timeText(eventTime(row, view.name)));
  }
  return { values, statuses, event_timestamps: times };
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

/** A default's cell is told by its cause, so that what was there can be told from what was put in its place. */
function onlineStatus(status: number): OnlineStatus {
  switch (status >= DEFAULTED ? status & (DEFAULTED - 1) : status) {
    case Status.present:
      return 'PRESENT';
    case Status.null:
      return 'NULL_VALUE';
    case Status.expired:
    case Status.stale:
      return 'OUTSIDE_MAX_AGE';
    case Status.failed:
      return 'INVALID';
    default:
      return 'NOT_FOUND';
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
