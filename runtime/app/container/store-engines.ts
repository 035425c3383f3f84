import type { Logger } from 'pino';
import { redisSettings } from '../../settings/redis-settings.js';
import type { Settings } from '../../settings/settings.js';
import { OWN_WRITES_ONLY } from '../../store/coherence.js';
import { openEmbeddedStore } from '../../store/embedded/embedded-store.js';
import { connectRedisStore } from '../../store/redis/redis-store.js';
import { RedisTracking } from '../../store/redis/tracking.js';
import type { Store } from '../../store/store.js';
import type { MakeCoherence } from './tokens.js';

/** A store, and the source of invalidations for writes of other processes. */
export interface StoreEngine {
  readonly store: Store;
  readonly coherence: MakeCoherence;
}

type OpenEngine = (settings: Settings, logger: Logger) => Promise<StoreEngine>;

/** The store engines, by the values of the setting `store`. */
const ENGINES: Readonly<Record<Settings['store'], OpenEngine>> = {
  redis: async (settings, logger) => {
    const warn = (message: string): void => logger.warn(message);
    const store = await connectRedisStore({ ...redisSettings(settings), warn });
    return {
      store,
      coherence: (prefixes) =>
        new RedisTracking(store.masters, { prefixes, leaseMs: settings.residentLeaseMs, warn }),
    };
  },
  embedded: async ({ dataDir, sync }) => onlyWriter(await openEmbeddedStore({ dataDir, sync })),
};

/**
 * Opens the engine that the settings name, and never falls back to another.
 * @throws MillraceError store_unavailable, data_folder_in_use
 */
export function openEngine(settings: Settings, logger: Logger): Promise<StoreEngine> {
  return ENGINES[settings.store](settings, logger);
}

/** A store that no other process writes to. */
export function onlyWriter(store: Store): StoreEngine {
  return { store, coherence: () => OWN_WRITES_ONLY };
}
