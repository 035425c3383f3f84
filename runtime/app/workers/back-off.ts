/** A worker that ran for so long was sound: its crash is the first one. */
const SOUND_MS = 60_000;
const FIRST_MS = 100;
const LONGEST_MS = 30_000;

/** How long to wait before a worker is started again: twice as long after each crash that follows soon. */
export class BackOff {
  #crashes = 0;

  /** @param ranMs how long the worker served; 0 for one that failed while it started */
  next(ranMs: number): number {
    if (ranMs >= SOUND_MS) this.#crashes = 0;
    return Math.min(LONGEST_MS, FIRST_MS * 2 ** this.#crashes++);
  }
}
