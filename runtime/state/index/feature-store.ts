import {
  allFields,
  FLAG_FIELD,
  listField,
  optional,
  readFields,
  textField,
} from '../../ground/core/body-fields.js';
import { LaxBody, type Coerced } from '../../ground/core/lax-value.js';
import type { BodyList } from '../../ground/core/json-list.js';
import { inBackground } from '../../ground/core/background.js';
import { type Pieces } from '../../ground/core/pieces.js';
import type { FeatureView } from '../../project/config/model/views.js';
import { pointerTo, Violations } from '../../ground/core/violations.js';
import type { EventTimes } from '../../ground/core/event-time.js';
import { encodeSegment, encodeTombstone } from '../store/codec/feature-record.js';
import { featureKey } from '../store/keys.js';
import type { LayoutRegistry } from '../store/layout-registry.js';
import { StoreWriteError, type SegmentOutcome, type SegmentWrite, type Store } from '../store/store.js';
import { isJsonObject, own } from '../../ground/core/value-fit.js';
import { Usage } from '../../ground/core/usage.js';
import type { PushedRow } from './history-records.js';
import { checkIncrement, IncrementWriter, sumIncrements } from './feature-increments.js';
import { incrementFailure, writeFailure } from './row-failures.js';
import { checkKey, checkRow, laxRow, type Arrival, type RowKey, type RowShape } from './check-row.js';
import { tracedStore } from '../store/around.js';
import type { TraceSpan } from '../../project/tracing/trace-span.js';
import type { StoreParts } from './store-parts.js';
import { StoredViews, type StoredView, type ViewParts } from './stored-views.js';
import { EVENT_TIME } from './row-keys.js';
import { writePortions } from './write-portions.js';

/** Most rows of one push or deletion. */
export const MAX_ROWS = 1000;

/** What the bodies of rows begin with. */
export const VIEW_BODY = { view: textField('the name of a feature view') };
/** The body of `remove`. */
export const ROWS_BODY = { ...VIEW_BODY, rows: listField(MAX_ROWS) };
export const PUSH_BODY = { ...ROWS_BODY, increment: optional(FLAG_FIELD) };

/** How long a deletion is remembered if the view's ttl does not define it, in milliseconds. */
const DELETIONS_KEPT = 30 * 86_400_000;

/** Two assigned event times less than this many milliseconds apart keep the order of their calls. */
const ONE_MOMENT = 1000;

/** How the rows of a body are read. */
interface RowForm<T extends RowKey, P> {
  /** The name of the body in errors. */
  readonly what: string;
  readonly check: (
    row: unknown,
    shape: RowShape,
    arrival: Arrival,
    at: string,
    into: Violations,
  ) => T | undefined;
  readonly packed: (row: T, key: string) => P;
  /** Converts the values of the rows; by default they are only checked. */
  readonly lax?: LaxBody | undefined;
}

export interface FeatureStoreParts extends StoreParts, ViewParts {
  readonly eventTimes: EventTimes;
  /** Epoch milliseconds. */
  readonly clock?: () => number;
}

export interface PushAnswer {
  readonly view: string;
  readonly stored: number;
  /** Rows that were not stored because the store has one with a later event time. */
  readonly older: number;
  /** Stored rows that are older than the view's ttl; rankings read them as expired. */
  readonly expired: number;
}

export interface DeleteAnswer {
  readonly view: string;
  /** Rows that are absent now, whether or not they existed before. */
  readonly deleted: number;
  /** Rows that were kept because they have a later event time. */
  readonly older: number;
}

/** A row, encoded for the store. */
type PackedRow = SegmentWrite & PushedRow;

/** The online feature store: pushes and deletes rows of feature views. */
export class FeatureStore {
  readonly #store: Store;
  readonly #layouts: LayoutRegistry;
  readonly #prefix: string;
  readonly #views: StoredViews;
  readonly #eventTimes: EventTimes;
  readonly #clock: () => number;
  /** The entity types, if values of bodies are converted. */
  readonly #lax: StoreParts['types'] | undefined;
  readonly #onCoerced: StoreParts['onCoerced'];
  /** Records that are not written yet. */
  readonly recording = new Usage();
  /** The earliest event time for the next row that has none. */
  #next = -Infinity;

  constructor(parts: FeatureStoreParts) {
    this.#store = parts.store;
    this.#layouts = parts.layouts;
    this.#prefix = parts.prefix;
    this.#eventTimes = parts.eventTimes;
    this.#clock = parts.clock ?? Date.now;
    this.#lax = parts.isLax === true ? parts.types : undefined;
    this.#onCoerced = parts.onCoerced;
    this.#views = new StoredViews(parts, this.recording);
  }

  /** The fields of a view's rows: ids, then features, then the event time. */
  columnsOf(viewName: string): {
    readonly keys: readonly string[];
    readonly features: FeatureView['features'];
    readonly eventTime: string;
  } {
    const view = this.#views.get(viewName);
    return { keys: view.keys, features: view.definition.features, eventTime: EVENT_TIME };
  }

  /**
   * Body `{view, increment?, rows: [0 to 1000 of {…keys, …features, event_time?}]}`. A row replaces the stored row of the
   * same key as a whole, unless the stored one has a later event time. With `increment`, its numbers are added to those of
   * the stored row, which keeps its other features. Nothing is stored if the body is invalid.
   * @throws MillraceError invalid_body, unknown_view; store_unavailable if nothing was stored, store_partial_write with
   *   `stored_rows` and `unconfirmed_rows` (positions) if some rows were stored
   */
  async push(body: unknown, span?: TraceSpan, coerced?: Coerced): Promise<PushAnswer> {
    const lax = this.#lax && new LaxBody(this.#lax, 'id', coerced);
    const { view, rows, increment } = this.#read(lax === undefined ? body : lax.flag(body, 'increment'));
    return increment ? this.#increment(view, rows, span, lax) : this.#replace(view, rows, span, lax);
  }

  /** Atomic for each row, but not idempotent. */
  async #increment(
    viewName: string,
    rows: BodyList,
    span: TraceSpan | undefined,
    lax: LaxBody | undefined,
  ): Promise<PushAnswer> {
    const view = this.#views.get(viewName);
    const now = this.#now();
    const sent = await this.#pack(rows, view, now, {
      what: 'The push',
      check: checkIncrement,
      packed: (row, key) => ({ ...row, key }),
      lax,
    });
    const increments = sumIncrements(sent, view);
    const writer = new IncrementWriter(view, tracedStore(this.#store, span), this.#layouts);
    try {
      const outcomes = increments.length === 0 ? [] : await writer.add(increments, now);
      const older = new Set(increments.filter((_, i) => outcomes[i] === 'older').map(({ key }) => key));
      const late = sent.filter(({ key }) => older.has(key)).length;
      const ttl = view.definition.ttl ?? Infinity;
      const expired = writer.stored.filter(({ eventTime }) => now - eventTime > ttl).length;
      return { view: view.view, stored: sent.length - late, older: late, expired };
    } catch (error) {
      if (!(error instanceof StoreWriteError)) throw error;
      const done = new Set(increments.filter((_, i) => error.confirmed[i] === true).map(({ key }) => key));
      const confirmed = sent.map(({ key }) => done.has(key));
      throw incrementFailure(error, confirmed);
    } finally {
      view.records?.add(writer.stored, this.#clock());
    }
  }

  /** Like `push`, for any number of rows. */
  pushRows(viewName: string, rows: BodyList, span?: TraceSpan, coerced?: Coerced): Promise<PushAnswer> {
    return this.#replace(viewName, rows, span, this.#lax && new LaxBody(this.#lax, 'id', coerced));
  }

  async #replace(
    viewName: string,
    rows: BodyList,
    span: TraceSpan | undefined,
    lax: LaxBody | undefined,
  ): Promise<PushAnswer> {
    const view = this.#views.get(viewName);
    const now = this.#now();
    const segments = await this.#pack(rows, view, now, {
      what: 'The push',
      check: checkRow,
      packed: ({ ids, eventTime, features }, key): PackedRow => ({
        ...{ key, ids, eventTime },
        segment: encodeSegment(view.id, view.layout, eventTime, features),
      }),
      lax,
    });
    const record = (isStored: (row: number) => boolean): void =>
      view.records?.add(
        segments.filter((_, i) => isStored(i)),
        this.#clock(),
      );
    const outcomes = await this.#merge('stored', view, segments, span, record);
    // A row that lost against a newer one is still what was known at its event time.
    record(() => true);
    const ttl = view.definition.ttl ?? Infinity;
    const stored = segments.filter((_, i) => outcomes[i] === 'stored');
    const expired = stored.filter(({ eventTime }) => now - eventTime > ttl).length;
    return { view: view.view, stored: stored.length, older: rows.length - stored.length, expired };
  }

  /**
   * Body `{view, rows: [0 to 1000 of {…keys, event_time?}]}`. Deletes the view's row of each key, unless it has a later
   * event time. While a deletion is remembered, rows with an event time up to that of the deletion cannot be stored
   * again. It is remembered for the view's ttl; for 30 days if the view has no ttl; for the longer of both if the view
   * serves expired rows. Deleting a missing row is not an error. Nothing is deleted if the body is invalid.
   * @throws MillraceError invalid_body, unknown_view; store_unavailable if nothing was deleted, store_partial_write
   *   with `deleted_rows` and `unconfirmed_rows` (positions) if some rows were deleted
   */
  async remove(body: unknown, span?: TraceSpan): Promise<DeleteAnswer> {
    if (isJsonObject(body) && own(body, 'increment') !== undefined) {
      const violations = new Violations();
      violations.add('/increment', 'unknown_field', 'a deletion has no increment: it deletes whole rows');
      violations.throwIfAny('The body');
    }
    const { view: name, rows } = this.#read(body);
    const view = this.#views.get(name);
    const now = this.#now();
    // A row that is pushed next without an event time must be newer than the deletion.
    this.#next = now + 1;
    const kept = deletionsKept(view.definition);
    const tombstones = await this.#pack(rows, view, now, {
      what: 'The deletion',
      check: checkKey,
      packed: ({ eventTime }, key) => ({
        key,
        segment: encodeTombstone(view.id, eventTime, Math.max(now, eventTime) + kept),
      }),
    });
    const outcomes = await this.#merge('deleted', view, tombstones, span);
    const deleted = outcomes.filter((outcome) => outcome === 'stored').length;
    return { view: view.view, deleted, older: outcomes.length - deleted };
  }

  /** The view and the unchecked rows of a body. @throws MillraceError invalid_body, unknown_view */
  #read(body: unknown): { readonly view: string; readonly rows: BodyList; readonly increment: boolean } {
    const violations = new Violations();
    const read = readFields(body, PUSH_BODY, violations);
    // An unknown view has its own error, which comes before all other faults of the body.
    if (read.view !== undefined) this.#views.get(read.view);
    const { increment = false, ...rest } = allFields(read, violations, 'The body');
    return { ...rest, increment };
  }

  /**
   * Checks rows, and encodes each before the next one is read.
   * @throws MillraceError invalid_body, with all violations of the rows
   */
  async #pack<T extends RowKey, P>(
    rows: BodyList,
    view: StoredView,
    now: number,
    { what, check, packed, lax }: RowForm<T, P>,
  ): Promise<readonly P[]> {
    const violations = new Violations();
    const arrival = { now, eventTimes: this.#eventTimes };
    const { group, of } = view.definition;
    const prefix = this.#prefix;
    const work = function* (): Pieces<readonly P[]> {
      const all: P[] = [];
      let i = 0;
      for (const given of rows) {
        const sent = lax === undefined ? given : yield* laxRow(given, view, lax);
        const row = check(sent, view, arrival, pointerTo('/rows', i), violations);
        yield;
        if (row !== undefined && violations.count === 0)
          all.push(packed(row, featureKey(prefix, group, of, row.ids)));
        i++;
        yield;
      }
      return all;
    };
    const all = await inBackground(work());
    violations.throwIfAny(what);
    if (lax !== undefined && lax.converted > 0) this.#onCoerced?.('push', lax.converted);
    return all;
  }

  /**
   * The event time of rows that give none. Calls within ONE_MOMENT get times in the order of the calls, even if the
   * clock does not advance between a deletion and a push.
   */
  #now(): number {
    const now = this.#clock();
    const time = now < this.#next && this.#next - now < ONE_MOMENT ? this.#next : now;
    this.#next = time;
    return time;
  }

  /**
   * @param done the outcome of a written row, for messages
   * @param onPart called if only some rows were confirmed, with what says of a position whether its row was
   */
  async #merge(
    done: 'stored' | 'deleted',
    view: StoredView,
    segments: readonly SegmentWrite[],
    span: TraceSpan | undefined,
    onPart?: (isConfirmed: (row: number) => boolean) => void,
  ): Promise<SegmentOutcome[]> {
    if (segments.length === 0) return [];
    const store = tracedStore(this.#store, span);
    try {
      // The layout is written first: in a cluster it may be on another server than the segments that need it.
      if (done === 'stored') await store.write([this.#layouts.record(view.layout)]);
      return await writePortions(
        segments,
        ({ segment }) => segment.length,
        (portion) => store.mergeSegments(portion),
      );
    } catch (error) {
      if (!(error instanceof StoreWriteError)) throw error;
      const { confirmed } = error;
      if (confirmed.length === segments.length) onPart?.((row) => confirmed[row] === true);
      throw writeFailure(error, segments.length, done);
    }
  }
}

/**
 * How long a deletion is remembered, in milliseconds. After that, an older row that arrives late has expired and has no
 * effect, unless the view serves expired rows.
 */
function deletionsKept({ ttl, expired }: FeatureView): number {
  if (ttl === null) return DELETIONS_KEPT;
  return expired === 'stale' ? Math.max(ttl, DELETIONS_KEPT) : ttl;
}
