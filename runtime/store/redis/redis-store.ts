import {
  StoreWriteError,
  type SegmentOutcome,
  type SegmentWrite,
  type Store,
  type StoreRecord,
} from '../store.js';
import { ClusterServers } from './cluster/cluster-servers.js';
import { DEFAULT_LIMITS } from './limits.js';
import type { RedisMasters } from './masters.js';
import { MERGE_SCRIPT, MERGE_SHA } from './merge-script.js';
import { OneServer } from './one-server.js';
import type { RedisServers } from './servers.js';
import { accessOf, topologyOf, type RedisSettings } from './target.js';

/** The redis engine; it also tells which servers own the keys. */
export interface RedisStore extends Store {
  readonly engine: 'redis';
  readonly masters: RedisMasters;
}

/**
 * Connects to a Redis server (or Valkey): to one by its URL, to the master that Sentinels watch, or to a cluster.
 * @throws MillraceError invalid_setting if the settings contradict each other; store_unavailable if it cannot be
 *   reached within `limits.openWithin`
 */
export async function connectRedisStore(settings: RedisSettings): Promise<RedisStore> {
  const topology = topologyOf(settings);
  const access = accessOf(settings);
  const given = { ...DEFAULT_LIMITS, ...settings.limits };
  // A server that waits for its replicas is silent meanwhile.
  const limits = { ...given, waitWithin: Math.min(given.waitWithin, Math.ceil(given.socketTimeout * 0.8)) };
  const replicas = settings.waitReplicas ?? 0;
  const servers =
    topology.kind === 'cluster'
      ? new ClusterServers(topology.nodes, access, limits, replicas)
      : new OneServer(topology, access, limits, replicas);
  await servers.open();
  return new ServersStore(servers);
}

/** The store contract over whichever servers there are. */
class ServersStore implements RedisStore {
  readonly engine = 'redis';
  readonly #servers: RedisServers;

  constructor(servers: RedisServers) {
    this.#servers = servers;
  }

  get masters(): RedisMasters {
    return this.#servers.masters;
  }

  async read(keys: readonly string[], signal?: AbortSignal): Promise<(Buffer | null)[]> {
    return keys.length === 0 ? [] : this.#servers.read(keys, signal);
  }

  async write(records: readonly StoreRecord[]): Promise<void> {
    if (records.length === 0) return;
    const failures = await this.#servers.set(records);
    const [lead] = failures;
    this.#check(lead === undefined ? failures : failures.map(() => lead));
  }

  async remove(keys: readonly string[]): Promise<void> {
    const replies = await this.#servers.send(
      keys,
      (position) => keys[position]?.length ?? 0,
      (pipeline, position) => pipeline.unlink(keys[position] ?? ''),
    );
    this.#check(replies.map((reply) => (reply instanceof Error ? reply : undefined)));
  }

  async mergeSegments(segments: readonly SegmentWrite[]): Promise<SegmentOutcome[]> {
    const replies = await this.#merge(segments);
    this.#check(
      replies.map((reply) => {
        if (reply === 1 || reply === 0) return undefined;
        return reply instanceof Error ? reply : new Error('the merge script gave no answer that it should');
      }),
    );
    return replies.map((reply) => (reply === 1 ? 'stored' : 'older'));
  }

  /** By position: 1 or 0, or the error. A server that does not know the script yet is sent it once more, whole. */
  async #merge(segments: readonly SegmentWrite[]): Promise<unknown[]> {
    const replies = await this.#servers.send(
      segments.map(({ key }) => key),
      (position) => segments[position]?.segment.length ?? 0,
      (pipeline, position) => {
        const write = segments[position];
        if (write !== undefined) pipeline.evalsha(MERGE_SHA, 1, write.key, write.segment);
      },
    );
    const unknown = replies.flatMap((reply, i) => (isNoScript(reply) ? [i] : []));
    if (unknown.length === 0) return replies;
    const missed = unknown.flatMap((position) => segments[position] ?? []);
    const again = await this.#servers.send(
      missed.map(({ key }) => key),
      (position) => MERGE_SCRIPT.length + (missed[position]?.segment.length ?? 0),
      (pipeline, position) => {
        const write = missed[position];
        if (write !== undefined) pipeline.eval(MERGE_SCRIPT, 1, write.key, write.segment);
      },
    );
    unknown.forEach((position, i) => (replies[position] = again[i]));
    return replies;
  }

  /** @throws StoreWriteError if any failed; `failures` by position */
  #check(failures: readonly (Error | undefined)[]): void {
    const failure = failures.find((found) => found !== undefined);
    if (failure === undefined) return;
    const confirmed = failures.map((found) => found === undefined);
    throw new StoreWriteError(this.#servers.unavailable(failure).message, confirmed, { cause: failure });
  }

  ping(): Promise<void> {
    return this.#servers.ping();
  }

  close(): Promise<void> {
    this.#servers.close();
    return Promise.resolve();
  }
}

function isNoScript(reply: unknown): boolean {
  return reply instanceof Error && reply.message.startsWith('NOSCRIPT');
}
