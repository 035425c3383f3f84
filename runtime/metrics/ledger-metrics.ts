import { Counter, Gauge, type Registry } from 'prom-client';
import type { Logger } from 'pino';
import type { ErrorDescription } from '../core/describe-error.js';
import type { LedgerObserver, SinkState } from '../ledger/ledger.js';
import { RECORD_KINDS, type RecordKind } from '../ledger/record-schema.js';
import type { DropReason } from '../ledger/record-sink.js';

/** Counts the records of the ledger, and logs when a sink loses records and when it works again. */
export class LedgerMetrics implements LedgerObserver {
  readonly #log: Pick<Logger, 'error' | 'info'>;
  readonly #records: Record<RecordKind, number> = { ranking: 0, feedback: 0, history: 0 };
  readonly #written: Counter;
  readonly #bytes: Counter;
  readonly #dropped: Counter;
  #sinks: () => readonly SinkState[] = () => [];

  constructor(registry: Registry, log: Pick<Logger, 'error' | 'info'>) {
    this.#log = log;
    const registers = [registry];
    const records = this.#records;
    new Counter({
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
    const sinks = (): readonly SinkState[] => this.#sinks();
    new Gauge({
      name: 'millrace_ledger_queue_bytes',
      help: 'Bytes of the records that wait for a sink of the ledger.',
      labelNames: ['sink'],
      registers,
      collect() {
        this.reset();
        for (const { sink, queueBytes } of sinks()) this.set({ sink }, queueBytes);
      },
    });
    new Gauge({
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
  }

  /** Says whose queues the gauges show. */
  watch(sinks: () => readonly SinkState[]): void {
    this.#sinks = sinks;
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
  }

  failed(sink: string, error: ErrorDescription | undefined): void {
    if (error === undefined) this.#log.info({ sink }, 'the sink takes records again');
    else this.#log.error({ sink, err: error }, 'the sink loses records; requests are not affected');
  }
}
