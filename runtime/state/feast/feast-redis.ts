import { MillraceError } from '../../ground/api/errors.js';
import { RedisConnection } from '../store/redis/connection.js';
import { within } from '../store/redis/deadline.js';
import { DEFAULT_LIMITS } from '../../project/settings/redis-limits.js';
import { accessOf, topologyOf, type RedisSettings } from '../../project/settings/redis-target.js';
import type { HashValues } from './feast-decoder.js';
import type { Hmget } from './hmget.js';

/** A Redis that Feast materialises into. Millrace only reads it. */
export interface FeastRedis {
  /**
   * Reads fields of many hashes in one round trip.
   * @returns the values by key; all values of a missing hash are null
   * @throws MillraceError store_unavailable
   */
  read(keys: readonly Buffer[], hmget: Hmget, signal?: AbortSignal): Promise<HashValues[]>;
  /** @throws MillraceError store_unavailable */
  ping(): Promise<void>;
  close(): void;
}

/**
 * Connects to Feast's Redis: one server, or the master that the Sentinels report.
 * @throws MillraceError store_unavailable; invalid_setting for a cluster
 */
export async function connectFeastRedis(settings: RedisSettings): Promise<FeastRedis> {
  const topology = topologyOf(settings);
  if (topology.kind === 'cluster') {
    const detail =
      'features of Feast cannot be read from a Redis Cluster; set the `url` of another Redis in their view';
    throw new MillraceError('invalid_setting', detail);
  }
  const connection = new RedisConnection({
    place: topology.kind === 'single' ? topology.node : topology,
    purpose: 'feast',
    access: accessOf(settings),
    limits: { ...DEFAULT_LIMITS, ...settings.limits },
  });
  await connection.open();
  return new OneFeastRedis(connection);
}

class OneFeastRedis implements FeastRedis {
  readonly #connection: RedisConnection;

  constructor(connection: RedisConnection) {
    this.#connection = connection;
  }

  async read(keys: readonly Buffer[], hmget: Hmget, signal?: AbortSignal): Promise<HashValues[]> {
    if (keys.length === 0) return [];
    try {
      const read = (): Promise<HashValues[]> =>
        this.#connection.run(keys.length, 0, (redis) => {
          redis.stream.cork();
          const replies = keys.map((key) => redis.sendCommand(hmget.command(key)) as Promise<HashValues>);
          redis.stream.uncork();
          return Promise.all(replies);
        });
      return await within(this.#connection.retryOnce(read, signal), signal);
    } catch (error) {
      throw this.#connection.unavailable(error);
    }
  }

  async ping(): Promise<void> {
    try {
      await this.#connection.run(1, 0, (redis) => redis.ping());
    } catch (error) {
      throw this.#connection.unavailable(error);
    }
  }

  close(): void {
    this.#connection.close();
  }
}
