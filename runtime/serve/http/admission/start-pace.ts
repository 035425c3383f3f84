import { performance } from 'node:perf_hooks';

/**
 * Up to this many requests in progress, starts are not paced. Pacing is for requests that wait long for other servers.
 */
const FREE_STARTS = 16;
/** The CPU time that starts may use in advance, in milliseconds. */
const BURST_MS = 20;
/** The cost is measured again after this many milliseconds and starts. */
const MEASURE_MS = 200;
const MEASURE_STARTS = 20;
/**
 * The part of the measured cost that a start is charged. It is below 1, so that an estimate that is too high leaves no
 * CPU time unused.
 */
const CHARGED = 0.9;

/**
 * Paces the start of requests by the CPU time that they need, as a token bucket. Without it, requests that wait for a
 * slow server would all start at once. They would then compete for the CPU when their replies arrive together.
 *
 * The cost of a request is the active time of the event loop, divided by the number of requests started in that time.
 */
export class StartPace {
  #credit = BURST_MS;
  #creditAt = performance.now();
  /** The CPU time of one request in milliseconds; 0 until it is known. */
  #cost = 0;
  #measured = performance.eventLoopUtilization();
  #measuredAt = performance.now();
  #starts = 0;

  /** Returns the milliseconds until the next request may start; 0 if it may start now. */
  wait(now: number, inProgress: number): number {
    if (now - this.#measuredAt >= MEASURE_MS && this.#starts >= MEASURE_STARTS) this.#measure(now);
    this.#credit = Math.min(BURST_MS, this.#credit + now - this.#creditAt);
    this.#creditAt = now;
    return inProgress < FREE_STARTS ? 0 : Math.max(0, -this.#credit);
  }

  started(): void {
    this.#starts++;
    this.#credit = Math.max(-BURST_MS, this.#credit - CHARGED * this.#cost);
  }

  #measure(now: number): void {
    const measured = performance.eventLoopUtilization();
    const cost = (measured.active - this.#measured.active) / this.#starts;
    this.#cost = this.#cost === 0 ? cost : (this.#cost + cost) / 2;
    this.#measured = measured;
    this.#measuredAt = now;
    this.#starts = 0;
  }
}
