import type { DependencyContainer, InjectionToken } from 'tsyringe';
import type { Logger } from 'pino';
import type { ServedKeys } from '../../access/served-keys.js';
import type { Comparisons } from '../../compare/comparisons.js';
import type { LiveInstances } from '../live-instances.js';
import type { Cards } from '../../../state/index/cards.js';
import type { Invitations } from '../../access/invitations.js';
import type { PreviewLinks } from '../../access/preview-links.js';
import type { Sessions } from '../../access/sessions.js';
import type { ConditionColumns } from '../../../state/index/condition-columns.js';
import type { EntityFollower } from '../../../state/index/entity-follower.js';
import type { EntityIndex } from '../../../state/index/entity-index.js';
import type { ServiceSchemas } from '../../../state/index/service-schemas.js';
import type { Scans } from '../../../state/index/export/scans.js';
import type { FeastWrites } from '../../../state/index/feast-writes.js';
import type { FeatureSources } from '../../../state/index/feature-source.js';
import type { FeatureStore } from '../../../state/index/feature-store.js';
import type { OnlineFeatures } from '../../../state/index/online-features.js';
import type { Feedback } from '../../feedback/feedback.js';
import type { Forget } from '../../../state/privacy/forget.js';
import type { Admission } from '../../http/admission/admission.js';
import type { Edge } from '../../http/edge/edge.js';
import type { BodyMemory } from '../../http/bodies/body-memory.js';
import type { ReaderPlugin } from '../../../ground/api/reader.js';
import type { RowCache } from '../../../state/readers/view-rows.js';
import type { Instance } from '../../http/instance.js';
import type { HttpServices } from '../../http/services.js';
import type { Trials } from '../project/trials.js';
import type { HttpMetrics } from '../../metrics/http-metrics.js';
import type { Coherence } from '../../../state/store/coherence.js';
import type { ResidentTables } from '../../../request/resident/resident-tables.js';
import type { Stops } from '../../../request/experiments/stops.js';
import type { Ledger } from '../../../state/ledger/ledger.js';
import type { Settings } from '../../../project/settings/settings.js';
import type { Tracing } from '../../../project/tracing/tracing.js';
import type { LayoutRegistry } from '../../../state/store/layout-registry.js';
import type { StoreMonitor } from '../../../state/store/store-monitor.js';
import type { EventCodes } from '../../../state/store/event-codes.js';
import type { Store } from '../../../state/store/store.js';
import type { Shared } from './shared.js';

/**
 * The tokens of all services in the container: first those that live as long as the process, then those that live as long
 * as a generation of the project.
 */
export const TOKENS = {
  settings: token<Settings>('settings'),
  logger: token<Logger>('logger'),
  /** Undefined if there are no audit lines. */
  auditLog: token<Logger | undefined>('audit log'),
  clock: token<Clock>('clock'),
  metrics: token<HttpMetrics>('metrics'),
  admission: token<Admission>('admission'),
  edge: token<Edge>('edge'),
  bodyMemory: token<BodyMemory>('memory of bodies'),
  instance: token<Instance>('instance'),
  /** Undefined if requests need no key. */
  keys: token<ServedKeys | undefined>('keys'),
  invitations: token<Invitations>('invitations'),
  sessions: token<Sessions>('sessions'),
  previewLinks: token<PreviewLinks>('previewLinks'),
  /** Undefined if requests are not traced. */
  tracing: token<Tracing | undefined>('tracing'),
  ledger: token<Ledger>('ledger'),
  /** The experiments that were stopped; undefined if the process serves no experiments. */
  stops: token<Stops | undefined>('stopped experiments'),
  live: token<LiveInstances>('live instances'),
  /** Undefined if the process compares nothing. */
  comparisons: token<Comparisons | undefined>('comparisons'),
  /** Pipelines with open params, in a process whose plans have fixed ones. */
  trials: token<Trials>('trials of params'),
  /** The last projects that were served; undefined if the process keeps none. */
  releases: token<HttpServices['releases']>('releases'),
  /** See `HttpServices`. */
  watched: token<HttpServices['watched']>('watch of rankings'),
  store: token<Store>('store'),
  storeMonitor: token<StoreMonitor>('store monitor'),
  /** Undefined if no other service can use the store. */
  serviceSchemas: token<ServiceSchemas | undefined>('schemas of all services'),
  layouts: token<LayoutRegistry>('layouts'),
  coherence: token<MakeCoherence>('coherence'),
  residentTables: token<Shared<ResidentTables>>('resident tables of all generations'),
  followers: token<Shared<EntityFollower>>('kept entities of all generations'),
  conditionColumns: token<ConditionColumns>('what conditions of requests read of entities'),
  openSources: token<Shared<OpenSources>>('feature sources of all generations'),
  keptRows: token<Shared<KeptRows>>('rows that readers keep, of all generations'),
  featureSources: token<FeatureSources>('feature sources'),
  resident: token<ResidentTables>('resident tables'),
  entityIndex: token<EntityIndex>('entity index'),
  cards: token<Cards>('cards'),
  featureStore: token<FeatureStore>('feature store'),
  feastWrites: token<FeastWrites>('writes of Feast clients'),
  scans: token<Scans>('scans'),
  onlineFeatures: token<OnlineFeatures>('online features'),
  eventCodes: token<EventCodes>('codes of the kinds of feedback'),
  feedback: token<Feedback>('feedback'),
  forget: token<Forget>('forget'),
} as const;

/** Holds services by token; a child also finds those of its parent. */
export type Container = DependencyContainer;

/** Feature sources, and their server addresses joined into one text. */
export interface OpenSources {
  readonly servers: string;
  readonly sources: FeatureSources;
}

/** The rows that one reader keeps, for every generation that reads the same rows with the same code. */
export interface KeptRows {
  readonly plugin: ReaderPlugin;
  readonly key: string;
  readonly rows: RowCache;
}

/** Creates the source of invalidations for tables, given the prefixes of their keys. */
export type MakeCoherence = (keyPrefixes: readonly string[]) => Coherence;

/** Epoch milliseconds. */
export type Clock = () => number;

function token<T>(name: string): InjectionToken<T> {
  return Symbol(name);
}
