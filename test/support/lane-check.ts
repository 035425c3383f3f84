import { isDeepStrictEqual } from 'node:util';
import { viewLayout } from '../../runtime/state/index/stored-views.js';
import { decodeSegment, segmentsOf, viewId } from '../../runtime/state/store/codec/feature-record.js';
import { featureKey } from '../../runtime/state/store/keys.js';
import type { Store } from '../../runtime/state/store/store.js';
import {
  entityOf,
  IDS_OF_LANE,
  laneServices,
  PREFIX,
  textOf,
  viewOf,
  VIEWS,
  type LaneState,
  type View,
} from './lane-work.js';

/** Describes how a store differs from the expected state of a lane. Returns undefined if it does not differ. */
export async function differenceFrom(
  state: LaneState,
  lane: number,
  store: Store,
): Promise<string | undefined> {
  const ids = Array.from({ length: IDS_OF_LANE }, (_, i) => `${lane}-${i}`);
  const { entities } = await laneServices(store).index.get({ entity_type: 'item', entity_ids: ids });
  const records = await store.read(ids.map((id) => featureKey(PREFIX, 'features', ['item'], [id])));
  for (const [i, id] of ids.entries()) {
    const version = state.entities.get(id);
    const entity = version === undefined ? null : entityOf(id, version);
    if (!sameJson(entities[id], entity)) return differ(`item ${id}`, version, entities[id]);
    const rows = rowsOf(records[i] ?? null);
    for (const view of VIEWS) {
      const row = state.rows.get(id)?.[view];
      const whole = row && { time: row.time, version: row.version, label: textOf(id, row.version) };
      if (!sameJson(rows[view], whole)) return differ(`${view} of ${id}`, row, rows[view]);
    }
  }
  return undefined;
}

/** Returns the rows of a record, by view. A duplicate view is an error, because no write creates it. */
function rowsOf(record: Buffer | null): Partial<Record<View, unknown>> {
  const rows: Partial<Record<View, unknown>> = {};
  if (record === null) return rows;
  for (const segment of segmentsOf(record)) {
    const id = record.subarray(segment.start + 4, segment.start + 12);
    const view = VIEWS.find((name) => viewId(name).equals(id));
    if (view === undefined || view in rows) throw new Error('a record has a segment that was never written');
    const features = decodeSegment(record, segment, viewLayout(viewOf(view)));
    rows[view] = { time: segment.eventTime, ...features };
  }
  return rows;
}

function sameJson(a: unknown, b: unknown): boolean {
  const plain = (value: unknown): unknown =>
    value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);
  return isDeepStrictEqual(plain(a), plain(b));
}

function differ(what: string, expected: unknown, found: unknown): string {
  const shown = (value: unknown): string => JSON.stringify({ value }).slice(9, 160);
  return `${what}: expected ${shown(expected)}, found ${shown(found)}`;
}
