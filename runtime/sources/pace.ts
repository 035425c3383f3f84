import { setTimeout as delay } from 'node:timers/promises';

/** How busy the process is that also answers requests. */
export interface ServiceLoad {
  /** Requests that wait for their turn. */
  readonly waiting: number;
  /** How late timers ran lately, in milliseconds. */
  readonly loopDelayMs: number;
}

/** A process is busy if timers are later than this, in milliseconds. */
const LATE_MS = 20;
const MOST = 1000;
/** A source that is slowed still reads this many messages after each pause, so that it never stops. */
const LEAST = 10;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1000;
/** Writes in flight. */
const AT_ONCE = 16;

/**
 * Slows a source down while the process is busy, before requests have to wait for it: pauses grow, and batches become
 * smaller. Batches grow again when the process is calm.
 */
export class Pace {
  readonly #load: (() => ServiceLoad) | undefined;
  #most = MOST;
  #pauseMs = 0;
  /** How long the source was slowed in all, in milliseconds. */
  slowedMs = 0;

  /** @param load undefined if the process answers no requests */
  constructor(load?: () => ServiceLoad) {
    this.#load = load;
  }

  /** How many messages to read next. */
  get most(): number {
    return this.#most;
  }

  /** How many writes may be in flight. */
  get atOnce(): number {
    return this.#most === MOST ? AT_ONCE : Math.max(1, Math.floor((AT_ONCE * this.#most) / MOST));
  }

  /** Waits if the process is busy. Call it before each batch. */
  async turn(signal: AbortSignal): Promise<void> {
    if (!this.#isBusy()) {
      this.#most = Math.min(MOST, this.#most * 2);
      this.#pauseMs = 0;
      return;
    }
    this.#most = Math.max(LEAST, this.#most >> 1);
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, this.#pauseMs * 2));
    this.slowedMs += this.#pauseMs;
    await delay(this.#pauseMs, undefined, { signal }).catch(() => undefined);
  }

  #isBusy(): boolean {
    const load = this.#load?.();
    return load !== undefined && (load.waiting > 0 || load.loopDelayMs > LATE_MS);
  }
}
