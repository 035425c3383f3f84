import type { ChainableCommander, Pipeline } from 'ioredis';
import type { MillraceError } from '../../../ground/api/errors.js';
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
   * Reads keys into the batch, starting at number `first`.
   * @throws MillraceError store_unavailable if any key could not be read
   */
  read(
    keys: readonly string[],
    batch: RecordBatch,
    first: number,
    signal: AbortSignal | undefined,
  ): Promise<void>;

  /** By position: undefined if the record is stored, otherwise the reason why it may not be. Never rejects. */
  set(records: readonly StoreRecord[]): Promise<(Error | undefined)[]>;

  /**
   * Sends one write command for each key. Commands for the same key keep their order. Never rejects.
   * @param sizeAt payload size of the command, in bytes
   * @returns by position: the reply or an Error
   */
  send(keys: readonly string[], sizeAt: (position: number) => number, add: AddCommand): Promise<unknown[]>;

  /**
   * Resolves if every server answers and accepts writes.
   * @throws MillraceError with a code of STORE_WRITE_FAILURES
   */
  ping(): Promise<void>;

  /** One connection to each server, for single commands other than reads. */
  connections(): readonly RedisConnection[];

  /** The error to report for a failed write. */
  unavailable(error: unknown): MillraceError;

  close(): void;
}
