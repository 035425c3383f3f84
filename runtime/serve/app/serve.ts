import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { checkExposure, keysFileOf, logAccess } from '../access/exposure.js';
import { ServedKeys } from '../access/served-keys.js';
import { createApp, type AppOverrides } from './app.js';
import type { App } from './running-app.js';
import type { Overrides } from './container/services.js';
import { ConnectionMetrics } from '../metrics/connection-metrics.js';
import { countEventLoopDelay } from '../metrics/event-loop-metrics.js';
import { Instance } from '../http/instance.js';
import type { ConnectionSource } from '../http/connection-source.js';
import { audiencesOf, type Audience } from '../http/edge/audience.js';
import { ADMIN_SETTINGS, listen, type Address, type HttpServer, type ListenOptions } from '../http/listen.js';
import { TlsFiles } from '../http/tls-files.js';
import {
  AT_ONCE,
  endOnSignal,
  reloadOnSighup,
  reloadsOnSighup,
  type Closing,
} from './process/end-on-signal.js';
import { logSources } from './process/log-sources.js';
import { logPrints } from './process/log-prints.js';
import { ProcessGuard } from './process/process-guard.js';
import { ProjectFileChanges } from './project/project-file-changes.js';
import { placeOf } from './project/reloader.js';
import { watchProject } from './project/watcher.js';
import { openLog } from './process/open-log.js';
import type { Settings } from '../../project/settings/settings.js';

/** A running service. */
export interface RunningService {
  readonly app: App;
  readonly fileChanges: ProjectFileChanges;
  /** The address of the service, e.g. http://127.0.0.1:5001. */
  readonly url: string;
  readonly port: number;
  /** The address of the listener for operators; the same as `url` if there is no second listener. */
  readonly adminUrl: string;
  /** Answers the requests in flight, then releases the store. By default there is no lame-duck time. */
  close(closing?: Closing): Promise<void>;
}

/** The overrides of a caller, and the source of connections of each listener if another process listens. */
export interface ServiceOptions extends Overrides, Pick<AppOverrides, 'tellReload'> {
  readonly sources?: (audience: Audience) => ConnectionSource;
  /** The number of this worker; undefined if there is only one process. */
  readonly worker?: number;
}

/** Starts a service. @throws ProjectInvalidError, MillraceError; everything that was opened is closed again */
export async function startService(given: Settings, options: ServiceOptions = {}): Promise<RunningService> {
  const settings = given.workbench === 'only' ? aloneFor(given) : given;
  await checkExposure(settings);
  const keysFile = keysFileOf(settings);
  const keys = keysFile === undefined ? undefined : await ServedKeys.open(keysFile);
  const instance = options.instance ?? new Instance();
  const logger = options.logger ?? openLog(settings);
  const tls = await TlsFiles.open(settings, logger);
  let app: App | undefined;
  try {
    const watch = settings.reload === 'watch' ? await watchProject(settings) : undefined;
    const consumer = consumerName(options.worker);
    const takesEntities = (options.worker ?? 1) === 1;
    app = await createApp(settings, {
      ...options,
      // A preview is what the service answers, so it has the arms of the experiments.
      ...{ logger, instance, keys, records: settings.workbench !== 'only', experiments: true },
      isLive: settings.workbench !== 'only',
      ...(settings.consume ? { consumes: { consumer, takesEntities, slows: true } } : {}),
    });
    const servers = await listenAll(app, settings, options, tls);
    const fileChanges = new ProjectFileChanges(settings, logger);
    const { files } = app;
    const reload = app.reload.bind(app, false);
    const watchers = [watch?.({ logger, fileChanges, files, reload }), keys];
    const endSampling = countEventLoopDelay(app.metrics.registry);
    keys?.watch(logger, settings.reloadPollMs);
    return serviceOf(app, settings, servers, { instance, tls, fileChanges, watchers, endSampling });
  } catch (error) {
    tls?.close();
    await app?.close();
    throw error;
  }
}

/** The settings of a process that has the workbench alone: one listener, for people, and no messages of sources. */
function aloneFor(settings: Settings): Settings {
  return { ...settings, adminPort: 'off', adminHost: settings.host, consume: false };
}

/** A process has the same name after a restart, so it first finishes what it left unfinished. */
function consumerName(worker: number | undefined): string {
  return worker === undefined ? hostname() : `${hostname()}-${worker}`;
}

function serviceOf(
  app: App,
  settings: Settings,
  servers: Servers,
  { instance, tls, fileChanges, watchers, endSampling }: Watching,
): RunningService {
  const { clients, operators } = servers;
  const url = urlOf(settings.host, clients.port, tls !== undefined);
  return {
    app,
    fileChanges,
    url,
    port: clients.port,
    adminUrl: operators === undefined ? url : urlOf(settings.adminHost, operators.port, tls !== undefined),
    async close({ lameDuckMs, idleMs } = AT_ONCE) {
      instance.shutDown();
      // No request depends on them.
      const consumed = app.sources?.close();
      for (const watcher of watchers) watcher?.stop();
      await pause(lameDuckMs);
      const { drainMs } = settings;
      await Promise.all([clients.close(drainMs, idleMs), operators?.close(drainMs, idleMs)]);
      tls?.close();
      endSampling();
      await consumed;
      await app.close();
    },
  };
}

/** What knows of files and of the process while the service runs. */
interface Watching {
  readonly instance: Instance;
  readonly tls: TlsFiles | undefined;
  readonly fileChanges: ProjectFileChanges;
  readonly watchers: readonly ({ stop(): void } | undefined)[];
  /** Ends the sampling of the event loop. */
  readonly endSampling: () => void;
}

/** The listeners of a service. One listener alone serves all routes. */
interface Servers {
  readonly clients: HttpServer;
  readonly operators: HttpServer | undefined;
}

async function listenAll(
  app: App,
  settings: Settings,
  { sources }: ServiceOptions,
  tls: TlsFiles | undefined,
): Promise<Servers> {
  const { host, port, adminHost, adminPort } = settings;
  const metrics = new ConnectionMetrics(app.metrics.registry);
  const open = async (audience: Audience | undefined, address: Address): Promise<HttpServer> =>
    listen(app.http(audience), address, {
      ...connectionLimits(settings),
      tls,
      admission: app.admission,
      acceptsAll: audience === 'operators',
      refused: (status) => app.metrics.refused(status),
      closed: (why) => metrics.closed(why),
      ...(sources === undefined ? {} : { source: sources(audience ?? 'clients') }),
    });
  const [first, second] = audiencesOf(settings);
  const clients = await open(first, { host, port });
  let operators: HttpServer | undefined;
  try {
    if (second !== undefined && adminPort !== 'off')
      operators = await open(second, { host: adminHost, port: adminPort, settings: ADMIN_SETTINGS });
  } catch (error) {
    await clients.close(0);
    throw error;
  }
  metrics.watch(() => clients.connections.count + (operators?.connections.count ?? 0));
  if (tls !== undefined) metrics.watchCertificate(tls);
  return { clients, operators };
}

export function connectionLimits(settings: Settings): ListenOptions {
  const { receiveMs, stallMs, maxConnections, maxConnectionsPerAddress } = settings;
  return { receiveMs, stallMs, maxConnections, maxConnectionsPerAddress };
}

/** How a service tells the user what it does. */
export interface Voice extends Pick<AppOverrides, 'tellReload' | 'compares'> {
  readonly logger: Logger;
  /** Called when the service listens. */
  readonly started: (service: RunningService) => void;
}

/** Starts a service that ends with the process; resolves once it answers. */
export async function serveAlone(settings: Settings, voice: Voice = logVoice(settings)): Promise<void> {
  const { logger, started, ...options } = voice;
  const guard = new ProcessGuard(settings, logger);
  const printAgain = logPrints(logger);
  const service = await startService(settings, { logger, ...options }).catch((error: unknown) => {
    printAgain();
    throw error;
  });
  endWithProcess(service, settings, guard);
  if (reloadsOnSighup(settings)) reloadOnSighup(service.fileChanges, () => service.app.reload());
  started(service);
}

/** Tells everything in the log. */
export function logVoice(settings: Settings): Voice {
  const logger = openLog(settings);
  return {
    logger,
    started: ({ app, url, adminUrl }) => {
      logProject(app, settings);
      logSources(logger, settings);
      // This line comes last, because a caller that waits for it may send signals at once.
      const { store, adminPort } = settings;
      const admin = adminPort === 'off' ? {} : { admin_url: adminUrl };
      const pages = settings.workbench === 'off' ? {} : { workbench: `${adminUrl}/workbench` };
      logger.info({ url, ...admin, store, reference: `${adminUrl}/redoc`, ...pages }, 'listening');
    },
  };
}

/** Logs what the project serves, its warnings and advice, and whether requests need keys. */
export function logProject({ logger, warnings, advice, pipelines }: App, settings: Settings): void {
  for (const warning of warnings) logger.warn(placeOf(warning), warning.message);
  for (const { message, ...fields } of advice) logger.info(fields, `advice: ${message}`);
  for (const { name, route } of pipelines) logger.info({ pipeline: name, route }, 'pipeline mounted');
  logAccess(logger, settings);
}

/** Closes the service and exits after a stop signal (SIGTERM, SIGINT) or an uncaught error. */
export function endWithProcess(
  service: RunningService,
  settings: Settings,
  guard = new ProcessGuard(settings, service.app.logger),
): void {
  const { logger, metrics } = service.app;
  guard.metrics.register(metrics.registry);
  endOnSignal(settings, logger, guard, (closing) => service.close(closing));
}

/** Returns an address that a client on this machine can use: not 0.0.0.0, and IPv6 in brackets. */
export function urlOf(host: string, port: number, isSecure: boolean): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `${isSecure ? 'https' : 'http'}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
