import type { Worker } from 'node:cluster';
import type { Socket } from 'node:net';
import type { Audience } from '../../http/edge/audience.js';
import type { Loaded, MetricsSnapshot, ToPrimary, ToWorker } from './messages.js';
import { Replies } from './replies.js';

/** The longest wait for a worker's metrics, in milliseconds. After that, its previous metrics are used. */
const METRICS_MS = 1000;

/** How a worker ended: its exit code, or the signal that killed it. */
export type WorkerEnd = number | NodeJS.Signals;

/** A connection that a listener of the primary accepted. */
export interface Accepted {
  readonly socket: Socket;
  readonly audience: Audience;
}

/** The state of one worker, as the primary process knows it. */
export class WorkerHandle {
  readonly process: Worker;
  /** The number of the worker, from 1. A replacement gets the number of the worker that it replaces. */
  readonly number: number;
  /** Resolves with the loaded project; rejects with `WorkerEnd` if the worker ended before that. */
  readonly loaded: Promise<Loaded>;
  readonly ended: Promise<WorkerEnd>;
  /** The number of its open connections, including those that are being sent to it. */
  connections = 0;
  /** The time when it became ready, by `performance.now()`; undefined while it starts. */
  readyAt: number | undefined;
  /** The time when it got its newest connection, by `performance.now()`. */
  lastGivenAt = 0;
  /** The version of the project that it serves. */
  version = '';
  /** True after it stops taking connections. */
  isLeaving = false;
  /** The metrics of the last read. */
  metrics: MetricsSnapshot = [];
  /** The connections that it has not confirmed yet, oldest first. This process keeps them open as well. */
  readonly #sent: Accepted[] = [];
  readonly #snapshots = new Replies<MetricsSnapshot>();
  #reloaded: (message: ToPrimary & { type: 'reloaded' }) => void = () => undefined;

  constructor(worker: Worker, number: number, heard: (message: ToPrimary) => void) {
    this.process = worker;
    this.number = number;
    this.ended = new Promise((resolve) =>
      worker.once('exit', (code: number | null, signal: NodeJS.Signals | null) =>
        // What it sent before its end is read in the next turn.
        setImmediate(() => setImmediate(() => resolve(signal ?? code ?? 1))),
      ),
    );
    this.loaded = new Promise((resolve, reject) => {
      worker.on('message', (message: ToPrimary) => {
        if (message.type === 'ready') resolve(message);
        else this.#heard(message);
        heard(message);
      });
      void this.ended.then(reject);
    });
    this.loaded.catch(() => undefined);
    // A message to a worker that has just ended fails. The code that awaits `ended` handles the end.
    worker.on('error', () => undefined);
  }

  get isReady(): boolean {
    return this.readyAt !== undefined && !this.isLeaving && this.process.isConnected();
  }

  send(message: ToWorker): void {
    if (this.process.isConnected()) this.process.send(message);
  }

  give(accepted: Accepted): void {
    const { socket, audience } = accepted;
    this.connections++;
    this.lastGivenAt = performance.now();
    this.#sent.push(accepted);
    // Without keepOpen, Node never closes a socket that it sent to a worker which was killed, and the client waits.
    const message: ToWorker = { type: 'connection', audience };
    this.process.process.send(message, socket, { keepOpen: true }, () => undefined);
  }

  /** Call this after the worker's end. Returns the connections that it never received. */
  notGiven(): Accepted[] {
    return this.#sent.splice(0);
  }

  /** Reads the worker's metrics into `metrics`, if it answers in time. */
  async readMetrics(): Promise<void> {
    const snapshot = await this.#snapshots.ask((id) => this.send({ type: 'read_metrics', id }), METRICS_MS);
    if (snapshot !== undefined) this.metrics = snapshot;
  }

  /** @returns the result of the reload; undefined if the worker ended meanwhile */
  async reload(isForced: boolean): Promise<(ToPrimary & { type: 'reloaded' }) | undefined> {
    const answer = new Promise<ToPrimary & { type: 'reloaded' }>((resolve) => (this.#reloaded = resolve));
    this.send({ type: 'reload', isForced });
    return Promise.race([answer, this.ended.then(() => undefined)]);
  }

  #heard(message: ToPrimary): void {
    if (message.type === 'received') this.#sent.shift()?.socket.destroy();
    else if (message.type === 'closed') this.connections -= message.connections;
    else if (message.type === 'serving') this.version = message.version;
    else if (message.type === 'reloaded') this.#reloaded(message);
    else if (message.type === 'metrics') {
      this.metrics = message.snapshot;
      this.#snapshots.answer(message.id, message.snapshot);
    }
  }
}
