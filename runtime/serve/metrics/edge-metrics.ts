import { Counter, type Registry } from 'prom-client';

/** Why a request was refused by its head: see the help of `millrace_requests_refused_total`. */
export type RefusalCause = 'host' | 'origin' | 'rate_address' | 'rate_key';

/** Counts requests that are refused because of who sent them. */
export class EdgeMetrics {
  /** A plain map, because a refusal must be cheap. */
  readonly #counts = new Map<RefusalCause, number>();

  constructor(registry: Registry) {
    const counts = this.#counts;
    new Counter({
      name: 'millrace_requests_refused_total',
      help:
        'Requests refused by their head, by cause: host (an unknown Host header), origin (a web page of another origin), ' +
        'rate_address (MILLRACE_RATE_PER_ADDRESS is exceeded), rate_key (the rate of the key is exceeded).',
      labelNames: ['cause'],
      registers: [registry],
      collect() {
        this.reset();
        for (const [cause, value] of counts) this.inc({ cause }, value);
      },
    });
  }

  refused(cause: RefusalCause): void {
    this.#counts.set(cause, (this.#counts.get(cause) ?? 0) + 1);
  }
}
