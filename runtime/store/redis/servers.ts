import type { ChainableCommander, Pipeline } from 'ioredis';
import type { MillraceError } from '../../api/errors.js';
import type { RecordBatch } from '../codec/record-batch.js';
import type { StoreRecord } from '../store.js';
import type { RedisConnection } from './connection.js';
import type { RedisMasters } from './masters.js';

/** A pipeline of ioredis; its published type lacks `sendCommand`. */
export type CommandPipeline = ChainableCommander & Pick<Pipeline, 'sendCommand'>;

/** Adds the command of one position to a pipeline; exactly one command. */
export type AddCommand = (pipeline: CommandPipeline, position: number) => void;

/** The servers behind a store: one server (fixed, or found by Sentinels) or the masters of a cluster. */
export interface RedisServers {
  readonly masters: RedisMasters;

  /** @throws MillraceError store_unavailable */
  open(): Promise<void>;

  /**
   * Reads keys, to the numbers of the batch from `first` on.
   * @throws MillraceError store_unavailable if any key could not be read
   */
  read(
    keys: readonly string[],
    batch: RecordBatch,
    first: number,
    signal: AbortSignal | undefined,
  ): Promise<void>;

  /** By position: undefined where the record is stored, or why it may not be. Never rejects. */
  set(records: readonly StoreRecord[]): Promise<(Error | undefined)[]>;

  /**
   * Sends a writing command for each key; those of one key keep their order. Never rejects.
   * @param sizeAt bytes that the command carries
   * @returns by position: the reply, or why there is none
   */
  send(keys: readonly string[], sizeAt: (position: number) => number, add: AddCommand): Promise<unknown[]>;

  /**
   * Resolves if every server answers, and accepts writes.
   * @throws MillraceError with a code of STORE_WRITE_FAILURES
   */
  ping(): Promise<void>;

  /** A connection to each server, for single commands beside reads. */
  connections(): readonly RedisConnection[];

  /** The error to report for a failed write. */
  unavailable(error: unknown): MillraceError;

  close(): void;
}
