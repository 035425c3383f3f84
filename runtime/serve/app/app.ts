import { reloadGatesOf } from '../../learn/evaluation/reload-gate.js';
import { packageFinder } from '../../request/compile/find-package.js';
import type { ReloadReport } from '../http/instance.js';
import type { Settings } from '../../project/settings/settings.js';
import { openTracing } from '../../project/tracing/open-tracing.js';
import type { Tracing } from '../../project/tracing/tracing.js';
import { AppMetrics } from './app-metrics.js';
import type { Overrides } from './container/services.js';
import { TOKENS, type Container } from './container/tokens.js';
import { announce } from './project/announce.js';
import { compareGenerations } from './project/compare-generations.js';
import { compileProject, type CompiledProject } from './project/compile-project.js';
import { Consumption, type ConsumeOptions } from './project/consumption.js';
import { refreshEditorSchemas } from './project/editor-schemas.js';
import type { Generation } from './project/generation.js';
import { keepTypes } from './project/keep-types.js';
import { openFirst, openNext } from './project/open-generation.js';
import { LEDGER_MS, openRecording } from './project/recording.js';
import { logReload, Reloader } from './project/reloader.js';
import { openLog } from './process/open-log.js';
import { ModelAgreement } from './project/model-agreement.js';
import { RecentRequests } from './project/recent-requests.js';
import { ServedReleases } from './project/served-releases.js';
import { Releases } from '../../state/releases/releases.js';
import { RunningApp, type App } from './running-app.js';

/** The longest time for sending the last spans, in milliseconds. It is a part of the time for closing. */
const FLUSH_MS = 3000;

/** How many of the last requests a condition is checked on, unless the setting for reports names more. */
const GUARD_REQUESTS = 50;

export interface AppOverrides extends Overrides {
  /** Whether requests are recorded in the ledger, and the sinks of the project are opened. By default not. */
  readonly records?: boolean;
  /** How the sources of the project are read; by default they are not. */
  readonly consumes?: ConsumeOptions;
  /** Tells the user of each reload; by default in the log. */
  readonly tellReload?: (report: ReloadReport) => void;
}

/**
 * Loads, validates, compiles and warms up the project, connects the store, and wires the services. Nothing listens yet.
 * Every part of a running service is started here, and stopped in `close`.
 * @throws ProjectInvalidError before the store is touched; MillraceError invalid_setting, store_unavailable,
 *   data_folder_in_use
 */
export async function createApp(settings: Settings, overrides: AppOverrides = {}): Promise<App> {
  const { project, reloadDiff: last, ledgerDir: ledger } = settings;
  const { records = false, consumes, keys } = overrides;
  const watches = settings.reload === 'watch';
  const gates = reloadGatesOf(settings);
  const logger = overrides.logger ?? openLog(settings);
  const tracing =
    overrides.tracing ?? (await openTracing(settings, { findPackage: packageFinder(project), logger }));
  const recording = records ? openRecording(settings, logger) : undefined;
  const appMetrics = new AppMetrics();
  const pluginHost = { logger, metrics: appMetrics.plugins, now: overrides.clock ?? Date.now };

  const options = {
    ...settings,
    ...recording?.options,
    ...(consumes?.consumer === undefined ? {} : { consumer: consumes.consumer }),
    ...{ pluginHost, codeRoot: project },
  };
  const compileIn = (root: string): Promise<CompiledProject> =>
    compileProject(root, options, appMetrics.outbound);
  const compile = async (): Promise<CompiledProject> => {
    const compiled = await compileIn(project);
    if (watches) await refreshEditorSchemas(project, compiled, logger);
    return compiled;
  };
  const instead = (container: Container): Promise<CompiledProject | undefined> => {
    openAgreement(container, settings);
    if (gates.length > 0) container.register(TOKENS.recentRequests, { useValue: new RecentRequests() });
    return openReleases(container, settings, compileIn).atStart();
  };
  // Only the reloader keeps `first`, so that it can be freed after a reload: no function below may use it.
  const { services, first } = await openFirst(settings, {
    compile,
    ...(records && { instead }),
    overrides: {
      experiments: records,
      ...overrides,
      logger,
      tracing,
      ...(recording === undefined ? {} : { ledger: recording.sinks.ledger }),
    },
  });
  const releases = services.resolve(TOKENS.servedReleases);
  const agreement = services.resolve(TOKENS.modelAgreement);
  const prepare = async (generation: Generation): Promise<void> => {
    void recording?.sinks.use(generation.sinks);
    await announce(services, generation.config);
    if (watches && generation.release === undefined) await keepTypes(project, generation, logger);
  };
  await prepare(first);
  // Only at start: after a reload, V8 still has the code.
  if (records) await first.warmUp(settings.warmUpMs);

  const instance = services.resolve(TOKENS.instance);
  const tellReload = overrides.tellReload ?? ((report: ReloadReport) => logReload(logger, report));
  const consumption = consumes && new Consumption(consumes, services, logger, () => reloader.current);
  const reloader: Reloader = new Reloader(first, {
    logger,
    report: (report) => {
      instance.reloaded(report);
      tellReload(report);
      if (report.outcome === 'succeeded') void releases?.keep(reloader.current);
    },
    compile,
    create: (compiled) => openNext(services, compiled),
    begin: async (next) => {
      void consumption?.use(next);
      await prepare(next);
    },
    heldBy: () => releases?.heldBy,
    keep: agreement && ((before, next) => agreement.begin(before, next)),
    compare: (before, next, isForced) => {
      const required = isForced ? [] : gates;
      const compared = last === 0 && required.length > 0 ? GUARD_REQUESTS : last;
      if (compared === 0) return Promise.resolve();
      const recent = services.resolve(TOKENS.recentRequests)?.all ?? [];
      return compareGenerations(before, next, { ledger, last: compared, recent, gates: required, logger });
    },
  });
  appMetrics.register(services, { reloader, recording, tracing, keys, releases, agreement });
  instance.warnOf(() => releases?.warnings() ?? []);
  releases?.start(reloader);
  instance.reloadBy(async (isForced) => {
    const { problem } = await reloader.reload(isForced);
    return { version: reloader.current.version, problem };
  });
  consumption?.show(services);
  await consumption?.use(first);

  const close = (): Promise<void> =>
    closeApp(services, settings, { consumption, reloader, recording, tracing });
  return new RunningApp(reloader, {
    store: services.resolve(TOKENS.store),
    logger,
    metrics: services.resolve(TOKENS.metrics),
    admission: services.resolve(TOKENS.admission),
    keys,
    sources: consumption?.sources,
    close,
  });
}

/** Registers what compares new models. */
function openAgreement(services: Container, { reloadAgreementMs: forMs }: Settings): void {
  const [admission, logger] = [services.resolve(TOKENS.admission), services.resolve(TOKENS.logger)];
  const agreement = new ModelAgreement({ admission, logger, forMs });
  services.register(TOKENS.modelAgreement, { useValue: agreement });
}

/** Registers the releases of a service. */
function openReleases(
  services: Container,
  settings: Settings,
  compile: (root: string) => Promise<CompiledProject>,
): ServedReleases {
  const releases = new ServedReleases({
    ...{ settings, compile },
    releases: new Releases(services.resolve(TOKENS.store), settings.prefix),
    logger: services.resolve(TOKENS.logger),
    now: services.resolve(TOKENS.clock),
  });
  services.register(TOKENS.servedReleases, { useValue: releases });
  return releases;
}

/** The parts of an app that end with it. */
interface AppParts {
  readonly consumption: Consumption | undefined;
  readonly reloader: Reloader;
  readonly recording: ReturnType<typeof openRecording> | undefined;
  readonly tracing: Tracing | undefined;
}

async function closeApp(
  services: Container,
  { drainMs }: Settings,
  { consumption, reloader, recording, tracing }: AppParts,
): Promise<void> {
  services.resolve(TOKENS.modelAgreement)?.end();
  await services.resolve(TOKENS.servedReleases)?.close();
  await consumption?.close();
  // A running reload would wait until they have read all entities.
  await services.resolve(TOKENS.followers).close();
  await reloader.close();
  // The last requests and their effects have ended by now.
  const written = recording?.sinks.ledger.close(LEDGER_MS);
  const flushed = tracing?.close(Math.min(drainMs, FLUSH_MS));
  await services.resolve(TOKENS.stops)?.close();
  await services.resolve(TOKENS.serviceSchemas)?.close();
  await services.resolve(TOKENS.store).close();
  await flushed;
  await written;
}
