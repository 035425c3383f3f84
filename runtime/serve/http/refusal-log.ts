import type { Logger } from 'pino';

/** At most one refusal per error code is logged within this time, in milliseconds. */
const EVERY = 5000;

/**
 * Logs refusals (503) at a limited rate, because every request is refused while the store is unreachable. The first
 * refusal of a code is logged at once. Later log lines include the number of refusals that were not logged.
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
