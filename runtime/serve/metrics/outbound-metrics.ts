import { Counter, Histogram, type Registry } from 'prom-client';
import type { Caller, OutboundObserver, OutboundOutcome } from '../../language/outbound/http-connector.js';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/**
 * Counts the requests that steps send to other servers. It is created before the project is loaded, because components
 * already send requests when they warm up.
 */
export class OutboundMetrics implements OutboundObserver {
  readonly #requests = new Counter({
    name: 'millrace_outbound_requests_total',
    help:
      'Requests of steps to other servers, including retries, by outcome: the class of the status (2xx …; of a database 2xx, or 4xx for an error), unreachable, closed, ' +
      'timeout, too_large, circuit_open (not sent, because the server does not answer), or given_up (cancelled, because the ' +
      'ranking or a parallel call failed first).',
    labelNames: ['pipeline', 'step', 'outcome'],
    registers: [],
  });
  readonly #retries = new Counter({
    name: 'millrace_outbound_retries_total',
    help: 'Requests of steps to other servers that were retries of a failed request.',
    labelNames: ['pipeline', 'step'],
    registers: [],
  });
  readonly #seconds = new Histogram({
    name: 'millrace_outbound_request_duration_seconds',
    help: 'Duration of a request to another server, from the wait for a connection to the end of the answer.',
    labelNames: ['pipeline', 'step'],
    buckets: SECONDS,
    registers: [],
  });

  sent({ pipeline, step }: Caller, outcome: OutboundOutcome, seconds: number, isRetry: boolean): void {
    this.#requests.inc({ pipeline, step, outcome });
    if (isRetry) this.#retries.inc({ pipeline, step });
    this.#seconds.observe({ pipeline, step }, seconds);
  }

  register(registry: Registry): void {
    for (const metric of [this.#requests, this.#retries, this.#seconds]) registry.registerMetric(metric);
  }
}
