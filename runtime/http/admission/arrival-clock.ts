import { performance } from 'node:perf_hooks';

/** Idle time, in milliseconds, from which the event loop counts as not busy. */
const IDLE_MS = 0.05;
/** While the loop is busy, it is observed at least so often, in milliseconds, or once a turn if turns are longer. */
const OBSERVE_MS = 5;

/**
 * Estimates when the requests arrived that the event loop reads. While the loop is busy, requests wait in their sockets,
 * and no event tells of them. What a turn reads has arrived since an earlier turn began to read: the estimate is the
 * middle of that time. If the loop slept in between, nothing waited.
 *
 * `arrived` must be called for each request: the first call in a turn tells when the turn began to read.
 */
export class ArrivalClock {
  #isReading = false;
  #isObserving = false;
  #readAt = performance.now();
  #idleAt = performance.nodeTiming.idleTime;
  #lag = 0;

  /** The estimate for a request whose head is read now, in milliseconds of `performance.now()`. */
  arrived(now: number): number {
    if (!this.#isReading) this.#beginTurn(now);
    return this.#readAt - this.#lag;
  }

  #beginTurn(now: number): void {
    this.#isReading = true;
    setImmediate(this.#endTurn);
    const before = this.#readAt;
    this.#lag = this.#observe(now) ? (now - before) / 2 : 0;
    if (this.#isObserving) return;
    this.#isObserving = true;
    setTimeout(this.#observeAgain, OBSERVE_MS).unref();
  }

  /** Sockets are read before immediates run. */
  readonly #endTurn = (): void => {
    this.#isReading = false;
  };

  /** Timers run before sockets are read. */
  readonly #observeAgain = (): void => {
    this.#isObserving = this.#observe(performance.now());
    if (this.#isObserving) setTimeout(this.#observeAgain, OBSERVE_MS).unref();
  };

  /** @returns whether the loop was busy all the time since the last observation */
  #observe(now: number): boolean {
    const idle = performance.nodeTiming.idleTime;
    const isBusy = idle - this.#idleAt < IDLE_MS;
    this.#idleAt = idle;
    this.#readAt = now;
    return isBusy;
  }
}
