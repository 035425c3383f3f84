import type { Logger } from 'pino';
import type { StoreEnginePlugin } from '../../../ground/api/store-engine.js';
import { MillraceError } from '../../../ground/api/errors.js';
import { redisSettings } from '../../../project/settings/redis-settings.js';
import { PROJECT_FILE } from '../../../project/settings/setting-origin.js';
import { nameOf, type Settings } from '../../../project/settings/settings.js';
import {
  isOwnEngine,
  traitsOf,
  type EngineTraits,
  type OwnEngine,
} from '../../../project/settings/store-engines.js';
import { NO_NEWS, OWN_WRITES_ONLY } from '../../../state/store/coherence.js';
import { EngineAdapter, engineFaults } from '../../../state/store/engine-adapter.js';
import { openEmbeddedStore } from '../../../state/store/embedded/embedded-store.js';
import { connectRedisStore } from '../../../state/store/redis/redis-store.js';
import { markerKey } from '../../../state/store/keys.js';
import { serverVersion } from '../../../state/store/redis/server-version.js';
import { RedisTracking } from '../../../state/store/redis/tracking.js';
import type { StoreMonitor } from '../../../state/store/store-monitor.js';
import type { Store } from '../../../state/store/store.js';
import { findStoreEngine } from '../plugins/find-store-engine.js';
import { firstLine } from '../plugins/first-line.js';
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

/** The store engines of Millrace itself, by the values of the setting `store`. */
const ENGINES: Readonly<Record<OwnEngine, OpenEngine>> = {
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
 * @throws MillraceError store_unavailable, data_folder_in_use; invalid_setting if there is no such engine
 */
export function openEngine(
  settings: Settings,
  logger: Logger,
  monitor: StoreMonitor,
  openWithin?: number,
): Promise<StoreEngine> {
  const { store } = settings;
  return isOwnEngine(store)
    ? ENGINES[store](settings, logger, monitor, openWithin)
    : openPackagedEngine(settings, logger);
}

/**
 * What the engine of the settings can do. Nothing is opened.
 * @throws MillraceError invalid_setting if there is no such engine
 */
export async function engineTraits(settings: Settings): Promise<EngineTraits> {
  const { store } = settings;
  return isOwnEngine(store) ? traitsOf(store) : traitsOf(store, (await packagedEngine(settings)).isShared);
}

/** Opens an engine that a package of the project brings. */
async function openPackagedEngine(settings: Settings, logger: Logger): Promise<StoreEngine> {
  const { store: name, dataDir } = settings;
  const plugin = await packagedEngine(settings);
  const warn = (message: string): void => logger.warn({ store: name }, message);
  const opened = await plugin
    .open({ dataDir, env: (variable) => process.env[variable], warn })
    .catch((error: unknown) => {
      throw new MillraceError(
        'store_unavailable',
        `the store ${name} cannot be opened: ${firstLine(error)}`,
        {
          cause: error,
        },
      );
    });
  const faults = engineFaults(opened);
  if (faults.length > 0)
    throw new MillraceError('invalid_setting', `the store ${name} has no ${faults.join(', no ')}`);
  const store = new EngineAdapter(opened);
  if (plugin.isShared !== true) return onlyWriter(store, name);
  return { store, isShared: true, coherence: () => NO_NEWS, version: () => Promise.resolve(name) };
}

async function packagedEngine(settings: Settings): Promise<StoreEnginePlugin> {
  const { store: name, project, linkedFolders } = settings;
  const plugin = await findStoreEngine(name, project, linkedFolders);
  if (plugin !== undefined) return plugin;
  throw new MillraceError(
    'invalid_setting',
    `${nameOf('store', settings)} is ${name}: no package under \`plugins:\` in ${PROJECT_FILE} has such an engine`,
  );
}

/** A store that no other process writes to. */
export function onlyWriter(store: Store, engine = 'embedded'): StoreEngine {
  return {
    store,
    isShared: false,
    coherence: () => OWN_WRITES_ONLY,
    version: () => Promise.resolve(engine),
  };
}
