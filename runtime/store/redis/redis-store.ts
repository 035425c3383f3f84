import type { ChainableCommander } from 'ioredis';
import { MillraceError } from '../../api/errors.js';
import {
  StoreWriteError,
  type SegmentOutcome,
  type SegmentWrite,
  type Store,
  type StoreRecord,
} from '../store.js';
import { RedisConnection, type ConnectionLimits } from './connection.js';
import { MERGE_SCRIPT, MERGE_SHA } from './merge-script.js';

export interface RedisSettings {
  /** `redis://[user:password@]host[:port][/db]`, or `rediss://` for TLS. */
  readonly url: string;
  readonly limits?: Partial<ConnectionLimits>;
}

const LIMITS: ConnectionLimits = {
  openWithin: 5000,
  connectTimeout: 2000,
  socketTimeout: 2000,
  commandTimeout: 4000,
  longestPause: 1000,
  inFlight: 8192,
};

/** Bounds of one MSET: it holds up every other client while it runs. */
const CHUNK_RECORDS = 256;
const CHUNK_BYTES = 1024 * 1024;
const CHUNK_KEYS = 1000;
const CHUNK_SEGMENTS = 500;

/**
 * Connects to a Redis server (or Valkey).
 * @throws MillraceError store_unavailable if it cannot be reached within `limits.openWithin`
 */
export async function connectRedisStore({ url, limits }: RedisSettings): Promise<Store> {
  const store = new RedisStore(url, { ...LIMITS, ...limits });
  await store.open();
  return store;
}

/** Reads and writes have a connection each, so that a large upload does not stand in the way of a ranking. */
class RedisStore implements Store {
  readonly engine = 'redis';
  readonly #reads: RedisConnection;
  readonly #writes: RedisConnection;

  constructor(url: string, limits: ConnectionLimits) {
    this.#reads = new RedisConnection(url, 'read', limits);
    this.#writes = new RedisConnection(url, 'write', limits);
  }

  async open(): Promise<void> {
    try {
      await Promise.all([this.#reads.open(), this.#writes.open()]);
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async read(keys: readonly string[], signal?: AbortSignal): Promise<(Buffer | null)[]> {
    if (keys.length === 0) return [];
    try {
      const reading = this.#reads.run(1, (redis) => redis.mgetBuffer(keys as string[]));
      return await (signal === undefined ? reading : within(reading, signal));
    } catch (error) {
      throw this.#reads.unavailable(error);
    }
  }

  async write(records: readonly StoreRecord[]): Promise<void> {
    const chunks = chunksOf(records);
    const replies = await Promise.allSettled(
      chunks.map((chunk) =>
        this.#writes.run(1, (redis) => redis.mset(chunk.flatMap(({ key, value }) => [key, value]))),
      ),
    );
    this.#check(
      replies.map((reply) => (reply.status === 'rejected' ? (reply.reason as unknown) : undefined)),
      chunks.map((chunk) => chunk.length),
    );
  }

  async remove(keys: readonly string[]): Promise<void> {
    const chunks: string[][] = [];
    for (let at = 0; at < keys.length; at += CHUNK_KEYS) chunks.push(keys.slice(at, at + CHUNK_KEYS));
    const replies = await Promise.allSettled(
      chunks.map((chunk) => this.#writes.run(1, (redis) => redis.unlink(chunk))),
    );
    this.#check(
      replies.map((reply) => (reply.status === 'rejected' ? (reply.reason as unknown) : undefined)),
      chunks.map((chunk) => chunk.length),
    );
  }

  async mergeSegments(segments: readonly SegmentWrite[]): Promise<SegmentOutcome[]> {
    const replies: unknown[] = [];
    for (let at = 0; at < segments.length; at += CHUNK_SEGMENTS) {
      replies.push(...(await this.#merge(segments.slice(at, at + CHUNK_SEGMENTS))));
    }
    this.#check(
      replies.map((reply) => (reply === 1 || reply === 0 ? undefined : reply)),
      replies.map(() => 1),
    );
    return replies.map((reply) => (reply === 1 ? 'stored' : 'older'));
  }

  /** By position: 1 or 0, or the error. A server that does not know the script yet is sent it once more, whole. */
  async #merge(segments: readonly SegmentWrite[]): Promise<unknown[]> {
    const replies = await this.#pipeline(segments, (pipeline, { key, segment }) =>
      pipeline.evalsha(MERGE_SHA, 1, key, segment),
    );
    const unknown = replies.flatMap((reply, i) => (isNoScript(reply) ? [i] : []));
    if (unknown.length === 0) return replies;
    const again = await this.#pipeline(
      segments.filter((_, i) => isNoScript(replies[i])),
      (pipeline, { key, segment }) => pipeline.eval(MERGE_SCRIPT, 1, key, segment),
    );
    unknown.forEach((position, i) => (replies[position] = again[i]));
    return replies;
  }

  /** Resolves with a reply or an error for each: a pipeline that could not be sent at all is an error for each. */
  async #pipeline(
    segments: readonly SegmentWrite[],
    add: (pipeline: ChainableCommander, segment: SegmentWrite) => void,
  ): Promise<unknown[]> {
    try {
      const replies = await this.#writes.run(segments.length, (redis) => {
        const pipeline = redis.pipeline();
        for (const segment of segments) add(pipeline, segment);
        return pipeline.exec();
      });
      return segments.map((_, i) => {
        const [error, value] = replies?.[i] ?? [new Error('no reply'), undefined];
        if (error !== null) this.#writes.noteFailure(error);
        return error ?? value;
      });
    } catch (error) {
      return segments.map(() => error);
    }
  }

  /** @throws StoreWriteError if any chunk failed; `sizes` says how many writes each holds */
  #check(failures: readonly unknown[], sizes: readonly number[]): void {
    const failure = failures.find((found) => found !== undefined);
    if (failure === undefined) return;
    const confirmed = failures.flatMap((found, i) =>
      new Array<boolean>(sizes[i] ?? 0).fill(found === undefined),
    );
    const { message } = this.#writes.unavailable(failure);
    throw new StoreWriteError(message, confirmed, { cause: failure });
  }

  async ping(): Promise<void> {
    for (const connection of [this.#reads, this.#writes]) {
      try {
        await connection.run(1, (redis) => redis.ping());
      } catch (error) {
        throw connection.unavailable(error);
      }
    }
  }

  close(): Promise<void> {
    this.#reads.close();
    this.#writes.close();
    return Promise.resolve();
  }
}

function isNoScript(reply: unknown): boolean {
  return reply instanceof Error && reply.message.startsWith('NOSCRIPT');
}

function chunksOf(records: readonly StoreRecord[]): StoreRecord[][] {
  const chunks: StoreRecord[][] = [];
  let chunk: StoreRecord[] = [];
  let bytes = 0;
  for (const record of records) {
    if (chunk.length === CHUNK_RECORDS || (chunk.length > 0 && bytes + record.value.length > CHUNK_BYTES)) {
      chunks.push(chunk);
      chunk = [];
      bytes = 0;
    }
    chunk.push(record);
    bytes += record.value.length;
  }
  if (chunk.length > 0) chunks.push(chunk);
  return chunks;
}

/** Stops waiting when the signal aborts; the reply is then dropped when it comes. */
async function within<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    promise.catch(() => undefined);
    throw deadlinePassed();
  }
  let abort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(deadlinePassed());
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function deadlinePassed(): MillraceError {
  return new MillraceError('store_unavailable', 'The store did not answer by the deadline of the request');
}
