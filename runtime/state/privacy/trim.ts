import type { FeatureView } from '../../project/config/model/views.js';
import { recordsOf } from '../store/backup.js';
import { encodeTombstone, segmentsOf, viewId } from '../store/codec/feature-record.js';
import { decodeHistory, encodeHistory } from '../store/codec/history-record.js';
import type { History } from '../store/codec/history.js';
import { expiryOf } from '../store/codec/versioned-record.js';
import { partsOf } from '../store/keys.js';
import type { RecordSwap, SegmentWrite, Store, StoreRecord } from '../store/store.js';
import { keepEvents } from './keep-events.js';

/** How long the tombstone of an expired row stays, in milliseconds. */
const TOMBSTONE_LASTS = 1000;

export interface TrimRules {
  readonly views: ReadonlyMap<string, FeatureView>;
  /** How long feedback events are kept, in milliseconds. */
  readonly retention: number;
  /** Epoch milliseconds. */
  readonly now: number;
}

export interface Trimmed {
  readonly events: number;
  /** Histories that have no event left. */
  readonly histories: number;
  readonly feature_rows: number;
}

/**
 * Removes what nothing reads any more: feedback events that are older than the retention, and feature rows that are older
 * than the ttl of their view, unless the view serves expired rows. A record that changes meanwhile is left for the next
 * run.
 * @throws StoreWriteError; MillraceError with a code of STORE_READ_FAILURES
 */
export async function trimStore(store: Store, prefix: string, rules: TrimRules): Promise<Trimmed> {
  const total = { events: 0, histories: 0, feature_rows: 0 };
  const views = new Map(
    [...rules.views.values()].map((view) => [viewId(view.name).toString('hex'), view] as const),
  );
  for await (const page of recordsOf(store, prefix)) {
    const histories = page.flatMap((record) => trimmedHistory(record, rules) ?? []);
    const outcomes = await store.swap(histories.map(({ swap }) => swap));
    for (const [i, { events, isEmpty }] of histories.entries()) {
      if (outcomes[i] !== 'stored') continue;
      total.events += events;
      if (isEmpty) total.histories++;
    }
    const rows = page.flatMap((record) => expiredRows(record, views, rules.now));
    const removed = await store.mergeSegments(rows);
    total.feature_rows += removed.filter((outcome) => outcome === 'stored').length;
  }
  return total;
}

/** Undefined if the record is not a history, or nothing is to be changed. */
function trimmedHistory(
  { key, value }: StoreRecord,
  { retention, now }: TrimRules,
): { readonly swap: RecordSwap; readonly events: number; readonly isEmpty: boolean } | undefined {
  if (partsOf(key)?.kind !== 'history') return undefined;
  const history = decodeHistory(value);
  if (history === undefined) return undefined;
  const left = keepEvents(history, (e) => (history.times[e] ?? 0) > now - retention);
  const expires = Math.min(expiryOf(value), newestOf(left, now) + retention);
  const events = history.count - left.count;
  if (events === 0 && expires === expiryOf(value)) return undefined;
  const isEmpty = left.count === 0;
  const after = encodeHistory(left, isEmpty ? now + 1 : expires);
  return { swap: { key, before: value, after }, events, isEmpty };
}

const newestOf = (history: History, now: number): number => history.times[history.count - 1] ?? now;

/** The tombstones that replace expired rows. A row that is pushed meanwhile has a later event time and stays. */
function expiredRows(
  { key, value }: StoreRecord,
  views: ReadonlyMap<string, FeatureView>,
  now: number,
): SegmentWrite[] {
  if (partsOf(key)?.kind !== 'features') return [];
  return segmentsOf(value).flatMap(({ start, eventTime }) => {
    const id = value.subarray(start + 4, start + 12);
    const view = views.get(id.toString('hex'));
    if (view === undefined || view.ttl === null || view.expired === 'stale') return [];
    if (now - eventTime <= view.ttl) return [];
    return [{ key, segment: encodeTombstone(id, eventTime, now + TOMBSTONE_LASTS) }];
  });
}
