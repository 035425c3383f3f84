import type { RecordKind } from '../../ground/api/ledger.js';
import type { RecordSchema } from './record-schema.js';

/** Why a record did not reach a sink. */
export const DROP_REASONS = [
  'queue_full',
  'too_large',
  'encoding',
  'disk_full',
  'refused',
  'failed',
  'shutdown',
] as const;
export type DropReason = (typeof DROP_REASONS)[number];

/** What became of the records of a batch. */
export interface WriteOutcome {
  readonly written: number;
  readonly dropped: Readonly<Partial<Record<DropReason, number>>>;
}

/** Records that go to a sink together. The bytes are valid until `write` settles. */
export interface RecordBatch {
  /** The process that writes the records, as a UUID. */
  readonly instance: string;
  /** The schemas of the records, each with its frame. A segment needs a schema's frame before its first record. */
  readonly schemas: readonly { readonly schema: RecordSchema; readonly frame: Uint8Array }[];
  /** The frames of the records, one after another. */
  readonly frames: Uint8Array;
  readonly records: number;
}

/** Where records go. The ledger calls `write` for one batch at a time. */
export interface RecordSink {
  /** The name of the binding, for metrics and log lines. */
  readonly name: string;
  readonly takes: readonly RecordKind[];
  /** The most bytes that wait for this sink, those being written included. */
  readonly queueBytes: number;
  /** A batch is written at this size, and after this time. By default `FLUSH_BYTES` and `FLUSH_MS`. */
  readonly batchBytes?: number | undefined;
  readonly batchMs?: number | undefined;
  /**
   * Resolves when the batch was handed over; with an outcome, if some of its records were lost. If it rejects, all
   * records are lost: counted by the reason of a `SinkFailure`, or as `failed`.
   * @param signal is aborted when the time of the shutdown is over; the write must then settle at once
   */
  write(batch: RecordBatch, signal: AbortSignal): Promise<WriteOutcome | undefined>;
  /** Closes the file that is being written. The next batch starts another. */
  rotate?(): Promise<void>;
  close?(): Promise<void>;
}

/** A sink could not take a batch, or some of it. */
export class SinkFailure extends Error {
  override readonly name = 'SinkFailure';
  readonly reason: DropReason;
  /** The records of the batch that were handed over. */
  readonly written: number;

  constructor(reason: DropReason, message: string, options?: ErrorOptions & { readonly written?: number }) {
    super(message, options);
    this.reason = reason;
    this.written = options?.written ?? 0;
  }
}
