import { setMaxListeners } from 'node:events';
import { MillraceError } from '../api/errors.js';
import type { Usage } from './usage.js';

/** The time limit of a request, and whether its client is still connected. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #client: AbortSignal | undefined;

  constructor(
    readonly ms: number,
    client: AbortSignal | undefined,
    /** Counts work that may outlast the request. */
    readonly usage?: Usage,
    /** When the time started, by `performance.now()`. */
    readonly started = performance.now(),
  ) {
    // The signal has one listener per concurrent read. Node.js would print a leak warning above ten listeners.
    setMaxListeners(0, this.#controller.signal);
    this.#timer = setTimeout(() => this.#controller.abort(exceeded(ms)), this.#left());
    this.#client = client;
    if (client?.aborted === true) this.#gone();
    else client?.addEventListener('abort', this.#gone, { once: true });
  }

  readonly #gone = (): void => {
    const reason: unknown = this.#client?.reason;
    this.#controller.abort(
      reason instanceof MillraceError
        ? reason
        : new MillraceError('deadline_exceeded', 'the client closed the connection'),
    );
  };

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  #left(): number {
    return this.started + this.ms - performance.now();
  }

  /**
   * Compares the clock too, because the timer cannot fire while a component computes without a pause.
   * @throws MillraceError deadline_exceeded once the time limit is over
   */
  check(): void {
    if (!this.signal.aborted && this.#left() < 0) this.#controller.abort(exceeded(this.ms));
    if (this.signal.aborted) throw this.signal.reason as Error;
  }

  /** Settles like the promise, or rejects with the deadline's error if that comes first. */
  async within<T>(work: Promise<T>): Promise<T> {
    this.usage?.hold(work);
    if (this.signal.aborted) {
      // The work started too late. Its own rejection is ignored, since an unhandled rejection would end the process.
      work.catch(() => undefined);
      this.check();
    }
    let stop: () => void = () => undefined;
    const over = new Promise<never>((_resolve, reject) => {
      stop = () => {
        reject(this.signal.reason as Error);
      };
      this.signal.addEventListener('abort', stop, { once: true });
    });
    try {
      return await Promise.race([work, over]);
    } finally {
      this.signal.removeEventListener('abort', stop);
    }
  }

  /** Call this when the request is answered. */
  end(): void {
    clearTimeout(this.#timer);
    this.#client?.removeEventListener('abort', this.#gone);
  }
}

/** The error of a request that exceeded its limit. */
export function exceeded(ms: number): MillraceError {
  return new MillraceError('deadline_exceeded', `the time limit of ${ms} ms is over`);
}
