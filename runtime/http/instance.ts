import type { Registry } from 'prom-client';

export interface Warning {
  readonly code: string;
  readonly detail: string;
}

/** The state of the process for /readyz and /metrics. */
export class Instance {
  #isShuttingDown = false;
  readonly #warnings: (() => readonly Warning[])[] = [];
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

  /** What /readyz shows beside its checks. It does not stop this instance. */
  warnings(): readonly Warning[] {
    return this.#warnings.flatMap((of) => of());
  }

  /** Adds a part of the process that has warnings. */
  warnOf(warnings: () => readonly Warning[]): void {
    this.#warnings.push(warnings);
  }

  /** Returns the text of /metrics. */
  metrics(own: Registry): Promise<string> {
    return this.#gather === undefined ? own.metrics() : this.#gather(own);
  }
}
