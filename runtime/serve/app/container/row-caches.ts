import type { DependencyContainer } from 'tsyringe';
import { LruCache } from '../../../ground/core/lru-cache.js';
import type { OpenReader, RowCache } from '../../../state/readers/view-rows.js';
import type { Lease } from './shared.js';
import { TOKENS } from './tokens.js';

/**
 * Leases the rows that readers keep, by view: those of an earlier generation if its reader reads the same rows.
 * @param hold takes each lease
 */
export async function leaseRowCaches(
  container: DependencyContainer,
  readers: readonly OpenReader[],
  hold: <T>(lease: Lease<T>) => T,
): Promise<ReadonlyMap<string, RowCache>> {
  const kept = container.resolve(TOKENS.keptRows);
  const clock = container.resolve(TOKENS.clock);
  const caches = new Map<string, RowCache>();
  for (const { view, plugin, key } of readers) {
    const cache = view.reader?.cache;
    if (cache === undefined) continue;
    // A module is imported again only if its code has changed, so the same object is the same code.
    const lease = await kept.lease(
      (one) => one.plugin === plugin && one.key === key,
      () => ({ plugin, key, rows: new LruCache(cache.entries, cache.keepMs, clock) }),
    );
    caches.set(view.name, hold(lease).rows);
  }
  return caches;
}
