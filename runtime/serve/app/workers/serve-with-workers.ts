import { createServer, type Server } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { checkExposure } from '../../access/exposure.js';
import { MillraceError } from '../../../ground/api/errors.js';
import { stopAccepting } from '../../http/drain.js';
import type { Audience } from '../../http/edge/audience.js';
import { ADMIN_SETTINGS, bind, portOf } from '../../http/listen.js';
import { TlsFiles } from '../../http/tls-files.js';
import { countPrimary, countWorkers } from '../../metrics/worker-metrics.js';
import { nameOf, type Settings } from '../../../project/settings/settings.js';
import { logSources } from '../process/log-sources.js';
import { endOnSignal, reloadOnSighup, reloadsOnSighup } from '../process/end-on-signal.js';
import { logPrints } from '../process/log-prints.js';
import { engineTraits } from '../container/store-engines.js';
import { ProcessGuard } from '../process/process-guard.js';
import { ProjectFileChanges } from '../project/project-file-changes.js';
import { watchProject } from '../project/watcher.js';
import { urlOf } from '../serve.js';
import { metricsText, requestsIn } from './merge-metrics.js';
import { openLog } from '../process/open-log.js';
import { WorkerPool } from './worker-pool.js';

/** Workers answer most requests within this time, in milliseconds. */
const QUIET_MS = 25;

/**
 * Serves one port with several processes. This process, the primary, accepts connections and hands each one to a
 * worker. It runs no request itself. Resolves when the service answers.
 * @throws MillraceError invalid_setting; WorkerFailedError
 */
export async function serveWithWorkers(settings: Settings): Promise<void> {
  const { workers, host, port, store, adminHost, adminPort } = settings;
  const { called, isShared } = await engineTraits(settings);
  if (!isShared)
    throw new MillraceError(
      'invalid_setting',
      `${nameOf('workers', settings)} is ${workers}, and only one process can open ${called}; use the redis store, or 1 worker`,
    );
  await checkExposure(settings);
  const logger = openLog(settings);
  const guard = new ProcessGuard(settings, logger);
  // The workers serve with the files and poll them. The primary reports mistakes before it starts a worker.
  const tls = await TlsFiles.open(settings, logger);
  tls?.close();
  const pool = new WorkerPool({
    workers,
    logger,
    file: { content: settings.sources.file?.content },
    gather: gatherMetrics(guard),
  });
  const watch = settings.reload === 'watch' ? await watchProject(settings) : undefined;
  // The primary forwards signals to the workers: see `endOnSignal` below and `serveAsWorker`.
  const loaded = await pool.start();
  const clients = acceptor(pool, 'clients');
  const operators = adminPort === 'off' ? undefined : acceptor(pool, 'operators');
  try {
    await bind(clients, { host, port });
    if (adminPort !== 'off' && operators !== undefined)
      await bind(operators, { host: adminHost, port: adminPort, settings: ADMIN_SETTINGS });
  } catch (error) {
    pool.kill();
    clients.close();
    throw error;
  }
  const printAgain = logPrints(logger);
  const isSecure = tls !== undefined;
  const url = urlOf(host, portOf(clients), isSecure);
  const adminUrl = operators === undefined ? url : urlOf(adminHost, portOf(operators), isSecure);
  pool.listening({
    clients: portOf(clients),
    ...(operators === undefined ? {} : { operators: portOf(operators) }),
  });
  const fileChanges = new ProjectFileChanges(settings, logger);
  const watcher = watch?.({ logger, fileChanges, files: loaded.files, reload: () => pool.reload() });
  endOnSignal(settings, logger, guard, async ({ lameDuckMs, idleMs }) => {
    watcher?.stop();
    pool.shutDown();
    await pause(lameDuckMs);
    // The connections precede the drain message in each worker's channel, so a worker drains after it received all of
    // them.
    await Promise.all([stopAccepting(clients, QUIET_MS), operators && stopAccepting(operators, QUIET_MS)]);
    await pool.drain(idleMs);
    printAgain();
  });
  if (reloadsOnSighup(settings)) reloadOnSighup(fileChanges, () => pool.reload());
  logSources(logger, settings);
  // This line comes last, because a caller that waits for it may send signals at once.
  const admin = operators === undefined ? {} : { admin_url: adminUrl };
  logger.info({ url, ...admin, store, workers, reference: `${adminUrl}/redoc` }, 'listening');
}

/** Accepts the connections of one listener for the workers. */
function acceptor(pool: WorkerPool, audience: Audience): Server {
  return createServer({ pauseOnConnect: true, noDelay: true }, (socket) => pool.give({ socket, audience }));
}

/** Gathers /metrics of this process and of all workers, including those that ended. */
function gatherMetrics(guard: ProcessGuard): (pool: WorkerPool) => Promise<string> {
  const own = new Registry();
  countPrimary(own);
  guard.metrics.register(own);
  let counted: WorkerPool | undefined;
  let running: Promise<string> | undefined;
  const gather = async (pool: WorkerPool): Promise<string> => {
    if (counted === undefined) {
      counted = pool;
      countWorkers(own, {
        states: () =>
          pool.workers.map(({ number, isReady, connections, metrics }) => ({
            number,
            isReady,
            connections,
            requests: requestsIn(metrics),
          })),
        restarts: () => pool.restarts,
      });
    }
    await Promise.all(pool.workers.map((worker) => worker.readMetrics()));
    const ended = await pool.endedCounts();
    const primary = await own.getMetricsAsJSON();
    return metricsText([...pool.workers.map(({ metrics }) => metrics), ended, primary]);
  };
  return (pool) =>
    (running ??= gather(pool).finally(() => {
      running = undefined;
    }));
}
