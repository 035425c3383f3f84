import { performance } from 'node:perf_hooks';

/** How often the event loop is observed, milliseconds; a longer turn delays it. */
const OBSERVE_MS = 10;
/** The loop is observed until so many observations went by without a request. */
const MOST_QUIET = 100;

/**
 * Estimates when the requests arrived that the event loop reads. While the loop is busy, requests wait in their sockets,
 * and no event tells of them. What a turn reads has arrived since an earlier turn began to read, while the loop did not
 * sleep: the estimate is the middle of that time.
 *
 * `arrived` must be called for each request: the first call in a turn tells when the turn began to read.
 */
export class ArrivalClock {
  #isReading = false;
  #isObserving = false;
  #quiet = 0;
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
    const busy = this.#observe(now);
    // Without earlier observations nothing is known of the turns since the last request.
    this.#lag = this.#isObserving ? busy / 2 : 0;
    this.#quiet = 0;
    if (this.#isObserving) return;
    this.#isObserving = true;
    setTimeout(this.#observeAgain, OBSERVE_MS).unref();
  }

  /** Sockets are read before immediates run. */
  readonly #endTurn = (): void => {
    this.#isReading = false;
  };

  /** Timers run before sockets are read, and immediates after: what waits in the sockets belongs to the time before. */
  readonly #observeAgain = (): void => {
    setImmediate(() => {
      this.#observe(performance.now());
      this.#isObserving = ++this.#quiet < MOST_QUIET;
      if (this.#isObserving) setTimeout(this.#observeAgain, OBSERVE_MS).unref();
    });
  };

  /** @returns for how long the loop was busy since the last observation, milliseconds */
  #observe(now: number): number {
    const idle = performance.nodeTiming.idleTime;
    const busy = now - this.#readAt - (idle - this.#idleAt);
    this.#idleAt = idle;
    this.#readAt = now;
    return Math.max(0, busy);
  }
}
