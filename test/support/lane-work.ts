import type { FeatureView } from '../../runtime/project/config/model/views.js';
import { EntityIndex } from '../../runtime/state/index/entity-index.js';
import { FeatureStore } from '../../runtime/state/index/feature-store.js';
import { KnownLayouts } from '../../runtime/state/store/codec/known-layouts.js';
import { LayoutRegistry } from '../../runtime/state/store/layout-registry.js';
import type { Store } from '../../runtime/state/store/store.js';
import { random } from '../../bench/support/catalogue.js';
import { ANY_EVENT_TIME } from './any-event-time.js';
import { entityType, featureView } from './entity-types.js';

/**
 * Work for a store that is killed. Lanes write concurrently, each to its own ids and one write at a time. The content
 * of the n-th write of a lane depends only on its number. The number of acknowledged writes therefore determines what
 * the store must contain.
 */

export const LANES = 6;
export const IDS_OF_LANE = 120;
export const PREFIX = 'lane';
export const VIEWS = ['clicks', 'orders'] as const;

export type View = (typeof VIEWS)[number];

/**
 * The expected content of a lane's ids: the version of each entity, and for each view the row with the latest event
 * time.
 */
export interface LaneState {
  readonly entities: Map<string, number>;
  readonly rows: Map<string, Partial<Record<View, { readonly time: number; readonly version: number }>>>;
}

const TEXT = { kind: 'string' } as const;
const NUMBER = { kind: 'float' } as const;

type Write =
  | { readonly kind: 'upload'; readonly ids: readonly string[] }
  | { readonly kind: 'delete'; readonly ids: readonly string[] }
  | {
      readonly kind: 'push';
      readonly view: View;
      readonly rows: readonly { readonly id: string; readonly time: number }[];
    };

export interface LaneServices {
  readonly index: EntityIndex;
  readonly features: FeatureStore;
}

/** Returns the declaration of one of the two views, which share a record. */
export function viewOf(name: View): FeatureView {
  return featureView(name, ['item'], { version: NUMBER, label: TEXT });
}

export function laneServices(store: Store): LaneServices {
  const types = new Map([['item', entityType('item', { title: TEXT, version: NUMBER })]]);
  const views = new Map(VIEWS.map((name) => [name, viewOf(name)]));
  const layouts = new LayoutRegistry(store, PREFIX, new KnownLayouts());
  return {
    index: new EntityIndex({ store, layouts, prefix: PREFIX, types }),
    features: new FeatureStore({ store, layouts, prefix: PREFIX, views, types, eventTimes: ANY_EVENT_TIME }),
  };
}

function writeOf(lane: number, number: number): Write {
  const next = random(lane * 1_000_003 + number);
  const among = (count: number): string[] => {
    const first = Math.floor(next() * IDS_OF_LANE);
    return Array.from({ length: count }, (_, i) => `${lane}-${(first + i) % IDS_OF_LANE}`);
  };
  const kind = next();
  if (kind < 0.5) return { kind: 'upload', ids: among(1 + Math.floor(next() * 60)) };
  if (kind < 0.65) return { kind: 'delete', ids: among(1 + Math.floor(next() * 20)) };
  const view = VIEWS[next() < 0.5 ? 0 : 1];
  // Some rows are older than the stored rows, and must not replace them.
  const rows = among(1 + Math.floor(next() * 40)).map((id) => ({
    id,
    time: number + 1 + Math.floor(next() * 20),
  }));
  return { kind: 'push', view, rows };
}

/** Repeats the version throughout the entity, so that a mixture of two versions is visible. */
export function textOf(id: string, version: number): string {
  return `${id}/${version} `.repeat(5 + ((version * 7) % 120));
}

/** Executes the n-th write of a lane. Resolves when the store has acknowledged it. */
export async function doWrite(
  { index, features }: LaneServices,
  lane: number,
  number: number,
): Promise<void> {
  const write = writeOf(lane, number);
  switch (write.kind) {
    case 'upload': {
      const entities = write.ids.map((id) => entityOf(id, number));
      await index.upload({ entity_type: 'item', entities });
      return;
    }
    case 'delete':
      await index.remove({ entity_type: 'item', entity_ids: write.ids });
      return;
    case 'push': {
      const rows = write.rows.map(({ id, time }) => ({
        item_id: id,
        event_time: time,
        version: number,
        label: textOf(id, number),
      }));
      await features.push({ view: write.view, rows });
    }
  }
}

export function entityOf(id: string, version: number): { [name: string]: string | number | number[] } {
  return { item_id: id, title: textOf(id, version), version, undeclared: [version, version] };
}

/** Returns the expected content of a lane's ids after its first `count` writes. */
export function stateAfter(
  lane: number,
  count: number,
  from?: { state: LaneState; count: number },
): LaneState {
  const state: LaneState = {
    entities: new Map(from?.state.entities),
    rows: new Map(Array.from(from?.state.rows ?? [], ([id, views]) => [id, { ...views }])),
  };
  for (let number = from?.count ?? 0; number < count; number++) {
    const write = writeOf(lane, number);
    if (write.kind === 'upload') for (const id of write.ids) state.entities.set(id, number);
    else if (write.kind === 'delete') for (const id of write.ids) state.entities.delete(id);
    else {
      for (const { id, time } of write.rows) {
        const views = state.rows.get(id) ?? {};
        if ((views[write.view]?.time ?? -Infinity) <= time) views[write.view] = { time, version: number };
        state.rows.set(id, views);
      }
    }
  }
  return state;
}
