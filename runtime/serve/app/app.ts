import type { Logger } from 'pino';
import { reloadGatesOf } from '../../project/config/conditions/reload-gate.js';
import { packageFinder } from '../../ground/core/find-package.js';
import type { ReloadReport } from '../http/instance.js';
import type { Settings } from '../../project/settings/settings.js';
import { openTracing } from '../../project/tracing/open-tracing.js';
import type { Tracing } from '../../project/tracing/tracing.js';
import { AppMetrics } from './app-metrics.js';
import type { Overrides } from './container/services.js';
import { TOKENS, type Container } from './container/tokens.js';
import type { PluginHost } from './plugins/plugin-host.js';
import { runningServices } from './plugins/shared-services.js';
import { announce } from './project/announce.js';
import { compileProject, type CompiledProject } from './project/compile-project.js';
import type { CompileOptions } from './project/compile-parts.js';
import { Consumption, type ConsumeOptions } from './project/consumption.js';
import { refreshEditorSchemas } from './project/editor-schemas.js';
import { createGeneration, type Generation } from './project/generation.js';
import { keepTypes } from './project/keep-types.js';
import { openFirst, openNext } from './project/open-generation.js';
import { LEDGER_MS, openRecording } from './project/recording.js';
import { ProjectGuards } from './project/project-guards.js';
import { logReload, Reloader } from './project/reloader.js';
import { openLog } from './process/open-log.js';
import { RunningApp, type App } from './running-app.js';

/** The longest time for sending the last spans, in milliseconds. It is a part of the time for closing. */
const FLUSH_MS = 3000;

export interface AppOverrides extends Overrides {
  /** Whether requests are recorded in the ledger, and the sinks of the project are opened. By default not. */
  readonly records?: boolean;
  /** How the sources of the project are read; by default they are not. */
  readonly consumes?: ConsumeOptions;
  /** Whether it publishes its state every few seconds, for the screen Live. By default not. */
  readonly isLive?: boolean;
  /** Tells the user of each reload; by default in the log. */
  readonly tellReload?: (report: ReloadReport) => void;
}

/**
 * Loads, validates, compiles and warms up the project, connects the store, and wires the services. Nothing listens yet.
 * Every part of a running service is started here, and stopped in `close`.
 * @throws ProjectInvalidError before the store is touched; MillraceError invalid_setting, store_unavailable,
 *   data_folder_in_use
 */
export async function createApp(
  settings: Settings & Pick<CompileOptions, 'untrained'>,
  overrides: AppOverrides = {},
): Promise<App> {
  const { records = false, consumes, keys } = overrides;
  reloadGatesOf(settings); // tells a mistake before anything is opened
  const logger = overrides.logger ?? openLog(settings);
  const tracing = overrides.tracing ?? (await tracingOf(settings, logger));
  const recording = records ? openRecording(settings, logger) : undefined;
  const appMetrics = new AppMetrics();
  const pluginHost = {
    ...{ logger, metrics: appMetrics.plugins, now: overrides.clock ?? Date.now },
    running: runningServices(),
  };
  const compileIn = compilerOf(settings, overrides, { recording, pluginHost, outbound: appMetrics.outbound });
  const compile = async (): Promise<CompiledProject> => {
    guards?.freeMemory();
    const compiled = await compileIn(settings.project);
    if (settings.reload === 'watch') await refreshEditorSchemas(settings.project, compiled, logger);
    return compiled;
  };
  let guards: ProjectGuards | undefined;
  const instead = (container: Container): Promise<CompiledProject | undefined> => {
    guards = new ProjectGuards(container, settings, compileIn);
    return guards.releases.atStart();
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
  await prepareOne(services, first, recording);
  // Only at start: after a reload, V8 still has the code.
  if (records) await first.warmUp(settings.warmUpMs);

  const consumption = consumes && new Consumption(consumes, services, logger, () => reloader.current);
  const tell = reloadTeller(services, logger, overrides);
  const reloader: Reloader = new Reloader(first, {
    logger,
    report: (report) => {
      tell(report);
      if (report.outcome === 'succeeded') void guards?.releases.keep(reloader.current);
    },
    compile,
    create: (compiled) => openNext(services, compiled),
    begin: async (next) => {
      void consumption?.use(next);
      await prepareOne(services, next, recording);
    },
    ...guards?.options,
  });
  openTrials(services, settings, compileIn);
  appMetrics.register(services, { reloader, recording, tracing, keys, guards });
  showInstance(services, reloader, { guards, isLive: overrides.isLive === true });
  consumption?.show(services);
  await consumption?.use(first);

  const close = (): Promise<void> =>
    closeApp(services, settings, { consumption, reloader, recording, tracing, guards });
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

/** Lets requests try other values of params, also where the plans that serve have fixed ones. */
function openTrials(
  services: Container,
  { project }: Settings,
  compileIn: ReturnType<typeof compilerOf>,
): void {
  services.resolve(TOKENS.trials).use(async (pipeline) => {
    const compiled = await compileIn(project, { pipelines: [pipeline], tunable: true });
    return await createGeneration(services, compiled);
  });
}

/** Lets operators see this instance with its warnings, reload it, and release to it. */
function showInstance(
  services: Container,
  reloader: Reloader,
  { guards, isLive }: { readonly guards: ProjectGuards | undefined; readonly isLive: boolean },
): void {
  const instance = services.resolve(TOKENS.instance);
  instance.warnOf(() => guards?.releases.warnings() ?? []);
  instance.reloadBy((isForced) => reloader.reloaded(isForced));
  guards?.releases.start(reloader);
  if (isLive) services.resolve(TOKENS.live).begin(() => reloader.current);
}

function tracingOf(settings: Settings, logger: Logger): Promise<Tracing | undefined> {
  return openTracing(settings, { findPackage: packageFinder(settings.project), logger });
}

/** Tells the instance and the log how a reload ended. */
function reloadTeller(
  services: Container,
  logger: Logger,
  { tellReload = (report) => logReload(logger, report) }: AppOverrides,
): (report: ReloadReport) => void {
  const instance = services.resolve(TOKENS.instance);
  return (report) => {
    instance.reloaded(report);
    tellReload(report);
  };
}

/** What compiles the projects of an app. */
interface CompilerParts {
  readonly recording: ReturnType<typeof openRecording> | undefined;
  readonly pluginHost: PluginHost;
  readonly outbound: AppMetrics['outbound'];
}

/** Compiles the project of a folder. The code of plugins is always that of the project of the settings. */
function compilerOf(
  settings: Settings,
  { consumes, compares }: AppOverrides,
  { recording, pluginHost, outbound }: CompilerParts,
): (root: string, more?: CompileOptions) => Promise<CompiledProject> {
  const options = {
    ...settings,
    ...recording?.options,
    ...(consumes?.consumer === undefined ? {} : { consumer: consumes.consumer }),
    ...{ pluginHost, codeRoot: settings.project, opensParams: compares !== undefined },
  };
  return (root, more) => compileProject(root, { ...options, ...more }, outbound);
}

/** Prepares what a generation needs when it serves. */
async function prepareOne(
  services: Container,
  generation: Generation,
  recording: ReturnType<typeof openRecording> | undefined,
): Promise<void> {
  const { project, reload } = services.resolve(TOKENS.settings);
  void recording?.sinks.use(generation.sinks);
  await announce(services, generation.config);
  if (reload === 'watch' && generation.release === undefined)
    await keepTypes(project, generation, services.resolve(TOKENS.logger));
}

/** The parts of an app that end with it. */
interface AppParts {
  readonly consumption: Consumption | undefined;
  readonly reloader: Reloader;
  readonly recording: ReturnType<typeof openRecording> | undefined;
  readonly tracing: Tracing | undefined;
  readonly guards: ProjectGuards | undefined;
}

async function closeApp(
  services: Container,
  { drainMs }: Settings,
  { consumption, reloader, recording, tracing, guards }: AppParts,
): Promise<void> {
  await guards?.close();
  await services.resolve(TOKENS.comparisons)?.close();
  await services.resolve(TOKENS.trials).close();
  await services.resolve(TOKENS.live).close();
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
