import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import { createApp, type App } from './app.js';
import type { Overrides } from './container/services.js';
import { ConnectionMetrics } from '../metrics/connection-metrics.js';
import { countEventLoopDelay } from '../metrics/event-loop-metrics.js';
import { Instance } from '../http/instance.js';
import { listen, type ListenOptions } from '../http/listen.js';
import { AT_ONCE, endOnSignal, reloadsOnSighup, type Closing } from './process/end-on-signal.js';
import { logPrints } from './process/log-prints.js';
import { ProcessGuard } from './process/process-guard.js';
import { placeOf } from './project/reloader.js';
import { watchProject } from './project/watcher.js';
import type { Settings } from '../settings/settings.js';

/** A running service. */
export interface RunningService {
  readonly app: App;
  /** The address of the service, e.g. http://127.0.0.1:5001. */
  readonly url: string;
  readonly port: number;
  /** Answers the requests in flight, then releases the store. By default there is no lame-duck time. */
  close(closing?: Closing): Promise<void>;
}

/** The overrides of a caller, and the source of connections. */
export type ServiceOptions = Overrides & Pick<ListenOptions, 'source'>;

/** Starts a service. @throws ProjectInvalidError, MillraceError; everything that was opened is closed again */
export async function startService(
  settings: Settings,
  options: ServiceOptions = {},
): Promise<RunningService> {
  const instance = options.instance ?? new Instance();
  const watch = settings.reload === 'watch' ? await watchProject(settings) : undefined;
  const app = await createApp(settings, { ...options, instance });
  try {
    const connectionMetrics = new ConnectionMetrics(app.metrics.registry);
    const server = await listen(app.http(), settings, {
      ...connectionLimits(settings),
      accepted: () => app.admission.connectionAccepted(),
      refused: (status) => app.metrics.refused(status),
      closed: (why) => connectionMetrics.closed(why),
      ...(options.source === undefined ? {} : { source: options.source }),
    });
    connectionMetrics.watch(server.connections);
    const watcher = watch?.(app);
    const endSampling = countEventLoopDelay(app.metrics.registry);
    return {
      app,
      url: urlOf(settings.host, server.port),
      port: server.port,
      async close({ lameDuckMs, idleMs } = AT_ONCE) {
        instance.shutDown();
        watcher?.stop();
        await pause(lameDuckMs);
        await server.close(settings.drainMs, idleMs);
        endSampling();
        await app.close();
      },
    };
  } catch (error) {
    await app.close();
    throw error;
  }
}

function connectionLimits(settings: Settings): ListenOptions {
  const { receiveMs, stallMs, maxConnections, maxConnectionsPerAddress } = settings;
  return { receiveMs, stallMs, maxConnections, maxConnectionsPerAddress };
}

/** Starts a service that ends with the process; resolves once it answers. */
export async function serveAlone(settings: Settings): Promise<void> {
  const logger = pino({ level: settings.logLevel });
  const guard = new ProcessGuard(settings, logger);
  const printAgain = logPrints(logger);
  const service = await startService(settings, { logger }).catch((error: unknown) => {
    printAgain();
    throw error;
  });
  const { app, url } = service;
  logProject(app);
  endWithProcess(service, settings, guard);
  if (reloadsOnSighup(settings)) process.on('SIGHUP', () => void app.reload());
  // This line comes last, because a caller that waits for it may send signals at once.
  logger.info({ url, store: settings.store, reference: `${url}/redoc` }, 'listening');
}

/** Logs what the project serves, and its warnings. */
export function logProject({ logger, warnings, pipelines }: App): void {
  for (const warning of warnings) logger.warn(placeOf(warning), warning.message);
  for (const { name, route } of pipelines) logger.info({ pipeline: name, route }, 'pipeline mounted');
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
export function urlOf(host: string, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
