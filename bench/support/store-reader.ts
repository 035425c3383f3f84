import { atOnce } from '../../runtime/ground/core/pieces.js';
import { setTimeout as delay } from 'node:timers/promises';
import type { Plan } from '../../runtime/request/compile/plan.js';
import type { Frame } from '../../runtime/language/frame/frame.js';
import { BatchRead } from '../../runtime/request/pipeline/hydrate/batch-read.js';
import { Deadline } from '../../runtime/ground/core/deadline.js';
import { fetchFeatures } from '../../runtime/request/pipeline/features/fetch-features.js';
import { fillRequest } from '../../runtime/request/pipeline/request/fill-request.js';
import { hydrate } from '../../runtime/request/pipeline/hydrate/hydrate.js';
import { readRequest, type RankingRequest } from '../../runtime/request/pipeline/request/read-request.js';
import { ResidentSession } from '../../runtime/request/pipeline/hydrate/resident-session.js';
import { OWN_WRITES_ONLY } from '../../runtime/state/store/coherence.js';
import { ResidentTables } from '../../runtime/request/resident/resident-tables.js';
import { redisSettings } from '../../runtime/project/settings/redis-settings.js';
import type { Settings } from '../../runtime/project/settings/settings.js';
import { openEmbeddedStore } from '../../runtime/state/store/embedded/embedded-store.js';
import { LayoutRegistry } from '../../runtime/state/store/layout-registry.js';
import { connectRedisStore } from '../../runtime/state/store/redis/redis-store.js';
import { RedisTracking } from '../../runtime/state/store/redis/tracking.js';
import type { Store } from '../../runtime/state/store/store.js';

/** The first two stages of a plan on a separate store: from candidate ids to filled columns. */
export class StoreReader {
  readonly #plan: Plan;
  readonly #store: Store;
  readonly #layouts: LayoutRegistry;
  readonly #tables: ResidentTables | undefined;

  private constructor(plan: Plan, store: Store, tables: ResidentTables | undefined) {
    this.#plan = plan;
    this.#store = store;
    this.#layouts = new LayoutRegistry(store, plan.prefix);
    this.#tables = tables;
    tables?.start();
  }

  static async open(settings: Settings, plan: Plan, resident: boolean): Promise<StoreReader> {
    if (settings.store === 'embedded') {
      const store = await openEmbeddedStore({ dataDir: settings.dataDir });
      const tables = new ResidentTables([plan], {
        bytes: settings.residentBytes,
        coherence: () => OWN_WRITES_ONLY,
      });
      return new StoreReader(plan, store, resident ? tables : undefined);
    }
    const store = await connectRedisStore(redisSettings(settings));
    const tables = new ResidentTables([plan], {
      bytes: settings.residentBytes,
      coherence: (prefixes) =>
        new RedisTracking(store.masters, { prefixes, leaseMs: settings.residentLeaseMs }),
    });
    return new StoreReader(plan, store, resident ? tables : undefined);
  }

  async untilCurrent(): Promise<void> {
    while (this.#tables?.isCurrent() === false) await delay(5);
  }

  /** Creates a checked request, the argument of `read`. */
  request(ids: readonly string[]): RankingRequest {
    return atOnce(readRequest(this.#plan, { candidates: ids.map((item_id) => ({ item_id })) }, 'r'));
  }

  async read(request: RankingRequest): Promise<{ readonly roundTrips: number; readonly keysRead: number }> {
    return this.#fill(request, () => undefined);
  }

  /** Returns the price, the first and last feature, and the maker's rating of each item. */
  async valuesOf(ids: readonly string[]): Promise<number[][]> {
    const slots = ['item.price', 'item_stats:f00', 'item_stats:f19', 'item.maker.rating'].map((name) =>
      this.#plan.layout.columns.findIndex((column) => column.name === name),
    );
    let values: number[][] = [];
    await this.#fill(this.request(ids), (frame) => {
      values = ids.map((_, row) => slots.map((slot) => frame.number(slot).values[row] ?? NaN));
    });
    return values;
  }

  async #fill(request: RankingRequest, look: (frame: Frame) => void): Promise<BatchRead> {
    const plan = this.#plan;
    const deadline = new Deadline(60_000, undefined);
    const resident = this.#tables && new ResidentSession(this.#tables);
    try {
      const frame = plan.frames.acquire(request.ids.length, Date.now());
      fillRequest(plan, frame, request);
      const batch = new BatchRead(this.#store, deadline);
      const reads = { batch, layouts: this.#layouts, resident };
      await fetchFeatures(plan, frame, await hydrate(plan, frame, request, reads), reads);
      look(frame);
      plan.frames.release(frame);
      return batch;
    } finally {
      resident?.end();
      deadline.end();
    }
  }

  /** Removes items and their makers from the table, like a write from elsewhere. */
  forget(ids: readonly string[], makerOf: ReadonlyMap<string, string>): void {
    const { prefix } = this.#plan;
    this.#tables?.invalidate(
      ids.flatMap((id) => [
        `${prefix}:entity:item:${id}`,
        `${prefix}:features:item:${id}`,
        `${prefix}:entity:maker:${makerOf.get(id) ?? ''}`,
      ]),
    );
  }

  describeTables(): string {
    const states = this.#tables?.states() ?? [];
    return states
      .map(
        ({ type, rows, bytes }) => `${rows} of ${type}, ${(bytes / Math.max(1, rows)).toFixed(0)} bytes each`,
      )
      .join('; ');
  }

  async close(): Promise<void> {
    this.#tables?.close();
    await this.#store.close();
  }
}
