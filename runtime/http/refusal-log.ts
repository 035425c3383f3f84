import type { Logger } from 'pino';

/** One refusal of a code is logged within this time, in milliseconds. */
const EVERY = 5000;

/**
 * Logs refusals (503). While a store is lost every request is refused: the first of a code is logged at once, then one in
 * a while, with the number of those that were not.
 */
export class RefusalLog {
  readonly #logger: Logger;
  readonly #codes = new Map<string, { logged: number; suppressed: number }>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** @param now by `performance.now()` */
  refused(code: string, fields: () => object, now = performance.now()): void {
    const known = this.#codes.get(code);
    if (known !== undefined && now - known.logged < EVERY) {
      known.suppressed++;
      return;
    }
    this.#codes.set(code, { logged: now, suppressed: 0 });
    const suppressed = known?.suppressed ?? 0;
    this.#logger.warn({ ...fields(), code, ...(suppressed === 0 ? {} : { suppressed }) }, 'refused for now');
  }
}
