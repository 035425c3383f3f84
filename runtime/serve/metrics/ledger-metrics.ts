import { Counter, Gauge, type Registry } from 'prom-client';
import type { Logger } from 'pino';
import type { ErrorDescription } from '../../ground/core/describe-error.js';
import type { LedgerObserver, SinkState } from '../../state/ledger/ledger.js';
import { RECORD_KINDS, type RecordKind } from '../../ground/api/ledger.js';
import type { DropReason } from '../../state/ledger/record-sink.js';

/**
 * Counts the records of the ledger, and logs when a sink loses records and when it works again. It is created before the
 * project is loaded, because the sinks of the project need the ledger.
 */
export class LedgerMetrics implements LedgerObserver {
  readonly #log: Pick<Logger, 'error' | 'info' | 'warn'>;
  readonly #records: Record<RecordKind, number> = { ranking: 0, feedback: 0, history: 0 };
  readonly #metrics: readonly (Counter | Gauge)[];
  readonly #written: Counter;
  readonly #bytes: Counter;
  readonly #dropped: Counter;
  readonly #retries: Counter;
  #sinks: () => readonly SinkState[] = () => [];

  constructor(log: Pick<Logger, 'error' | 'info' | 'warn'>) {
    this.#log = log;
    const registers: Registry[] = [];
    const records = this.#records;
    const added = new Counter({
      name: 'millrace_ledger_records_total',
      help: 'Records of the ledger, by kind: ranking, feedback, history.',
      labelNames: ['kind'],
      registers,
      // Requests add to plain numbers, which costs almost nothing.
      collect() {
        this.reset();
        for (const kind of RECORD_KINDS) this.inc({ kind }, records[kind]);
      },
    });
    this.#written = new Counter({
      name: 'millrace_ledger_written_records_total',
      help: 'Records that a sink of the ledger took.',
      labelNames: ['sink'],
      registers,
    });
    this.#bytes = new Counter({
      name: 'millrace_ledger_written_bytes_total',
      help: 'Bytes of the records that a sink of the ledger took.',
      labelNames: ['sink'],
      registers,
    });
    this.#dropped = new Counter({
      name: 'millrace_ledger_dropped_records_total',
      help:
        'Records that a sink of the ledger lost, by reason: queue_full, too_large (for the queue), encoding (an error of Millrace), disk_full, ' +
        'refused (the other side does not take it), failed (the write failed), shutdown (not written in time).',
      labelNames: ['sink', 'reason'],
      registers,
    });
    this.#retries = new Counter({
      name: 'millrace_ledger_retries_total',
      help: 'Attempts of a sink of the ledger to write a batch that failed and were repeated.',
      labelNames: ['sink'],
      registers,
    });
    const sinks = (): readonly SinkState[] => this.#sinks();
    const queued = new Gauge({
      name: 'millrace_ledger_queue_bytes',
      help: 'Bytes of the records that wait for a sink of the ledger.',
      labelNames: ['sink'],
      registers,
      collect() {
        this.reset();
        for (const { sink, queueBytes } of sinks()) this.set({ sink }, queueBytes);
      },
    });
    const lastWrite = new Gauge({
      name: 'millrace_ledger_last_write_timestamp_seconds',
      help: 'When a sink of the ledger last took records, in seconds since the epoch.',
      labelNames: ['sink'],
      aggregator: 'min',
      registers,
      collect() {
        this.reset();
        for (const { sink, flushedAt } of sinks())
          if (flushedAt !== undefined) this.set({ sink }, flushedAt / 1000);
      },
    });
    this.#metrics = [added, this.#written, this.#bytes, this.#dropped, this.#retries, queued, lastWrite];
  }

  /** @param sinks the sinks whose queues the gauges show */
  register(registry: Registry, sinks: () => readonly SinkState[]): void {
    this.#sinks = sinks;
    for (const metric of this.#metrics) registry.registerMetric(metric);
  }

  added(kind: RecordKind): void {
    this.#records[kind]++;
  }

  written(sink: string, records: number, bytes: number): void {
    this.#written.inc({ sink }, records);
    this.#bytes.inc({ sink }, bytes);
  }

  dropped(sink: string, reason: DropReason, records: number): void {
    this.#dropped.inc({ sink, reason }, records);
    // The metrics of a process end with it.
    if (reason === 'shutdown')
      this.#log.warn({ sink, records }, 'the sink was closed before it took these records, which are lost');
  }

  failed(sink: string, error: ErrorDescription | undefined): void {
    if (error === undefined) this.#log.info({ sink }, 'the sink takes records again');
    else this.#log.error({ sink, err: error }, 'the sink loses records; requests are not affected');
  }

  retried(sink: string): void {
    this.#retries.inc({ sink });
  }

  waiting(sink: string, error: ErrorDescription | undefined): void {
    if (error === undefined) this.#log.info({ sink }, 'the sink takes records again');
    else
      this.#log.warn(
        { sink, err: error },
        'the sink does not take records, so they wait; requests are not affected',
      );
  }

  refused(sink: string, error: ErrorDescription): void {
    this.#log.warn({ sink, err: error }, 'the sink refused a record, which is lost');
  }
}
