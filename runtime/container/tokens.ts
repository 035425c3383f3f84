import type { InjectionToken } from 'tsyringe';
import type { Logger } from 'pino';
import type { EntityIndex } from '../entities/entity-index.js';
import type { FeatureSources } from '../features/feature-source.js';
import type { FeatureStore } from '../features/feature-store.js';
import type { OnlineFeatures } from '../features/online-features.js';
import type { ResidentTables } from '../resident/resident-tables.js';
import type { Settings } from '../settings.js';
import type { LayoutRegistry } from '../store/layout-registry.js';
import type { Store } from '../store/store.js';

/** Everything that the container wires, by explicit token. */
export const TOKENS = {
  settings: token<Settings>('settings'),
  logger: token<Logger>('logger'),
  clock: token<Clock>('clock'),
  store: token<Store>('store'),
  layouts: token<LayoutRegistry>('layouts'),
  resident: token<ResidentTables>('resident tables'),
  entityIndex: token<EntityIndex>('entity index'),
  featureStore: token<FeatureStore>('feature store'),
  featureSources: token<FeatureSources>('feature sources'),
  onlineFeatures: token<OnlineFeatures>('online features'),
} as const;

/** Epoch milliseconds. */
export type Clock = () => number;

function token<T>(name: string): InjectionToken<T> {
  return Symbol(name);
}
