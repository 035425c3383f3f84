import 'reflect-metadata'; // tsyringe requires this import before any of its own modules is loaded
import type { RequestListener } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { pino, type Logger } from 'pino';
import { container as rootContainer } from 'tsyringe';
import type { ServedKeys } from '../access/served-keys.js';
import type { Diagnostic } from '../config/diagnostics/diagnostics.js';
import { packageFinder } from '../compile/find-package.js';
import type { ProjectConfig } from '../config/project/model.js';
import { registerServices, type Overrides } from './container/services.js';
import { TOKENS, type Container } from './container/tokens.js';
import type { ExperimentStates } from '../experiments/experiment-states.js';
import type { EntityIndex } from '../index/entity-index.js';
import type { Scans } from '../index/export/scans.js';
import type { FeatureStore } from '../index/feature-store.js';
import { checkStoredFit } from '../index/stored-fit.js';
import type { OnlineFeatures } from '../index/online-features.js';
import type { Feedback } from '../feedback/feedback.js';
import type { Forget } from '../privacy/forget.js';
import type { ReloadReport } from '../http/instance.js';
import { audiencesOf, type Audience } from '../http/edge/audience.js';
import type { Admission } from '../http/admission/admission.js';
import type { HttpMetrics } from '../metrics/http-metrics.js';
import { countKeys } from '../metrics/key-metrics.js';
import { OutboundMetrics } from '../metrics/outbound-metrics.js';
import { countSpans } from '../metrics/trace-metrics.js';
import { PluginMetricsRegistry } from '../metrics/plugin-metrics.js';
import { countReloads } from '../metrics/reload-metrics.js';
import { countCuration } from '../metrics/curation-metrics.js';
import { countProcess } from '../metrics/process-metrics.js';
import { countSources } from '../metrics/source-metrics.js';
import { countStore } from '../metrics/store-metrics.js';
import { countResident } from '../metrics/resident-metrics.js';
import type { Pipeline } from '../pipeline/types.js';
import { compileProject, ProjectInvalidError, type CompiledProject } from './project/compile-project.js';
import { createGeneration, type Generation } from './project/generation.js';
import { refreshEditorSchemas } from './project/editor-schemas.js';
import { compareGenerations } from './project/compare-generations.js';
import { keepTypes } from './project/keep-types.js';
import { logReload, Reloader, type Reload, type ReloaderOptions } from './project/reloader.js';
import { LEDGER_MS, openRecording } from './project/recording.js';
import { LoopDelay } from './project/loop-delay.js';
import { Sources } from './project/sources.js';
import type { ResidentTables } from '../resident/resident-tables.js';
import type { Settings } from '../settings/settings.js';
import { StoreCheck } from '../store/store-check.js';
import type { Store } from '../store/store.js';
import { openTracing } from '../tracing/open-tracing.js';

export { compileProject, ProjectInvalidError };

/** A project, wired and ready to answer. After a reload, its fields are those of the project that serves now. */
export interface App {
  readonly config: ProjectConfig;
  readonly pipelines: readonly Pipeline[];
  readonly entities: EntityIndex;
  readonly features: FeatureStore;
  readonly scans: Scans;
  readonly online: OnlineFeatures;
  readonly feedback: Feedback;
  readonly forget: Forget;
  readonly experiments: ExperimentStates;
  readonly resident: ResidentTables;
  readonly warnings: readonly Diagnostic[];
  /** See `projectVersion`. */
  readonly version: string;
  /** The versions of the files that options name, as they are in service. */
  readonly files: CompiledProject['files'];
  readonly store: Store;
  readonly logger: Logger;
  readonly metrics: HttpMetrics;
  readonly admission: Admission;
  /** The sources that are read. Undefined if none are. */
  readonly sources: Sources | undefined;
  /**
   * Answers each request with the project that serves when the request arrives.
   * @param audience selects the routes for one listener; by default all routes
   */
  http(audience?: Audience): RequestListener;
  /** Loads the files again, those of the project and of the keys, and serves them, if they have no errors. Never rejects. */
  reload(): Promise<Reload>;
  close(): Promise<void>;
}

export interface AppOverrides extends Overrides {
  /** Whether requests are recorded in the ledger, and the sinks of the project are opened. By default not. */
  readonly records?: boolean;
  /** How the sources of the project are read; by default they are not. */
  readonly consumes?: {
    /** The name of this process among the readers of one group. By default that of the host. */
    readonly consumer?: string;
    /** Only these sources. By default all. */
    readonly only?: ReadonlySet<string>;
    /** Whether sources slow down while requests wait. */
    readonly slows: boolean;
  };
  /** Tells the user of each reload; by default in the log. */
  readonly tellReload?: (report: ReloadReport) => void;
}

/**
 * Loads, validates, compiles and warms up the project, connects the store, and wires the services. Nothing listens yet.
 * @throws ProjectInvalidError before the store is touched; MillraceError invalid_setting, store_unavailable,
 *   data_folder_in_use
 */
export async function createApp(settings: Settings, overrides: AppOverrides = {}): Promise<App> {
  const outbound = new OutboundMetrics();
  const logger = overrides.logger ?? pino({ level: settings.logLevel });
  const findPackage = packageFinder(settings.project);
  const tracing = overrides.tracing ?? (await openTracing(settings, { findPackage, logger }));
  const pluginMetrics = new PluginMetricsRegistry();
  const host = { logger, metrics: pluginMetrics, now: overrides.clock ?? Date.now };
  const recording = overrides.records === true ? openRecording(settings, logger) : undefined;
  const compile = async (): Promise<CompiledProject> => {
    const consumer = overrides.consumes?.consumer;
    const options = {
      ...settings,
      ...recording?.options,
      ...(consumer === undefined ? {} : { consumer }),
      pluginHost: host,
    };
    const compiled = await compileProject(settings.project, options, outbound);
    if (settings.reload === 'watch') await refreshEditorSchemas(settings.project, compiled, logger);
    return compiled;
  };
  const { services, first } = await start(settings, compile, {
    experiments: overrides.records === true,
    ...overrides,
    logger,
    tracing,
    ...(recording === undefined ? {} : { ledger: recording.sinks.ledger }),
  });
  void recording?.sinks.use(first.sinks);
  await announce(services, first.config);
  if (settings.reload === 'watch') await keepTypes(settings.project, first, logger);
  const instance = services.resolve(TOKENS.instance);
  const tellReload = overrides.tellReload ?? ((report: ReloadReport) => logReload(logger, report));
  const loopDelay = overrides.consumes?.slows === true ? new LoopDelay() : undefined;
  const admission = services.resolve(TOKENS.admission);
  const sources =
    overrides.consumes === undefined
      ? undefined
      : new Sources({
          current: () => reloader.current,
          log: logger,
          metrics: services.resolve(TOKENS.metrics),
          ...(loopDelay === undefined
            ? {}
            : { load: () => ({ waiting: admission.waiting, loopDelayMs: loopDelay.lateMs }) }),
        });
  const reloader = new Reloader(first, {
    logger,
    report: (report) => {
      instance.reloaded(report);
      tellReload(report);
    },
    compile,
    create: async (compiled) => {
      const generation = await createServing(services, compiled);
      void recording?.sinks.use(generation.sinks);
      void sources?.use(wantedOf(generation.sources, overrides.consumes));
      await announce(services, generation.config);
      if (settings.reload === 'watch') await keepTypes(settings.project, generation, logger);
      return generation;
    },
    compare: comparing(settings, logger),
  });
  const metrics = services.resolve(TOKENS.metrics);
  countResident(metrics.registry, {
    states: () => reloader.current.resident.states(),
    isCurrent: () => reloader.current.resident.isCurrent(),
  });
  if (sources !== undefined) {
    countSources(metrics.registry, () => sources.states());
    instance.warnOf(() => sources.warnings());
    await sources.use(wantedOf(first.sources, overrides.consumes));
  }
  const store = services.resolve(TOKENS.store);
  countStore(metrics.registry, services.resolve(TOKENS.storeMonitor), new StoreCheck(store));
  countProcess(metrics.registry, () => reloader.current.version);
  outbound.register(metrics.registry);
  pluginMetrics.register(metrics.registry);
  recording?.metrics.register(metrics.registry, () => recording.sinks.ledger.sinks());
  if (overrides.keys !== undefined) countKeys(metrics.registry, overrides.keys);
  countReloads(metrics.registry, reloader);
  countCuration(metrics.registry, () => reloader.current.curation);
  countSpans(metrics.registry, tracing?.counts);
  return new ReloadableApp(reloader, store, logger, metrics, admission, overrides.keys, sources, async () => {
    loopDelay?.close();
    // The last requests and their effects have ended by now.
    const written = recording?.sinks.ledger.close(LEDGER_MS);
    const flushed = tracing?.close(Math.min(settings.drainMs, FLUSH_MS));
    await services.resolve(TOKENS.stops)?.close();
    await services.resolve(TOKENS.serviceSchemas)?.close();
    await store.close();
    await flushed;
    await written;
  });
}

function wantedOf(
  sources: CompiledProject['sources'],
  { only }: NonNullable<AppOverrides['consumes']> = { slows: false },
): CompiledProject['sources'] {
  return only === undefined ? sources : sources.filter(({ definition }) => only.has(definition.name));
}

/** What compares a reloaded project with the one in service; undefined if the settings do not ask for it. */
function comparing(
  { reloadDiff: last, ledgerDir: ledger }: Settings,
  logger: Logger,
): ReloaderOptions['compare'] {
  if (last === 0) return undefined;
  return (before, next) => compareGenerations(before, next, { ledger, last, logger });
}

/** The longest time for sending the last spans, in milliseconds. It is a part of the time for closing. */
const FLUSH_MS = 3000;

/** The longest wait until the store accepts the schemas of this service, in milliseconds. */
const ANNOUNCE_WITHIN = 1000;

/**
 * Announces the schemas of this service to the other services on the store, and checks whether the stored entities fit
 * them. Warnings about other services are logged before the first request. The check of stored entities runs while
 * requests are served.
 */
async function announce(services: Container, config: ProjectConfig): Promise<void> {
  const announced = services.resolve(TOKENS.serviceSchemas)?.use(config);
  await Promise.race([announced, pause(ANNOUNCE_WITHIN, undefined, { ref: false })]);
  void checkStoredFit(config.entities, {
    store: services.resolve(TOKENS.store),
    layouts: services.resolve(TOKENS.layouts),
    prefix: services.resolve(TOKENS.settings).prefix,
    monitor: services.resolve(TOKENS.storeMonitor),
  });
}

/**
 * A separate function, so that only the reloader references the first generation. The generation can then be freed
 * after a reload.
 */
async function start(
  settings: Settings,
  compile: () => Promise<CompiledProject>,
  overrides: Overrides,
): Promise<{ readonly services: Container; readonly first: Generation }> {
  const compiled = await compile();
  try {
    if (compiled.diagnostics.some(({ severity }) => severity === 'error'))
      throw new ProjectInvalidError(compiled.diagnostics);
    const services = await registerServices(rootContainer.createChildContainer(), settings, overrides);
    const first = await createGeneration(services, compiled).catch(async (error: unknown) => {
      await services.resolve(TOKENS.store).close();
      throw error;
    });
    return { services, first };
  } catch (error) {
    await compiled.close();
    throw error;
  }
}

/** Creates a generation that can serve at once, with its routes. */
async function createServing(services: Container, compiled: CompiledProject): Promise<Generation> {
  const generation = await createGeneration(services, compiled);
  try {
    for (const audience of audiencesOf(services.resolve(TOKENS.settings))) generation.http(audience);
  } catch (error) {
    await generation.retire();
    throw error;
  }
  return generation;
}

class ReloadableApp implements App {
  readonly #reloader: Reloader;

  constructor(
    reloader: Reloader,
    readonly store: Store,
    readonly logger: Logger,
    readonly metrics: HttpMetrics,
    readonly admission: Admission,
    private readonly keys: ServedKeys | undefined,
    readonly sources: Sources | undefined,
    private readonly release: () => Promise<void>,
  ) {
    this.#reloader = reloader;
  }

  get #current(): Generation {
    return this.#reloader.current;
  }

  get config(): ProjectConfig {
    return this.#current.config;
  }

  get pipelines(): readonly Pipeline[] {
    return this.#current.pipelines;
  }

  get entities(): EntityIndex {
    return this.#current.entities;
  }

  get features(): FeatureStore {
    return this.#current.features;
  }

  get scans(): Scans {
    return this.#current.scans;
  }

  get online(): OnlineFeatures {
    return this.#current.online;
  }

  get feedback(): Feedback {
    return this.#current.feedback;
  }

  get experiments(): ExperimentStates {
    return this.#reloader.current.experiments;
  }

  get forget(): Forget {
    return this.#current.forget;
  }

  get resident(): ResidentTables {
    return this.#current.resident;
  }

  get warnings(): readonly Diagnostic[] {
    return this.#current.warnings;
  }

  get version(): string {
    return this.#current.version;
  }

  get files(): CompiledProject['files'] {
    return this.#current.files;
  }

  http(audience?: Audience): RequestListener {
    this.#current.http(audience); // reports conflicting routes now
    return (req, res) => {
      this.#current.http(audience)(req, res);
    };
  }

  async reload(): Promise<Reload> {
    const [reload] = await Promise.all([this.#reloader.reload(), this.keys?.look()]);
    return reload;
  }

  async close(): Promise<void> {
    await this.sources?.close();
    await this.#reloader.close();
    await this.release();
  }
}
