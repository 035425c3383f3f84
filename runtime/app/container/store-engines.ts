import type { Logger } from 'pino';
import { redisSettings } from '../../settings/redis-settings.js';
import type { Settings } from '../../settings/settings.js';
import { OWN_WRITES_ONLY } from '../../store/coherence.js';
import { openEmbeddedStore } from '../../store/embedded/embedded-store.js';
import { connectRedisStore } from '../../store/redis/redis-store.js';
import { markerKey } from '../../store/keys.js';
import { serverVersion } from '../../store/redis/server-version.js';
import { RedisTracking } from '../../store/redis/tracking.js';
import type { StoreMonitor } from '../../store/store-monitor.js';
import type { Store } from '../../store/store.js';
import type { MakeCoherence } from './tokens.js';

/** A store, and the source of invalidations for writes of other processes. */
export interface StoreEngine {
  readonly store: Store;
  readonly coherence: MakeCoherence;
  /** Whether other services may use it at the same time. */
  readonly isShared: boolean;
  /** The engine and its version, for people. */
  version(): Promise<string>;
}

type OpenEngine = (
  settings: Settings,
  logger: Logger,
  monitor: StoreMonitor,
  openWithin: number | undefined,
) => Promise<StoreEngine>;

/** The store engines, by the values of the setting `store`. */
const ENGINES: Readonly<Record<Settings['store'], OpenEngine>> = {
  redis: async (settings, logger, observer, openWithin) => {
    const warn = (message: string): void => logger.warn(message);
    const { prefix } = settings;
    const target = redisSettings(settings);
    const limits = { ...target.limits, ...(openWithin === undefined ? {} : { openWithin }) };
    const store = await connectRedisStore({ ...target, limits, warn, observer, prefix });
    return {
      store,
      isShared: true,
      version: () => serverVersion(store.masters),
      coherence: (prefixes) =>
        new RedisTracking(store.masters, {
          prefixes,
          leaseMs: settings.residentLeaseMs,
          // A cluster has one database.
          ...(settings.redisCluster.length > 0 ? {} : { markerKey: markerKey(prefix) }),
          warn,
        }),
    };
  },
  embedded: async ({ dataDir, sync }) => onlyWriter(await openEmbeddedStore({ dataDir, sync })),
};

/**
 * Opens the engine that the settings name. There is no fallback to another engine.
 * @param openWithin how long to try to connect to a server, in milliseconds
 * @throws MillraceError store_unavailable, data_folder_in_use
 */
export function openEngine(
  settings: Settings,
  logger: Logger,
  monitor: StoreMonitor,
  openWithin?: number,
): Promise<StoreEngine> {
  return ENGINES[settings.store](settings, logger, monitor, openWithin);
}

/** A store that no other process writes to. */
export function onlyWriter(store: Store): StoreEngine {
  return {
    store,
    isShared: false,
    coherence: () => OWN_WRITES_ONLY,
    version: () => Promise.resolve('embedded'),
  };
}
