import type { Registry } from 'prom-client';

/** The state of the process for /readyz and /metrics. */
export class Instance {
  #isShuttingDown = false;
  readonly #gather: ((own: Registry) => Promise<string>) | undefined;

  /** @param gather renders the metrics of several processes; by default /metrics shows only those of this process */
  constructor(gather?: (own: Registry) => Promise<string>) {
    this.#gather = gather;
  }

  /**
   * True after the process was told to stop. It still answers requests, but /readyz fails, so that new traffic goes
   * elsewhere.
   */
  get isShuttingDown(): boolean {
    return this.#isShuttingDown;
  }

  shutDown(): void {
    this.#isShuttingDown = true;
  }

  /** Returns the text of /metrics. */
  metrics(own: Registry): Promise<string> {
    return this.#gather === undefined ? own.metrics() : this.#gather(own);
  }
}
