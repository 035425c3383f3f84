import type { Registry } from 'prom-client';

/** The process that serves, as /readyz and /metrics show it. */
export class Instance {
  #isShuttingDown = false;
  readonly #gather: ((own: Registry) => Promise<string>) | undefined;

  /** @param gather renders the metrics of several processes; by default /metrics shows those of this one alone */
  constructor(gather?: (own: Registry) => Promise<string>) {
    this.#gather = gather;
  }

  /** True once the process was told to stop: it still answers, and /readyz sends new traffic elsewhere. */
  get isShuttingDown(): boolean {
    return this.#isShuttingDown;
  }

  shutDown(): void {
    this.#isShuttingDown = true;
  }

  /** The text of /metrics. */
  metrics(own: Registry): Promise<string> {
    return this.#gather === undefined ? own.metrics() : this.#gather(own);
  }
}
