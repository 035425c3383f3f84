import { RecordBatch } from '../codec/record-batch.js';
import {
  CursorError,
  StoreWriteError,
  type KeyPage,
  type RecordSwap,
  type SegmentOutcome,
  type SegmentWrite,
  type Store,
  type StoreRecord,
  type SwapOutcome,
} from '../store.js';
import { expiryOf, versionOf } from '../codec/versioned-record.js';
import { ClusterServers } from './cluster/cluster-servers.js';
import { DEFAULT_LIMITS } from '../../settings/redis-limits.js';
import { KeyScan } from './key-scan.js';
import type { RedisMasters } from './masters.js';
import { MERGE_SCRIPT, MERGE_SHA } from './merge-script.js';
import { OneServer } from './one-server.js';
import type { CommandPipeline, RedisServers } from './servers.js';
import { SWAP_SCRIPT, SWAP_SHA } from './swap-script.js';
import { accessOf, topologyOf, type RedisSettings } from '../../settings/redis-target.js';

/** The redis engine; it also tells which servers own the keys. */
export interface RedisStore extends Store {
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

interface Script {
  readonly text: string;
  readonly sha: string;
}

interface ScriptCall {
  readonly key: string;
  readonly args: readonly (string | Buffer)[];
}

/** The store contract over whichever servers there are. */
class ServersStore implements RedisStore {
  readonly #servers: RedisServers;
  readonly #scan: KeyScan;

  constructor(servers: RedisServers) {
    this.#servers = servers;
    this.#scan = new KeyScan(servers.masters);
  }

  get masters(): RedisMasters {
    return this.#servers.masters;
  }

  async read(keys: readonly string[], signal?: AbortSignal): Promise<(Buffer | null)[]> {
    const batch = new RecordBatch();
    await this.readInto(keys, batch, batch.extend(keys.length), signal);
    return keys.map((_, i) => batch.record(i));
  }

  async readInto(
    keys: readonly string[],
    batch: RecordBatch,
    first: number,
    signal?: AbortSignal,
  ): Promise<void> {
    if (keys.length > 0) await this.#servers.read(keys, batch, first, signal);
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
    const now = String(Date.now());
    const replies = await this.#run(
      { text: MERGE_SCRIPT, sha: MERGE_SHA },
      segments.map(({ key, segment }) => ({ key, args: [segment, now] })),
    );
    return replies.map((reply) => (reply === 1 ? 'stored' : 'older'));
  }

  async swap(swaps: readonly RecordSwap[]): Promise<SwapOutcome[]> {
    const replies = await this.#run(
      { text: SWAP_SCRIPT, sha: SWAP_SHA },
      swaps.map(({ key, before, after }) => ({
        key,
        args: [before === null ? '' : versionOf(before), after, String(Math.ceil(expiryOf(after)))],
      })),
    );
    return replies.map((reply) => (reply === 1 ? 'stored' : 'changed'));
  }

  /**
   * Runs a script once for each key; it answers 1 or 0. A server that does not know it yet is sent it once more, whole.
   * @throws StoreWriteError
   */
  async #run(script: Script, calls: readonly ScriptCall[]): Promise<unknown[]> {
    const replies = await this.#send(calls, 0, (pipeline, { key, args }) => {
      pipeline.evalsha(script.sha, 1, key, ...args);
    });
    const unknown = replies.flatMap((reply, i) => (isNoScript(reply) ? [i] : []));
    if (unknown.length > 0) {
      const missed = unknown.flatMap((position) => calls[position] ?? []);
      const again = await this.#send(missed, script.text.length, (pipeline, { key, args }) => {
        pipeline.eval(script.text, 1, key, ...args);
      });
      unknown.forEach((position, i) => (replies[position] = again[i]));
    }
    this.#check(
      replies.map((reply) => {
        if (reply === 1 || reply === 0) return undefined;
        return reply instanceof Error ? reply : new Error('the script gave no answer that it should');
      }),
    );
    return replies;
  }

  #send(
    calls: readonly ScriptCall[],
    overhead: number,
    add: (pipeline: CommandPipeline, call: ScriptCall) => void,
  ): Promise<unknown[]> {
    return this.#servers.send(
      calls.map(({ key }) => key),
      (position) => (calls[position]?.args ?? []).reduce((sum, { length }) => sum + length, overhead),
      (pipeline, position) => {
        const call = calls[position];
        if (call !== undefined) add(pipeline, call);
      },
    );
  }

  /** @throws StoreWriteError if any failed; `failures` by position */
  #check(failures: readonly (Error | undefined)[]): void {
    const failure = failures.find((found) => found !== undefined);
    if (failure === undefined) return;
    const confirmed = failures.map((found) => found === undefined);
    throw new StoreWriteError(this.#servers.unavailable(failure).message, confirmed, { cause: failure });
  }

  async scan(start: string, cursor: string | undefined, count: number): Promise<KeyPage> {
    try {
      return await this.#scan.page(start, cursor, count);
    } catch (error) {
      throw error instanceof CursorError ? error : this.#servers.unavailable(error);
    }
  }

  ping(): Promise<void> {
    return this.#servers.ping();
  }

  close(): Promise<void> {
    this.#scan.close();
    this.#servers.close();
    return Promise.resolve();
  }
}

function isNoScript(reply: unknown): boolean {
  return reply instanceof Error && reply.message.startsWith('NOSCRIPT');
}
