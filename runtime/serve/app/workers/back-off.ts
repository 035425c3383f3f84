/** A worker that ran for this long was healthy: its next crash counts as the first one. */
const SOUND_MS = 60_000;
const FIRST_MS = 100;
const LONGEST_MS = 30_000;

/** The wait before a crashed worker is started again. It doubles with each crash that soon follows another. */
export class BackOff {
  #crashes = 0;

  /** @param ranMs how long the worker served; 0 for one that failed while it started */
  next(ranMs: number): number {
    if (ranMs >= SOUND_MS) this.#crashes = 0;
    return Math.min(LONGEST_MS, FIRST_MS * 2 ** this.#crashes++);
  }
}
