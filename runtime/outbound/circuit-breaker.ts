import { OutboundError } from '../api/http-client.js';

/** A server counts as silent after so many requests in a row without an answer … */
const FAILURES = 10;
/** … if the first of them began so long ago; milliseconds. */
const SILENCE_MS = 1_000;
/** Pause before a silent server is asked again, by one request; milliseconds. */
const PAUSE_MS = 1_000;

/**
 * Keeps requests from waiting, each its whole time, for a server that hangs: once it is silent they fail at once, but for
 * one a second that asks whether it answers again. Any answer will do, an error too; a request whose caller gave up had
 * none, since a server may be slower than every caller's patience.
 *
 * Source: the circuit breaker of M. Nygard, Release It!, 2007.
 */
export class CircuitBreaker {
  readonly #host: string;
  readonly #now: () => number;
  /** Requests since the last answer that had none, and when the first of them began. */
  #failures = 0;
  #since = 0;
  /** While the server is silent: when it is asked again; Infinity while it is being asked. */
  #askAgainAt: number | undefined;

  /** @param now milliseconds of a clock that only goes forward */
  constructor(host: string, now = (): number => performance.now()) {
    this.#host = host;
    this.#now = now;
  }

  /** @throws OutboundError circuit_open while the server is silent; whatever `ask` throws */
  async run<T>(ask: () => Promise<T>): Promise<T> {
    const begun = this.#now();
    if (this.#askAgainAt !== undefined) {
      if (begun < this.#askAgainAt)
        throw new OutboundError(
          'circuit_open',
          `${this.#host} answers nothing; it is asked again every second`,
        );
      this.#askAgainAt = Infinity;
    }
    try {
      const answer = await ask();
      this.#answered();
      return answer;
    } catch (error) {
      if (error instanceof OutboundError && error.fault === 'too_large') this.#answered();
      else this.#failed(begun);
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
