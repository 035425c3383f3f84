import { Counter, Gauge, type Registry } from 'prom-client';
import { SeriesHistogram, type Series } from './series-histogram.js';

/** The causes of a refused request: see the help of `millrace_requests_shed_total`. */
export type ShedCause = 'connections' | 'in_flight' | 'queue' | 'deadline';

/** Observes each request that is shed or that had to wait. */
export interface AdmissionObserver {
  shed(requestClass: string, cause: ShedCause): void;
  waited(requestClass: string, seconds: number): void;
}

/** The state that each scrape reads. */
export interface AdmissionSource<Class extends string = string> {
  readonly classes: readonly Class[];
  readonly waiting: number;
  inFlight(requestClass: Class): number;
}

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];

/** Counts the requests that the admission sheds or delays. */
export class AdmissionMetrics implements AdmissionObserver {
  /** A plain map, because a refusal must be cheap. */
  readonly #counts = new Map<string, number>();
  readonly #seconds: SeriesHistogram<'class'>;
  readonly #waits = new Map<string, Series>();

  constructor(readonly registry: Registry) {
    const registers = [registry];
    const counts = this.#counts;
    new Counter({
      name: 'millrace_requests_shed_total',
      help:
        'Requests refused with overloaded, by class and cause: in_flight (MILLRACE_MAX_IN_FLIGHT is reached), queue (the wait would ' +
        'be longer than MILLRACE_QUEUE_MS), deadline (the time limit would be exceeded), connections ' +
        '(MILLRACE_MAX_CONNECTIONS is reached).',
      labelNames: ['class', 'cause'],
      registers,
      collect() {
        this.reset();
        for (const [key, value] of counts) {
          const [requestClass = '', cause = ''] = key.split(' ');
          this.inc({ class: requestClass, cause }, value);
        }
      },
    });
    this.#seconds = new SeriesHistogram({
      name: 'millrace_queue_duration_seconds',
      help: 'Time that an admitted request waited until it could use the CPU, including the estimated wait in its socket.',
      labelNames: ['class'],
      buckets: SECONDS,
      registers,
    });
  }

  shed(requestClass: string, cause: ShedCause): void {
    const key = `${requestClass} ${cause}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  waited(requestClass: string, seconds: number): void {
    let waits = this.#waits.get(requestClass);
    if (waits === undefined) {
      waits = this.#seconds.series({ class: requestClass });
      this.#waits.set(requestClass, waits);
    }
    waits.observe(seconds);
  }

  /** Adds the gauges of the requests in flight. */
  watch<Class extends string>(source: AdmissionSource<Class>): void {
    const registers = [this.registry];
    new Gauge({
      name: 'millrace_requests_in_flight',
      help: 'Admitted requests that are not answered yet, by class.',
      labelNames: ['class'],
      registers,
      collect() {
        for (const name of source.classes) this.set({ class: name }, source.inFlight(name));
      },
    });
    new Gauge({
      name: 'millrace_requests_waiting',
      help: 'Admitted requests that wait until they can use the CPU.',
      registers,
      collect() {
        this.set(source.waiting);
      },
    });
  }
}
