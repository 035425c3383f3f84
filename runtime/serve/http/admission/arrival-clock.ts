import { performance } from 'node:perf_hooks';

/** The interval between two observations of the event loop, in milliseconds. A longer turn delays an observation. */
const OBSERVE_MS = 10;
/** Observation stops after this many consecutive observations without a request. */
const MOST_QUIET = 100;

/**
 * Estimates the arrival times of the requests that the event loop reads. While the loop is busy, requests wait in their
 * sockets, and no event announces them. The requests that a turn reads arrived after an earlier turn began to read,
 * while the loop did not sleep. The estimate is the middle of that time.
 *
 * `arrived` must be called for each request, because its first call in a turn marks the time when the turn began to
 * read.
 */
export class ArrivalClock {
  #isReading = false;
  #isObserving = false;
  #quiet = 0;
  #readAt = performance.now();
  #idleAt = performance.nodeTiming.idleTime;
  #lag = 0;

  /** Returns the estimate for a request whose head is read now, in milliseconds of `performance.now()`. */
  arrived(now: number): number {
    if (!this.#isReading) this.#beginTurn(now);
    return this.#readAt - this.#lag;
  }

  #beginTurn(now: number): void {
    this.#isReading = true;
    setImmediate(this.#endTurn);
    const busy = this.#observe(now);
    // Without earlier observations, nothing is known about the turns since the last request.
    this.#lag = this.#isObserving ? busy / 2 : 0;
    this.#quiet = 0;
    if (this.#isObserving) return;
    this.#isObserving = true;
    setTimeout(this.#observeAgain, OBSERVE_MS).unref();
  }

  /** Runs after the sockets are read, because immediates run later in a turn. */
  readonly #endTurn = (): void => {
    this.#isReading = false;
  };

  /**
   * Timers run before sockets are read, and immediates run after. The observation runs in an immediate, because the
   * requests in the sockets arrived during the time before it.
   */
  readonly #observeAgain = (): void => {
    setImmediate(() => {
      this.#observe(performance.now());
      this.#isObserving = ++this.#quiet < MOST_QUIET;
      if (this.#isObserving) setTimeout(this.#observeAgain, OBSERVE_MS).unref();
    });
  };

  /** @returns how long the loop was busy since the last observation, in milliseconds */
  #observe(now: number): number {
    const idle = performance.nodeTiming.idleTime;
    const busy = now - this.#readAt - (idle - this.#idleAt);
    this.#idleAt = idle;
    this.#readAt = now;
    return Math.max(0, busy);
  }
}
