import type { SourceLog } from './source-log.js';

/** Lines a minute. A topic with messages of another form would fill the log otherwise. */
const MOST_LINES = 20;
const MINUTE = 60_000;

/** Tells of rejected messages in a log, at most MOST_LINES a minute. A line says how many before it were left out. */
export class RejectedLog {
  readonly #log: SourceLog;
  readonly #clock: () => number;
  #since = -Infinity;
  #lines = 0;
  #leftOut = 0;

  constructor(log: SourceLog, clock: () => number = Date.now) {
    this.#log = log;
    this.#clock = clock;
  }

  /** @param fields which message, and why */
  tell(fields: object): void {
    const now = this.#clock();
    if (now - this.#since >= MINUTE) {
      this.#since = now;
      this.#lines = 0;
    }
    if (this.#lines === MOST_LINES) {
      this.#leftOut += 1;
      return;
    }
    this.#lines += 1;
    const leftOut = this.#leftOut === 0 ? {} : { left_out_before: this.#leftOut };
    this.#leftOut = 0;
    this.#log.warn(
      { ...fields, ...leftOut },
      this.#lines === MOST_LINES
        ? 'a message was rejected; the next ones of this minute are only counted'
        : 'a message was rejected',
    );
  }
}
