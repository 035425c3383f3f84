/** Interval of the samples, in milliseconds. */
const INTERVAL_MS = 20;
/** How fast an old delay is forgotten: its part after each sample. */
const KEPT = 0.8;

/** Samples how late timers run lately, in milliseconds. A late timer counts at once, and for about 200 ms. */
export class LoopDelay {
  #last = performance.now();
  #lateMs = 0;
  readonly #timer = setInterval(() => {
    const now = performance.now();
    this.#lateMs = Math.max(now - this.#last - INTERVAL_MS, this.#lateMs * KEPT);
    this.#last = now;
  }, INTERVAL_MS).unref();

  get lateMs(): number {
    return this.#lateMs;
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
