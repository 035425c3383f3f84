import type { Column } from '../../ground/api/columns.js';
import { Status } from '../../ground/api/status.js';
import type { FeatureView } from '../../project/config/model/views.js';
import type { FeatureSources, SourceReader, SourceRows } from '../index/feature-source.js';
import type { WantedFeature } from '../store/codec/feature-decoder.js';
import type { RedisSettings } from '../../project/settings/redis-target.js';
import { EntityKeyFormat } from './entity-key.js';
import { FeastDecoder, type HashValues } from './feast-decoder.js';
import { connectFeastRedis, type FeastRedis } from './feast-redis.js';
import { Hmget } from './hmget.js';

/**
 * Opens one connection to each Redis that views of the project read from.
 * @param own settings of the service's own Redis, for views without a `url`
 * @throws MillraceError store_unavailable, invalid_setting
 */
export async function openFeastSources(
  views: Iterable<FeatureView>,
  own: RedisSettings,
): Promise<FeatureSources> {
  const urls = new Set<string | undefined>();
  for (const { source } of views) if (source !== undefined) urls.add(source.url);
  const servers = new Map<string | undefined, FeastRedis>();
  try {
    for (const url of urls) servers.set(url, await connectFeastRedis(url === undefined ? own : { url }));
  } catch (error) {
    for (const server of servers.values()) server.close();
    throw error;
  }
  return new FeastSources(servers);
}

class FeastSources implements FeatureSources {
  readonly #servers: ReadonlyMap<string | undefined, FeastRedis>;

  constructor(servers: ReadonlyMap<string | undefined, FeastRedis>) {
    this.#servers = servers;
  }

  readerOf(wanted: readonly WantedFeature[]): SourceReader {
    const source = wanted[0]?.view.source;
    const server = this.#servers.get(source?.url);
    if (source === undefined || server === undefined) throw new Error('the source of the view is not open');
    const keys = new EntityKeyFormat(source.keyVersion, source.joinKeys, source.project);
    return new FeastReader(server, keys, new FeastDecoder(wanted));
  }

  async ping(): Promise<void> {
    await Promise.all(Array.from(this.#servers.values(), (server) => server.ping()));
  }

  close(): Promise<void> {
    for (const server of this.#servers.values()) server.close();
    return Promise.resolve();
  }
}

class FeastReader implements SourceReader {
  readonly #server: FeastRedis;
  readonly #keys: EntityKeyFormat;
  readonly #decoder: FeastDecoder;
  readonly #hmget: Hmget;

  constructor(server: FeastRedis, keys: EntityKeyFormat, decoder: FeastDecoder) {
    this.#server = server;
    this.#keys = keys;
    this.#decoder = decoder;
    this.#hmget = new Hmget(decoder.fields);
  }

  async read(keys: readonly (readonly string[])[], signal?: AbortSignal): Promise<SourceRows> {
    const encoded: Buffer[] = [];
    const places = new Int32Array(keys.length);
    for (let i = 0; i < keys.length; i++) {
      const key = this.#keys.encode(keys[i] ?? []);
      places[i] = key === undefined ? -1 : encoded.push(key) - 1;
    }
    return new FeastRows(this.#decoder, await this.#server.read(encoded, this.#hmget, signal), places);
  }

  decodeMissing(cause: number, columns: readonly Column[], row: number): void {
    this.#decoder.decodeMissing(cause, columns, row);
  }
}

class FeastRows implements SourceRows {
  readonly #decoder: FeastDecoder;
  readonly #hashes: readonly HashValues[];
  /** By key: the position of its hash; -1 for a key that cannot exist in Feast. */
  readonly #places: Int32Array;

  constructor(decoder: FeastDecoder, hashes: readonly HashValues[], places: Int32Array) {
    this.#decoder = decoder;
    this.#hashes = hashes;
    this.#places = places;
  }

  decode(index: number, columns: readonly Column[], row: number, now: number): void {
    const hash = this.#hashes[this.#places[index] ?? -1];
    if (hash === undefined) this.#decoder.decodeMissing(Status.missing_feature, columns, row);
    else this.#decoder.decode(hash, columns, row, now);
  }

  eventTime(index: number, view: string): number | undefined {
    const hash = this.#hashes[this.#places[index] ?? -1];
    return hash && this.#decoder.eventTime(hash, view);
  }
}
