import type { Socket } from 'node:net';
import type { Registry } from 'prom-client';
import type { ConnectionSource } from '../../http/connection-source.js';
import type { Audience } from '../../http/edge/audience.js';
import { Instance, type ReloadOutcome } from '../../http/instance.js';
import type { Settings } from '../../../project/settings/settings.js';
import type { App } from '../running-app.js';
import { longestClose } from '../process/end-on-signal.js';
import { logPrints } from '../process/log-prints.js';
import { ProcessGuard } from '../process/process-guard.js';
import { logProject, startService, type RunningService } from '../serve.js';
import type { Loaded, Ports, ProjectFileContent, ToPrimary, ToWorker } from './messages.js';
import { Replies } from './replies.js';
import { openLog } from '../process/open-log.js';
import { logReload } from '../project/reloader.js';
import { shareOf } from './share-of.js';

/** The longest wait for the primary, which itself waits for other workers. */
const GATHER_MS = 3000;
/** The longest wait for a reload of all workers. */
const RELOAD_MS = 110_000;

/**
 * Serves the connections that the primary process hands over, until the primary announces that none follow. The primary
 * handles signals for all workers. A SIGTERM to this worker alone makes the primary replace it.
 */
export async function serveAsWorker(read: (file: ProjectFileContent) => Promise<Settings>): Promise<void> {
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
  const link = new PrimaryLink();
  const { number, logsProject, file } = await link.begin;
  const settings = await read(file);
  const logger = openLog(settings).child({ worker: number });
  const guard = new ProcessGuard(settings, logger);
  const printAgain = logPrints(logger);
  const instance = new Instance((own) => link.gather(own));
  const service = await startService(
    // The primary watches the files. One worker, the first to reload, reports how a new project ranks, and may refuse it.
    {
      ...shareOf(settings, settings.workers),
      reload: 'off',
      reloadDiff: number === 1 ? settings.reloadDiff : 0,
      reloadRequire: number === 1 ? settings.reloadRequire : '',
    },
    {
      ...{ logger, instance, worker: number },
      sources: (audience) => link.source(audience),
      tellReload: (report) => {
        logReload(logger, report);
        link.send({ type: 'serving', version: report.version });
      },
    },
  ).catch((error: unknown) => {
    printAgain();
    // The command line reports the error and sets the exit code; the channel would keep the process running.
    process.channel?.unref();
    throw error;
  });
  const { app } = service;
  // A client that asks one worker means all.
  instance.reloadBy((isForced) => link.reload(isForced));
  guard.metrics.register(app.metrics.registry);
  if (logsProject) logProject(app, settings);
  obey(link, service, instance, settings, guard);
  const leave = (): void => link.send({ type: 'leaving' });
  process.once('SIGTERM', leave);
  guard.onFailure(leave);
  link.send({ type: 'ready', ...loadedOf(app) });
}

/** Executes the messages of the primary. */
function obey(
  link: PrimaryLink,
  service: RunningService,
  instance: Instance,
  settings: Settings,
  guard: ProcessGuard,
): void {
  const { app } = service;
  const end = async (idleMs: number): Promise<void> => {
    setTimeout(() => process.exit(1), longestClose(settings)).unref();
    await service.close({ lameDuckMs: 0, idleMs });
    // Sends the counts of the last requests.
    link.send({ type: 'metrics', id: 0, snapshot: await app.metrics.registry.getMetricsAsJSON() }, () =>
      process.exit(guard.hasFailed ? 1 : 0),
    );
  };
  link.onMessage((message) => {
    switch (message.type) {
      case 'shutting_down':
        instance.shutDown();
        break;
      case 'drain':
        void end(message.idleMs);
        break;
      case 'reload':
        void app
          .reload(message.isForced)
          .then((reload) => link.send({ type: 'reloaded', ...loadedOf(app), ...reload }));
        break;
      case 'read_metrics': {
        const { id } = message;
        void app.metrics.registry
          .getMetricsAsJSON()
          .then((snapshot) => link.send({ type: 'metrics', id, snapshot }));
        break;
      }
    }
  });
}

function loadedOf({ version, files }: App): Loaded {
  return { version, files };
}

type Begin = ToWorker & { readonly type: 'begin' };

/** One listener of the primary process. */
class Listener implements ConnectionSource {
  /** 0 until the primary announces it, which happens before the first connection. */
  port = 0;
  take: (socket: Socket) => void = (socket) => socket.destroy();

  onConnection(take: (socket: Socket) => void): void {
    this.take = take;
  }
}

/** The channel to the primary process. */
class PrimaryLink {
  readonly begin: Promise<Begin>;
  readonly #texts = new Replies<string>();
  readonly #reloads = new Replies<ReloadOutcome>();
  #heard: (message: ToWorker) => void = () => undefined;
  readonly #listeners = new Map<Audience, Listener>();
  #closed = 0;

  constructor() {
    let begin: (message: Begin) => void;
    this.begin = new Promise((resolve) => (begin = resolve));
    process.on('message', (message: ToWorker, socket: Socket | undefined) => {
      if (message.type === 'begin') begin(message);
      else if (message.type === 'listening') this.#listening(message.ports);
      else if (message.type === 'connection') this.#accept(message.audience, socket);
      else if (message.type === 'reload_answer') this.#reloads.answer(message.id, message);
      else if (message.type === 'metrics_text') this.#texts.answer(message.id, message.text);
      else this.#heard(message);
    });
    this.send({ type: 'booted' });
  }

  send(message: ToPrimary, sent: () => void = () => undefined): void {
    // Without the primary, Node ends this process.
    if (process.connected) process.send?.(message, undefined, undefined, sent);
  }

  onMessage(heard: (message: ToWorker) => void): void {
    this.#heard = heard;
  }

  /** Returns the connections of one listener of the primary. */
  source(audience: Audience): ConnectionSource {
    const listener = new Listener();
    this.#listeners.set(audience, listener);
    return listener;
  }

  /** @returns the metrics of all workers; those of this worker alone if the primary does not answer in time */
  async gather(own: Registry): Promise<string> {
    const text = await this.#texts.ask((id) => this.send({ type: 'gather_metrics', id }), GATHER_MS);
    return text ?? own.metrics();
  }

  /** Has the primary reload all workers. */
  async reload(isForced: boolean): Promise<ReloadOutcome> {
    const answer = await this.#reloads.ask(
      (id) => this.send({ type: 'ask_reload', id, isForced }),
      RELOAD_MS,
    );
    const late = { code: 'deadline_exceeded', detail: 'the workers have not reloaded yet' } as const;
    return answer ?? { version: '', problem: late };
  }

  #listening(ports: Ports): void {
    for (const [audience, listener] of this.#listeners) listener.port = ports[audience] ?? 0;
  }

  #accept(audience: Audience, socket: Socket | undefined): void {
    // Before the first byte is read: the primary gives a connection that was not received to another worker.
    this.send({ type: 'received' });
    // The client closed the connection during the transfer.
    if (socket === undefined) this.#countClosed();
    else {
      socket.once('close', () => this.#countClosed());
      this.#listeners.get(audience)?.take(socket);
    }
  }

  /** Tells the primary once per turn how many connections closed. */
  #countClosed(): void {
    if (this.#closed++ > 0) return;
    setImmediate(() => {
      this.send({ type: 'closed', connections: this.#closed });
      this.#closed = 0;
    });
  }
}
