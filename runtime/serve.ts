import closeWithGrace from 'close-with-grace';
import { createApp, type App } from './app.js';
import { describeError } from './http/describe-error.js';
import { listen } from './http/listen.js';
import type { Settings } from './settings.js';

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
export async function startService(settings: Settings): Promise<RunningService> {
  const app = await createApp(settings);
  try {
    const server = await listen(app.http(), settings);
    return {
      app,
      url: `http://${reachableHost(settings.host)}:${server.port}`,
      port: server.port,
      async close() {
        await server.close(settings.drainMs);
        await app.close();
      },
    };
  } catch (error) {
    await app.close();
    throw error;
  }
}

/** Starts a service that ends with the process; resolves once it answers. */
export async function serveUntilSignal(settings: Settings): Promise<RunningService> {
  const service = await startService(settings);
  const { logger, pipelines } = service.app;
  for (const { message, at } of service.app.warnings) {
    const { line } = at.file.position(at.start);
    logger.warn({ file: at.file.path, line }, message);
  }
  for (const { name, route } of pipelines) logger.info({ pipeline: name, route }, 'pipeline mounted');
  logger.info({ url: service.url, store: settings.store, reference: `${service.url}/redoc` }, 'listening');
  endWithProcess(service, settings);
  return service;
}

/**
 * Closes the service when the process is told to stop (SIGTERM, SIGINT) or when an error was caught nowhere, and
 * exits. A second signal exits at once.
 */
export function endWithProcess(service: RunningService, settings: Settings): void {
  const { logger } = service.app;
  closeWithGrace(
    { delay: settings.drainMs + 5000, logger: false, skip: ['beforeExit'] },
    async ({ signal, err }) => {
      if (err === undefined) logger.info({ signal }, 'stopping');
      else logger.fatal({ error: describeError(err) }, 'stopping after an error that nothing caught');
      await service.close();
    },
  );
}

/** An address that a client on this machine can use: not 0.0.0.0, and IPv6 in brackets. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
