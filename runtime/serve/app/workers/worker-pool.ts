import cluster from 'node:cluster';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { IDLE_MS } from '../process/end-on-signal.js';
import { ENDING, type Reload } from '../project/reloader.js';
import { BackOff } from './back-off.js';
import { countsOf, mergeMetrics } from './merge-metrics.js';
import type { Loaded, MetricsSnapshot, Ports, ProjectFileContent, ToPrimary, ToWorker } from './messages.js';
import { WorkerFailedError } from './worker-failed.js';
import { WorkerHandle, type Accepted, type WorkerEnd } from './worker-handle.js';

/** The maximum number of connections that wait while no worker is ready. A listening socket holds as many. */
const MOST_WAITING = 511;
/** The primary receives a signal to the whole process group within this time, in milliseconds. */
const SIGNAL_MS = 250;

export interface PoolOptions {
  readonly workers: number;
  readonly logger: Logger;
  readonly file: ProjectFileContent;
  /** Called when a worker requests the text of /metrics. */
  readonly gather: (workers: WorkerPool) => Promise<string>;
}

/**
 * The workers of a service. A worker that ends is replaced, after a growing pause. A reload runs in one worker after
 * the other. A new connection goes to the worker with the fewest connections.
 */
export class WorkerPool {
  readonly #options: PoolOptions;
  readonly #backOffs = new Map<number, BackOff>();
  readonly #workers = new Map<number, WorkerHandle>();
  readonly #waiting: Accepted[] = [];
  #endedCounts: Promise<MetricsSnapshot> = Promise.resolve([]);
  #ports: Ports | undefined;
  #restarts = 0;
  #isStarted = false;
  #isStopping = false;
  #reloading: Promise<unknown> = Promise.resolve();
  #isForced = false;
  #next: Promise<Reload> | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
    // Advanced serialization keeps NaN and maps, which JSON would lose.
    cluster.setupPrimary({ serialization: 'advanced' });
  }

  get workers(): readonly WorkerHandle[] {
    return [...this.#workers.values()];
  }

  /** The number of workers that were started as replacements. */
  get restarts(): number {
    return this.#restarts;
  }

  /** The counts of the workers that ended. */
  endedCounts(): Promise<MetricsSnapshot> {
    return this.#endedCounts;
  }

  /**
   * Starts one worker first, which reports the errors of the project, and then the others together.
   * @returns the project that the first worker loaded
   * @throws WorkerFailedError if a worker ends before it is ready; the others are then ended
   */
  async start(): Promise<Loaded> {
    try {
      const first = await this.#start(1);
      await Promise.all(Array.from({ length: this.#options.workers - 1 }, (_, i) => this.#start(i + 2)));
      this.#isStarted = true;
      return first;
    } catch (error) {
      this.kill();
      throw error;
    }
  }

  /** Tells the workers that connections will arrive. */
  listening(ports: Ports): void {
    this.#ports = ports;
    this.#broadcast({ type: 'listening', ports });
  }

  /**
   * Hands a connection to the worker with the fewest connections. Ties go to the worker that has waited longest for
   * one.
   */
  give(accepted: Accepted): void {
    const [best] = this.workers
      .filter(({ isReady }) => isReady)
      .sort((a, b) => a.connections - b.connections || a.lastGivenAt - b.lastGivenAt);
    if (best !== undefined) best.give(accepted);
    else if (this.#waiting.length < MOST_WAITING && !this.#isStopping) this.#waiting.push(accepted);
    else accepted.socket.destroy();
  }

  /**
   * Reloads the project in one worker after the other. If the first worker finds errors, the others do not reload, and
   * all keep their version.
   * @param isForced whether the project is taken even if it does not meet the condition of a reload
   */
  reload(isForced = false): Promise<Reload> {
    this.#isForced ||= isForced;
    this.#next ??= this.#reloading.then(() => {
      this.#next = undefined;
      const reloading = this.#reloadAll(this.#isForced);
      this.#isForced = false;
      this.#reloading = reloading;
      return reloading;
    });
    return this.#next;
  }

  /** Makes /readyz answer 503. */
  shutDown(): void {
    this.#isStopping = true;
    this.#broadcast({ type: 'shutting_down' });
  }

  /** Makes the workers drain and exit, because no more connections follow. Resolves when all workers have ended. */
  async drain(idleMs: number): Promise<void> {
    this.#isStopping = true;
    for (const { socket } of this.#waiting.splice(0)) socket.destroy();
    for (const worker of this.workers)
      if (worker.readyAt === undefined) worker.process.process.kill('SIGKILL');
      else worker.send({ type: 'drain', idleMs });
    await Promise.all(this.workers.map(({ ended }) => ended));
  }

  /** Ends all workers at once. */
  kill(): void {
    this.#isStopping = true;
    for (const { process } of this.workers) process.process.kill('SIGKILL');
  }

  #replacesWorkers(): boolean {
    return this.#isStarted && !this.#isStopping;
  }

  #broadcast(message: ToWorker): void {
    for (const worker of this.workers) worker.send(message);
  }

  async #start(number: number): Promise<Loaded> {
    const handle = new WorkerHandle(cluster.fork(), number, (message) => this.#heard(handle, message));
    this.#workers.set(number, handle);
    void handle.ended.then((end) => this.#ended(handle, end));
    let loaded: Loaded;
    try {
      loaded = await handle.loaded;
    } catch (end) {
      throw new WorkerFailedError(number, end as WorkerEnd);
    }
    if (this.#ports !== undefined) handle.send({ type: 'listening', ports: this.#ports });
    if (this.#isStopping) handle.send({ type: 'shutting_down' });
    handle.version = loaded.version;
    handle.readyAt = performance.now();
    for (const accepted of this.#waiting.splice(0)) this.give(accepted);
    return loaded;
  }

  #heard(worker: WorkerHandle, message: ToPrimary): void {
    if (message.type === 'booted')
      worker.send({
        type: 'begin',
        number: worker.number,
        logsProject: worker.number === 1 && !this.#isStarted,
        file: this.#options.file,
      });
    else if (message.type === 'leaving') void this.#leave(worker);
    else if (message.type === 'ask_reload')
      void this.reload(message.isForced).then(({ problem }) =>
        worker.send({ type: 'reload_answer', id: message.id, version: worker.version, problem }),
      );
    else if (message.type === 'gather_metrics')
      void this.#options
        .gather(this)
        .then((text) => worker.send({ type: 'metrics_text', id: message.id, text }));
  }

  /**
   * Handles a worker that asks to end. If the whole service was told to stop, the primary soon receives the signal too,
   * and ends all workers together.
   */
  async #leave(worker: WorkerHandle): Promise<void> {
    await pause(SIGNAL_MS);
    if (this.#isStopping || worker.isLeaving) return;
    worker.isLeaving = true;
    worker.send({ type: 'drain', idleMs: IDLE_MS });
  }

  async #ended(worker: WorkerHandle, end: WorkerEnd): Promise<void> {
    this.#endedCounts = this.#endedCounts.then((counts) => mergeMetrics([counts, countsOf(worker.metrics)]));
    if (this.#workers.get(worker.number) === worker) this.#workers.delete(worker.number);
    for (const accepted of worker.notGiven()) this.give(accepted);
    if (!this.#replacesWorkers()) return;
    const { logger } = this.#options;
    const backOff = this.#backOffs.get(worker.number) ?? new BackOff();
    this.#backOffs.set(worker.number, backOff);
    const ranMs = worker.readyAt === undefined ? 0 : performance.now() - worker.readyAt;
    const waitMs = worker.isLeaving ? 0 : backOff.next(ranMs);
    const fields = { worker: worker.number, worker_pid: worker.process.process.pid, end, wait_ms: waitMs };
    if (worker.isLeaving) logger.info(fields, 'a worker ended as it was told; another is started');
    else logger.error(fields, 'a worker ended; another is started');
    await pause(waitMs, undefined, { ref: false });
    if (!this.#replacesWorkers()) return;
    this.#restarts++;
    const others = new Set(this.workers.map(({ version }) => version));
    const loaded = await this.#start(worker.number).catch(() => undefined); // `#ended` also handles the end of this worker
    if (loaded === undefined || others.size === 0 || others.has(loaded.version)) return;
    logger.warn(
      { worker: worker.number, project_version: loaded.version },
      'the files of the project have changed: the other workers reload it too',
    );
    await this.reload();
  }

  async #reloadAll(isForced: boolean): Promise<Reload> {
    let first: Reload | undefined;
    if (this.#isStopping) return { outcome: 'failed', files: new Map(), problem: ENDING };
    for (const worker of this.workers) {
      if (!worker.isReady) continue;
      const answer = await worker.reload(isForced);
      if (answer === undefined) continue;
      const { outcome, files, version, problem } = answer;
      worker.version = version;
      first ??= { outcome, files, ...(problem && { problem }) };
      if (outcome === 'succeeded') continue;
      if (first.outcome === 'succeeded')
        this.#options.logger.error(
          { worker: worker.number, project_version: version },
          'the project changed during the reload: workers serve different versions until the next one',
        );
      break;
    }
    return first ?? { outcome: 'failed', files: new Map(), problem: ENDING };
  }
}
