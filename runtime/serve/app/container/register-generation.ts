import 'reflect-metadata'; // tsyringe requires this import before any of its own modules is loaded
import { instanceCachingFactory, type DependencyContainer } from 'tsyringe';
import { allLevels, type Plan } from '../../../request/compile/plan.js';
import type { ProjectConfig } from '../../../project/config/model/project.js';
import { IdHasher } from '../../../ground/core/id-hasher.js';
import { describeError } from '../../../ground/core/describe-error.js';
import { followGenerations } from '../../../state/counters/generation-record.js';
import { Generations } from '../../../state/counters/generations.js';
import { Cards } from '../../../state/index/cards.js';
import { ConditionColumns } from '../../../state/index/condition-columns.js';
import { EntityIndex } from '../../../state/index/entity-index.js';
import { eventTimesOf } from '../../../project/settings/feature-settings.js';
import { NO_SOURCES, type FeatureSources, type ReadReport } from '../../../state/index/feature-source.js';
import { ReaderSources } from '../../../state/readers/reader-sources.js';
import { Scans } from '../../../state/index/export/scans.js';
import { FeatureStore } from '../../../state/index/feature-store.js';
import type { StoreParts } from '../../../state/index/store-parts.js';
import { FeastWrites } from '../../../state/index/feast-writes.js';
import { OnlineFeatures } from '../../../state/index/online-features.js';
import { EventCounts } from '../../feedback/count-events.js';
import { Feedback } from '../../feedback/feedback.js';
import { Forget } from '../../../state/privacy/forget.js';
import { historyNeedsOf } from '../../feedback/history-needs.js';
import { openEventCodes } from '../../../state/store/event-codes.js';
import { redisSettings } from '../../../project/settings/redis-settings.js';
import type { Settings } from '../../../project/settings/settings.js';
import type { CompiledProject } from '../project/compile-project.js';
import { ReadLog } from '../project/held-log.js';
import { followEntities, leasing } from './follow-entities.js';
import { leaseResidentTables } from './resident.js';
import { leaseRowCaches } from './row-caches.js';
import type { Lease } from './shared.js';
import { TOKENS, type OpenSources } from './tokens.js';

/**
 * Registers the services of one generation of the project in a child of the process's container.
 * @returns a function that releases the services that the generation shares with others
 * @throws MillraceError store_unavailable if a source of features does not answer; invalid_setting
 */
export async function registerGeneration(
  container: DependencyContainer,
  config: ProjectConfig,
  plans: readonly Plan[],
  { kept, readers }: Pick<CompiledProject, 'kept' | 'readers'> = { kept: [], readers: [] },
): Promise<() => Promise<void>> {
  const settings = container.resolve(TOKENS.settings);
  const releases: (() => unknown)[] = [];
  const release = async (): Promise<void> => {
    await Promise.all(releases.splice(0).map((one) => one()));
  };
  const hold = <T>(lease: Lease<T>): T => {
    releases.push(() => lease.release());
    return lease.value;
  };
  try {
    const { sources: others } = hold(await leaseSources(container, config.views, settings));
    const clock = container.resolve(TOKENS.clock);
    const caches = await leaseRowCaches(container, readers, hold);
    const sources = new ReaderSources({ readers, caches, others, clock, onRead: readObserver(container) });
    const store = container.resolve(TOKENS.store);
    const codes = await openEventCodes(store, settings.prefix, config.events.keys());
    const resident = hold(await leaseResidentTables(container, plans, settings, config));
    container.register(TOKENS.featureSources, { useValue: sources });
    container.register(TOKENS.resident, { useValue: resident });
    container.register(TOKENS.eventCodes, { useValue: codes });
    const generations = new Generations();
    releases.push(await follow(container, generations, config, plans));
    resident.follow(generations);
    await followEntities(container, kept, hold);
    const columns = new ConditionColumns(leasing(container));
    container.register(TOKENS.conditionColumns, { useValue: columns });
    releases.push(() => columns.close());
    registerData(container, config);
    registerOnline(container, config);
    registerFeedback(container, config, plans, generations);
  } catch (error) {
    await release();
    throw error;
  }
  return release;
}

/** Counts reads of readers, and logs those that fail. */
function readObserver(container: DependencyContainer): (report: ReadReport) => void {
  const metrics = container.resolve(TOKENS.metrics);
  const failures = new ReadLog(container.resolve(TOKENS.logger));
  return (report) => {
    metrics.readView(report);
    failures.report(report);
  };
}

/** Follows the generations of counters, if the project has counters. @returns a function that ends it */
async function follow(
  container: DependencyContainer,
  generations: Generations,
  { counters }: ProjectConfig,
  plans: readonly Plan[],
): Promise<() => void> {
  if (counters.size === 0) return () => undefined;
  for (const plan of plans)
    for (const { features } of allLevels(plan))
      for (const read of features) read.counters?.follow(generations);
  const { prefix } = container.resolve(TOKENS.settings);
  const logger = container.resolve(TOKENS.logger);
  return followGenerations(generations, container.resolve(TOKENS.store), prefix, (error) => {
    logger.warn({ error: describeError(error) }, 'the generations of counters could not be read');
  });
}

/** Registers the services that store entities and features: they need only the schemas. */
export function registerData(
  container: DependencyContainer,
  { entities: types, views, pipelines }: Pick<ProjectConfig, 'entities' | 'views' | 'pipelines'>,
): void {
  const settings = container.resolve(TOKENS.settings);
  const { prefix } = settings;
  const lax: Pick<StoreParts, 'isLax' | 'onCoerced'> = {
    isLax: settings.accept === 'lax',
    onCoerced: (body, values) => container.resolve(TOKENS.metrics).coerced(body, values),
  };
  container.register(TOKENS.entityIndex, {
    useFactory: instanceCachingFactory(
      (c) =>
        new EntityIndex({
          store: c.resolve(TOKENS.store),
          layouts: c.resolve(TOKENS.layouts),
          prefix,
          types,
          ...lax,
        }),
    ),
  });
  container.register(TOKENS.cards, {
    useFactory: instanceCachingFactory((c) => {
      const index = c.resolve(TOKENS.entityIndex);
      return new Cards(
        async (type, ids) => (await index.get({ entity_type: type, entity_ids: ids })).entities,
        types,
        settings.imageHosts,
      );
    }),
  });
  container.register(TOKENS.featureStore, {
    useFactory: instanceCachingFactory(
      (c) =>
        new FeatureStore({
          store: c.resolve(TOKENS.store),
          layouts: c.resolve(TOKENS.layouts),
          prefix,
          views,
          types,
          ...lax,
          eventTimes: eventTimesOf(settings),
          ledger: c.resolve(TOKENS.ledger),
          hasher: hasherOf(settings, pipelines),
          clock: c.resolve(TOKENS.clock),
        }),
    ),
  });
  container.register(TOKENS.feastWrites, {
    useFactory: instanceCachingFactory(
      (c) => new FeastWrites({ features: c.resolve(TOKENS.featureStore), views, types }),
    ),
  });
  container.register(TOKENS.scans, {
    useFactory: instanceCachingFactory(
      (c) =>
        new Scans({
          store: c.resolve(TOKENS.store),
          layouts: c.resolve(TOKENS.layouts),
          prefix,
          views,
          types,
        }),
    ),
  });
  container.register(TOKENS.forget, {
    useFactory: instanceCachingFactory((c) => {
      const { ledgerDir: folder, idSalt } = c.resolve(TOKENS.settings);
      return new Forget({ store: c.resolve(TOKENS.store), prefix, views, types, ledger: { folder, idSalt } });
    }),
  });
}

/** Registers the reads of features. The sources of features must be registered. */
export function registerOnline(
  container: DependencyContainer,
  { entities: types, views }: Pick<ProjectConfig, 'entities' | 'views'>,
): void {
  const { prefix, onlineMs } = container.resolve(TOKENS.settings);
  container.register(TOKENS.onlineFeatures, {
    useFactory: instanceCachingFactory(
      (c) =>
        new OnlineFeatures({
          store: c.resolve(TOKENS.store),
          layouts: c.resolve(TOKENS.layouts),
          prefix,
          views,
          types,
          sources: c.resolve(TOKENS.featureSources),
          clock: c.resolve(TOKENS.clock),
          limitMs: onlineMs,
        }),
    ),
  });
}

function registerFeedback(
  container: DependencyContainer,
  { entities: types, pipelines, events, counters }: ProjectConfig,
  plans: readonly Plan[],
  generations: Generations,
): void {
  const settings = container.resolve(TOKENS.settings);
  const { acknowledge, prefix, oldestEventTime, historyRetention, counterHorizon } = settings;
  container.register(TOKENS.feedback, {
    useFactory: instanceCachingFactory(
      (c) =>
        new Feedback({
          store: c.resolve(TOKENS.store),
          layouts: c.resolve(TOKENS.layouts),
          prefix,
          types,
          kinds: events,
          codes: c.resolve(TOKENS.eventCodes),
          needs: historyNeedsOf(plans, c.resolve(TOKENS.eventCodes), historyRetention),
          oldestEvent: oldestEventTime,
          acknowledge,
          ledger: c.resolve(TOKENS.ledger),
          hasher: hasherOf(settings, pipelines),
          clock: c.resolve(TOKENS.clock),
          ...(counters.size === 0
            ? {}
            : {
                counts: new EventCounts({
                  counters,
                  generations,
                  types,
                  prefix,
                  layouts: c.resolve(TOKENS.layouts),
                  horizon: counterHorizon,
                  clock: c.resolve(TOKENS.clock),
                }),
              }),
        }),
    ),
  });
}

/** Replaces ids in the records of feedback and of rows: those that the records of any pipeline hide. */
function hasherOf(
  { hashIds, idSalt }: Pick<Settings, 'hashIds' | 'idSalt'>,
  pipelines: ProjectConfig['pipelines'],
): IdHasher {
  const hidden = pipelines.flatMap(({ log }) => [...(log?.hash.keys() ?? [])]);
  return new IdHasher(idSalt, new Set([...hashIds, ...hidden]));
}

/** Opens the feature views outside the store. Their client is loaded only for projects that have such views. */
export async function openSourcesOf(
  views: ProjectConfig['views'],
  settings: Settings,
): Promise<FeatureSources> {
  if (![...views.values()].some(({ source }) => source !== undefined)) return NO_SOURCES;
  const { openFeastSources } = await import('../../../state/feast/feast-sources.js');
  return await openFeastSources(views.values(), redisSettings(settings));
}

/** Leases the feature views outside the store. */
async function leaseSources(
  container: DependencyContainer,
  views: ProjectConfig['views'],
  settings: Settings,
): Promise<Lease<OpenSources>> {
  const urls = new Set(Array.from(views.values()).flatMap(({ source }) => (source ? [source.url] : [])));
  const servers = [...urls]
    .map((url) => url ?? '')
    .sort()
    .join(' ');
  return container.resolve(TOKENS.openSources).lease(
    (open) => open.servers === servers,
    async () => {
      return { servers, sources: await openSourcesOf(views, settings) };
    },
  );
}
