import type { DependencyContainer, InjectionToken } from 'tsyringe';
import type { Logger } from 'pino';
import type { EntityIndex } from '../../index/entity-index.js';
import type { Scans } from '../../index/export/scans.js';
import type { FeatureSources } from '../../index/feature-source.js';
import type { FeatureStore } from '../../index/feature-store.js';
import type { OnlineFeatures } from '../../index/online-features.js';
import type { Feedback } from '../../feedback/feedback.js';
import type { HttpMetrics } from '../../metrics/http-metrics.js';
import type { Coherence } from '../../store/coherence.js';
import type { ResidentTables } from '../../resident/resident-tables.js';
import type { Settings } from '../../settings/settings.js';
import type { LayoutRegistry } from '../../store/layout-registry.js';
import type { Store } from '../../store/store.js';
import type { Shared } from './shared.js';

/**
 * Everything that the container wires, by explicit token: first what lives as long as the process, then what lives as long
 * as a generation of the project.
 */
export const TOKENS = {
  settings: token<Settings>('settings'),
  logger: token<Logger>('logger'),
  clock: token<Clock>('clock'),
  metrics: token<HttpMetrics>('metrics'),
  store: token<Store>('store'),
  layouts: token<LayoutRegistry>('layouts'),
  coherence: token<MakeCoherence>('coherence'),
  residentTables: token<Shared<ResidentTables>>('resident tables of all generations'),
  openSources: token<Shared<OpenSources>>('feature sources of all generations'),
  featureSources: token<FeatureSources>('feature sources'),
  resident: token<ResidentTables>('resident tables'),
  entityIndex: token<EntityIndex>('entity index'),
  featureStore: token<FeatureStore>('feature store'),
  scans: token<Scans>('scans'),
  onlineFeatures: token<OnlineFeatures>('online features'),
  feedback: token<Feedback>('feedback'),
} as const;

/** Holds services by token; a child of it finds those of its parent too. */
export type Container = DependencyContainer;

/** Feature sources, and the servers that they are read from, as one text. */
export interface OpenSources {
  readonly servers: string;
  readonly sources: FeatureSources;
}

/** Makes what keeps tables true to the store, given the starts of the keys that they are filled from. */
export type MakeCoherence = (keyPrefixes: readonly string[]) => Coherence;

/** Epoch milliseconds. */
export type Clock = () => number;

function token<T>(name: string): InjectionToken<T> {
  return Symbol(name);
}
