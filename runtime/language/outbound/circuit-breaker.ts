import { OutboundError } from '../../ground/api/http-client.js';
import { ClientLeft } from '../../ground/core/deadline.js';

/** A server counts as silent after this many requests in a row without an answer … */
const FAILURES = 10;
/** … if the first of them started at least this long ago; milliseconds. */
const SILENCE_MS = 1_000;
/** Time between attempts to reach a silent server; milliseconds. Each attempt is one request. */
const PAUSE_MS = 1_000;

/**
 * Prevents requests from waiting for a server that hangs. Once the server is silent, requests fail at once, except
 * one per second that tests whether it answers again. Any answer closes the circuit, also an error. A request whose
 * caller gave up counts as unanswered, since a server may be slower than every caller's time limit. One whose client left
 * counts only if it waited as long as a silence: clients may leave for reasons of their own.
 * Source: the circuit breaker of M. Nygard, Release It!, 2007.
 */
export class CircuitBreaker {
  readonly #host: string;
  readonly #now: () => number;
  /** The number of unanswered requests since the last answer, and when the first of them started. */
  #failures = 0;
  #since = 0;
  /** While the server is silent: the time of the next attempt, or Infinity while an attempt is in flight. */
  #askAgainAt: number | undefined;

  /** @param now milliseconds of a monotonic clock */
  constructor(host: string, now = (): number => performance.now()) {
    this.#host = host;
    this.#now = now;
  }

  /** @throws OutboundError circuit_open while the server is silent, and whatever `ask` throws */
  async run<T>(ask: () => Promise<T>): Promise<T> {
    const begun = this.#now();
    const isTest = this.#askAgainAt !== undefined;
    if (this.#askAgainAt !== undefined) {
      if (begun < this.#askAgainAt)
        throw new OutboundError(
          'circuit_open',
          `${this.#host} does not answer; one request per second tests it`,
        );
      this.#askAgainAt = Infinity;
    }
    try {
      const answer = await ask();
      this.#answered();
      return answer;
    } catch (error) {
      if (error instanceof OutboundError && error.fault === 'too_large') this.#answered();
      else if (!(error instanceof ClientLeft) || this.#now() - begun >= SILENCE_MS) this.#failed(begun);
      else if (isTest && this.#askAgainAt === Infinity) this.#askAgainAt = begun; // the next request tests the server
      throw error;
    }
  }

  #answered(): void {
    this.#failures = 0;
    this.#askAgainAt = undefined;
  }

  #failed(begun: number): void {
    if (this.#failures++ === 0) this.#since = begun;
    const now = this.#now();
    const isSilent = this.#failures >= FAILURES && now - this.#since >= SILENCE_MS;
    if (isSilent) this.#askAgainAt = now + PAUSE_MS;
  }
}
