import { MillraceError } from '../api/errors.js';
import { eachPiece, inTurns } from '../core/pieces.js';
import type { EntityType, FeatureView } from '../config/project/model.js';
import { nearest } from '../core/nearest.js';
import { pointerTo, shownName, Violations } from '../core/violations.js';
import type { EventTimes } from '../core/event-time.js';
import { encodeSegment, encodeTombstone, viewId } from '../store/codec/feature-record.js';
import { featureKey } from '../store/keys.js';
import { knownLayouts } from '../store/codec/known-layouts.js';
import { RecordLayout } from '../store/codec/record-layout.js';
import type { LayoutRegistry } from '../store/layout-registry.js';
import { StoreWriteError, type SegmentOutcome, type SegmentWrite, type Store } from '../store/store.js';
import { describe, isJsonObject, own } from '../core/value-fit.js';
import { checkKey, checkRow, type Arrival, type RowKey, type RowShape } from './check-row.js';
import { EVENT_TIME, rowKeys } from './row-keys.js';

/** Most rows of a push or a deletion. */
export const MAX_ROWS = 1000;

/** How long a deletion is remembered where the view's ttl does not say it, in milliseconds. */
const DELETIONS_KEPT = 30 * 86_400_000;

/** Two times that this process gives out within so many milliseconds keep their order. */
const ONE_MOMENT = 1000;

export interface FeatureStoreParts {
  readonly store: Store;
  readonly layouts: LayoutRegistry;
  /** Start of every store key. */
  readonly prefix: string;
  readonly views: ReadonlyMap<string, FeatureView>;
  readonly types: ReadonlyMap<string, EntityType>;
  readonly eventTimes: EventTimes;
  /** Epoch milliseconds. */
  readonly clock?: () => number;
}

export interface PushAnswer {
  readonly view: string;
  readonly stored: number;
  /** Rows that were not stored, since the store has one with a later event time. */
  readonly older: number;
  /** Of the rows that were stored: those older than the view's ttl, which rankings read as expired. */
  readonly expired: number;
}

export interface DeleteAnswer {
  readonly view: string;
  /** Rows that are not in the store now, whether they were before or not. */
  readonly deleted: number;
  /** Rows that were kept, since the store has one with a later event time. */
  readonly older: number;
}

interface StoredView extends RowShape {
  readonly definition: FeatureView;
  readonly id: Buffer;
}

/** The online feature store: takes rows of feature views, and deletes them. */
export class FeatureStore {
  readonly #store: Store;
  readonly #layouts: LayoutRegistry;
  readonly #prefix: string;
  readonly #views: ReadonlyMap<string, StoredView>;
  readonly #eventTimes: EventTimes;
  readonly #clock: () => number;
  /** The least time that a row without one gets next. */
  #next = -Infinity;

  constructor(parts: FeatureStoreParts) {
    this.#store = parts.store;
    this.#layouts = parts.layouts;
    this.#prefix = parts.prefix;
    this.#eventTimes = parts.eventTimes;
    this.#clock = parts.clock ?? Date.now;
    this.#views = new Map(
      Array.from(parts.views.values(), (definition) => [
        definition.name,
        {
          definition,
          view: definition.name,
          id: viewId(definition.name),
          keys: rowKeys(definition, parts.types),
          layout: knownLayouts.add(viewLayout(definition)),
        },
      ]),
    );
  }

  /** The fields of a view's rows: ids first, then features, then the event time. */
  columnsOf(viewName: string): {
    readonly keys: readonly string[];
    readonly features: FeatureView['features'];
    readonly eventTime: string;
  } {
    const view = this.#viewOf(viewName);
    return { keys: view.keys, features: view.definition.features, eventTime: EVENT_TIME };
  }

  /**
   * Body `{view, rows: [0 to 1000 of {…keys, …features, event_time?}]}`. A row replaces the view's former row of its key
   * whole, unless that has a later event time. Nothing is stored if anything is wrong with the body.
   * @throws MillraceError invalid_body, unknown_view; store_unavailable if nothing was stored, store_partial_write with
   *   `stored_rows` and `unconfirmed_rows` (positions) if some were
   */
  async push(body: unknown): Promise<PushAnswer> {
    const { view, rows } = this.#read(body);
    return this.pushRows(view, rows);
  }

  /** As `push`, for any number of rows. */
  async pushRows(viewName: string, rows: readonly unknown[]): Promise<PushAnswer> {
    const view = this.#viewOf(viewName);
    const now = this.#now();
    const checked = await this.#check(rows, view, now, checkRow, 'The push');
    const outcomes = await this.#merge('stored', view, checked, ({ eventTime, features }) =>
      encodeSegment(view.id, view.layout, eventTime, features),
    );
    const ttl = view.definition.ttl ?? Infinity;
    const isStored = (_: unknown, i: number): boolean => outcomes[i] === 'stored';
    const stored = checked.filter(isStored);
    const expired = stored.filter(({ eventTime }) => now - eventTime > ttl).length;
    return { view: view.view, stored: stored.length, older: rows.length - stored.length, expired };
  }

  /**
   * Body `{view, rows: [0 to 1000 of {…keys, event_time?}]}`. Deletes the view's row of each key, unless that has a later
   * event time. Rows with an event time up to that of the deletion cannot be stored again while it is remembered: for
   * the view's ttl; for 30 days where the view has no ttl, or serves expired rows for longer. A row that is not there is no
   * error. Nothing is deleted if anything is wrong with the body.
   * @throws MillraceError invalid_body, unknown_view; store_unavailable if nothing was deleted, store_partial_write with
   *   `deleted_rows` and `unconfirmed_rows` (positions) if some were
   */
  async remove(body: unknown): Promise<DeleteAnswer> {
    const { view: name, rows } = this.#read(body);
    const view = this.#viewOf(name);
    const now = this.#now();
    // A row that is pushed next without an event time is newer than the deletion.
    this.#next = now + 1;
    const keys = await this.#check(rows, view, now, checkKey, 'The deletion');
    const kept = deletionsKept(view.definition);
    const outcomes = await this.#merge('deleted', view, keys, ({ eventTime }) =>
      encodeTombstone(view.id, eventTime, Math.max(now, eventTime) + kept),
    );
    const deleted = outcomes.filter((outcome) => outcome === 'stored').length;
    return { view: view.view, deleted, older: outcomes.length - deleted };
  }

  /** The view and the rows of a body; the rows are not checked. @throws MillraceError invalid_body, unknown_view */
  #read(body: unknown): { readonly view: string; readonly rows: readonly unknown[] } {
    const violations = new Violations();
    if (!isJsonObject(body)) {
      violations.add('', 'wrong_type', `expected an object with view and rows, found ${describe(body)}`);
      violations.throwIfAny('The body');
      throw new Error('unreachable');
    }
    const name = own(body, 'view');
    const rows: unknown = own(body, 'rows');
    if (typeof name !== 'string') {
      const code = name === undefined ? 'missing_field' : 'wrong_type';
      violations.add('/view', code, `view: expected the name of a feature view, found ${describe(name)}`);
    } else this.#viewOf(name);
    if (!Array.isArray(rows)) {
      const code = rows === undefined ? 'missing_field' : 'wrong_type';
      violations.add('/rows', code, `rows: expected a list, found ${describe(rows)}`);
    } else if (rows.length > MAX_ROWS) {
      violations.add('/rows', 'too_many', `rows: at most ${MAX_ROWS}, found ${rows.length}`);
    }
    violations.throwIfAny('The body');
    return { view: name as string, rows: rows as readonly unknown[] };
  }

  /** @throws MillraceError invalid_body, with all that is wrong with the rows */
  async #check<T>(
    rows: readonly unknown[],
    view: StoredView,
    now: number,
    check: (row: unknown, shape: RowShape, arrival: Arrival, at: string, into: Violations) => T | undefined,
    what: string,
  ): Promise<readonly T[]> {
    const violations = new Violations();
    const arrival = { now, eventTimes: this.#eventTimes };
    const checked = await inTurns(
      eachPiece(rows, (row, i) => check(row, view, arrival, pointerTo('/rows', i), violations)),
    );
    violations.throwIfAny(what);
    return checked as readonly T[];
  }

  /**
   * The event time of rows that give none. Within a moment it follows the order of the calls, also where the clock does not
   * move on between a deletion and a push.
   */
  #now(): number {
    const now = this.#clock();
    const time = now < this.#next && this.#next - now < ONE_MOMENT ? this.#next : now;
    this.#next = time;
    return time;
  }

  /** @param done what is said of a row that is written */
  async #merge<T extends RowKey>(
    done: 'stored' | 'deleted',
    view: StoredView,
    rows: readonly T[],
    segmentOf: (row: T) => Buffer,
  ): Promise<SegmentOutcome[]> {
    if (rows.length === 0) return [];
    const { group, of } = view.definition;
    const segments = await inTurns(
      eachPiece(rows, (row): SegmentWrite => ({
        key: featureKey(this.#prefix, group, of, row.ids),
        segment: segmentOf(row),
      })),
    );
    try {
      // The layout first: in a cluster it may lie on another server than the segments that need it.
      if (done === 'stored') await this.#store.write([this.#layouts.record(view.layout)]);
      return await this.#store.mergeSegments(segments);
    } catch (error) {
      throw error instanceof StoreWriteError ? writeFailure(error, rows.length, done) : error;
    }
  }

  #viewOf(name: string): StoredView {
    const view = this.#views.get(name);
    if (view?.definition.source !== undefined) {
      const detail = `view: the rows of ${view.view} are Feast's, and are only read; materialise them with Feast`;
      throw new MillraceError('invalid_body', detail);
    }
    if (view !== undefined) return view;
    const names = [...this.#views.keys()];
    const guess = nearest(name, names);
    const others = names.length === 0 ? 'schemas/features declares none' : `there are ${names.join(', ')}`;
    const help = guess === undefined ? others : `did you mean "${guess}"?`;
    throw new MillraceError(
      'unknown_view',
      `view: no feature view is called ${JSON.stringify(shownName(name))}; ${help}`,
    );
  }
}

/** The layout of a view's segments as the project declares it now. */
export function viewLayout(view: FeatureView): RecordLayout {
  return new RecordLayout(
    Array.from(view.features.values(), ({ name, type }) => [name, type] as const),
    undefined,
  );
}

/**
 * How long a deletion is remembered, in milliseconds. An older row that comes later would have expired by then, and has no
 * effect unless the view serves expired rows.
 */
function deletionsKept({ ttl, expired }: FeatureView): number {
  if (ttl === null) return DELETIONS_KEPT;
  return expired === 'stale' ? Math.max(ttl, DELETIONS_KEPT) : ttl;
}

function writeFailure(error: StoreWriteError, count: number, done: 'stored' | 'deleted'): MillraceError {
  const confirmed = error.confirmed.length === count ? error.confirmed : [];
  const rows = confirmed.flatMap((isDone, i) => (isDone ? [i] : []));
  if (rows.length === 0) {
    const detail = `Whether any of ${count} rows is ${done} is not known; sending them again is safe. ${error.message}`;
    return new MillraceError(error.code, detail, { cause: error });
  }
  const unconfirmed = confirmed.flatMap((isDone, i) => (isDone ? [] : [i]));
  return new MillraceError(
    'store_partial_write',
    `${rows.length} of ${count} rows are ${done}; whether the other ${unconfirmed.length} are is not known. Sending them again is safe. ${error.message}`,
    { cause: error, extensions: { [`${done}_rows`]: rows, unconfirmed_rows: unconfirmed } },
  );
}
