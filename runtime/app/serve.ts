import closeWithGrace from 'close-with-grace';
import { pino, type Logger } from 'pino';
import { createApp, type App } from './app.js';
import { logConsole } from './console-log.js';
import type { Overrides } from './container/services.js';
import { strayPlugin, type StrayKind } from './container/stray-errors.js';
import { describeError } from '../core/describe-error.js';
import { listen, type ListenOptions } from '../http/listen.js';
import { ConnectionMetrics } from '../metrics/connection-metrics.js';
import { StrayMetrics } from '../metrics/stray-metrics.js';
import { placeOf } from './project/reloader.js';
import { listFiles } from './project/snapshot.js';
import { ProjectWatcher, versionsOf } from './project/watcher.js';
import type { Settings } from '../settings/settings.js';

/** A service that answers. */
export interface RunningService {
  readonly app: App;
  /** Where it answers, e.g. http://127.0.0.1:5001. */
  readonly url: string;
  readonly port: number;
  /** Answers what is in flight, then releases the store. */
  close(): Promise<void>;
}

/** Starts a service. @throws ProjectInvalidError, MillraceError; nothing is left open then. */
export async function startService(settings: Settings, overrides: Overrides = {}): Promise<RunningService> {
  const watch = settings.reload === 'watch' ? await watchProject(settings) : undefined;
  const app = await createApp(settings, overrides);
  try {
    const connectionMetrics = new ConnectionMetrics(app.metrics.registry);
    const server = await listen(app.http(), settings, {
      ...connectionLimits(settings),
      accepted: () => app.admission.connectionAccepted(),
      refused: (status) => app.metrics.refused(status),
      closed: (why) => connectionMetrics.closed(why),
    });
    connectionMetrics.watch(server.connections);
    const watcher = watch?.(app);
    return {
      app,
      url: `http://${reachableHost(settings.host)}:${server.port}`,
      port: server.port,
      async close() {
        watcher?.stop();
        await server.close(settings.drainMs);
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

/** Notes the project's files before they are loaded; then watches for those that become others. */
async function watchProject({
  project: root,
  reloadPollMs: pollMs,
}: Settings): Promise<(app: App) => ProjectWatcher> {
  const loaded = await versionsOf(root, await listFiles(root, []));
  return (app) => {
    const watcher = new ProjectWatcher(
      {
        root,
        pollMs,
        files: app.files,
        reload: () => app.reload(),
        onPluginsChanged: (files) =>
          app.logger.warn({ files }, 'plugins are code and loaded once: restart to take up their change'),
      },
      loaded,
    );
    watcher.start();
    return watcher;
  };
}

/** Starts a service that ends with the process; resolves once it answers. */
export async function serveUntilSignal(settings: Settings): Promise<RunningService> {
  const logger = pino({ level: settings.logLevel });
  const guard = new ProcessGuard(settings, logger);
  const printAgain = logPrints(logger);
  const service = await startService(settings, { logger }).catch((error: unknown) => {
    printAgain();
    throw error;
  });
  const { pipelines } = service.app;
  for (const warning of service.app.warnings) logger.warn(placeOf(warning), warning.message);
  for (const { name, route } of pipelines) logger.info({ pipeline: name, route }, 'pipeline mounted');
  logger.info({ url: service.url, store: settings.store, reference: `${service.url}/redoc` }, 'listening');
  endWithProcess(service, settings, guard);
  if (reloadsAtSignal(settings)) process.on('SIGHUP', () => void service.app.reload());
  return service;
}

/**
 * Logs what libraries, plugins and Node itself would print, so that every line of the process is one of the log.
 * @returns ends it
 */
function logPrints(logger: Logger): () => void {
  const printAgain = logConsole(logger);
  // Node prints a warning while its own listener is there.
  const listeners = process.listeners('warning');
  const onWarning = ({ name, message }: Error): void => logger.warn({ source: 'node', name }, message);
  process.removeAllListeners('warning').on('warning', onWarning);
  return () => {
    printAgain();
    process.off('warning', onWarning);
    for (const listener of listeners) process.on('warning', listener);
  };
}

/** On a terminal SIGHUP says that it was closed, and ends the service as everywhere. */
function reloadsAtSignal({ reload }: Settings): boolean {
  return reload !== 'off' && !process.stdout.isTTY;
}

/**
 * Closes the service when the process is told to stop (SIGTERM, SIGINT) or when an error was caught nowhere, and
 * exits. A second signal or error exits at once.
 */
export function endWithProcess(
  service: RunningService,
  settings: Settings,
  guard = new ProcessGuard(settings, service.app.logger),
): void {
  const { logger, metrics } = service.app;
  guard.metrics.register(metrics.registry);
  const ending = closeWithGrace(
    {
      delay: settings.drainMs + 5000,
      logger: false,
      skip: [
        'beforeExit',
        'uncaughtException',
        'unhandledRejection',
        ...(reloadsAtSignal(settings) ? (['SIGHUP'] as const) : []),
      ],
    },
    async ({ signal }) => {
      if (signal !== undefined) logger.info({ signal }, 'stopping');
      await service.close();
      if (guard.hasFailed) process.exit(1);
    },
  );
  guard.onFailure(() => ending.close());
}

/**
 * Decides what an error that nothing caught means for the process. One of a plugin is logged and counted, and the service
 * goes on: it left the plugin's own code, which no request waits for. Any other may have left Millrace halfway through its
 * work, and ends the process.
 */
class ProcessGuard {
  readonly metrics = new StrayMetrics();
  #end = (): void => process.exit(1);
  #hasFailed = false;

  constructor(
    { project }: Settings,
    private readonly logger: Logger,
  ) {
    process.on('uncaughtException', (error) => this.#caught(project, 'exception', error));
    process.on('unhandledRejection', (reason) => this.#caught(project, 'rejection', reason));
  }

  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** @param end ends the process, and closes the service before */
  onFailure(end: () => void): void {
    this.#end = end;
  }

  #caught(project: string, kind: StrayKind, error: unknown): void {
    const plugin = strayPlugin(project, kind, error);
    if (plugin !== undefined) {
      this.metrics.count(plugin, kind);
      this.logger.error(
        { plugin, kind, error: describeError(error) },
        'a plugin left an error that nothing caught',
      );
      return;
    }
    this.logger.fatal({ error: describeError(error) }, 'stopping after an error that nothing caught');
    if (this.#hasFailed) process.exit(1);
    this.#hasFailed = true;
    this.#end();
  }
}

/** An address that a client on this machine can use: not 0.0.0.0, and IPv6 in brackets. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
