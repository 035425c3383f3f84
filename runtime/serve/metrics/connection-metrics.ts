import { Counter, Gauge, type Registry } from 'prom-client';

/** Why a connection was closed. */
const CONNECTION_CLOSINGS = ['idle', 'refused', 'stalled', 'storm'] as const;
export type ConnectionClosing = (typeof CONNECTION_CLOSINGS)[number];

/** Counts client connections. */
export class ConnectionMetrics {
  readonly #closed: Counter<'cause'>;

  constructor(readonly registry: Registry) {
    this.#closed = new Counter({
      name: 'millrace_connections_closed_total',
      help:
        'Client connections that were closed because of a limit, by cause: idle (it gave its place to a new connection), refused ' +
        '(there was no place), stalled (the client did not read its answer), storm (most requests came with a connection of ' +
        'their own, and more than could be answered).',
      labelNames: ['cause'],
      registers: [registry],
    });
    // Without a zero, Prometheus could not see the first one as an increase.
    for (const cause of CONNECTION_CLOSINGS) this.#closed.inc({ cause }, 0);
  }

  closed(cause: string): void {
    this.#closed.inc({ cause });
  }

  /** Adds the gauge of the open connections. */
  watch(count: () => number): void {
    new Gauge({
      name: 'millrace_connections',
      help: 'Open client connections.',
      registers: [this.registry],
      collect() {
        this.set(count());
      },
    });
  }

  /** Adds the gauge of the end of the certificate. */
  watchCertificate(certificate: { readonly notAfter: number }): void {
    new Gauge({
      name: 'millrace_tls_certificate_not_after_seconds',
      help: 'When the TLS certificate in service expires, in seconds since 1970; only with TLS.',
      registers: [this.registry],
      aggregator: 'min',
      collect() {
        this.set(certificate.notAfter);
      },
    });
  }
}
