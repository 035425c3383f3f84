import 'reflect-metadata'; // tsyringe requires this import before any of its own modules is loaded
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { instanceCachingFactory, type DependencyContainer } from 'tsyringe';
import type { ServedKeys } from '../../access/served-keys.js';
import { Invitations, type InvitationParts } from '../../access/invitations.js';
import { PreviewLinks } from '../../access/preview-links.js';
import { ProxySignIn } from '../../access/proxy-sign-in.js';
import { Sessions } from '../../access/sessions.js';
import { Comparisons, type LoadComparer } from '../../compare/comparisons.js';
import { Admission } from '../../http/admission/admission.js';
import { AdmissionMetrics } from '../../metrics/admission-metrics.js';
import { Edge } from '../../http/edge/edge.js';
import { BodyMemory } from '../../http/bodies/body-memory.js';
import { Stops } from '../../../request/experiments/stops.js';
import type { EntityFollower } from '../../../state/index/entity-follower.js';
import { Instance } from '../../http/instance.js';
import { NO_LEDGER, type Ledger } from '../../../state/ledger/ledger.js';
import { ServiceSchemas } from '../../../state/index/service-schemas.js';
import { EdgeMetrics } from '../../metrics/edge-metrics.js';
import { HttpMetrics } from '../../metrics/http-metrics.js';
import type { ResidentTables } from '../../../request/resident/resident-tables.js';
import type { Settings } from '../../../project/settings/settings.js';
import { sharedSettings } from '../../../project/settings/shared-settings.js';
import { LayoutRegistry } from '../../../state/store/layout-registry.js';
import { StoreMonitor } from '../../../state/store/store-monitor.js';
import type { Store } from '../../../state/store/store.js';
import type { Tracing } from '../../../project/tracing/tracing.js';
import { watchWrites } from '../../../state/store/around.js';
import { InstanceBoard } from '../../../state/instances/instance-board.js';
import { LiveInstances } from '../live-instances.js';
import { Shared } from './shared.js';
import { onlyWriter, openEngine } from './store-engines.js';
import { openAudit, openLog } from '../process/open-log.js';
import { Trials } from '../project/trials.js';
import { TOKENS, type Clock, type KeptRows, type OpenSources } from './tokens.js';

/** The overrides of a caller: test doubles, and the state of the process. */
export interface Overrides {
  readonly store?: Store;
  /** Returns the store that the services use, given the one that was opened. It closes that one. */
  readonly layer?: (store: Store) => Store;
  readonly clock?: Clock;
  readonly logger?: Logger;
  readonly instance?: Instance;
  /** The keys that requests need; undefined if they need none. */
  readonly keys?: ServedKeys | undefined;
  readonly tracing?: Tracing | undefined;
  /** Where requests are recorded; by default nowhere. */
  readonly ledger?: Ledger | undefined;
  /** Whether requests take part in experiments. By default not. */
  readonly experiments?: boolean;
  /** Loads what runs comparisons, which take time from what the process answers. By default it runs none. */
  readonly compares?: LoadComparer;
}

/**
 * Registers the services that live as long as the process, each next to its test double. `registerGeneration` registers
 * the services of one generation of the project.
 * @throws MillraceError store_unavailable, data_folder_in_use
 */
export async function registerServices(
  container: DependencyContainer,
  settings: Settings,
  overrides: Overrides,
): Promise<DependencyContainer> {
  container.register(TOKENS.settings, { useValue: settings });
  const logger = overrides.logger ?? openLog(settings);
  container.register(TOKENS.logger, { useValue: logger });
  container.register(TOKENS.auditLog, {
    useFactory: instanceCachingFactory(() => openAudit(settings, logger)),
  });
  container.register(TOKENS.clock, { useValue: overrides.clock ?? Date.now });
  container.register(TOKENS.metrics, {
    useFactory: instanceCachingFactory(() => new HttpMetrics(new Registry())),
  });
  container.register(TOKENS.admission, {
    useFactory: instanceCachingFactory((c) => {
      const metrics = new AdmissionMetrics(c.resolve(TOKENS.metrics).registry);
      const admission = new Admission(settings, metrics);
      metrics.watch(admission);
      return admission;
    }),
  });
  container.register(TOKENS.edge, {
    useFactory: instanceCachingFactory(
      (c) => new Edge(settings, new EdgeMetrics(c.resolve(TOKENS.metrics).registry)),
    ),
  });
  container.register(TOKENS.bodyMemory, { useValue: new BodyMemory(settings.bodyMemory) });
  container.register(TOKENS.instance, { useValue: overrides.instance ?? new Instance() });
  container.register(TOKENS.keys, { useFactory: () => overrides.keys });
  // A factory, because tsyringe takes no undefined value.
  container.register(TOKENS.tracing, { useFactory: () => overrides.tracing });
  container.register(TOKENS.ledger, { useValue: overrides.ledger ?? NO_LEDGER });
  registerComparisons(container, overrides);
  registerNoGuards(container);
  const written = registerListeners(container);
  registerSources(container);
  const monitor = new StoreMonitor(logger);
  container.register(TOKENS.storeMonitor, { useValue: monitor });
  const {
    store: opened,
    coherence,
    isShared,
  } = overrides.store === undefined
    ? await openEngine(settings, logger, monitor)
    : onlyWriter(overrides.store);
  const store = overrides.layer?.(opened) ?? opened;
  container.register(TOKENS.coherence, { useValue: coherence });
  container.register(TOKENS.store, {
    useValue: watchWrites(store, written),
  });
  registerPeople(container, settings, overrides);
  const stops =
    overrides.experiments === true ? new Stops(container.resolve(TOKENS.store), settings.prefix) : undefined;
  container.register(TOKENS.stops, { useFactory: () => stops });
  container.register(TOKENS.layouts, {
    useFactory: instanceCachingFactory((c) => new LayoutRegistry(c.resolve(TOKENS.store), settings.prefix)),
  });
  const instance = `${hostname()}:${process.pid}:${randomBytes(3).toString('hex')}`;
  registerLive(container, settings, isShared, instance);
  container.register(TOKENS.serviceSchemas, {
    useFactory: instanceCachingFactory((c) =>
      isShared
        ? new ServiceSchemas({
            store: c.resolve(TOKENS.store),
            layouts: c.resolve(TOKENS.layouts),
            prefix: settings.prefix,
            monitor,
            instance,
            project: settings.sources.projectName,
            settings: sharedSettings(settings),
          })
        : undefined,
    ),
  });
  return container;
}

function registerLive(
  container: DependencyContainer,
  settings: Settings,
  isShared: boolean,
  instance: string,
): void {
  container.register(TOKENS.live, {
    useFactory: instanceCachingFactory(
      () =>
        // Not the container that asks first: it is that of a generation, which could then never be freed.
        new LiveInstances({
          registry: () => container.resolve(TOKENS.metrics).registry,
          board: isShared ? new InstanceBoard(container.resolve(TOKENS.store), settings.prefix) : undefined,
          instance,
          now: container.resolve(TOKENS.clock),
        }),
    ),
  });
}

function registerComparisons(container: DependencyContainer, { compares }: Overrides): void {
  const comparisons =
    compares && new Comparisons(container.resolve(TOKENS.logger), container.resolve(TOKENS.clock), compares);
  container.register(TOKENS.comparisons, { useFactory: () => comparisons });
  container.register(TOKENS.trials, { useValue: new Trials() });
}

/** Only a service has them, and registers its own: see `ProjectGuards`. */
function registerNoGuards(container: DependencyContainer): void {
  container.register(TOKENS.releases, { useFactory: () => undefined });
  container.register(TOKENS.watched, { useFactory: () => undefined });
}

/** Registers what knows the people who sign in. */
function registerPeople(container: DependencyContainer, settings: Settings, { keys }: Overrides): void {
  const partsOf = (c: DependencyContainer): Omit<InvitationParts, 'keys'> => ({
    store: c.resolve(TOKENS.store),
    prefix: settings.prefix,
    now: c.resolve(TOKENS.clock),
  });
  container.register(TOKENS.invitations, {
    useFactory: instanceCachingFactory((c) => new Invitations({ ...partsOf(c), keys })),
  });
  container.register(TOKENS.sessions, {
    useFactory: instanceCachingFactory(
      (c) =>
        new Sessions({
          ...partsOf(c),
          invitations: c.resolve(TOKENS.invitations),
          proxy: new ProxySignIn(settings),
        }),
    ),
  });
  container.register(TOKENS.previewLinks, {
    useFactory: instanceCachingFactory(
      (c) => new PreviewLinks({ ...partsOf(c), invitations: c.resolve(TOKENS.invitations) }),
    ),
  });
}

/** Registers what generations share of views outside the store. */
function registerSources(container: DependencyContainer): void {
  container.register(TOKENS.keptRows, { useValue: new Shared<KeptRows>(() => undefined) });
  container.register(TOKENS.openSources, {
    useValue: new Shared<OpenSources>(({ sources }) => sources.close()),
  });
}

/** Registers what hears of the writes of this process. @returns tells all of them */
function registerListeners(container: DependencyContainer): (keys: readonly string[]) => void {
  const tables = new Shared<ResidentTables>((value) => value.close());
  container.register(TOKENS.residentTables, { useValue: tables });
  const followers = new Shared<EntityFollower>((follower) => follower.close());
  container.register(TOKENS.followers, { useValue: followers });
  return (keys) => {
    // A write invalidates the entry in every generation that still serves, so that none shows the old value.
    for (const one of tables.values()) one.invalidate(keys);
    for (const one of followers.values()) one.invalidate(keys);
  };
}
