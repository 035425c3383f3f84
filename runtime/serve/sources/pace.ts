import { setTimeout as delay } from 'node:timers/promises';
import type { SourceMessage } from '../../ground/api/source.js';

/** How busy the process is that also answers requests. */
export interface ServiceLoad {
  /** Requests that wait for their turn. */
  readonly waiting: number;
  /** How late timers ran lately, in milliseconds. */
  readonly loopDelayMs: number;
  /** True if a ranking is in flight, or was until recently. */
  readonly isRanking: boolean;
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
/** Messages of a batch, and writes in flight, beside rankings. */
const MOST_BESIDE = 100;
const AT_ONCE_BESIDE = 1;
/** The content of a batch, in bytes, if its messages are as large as those of the batch before it. */
const BATCH_BYTES = 4 * 2 ** 20;

/**
 * Slows a source down while the process is busy, before requests have to wait for it: pauses grow, and batches become
 * smaller. Batches grow again when the process is calm. Batches of large messages are small at any time.
 */
export class Pace {
  readonly #load: (() => ServiceLoad) | undefined;
  #calm = MOST;
  /** How many messages fit into memory. The first batch is small, because the size of messages is not known yet. */
  #fitting = LEAST;
  #pauseMs = 0;
  /** How long the source was slowed in all, in milliseconds. */
  slowedMs = 0;

  /** @param load undefined if the process answers no requests */
  constructor(load?: () => ServiceLoad) {
    this.#load = load;
  }

  /** How many messages to read next. */
  get most(): number {
    return Math.min(this.#calm, this.#fitting, this.#isBeside() ? MOST_BESIDE : MOST);
  }

  /** How many writes may be in flight. */
  get atOnce(): number {
    const calm = Math.max(1, Math.floor((AT_ONCE * this.#calm) / MOST));
    return this.#isBeside() ? Math.min(AT_ONCE_BESIDE, calm) : calm;
  }

  /** Waits if the process is busy. Call it before each batch. */
  async turn(signal: AbortSignal): Promise<void> {
    if (!this.#isBusy()) {
      this.#calm = Math.min(MOST, this.#calm * 2);
      this.#pauseMs = 0;
      return;
    }
    this.#calm = Math.max(LEAST, this.#calm >> 1);
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, this.#pauseMs * 2));
    this.slowedMs += this.#pauseMs;
    await delay(this.#pauseMs, undefined, { signal }).catch(() => undefined);
  }

  /** Learns the size of messages from a batch. */
  read(messages: readonly SourceMessage[]): void {
    if (messages.length === 0) return;
    const bytes = messages.reduce((sum, { content }) => sum + (content?.length ?? 0), 0);
    this.#fitting = Math.max(1, Math.min(MOST, Math.floor((BATCH_BYTES * messages.length) / (bytes + 1))));
  }

  /** Beside rankings, waits as long as a write took, so that the source leaves them at least half of the time. */
  async rest(tookMs: number): Promise<void> {
    if (this.#isBeside()) await delay(Math.ceil(tookMs));
  }

  #isBeside(): boolean {
    return this.#load?.().isRanking === true;
  }

  #isBusy(): boolean {
    const load = this.#load?.();
    return load !== undefined && (load.waiting > 0 || load.loopDelayMs > LATE_MS);
  }
}
