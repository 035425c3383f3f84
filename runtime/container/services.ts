import { pino, type Logger } from 'pino';
import { instanceCachingFactory, type DependencyContainer } from 'tsyringe';
import type { Plan } from '../compile/plan.js';
import type { ProjectConfig } from '../config/model.js';
import { EntityIndex } from '../entities/entity-index.js';
import { NO_SOURCES, type FeatureSources } from '../features/feature-source.js';
import { FeatureStore } from '../features/feature-store.js';
import { OnlineFeatures } from '../features/online-features.js';
import { redisSettings } from '../redis-settings.js';
import type { Settings } from '../settings.js';
import { openEmbeddedStore } from '../store/embedded/embedded-store.js';
import { LayoutRegistry } from '../store/layout-registry.js';
import { connectRedisStore } from '../store/redis/redis-store.js';
import type { Store } from '../store/store.js';
import { watchWrites } from '../store/watched-store.js';
import { createResidentTables } from './resident.js';
import { TOKENS, type Clock } from './tokens.js';

/** Test doubles, in the place of the real thing. */
export interface Overrides {
  readonly store?: Store;
  readonly clock?: Clock;
  readonly logger?: Logger;
}

/**
 * The composition root: every service of the process, the real thing and its double beside each other.
 * @throws MillraceError store_unavailable, data_folder_in_use
 */
export async function registerServices(
  container: DependencyContainer,
  settings: Settings,
  config: ProjectConfig,
  plans: readonly Plan[],
  overrides: Overrides,
): Promise<DependencyContainer> {
  const { prefix } = settings;
  container.register(TOKENS.settings, { useValue: settings });
  container.register(TOKENS.logger, { useValue: overrides.logger ?? pino({ level: settings.logLevel }) });
  container.register(TOKENS.clock, { useValue: overrides.clock ?? Date.now });
  const store = overrides.store ?? (await openStore(settings));
  const resident = createResidentTables(plans, settings, config, store);
  container.register(TOKENS.resident, { useValue: resident });
  container.register(TOKENS.store, {
    useValue: resident.isEmpty ? store : watchWrites(store, (keys) => resident.invalidate(keys)),
  });
  container.register(TOKENS.featureSources, {
    useValue: await openFeatureSources(config.views, settings).catch(async (error: unknown) => {
      await store.close();
      throw error;
    }),
  });
  container.register(TOKENS.layouts, {
    useFactory: instanceCachingFactory((c) => new LayoutRegistry(c.resolve(TOKENS.store), prefix)),
  });
  container.register(TOKENS.entityIndex, {
    useFactory: instanceCachingFactory(
      (c) =>
        new EntityIndex({
          store: c.resolve(TOKENS.store),
          layouts: c.resolve(TOKENS.layouts),
          prefix,
          types: config.entities,
        }),
    ),
  });
  container.register(TOKENS.featureStore, {
    useFactory: instanceCachingFactory(
      (c) =>
        new FeatureStore({
          store: c.resolve(TOKENS.store),
          layouts: c.resolve(TOKENS.layouts),
          prefix,
          views: config.views,
          types: config.entities,
          clock: c.resolve(TOKENS.clock),
        }),
    ),
  });
  container.register(TOKENS.onlineFeatures, {
    useFactory: instanceCachingFactory(
      (c) =>
        new OnlineFeatures({
          store: c.resolve(TOKENS.store),
          layouts: c.resolve(TOKENS.layouts),
          prefix,
          views: config.views,
          types: config.entities,
          sources: c.resolve(TOKENS.featureSources),
          clock: c.resolve(TOKENS.clock),
        }),
    ),
  });
  return container;
}

/** Feature views outside the store; what reads them is loaded by projects alone that have some. */
async function openFeatureSources(
  views: ProjectConfig['views'],
  settings: Settings,
): Promise<FeatureSources> {
  if (![...views.values()].some(({ source }) => source !== undefined)) return NO_SOURCES;
  const { openFeastSources } = await import('../feast/feast-sources.js');
  return openFeastSources(views.values(), redisSettings(settings));
}

/** The engine that the settings name; never the other one in its place. */
function openStore(settings: Settings): Promise<Store> {
  const { store, dataDir, sync } = settings;
  return store === 'redis'
    ? connectRedisStore(redisSettings(settings))
    : openEmbeddedStore({ dataDir, sync });
}
