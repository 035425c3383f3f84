import { storedId } from '../../ground/core/entity-id.js';
import type { Column } from '../../ground/api/columns.js';
import { inTurns, soon, type Pieces } from '../../ground/core/pieces.js';
import type { ValueType } from '../../ground/api/types.js';
import { columnKindOf } from '../../language/frame/cells.js';
import { looseColumn } from '../../language/frame/frame.js';
import type { FeatureView } from '../../project/config/model/views.js';
import type { JsonText } from '../../ground/core/json-writer.js';
import { Deadline } from '../../ground/core/deadline.js';
import { FeatureDecoder, type WantedFeature } from '../store/codec/feature-decoder.js';
import { featureKey } from '../store/keys.js';
import { tracedStore } from '../store/around.js';
import { within, type TraceSpan } from '../../project/tracing/trace-span.js';
import type { StoreParts } from './store-parts.js';
import { sourceKey, type FeatureSources, type SourceRows } from './feature-source.js';
import {
  PIECE,
  writeOnlineAnswer,
  type OnlineAnswer,
  type ReadCells,
  type ValueForms,
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

/** Rows of one round trip. */
const ROWS_READ = 1000;

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
   * Body `{features: ["view:feature"], feature_service?, entities: {name: [ids]}, full_feature_names?}`. A defaulted
   * value is returned as in a ranking; its status gives the reason for the default. Rows are read and decoded in slices.
   * @param parent the deadline of the request; without one, the time limit counts from the call
   * @param forms how times and JSON values are written
   * @throws MillraceError invalid_body, unknown_view, store_unavailable, deadline_exceeded
   */
  async read(
    body: unknown,
    parent?: Deadline,
    span?: TraceSpan,
    forms: ValueForms = 'millrace',
  ): Promise<{ readonly answer: JsonText<OnlineAnswer>; readonly report: OnlineReport }> {
    const request = await soon(readOnlineRequest(body, this.#parts.views, this.#parts.types));
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
        answer: await inTurns(writeOnlineAnswer(request, cells, forms), () => deadline.check()),
        report: {
          roundTrips: groups.length * Math.ceil(request.rows / ROWS_READ),
          keysRead: groups.length * request.rows,
          featureStatuses,
        },
      };
    } finally {
      deadline.end();
    }
  }

  async #read(group: Group, rows: number, run: ReadRun): Promise<ReadCells> {
    const wanted = group.asked.map(({ view, feature }): WantedFeature => ({ view, feature }));
    const columns = wanted.map(({ feature }) => columnFor(feature.type, rows));
    const times = new Map(wanted.map(({ view }) => [view.name, new Float64Array(rows).fill(NaN)]));
    const reader =
      group.source === undefined ? this.#storeReader(wanted, run) : this.#sourceReader(wanted, run);
    for (let start = 0; start < rows; start += ROWS_READ) {
      const end = Math.min(start + ROWS_READ, rows);
      const ids: (readonly string[])[] = [];
      for (let row = start; row < end; row++) ids.push(group.keys.map((key) => key.ids[row] ?? ''));
      const read = await reader(ids);
      await decodeRows(ids.length, run.deadline, (i) => {
        read.decode(i, columns, start + i, run.now);
        for (const [view, list] of times) list[start + i] = read.eventTime(i, view) ?? NaN;
      });
    }
    return { asked: group.asked, columns, eventTimes: (view) => times.get(view) };
  }

  #storeReader(wanted: readonly WantedFeature[], { deadline, span }: ReadRun): RowsReader {
    const { layouts, prefix } = this.#parts;
    const store = tracedStore(this.#parts.store, span);
    const decoder = new FeatureDecoder(wanted);
    const timeOf = new Map(wanted.map(({ view }) => [view.name, decoder.eventTimes(view.name)]));
    const [first] = wanted;
    return async (ids) => {
      const { group = '', of = [] } = first?.view ?? {};
      const rules = of.map((type) => this.#parts.types.get(type));
      const keys = ids.map((key) =>
        featureKey(
          prefix,
          group,
          of,
          key.map((id, i) => storedId(rules[i], id)),
        ),
      );
      const records = await deadline.within(store.read(keys, deadline.signal));
      const missing = new Set<string>();
      for (const record of records)
        if (record !== null) decoder.missingLayouts(record, 0, record.length, missing);
      if (missing.size > 0) await deadline.within(layouts.resolve(missing));
      return {
        decode: (i, columns, row, now) => {
          const record = records[i] ?? null;
          decoder.decode(record, 0, record?.length ?? 0, columns, row, now);
        },
        eventTime: (i, view) => timeOf.get(view)?.(records[i] ?? null),
      };
    };
  }

  #sourceReader(wanted: readonly WantedFeature[], { now, deadline, span }: ReadRun): RowsReader {
    const reader = this.#parts.sources.readerOf(wanted);
    const { view } = reader;
    return (ids) => {
      const own = view === undefined ? span?.startFeast(ids.length) : span?.startReader(view, ids.length);
      const work = (): Promise<SourceRows> => {
        const ask = { now, leftMs: deadline.left, trace: own };
        return deadline.within(reader.read(ids, deadline.signal, ask));
      };
      return own === undefined ? work() : within(own, work);
    };
  }
}

/** Reads the rows of some keys in one round trip. */
type RowsReader = (ids: readonly (readonly string[])[]) => Promise<SourceRows>;

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
