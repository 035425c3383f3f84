import type { Column } from '../api/columns.js';
import { inTurns, type Pieces } from '../core/pieces.js';
import type { ValueType } from '../api/types.js';
import { columnKindOf } from '../frame/cells.js';
import { looseColumn } from '../frame/frame.js';
import type { FeatureView } from '../config/project/model.js';
import type { JsonText } from '../core/json-writer.js';
import { Deadline } from '../core/deadline.js';
import { FeatureDecoder, type WantedFeature } from '../store/codec/feature-decoder.js';
import { featureKey } from '../store/keys.js';
import { tracedStore } from '../store/traced-store.js';
import { within, type TraceSpan } from '../tracing/trace-span.js';
import type { StoreParts } from './store-parts.js';
import { sourceKey, type FeatureSources, type SourceRows } from './feature-source.js';
import {
  PIECE,
  writeOnlineAnswer,
  type EventTimes,
  type OnlineAnswer,
  type ReadCells,
} from './online-answer.js';
import { readOnlineRequest, type AskedFeature, type EntityColumn } from './online-request.js';
import { StatusCounts } from './status-counts.js';

export interface OnlineFeaturesParts extends StoreParts {
  readonly views: ReadonlyMap<string, FeatureView>;
  /** Reads the views that are not in the store. */
  readonly sources: FeatureSources;
  /** Epoch milliseconds. */
  readonly clock?: () => number;
  /** Time limit of a request, in milliseconds. */
  readonly limitMs?: number;
}

/** The cost and the feature statuses of a request, for the metrics. */
export interface OnlineReport {
  readonly roundTrips: number;
  readonly keysRead: number;
  readonly featureStatuses: StatusCounts;
}

/** The time and the trace of one request. */
interface ReadRun {
  /** Epoch milliseconds. */
  readonly now: number;
  readonly deadline: Deadline;
  readonly span: TraceSpan | undefined;
}

/** Features that one read returns: their views have the same keys and the same source. */
interface Group {
  readonly keys: readonly EntityColumn[];
  readonly source: string | undefined;
  readonly asked: AskedFeature[];
}

/**
 * Serves features to other programs in the format of Feast's feature server. Values come from the same decoders as in a
 * ranking, with the same expiry and defaults.
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
   * Body `{features: ["view:feature"], entities: {name: [ids]}, full_feature_names?}`: at most 250 features and 1000
   * rows. A defaulted value is returned as in a ranking; its status gives the reason for the default.
   * @param parent the deadline of the request; without one, the time limit counts from the call
   * @throws MillraceError invalid_body, unknown_view, store_unavailable, deadline_exceeded
   */
  async read(
    body: unknown,
    parent?: Deadline,
    span?: TraceSpan,
  ): Promise<{ readonly answer: JsonText<OnlineAnswer>; readonly report: OnlineReport }> {
    const request = readOnlineRequest(body, this.#parts.views, this.#parts.types);
    const now = this.#clock();
    const groups = groupsOf(request.features);
    const deadline = new Deadline(this.#limitMs, { started: parent?.started, parent });
    try {
      const run: ReadRun = { now, deadline, span };
      const cells = await Promise.all(groups.map((group) => this.#read(group, request.rows, run)));
      const featureStatuses = new StatusCounts();
      for (const { asked, columns } of cells)
        for (const [i, { view }] of asked.entries())
          featureStatuses.count(view.name, columns[i] as Column, request.rows);
      return {
        answer: await inTurns(writeOnlineAnswer(request, cells), () => deadline.check()),
        report: { roundTrips: groups.length, keysRead: groups.length * request.rows, featureStatuses },
      };
    } finally {
      deadline.end();
    }
  }

  async #read(group: Group, rows: number, run: ReadRun): Promise<ReadCells> {
    const wanted = group.asked.map(({ view, feature }): WantedFeature => ({ view, feature }));
    const columns = wanted.map(({ feature }) => columnFor(feature.type, rows));
    const ids = Array.from({ length: rows }, (_, row) => group.keys.map((key) => key.ids[row] ?? ''));
    const eventTimes =
      group.source === undefined
        ? await this.#readStore(wanted, ids, columns, run)
        : await this.#readSource(wanted, ids, columns, run);
    return { asked: group.asked, columns, eventTimes };
  }

  async #readStore(
    wanted: readonly WantedFeature[],
    ids: readonly (readonly string[])[],
    columns: readonly Column[],
    { now, deadline, span }: ReadRun,
  ): Promise<EventTimes> {
    const { store, layouts, prefix } = this.#parts;
    const [first] = wanted;
    if (first === undefined) return () => () => undefined;
    const { group, of } = first.view;
    const decoder = new FeatureDecoder(wanted);
    const keys = ids.map((key) => featureKey(prefix, group, of, key));
    const records = await deadline.within(tracedStore(store, span).read(keys, deadline.signal));
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
    { now, deadline, span }: ReadRun,
  ): Promise<EventTimes> {
    const reader = this.#parts.sources.readerOf(wanted);
    const work = (): Promise<SourceRows> => deadline.within(reader.read(ids, deadline.signal));
    const rows = span === undefined ? await work() : await within(span.startFeast(ids.length), work);
    await decodeRows(ids.length, deadline, (row) => {
      rows.decode(row, columns, row, now);
    });
    return (view) => (row) => rows.eventTime(row, view);
  }
}

/** Decodes rows and yields to the event loop between slices. */
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
  if (kind === undefined) throw new Error('the feature has no column');
  const shape =
    kind === 'vector'
      ? { kind, scope: 'candidate' as const, size: type.kind === 'vector' ? type.size : 0 }
      : { kind, scope: 'candidate' as const };
  return looseColumn(shape, rows);
}
