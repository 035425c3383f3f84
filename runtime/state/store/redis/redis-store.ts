import type { StoreFailure } from '../../../ground/api/error-codes.js';
import { RecordBatch } from '../codec/record-batch.js';
import {
  CursorError,
  StoreWriteError,
  type Erasure,
  type Abortable,
  type KeyPage,
  type MarkedIds,
  type Marks,
  type RecordSwap,
  type SegmentOutcome,
  type SegmentWrite,
  type Store,
  type StoreRecord,
  type SwapOutcome,
} from '../store.js';
import { expiryOf } from '../codec/versioned-record.js';
import { comparedPart } from '../compare-records.js';
import { isEntityKey } from '../keys.js';
import { ClusterServers } from './cluster/cluster-servers.js';
import { DEFAULT_LIMITS } from '../../../project/settings/redis-limits.js';
import type { RedisObserver } from '../../../project/settings/redis-observer.js';
import { KeyScan } from './key-scan.js';
import { addressText, type RedisMasters } from './masters.js';
import { MERGE_SCRIPT, MERGE_SHA } from './merge-script.js';
import { MARK_SCRIPT, MARK_SHA } from './mark-script.js';
import { memoryState } from './check-server.js';
import { OneServer } from './one-server.js';
import type { CommandPipeline, RedisServers } from './servers.js';
import { unconfirmed } from './reply-reader.js';
import { sampleKeys } from './sample-keys.js';
import { swapUnmarked } from '../marks.js';
import { evalshaCommand, smismemberCommand } from './write-commands.js';
import { SWAP_SCRIPT, SWAP_SHA } from './swap-script.js';
import { accessOf, topologyOf, type RedisSettings } from '../../../project/settings/redis-target.js';

/** The Redis engine. It also exposes the servers that own the keys. */
export interface RedisStore extends Store {
  readonly masters: RedisMasters;
}

/**
 * Connects to Redis or Valkey: to one server by its URL, to the master that Sentinels monitor, or to a cluster.
 * @throws MillraceError invalid_setting if the settings contradict each other; store_unavailable if it cannot be
 *   reached within `limits.openWithin`
 */
export async function connectRedisStore(settings: RedisSettings): Promise<RedisStore> {
  const topology = topologyOf(settings);
  const access = accessOf(settings);
  const given = { ...DEFAULT_LIMITS, ...settings.limits };
  // A server sends no reply while it waits for its replicas, so the wait must be shorter than the socket timeout.
  const limits = { ...given, waitWithin: Math.min(given.waitWithin, Math.ceil(given.socketTimeout * 0.8)) };
  const replicas = settings.waitReplicas ?? 0;
  const prefix = settings.prefix ?? 'millrace';
  const servers =
    topology.kind === 'cluster'
      ? new ClusterServers(topology.nodes, access, limits, replicas, prefix)
      : new OneServer(topology, access, limits, replicas, prefix);
  await servers.open();
  const store = new ServersStore(servers, access.observer);
  await store.checkMemory();
  return store;
}

/** Minimum interval between reads of the memory states, in milliseconds. */
const MEMORY_AGAIN = 5_000;

interface Script {
  readonly text: string;
  readonly sha: string;
}

interface ScriptCall {
  /** Of one slot in a cluster; at least one. */
  readonly keys: readonly string[];
  readonly args: readonly (string | Buffer)[];
}

/** The store contract over one server or a cluster. */
class ServersStore implements RedisStore {
  readonly #servers: RedisServers;
  readonly #observer: RedisObserver | undefined;
  readonly #stopListening: () => void;
  #checkedMemory = -Infinity;
  readonly #scan: KeyScan;

  constructor(servers: RedisServers, observer: RedisObserver | undefined) {
    this.#servers = servers;
    this.#scan = new KeyScan(servers.masters);
    this.#observer = observer;
    this.#stopListening = servers.masters.on('change', (masters) => {
      observer?.newMasters(masters.map(addressText));
      this.#checkedMemory = -Infinity;
    });
  }

  /** Reports the eviction policy and the use of memory to the observer, unless they were reported recently. */
  async checkMemory(): Promise<void> {
    const now = performance.now();
    if (this.#observer === undefined || now - this.#checkedMemory < MEMORY_AGAIN) return;
    this.#checkedMemory = now;
    const states = await Promise.all(this.#servers.connections().map(memoryState));
    this.#observer.evicts(states.find(({ policy }) => policy !== undefined)?.policy);
    const used = states.flatMap((state) => state.used ?? []);
    this.#observer.memoryUse(used.length === 0 ? undefined : Math.max(...used));
  }

  get masters(): RedisMasters {
    return this.#servers.masters;
  }

  async read(keys: readonly string[], signal?: AbortSignal): Promise<(Buffer | null)[]> {
    const batch = new RecordBatch();
    if (keys.length > 0) await this.#servers.read(keys, batch, batch.extend(keys.length), signal);
    return keys.map((_, i) => batch.record(i));
  }

  async readInto(
    keys: readonly string[],
    batch: RecordBatch,
    first: number,
    deadline?: Abortable,
  ): Promise<void> {
    if (keys.length > 0) await this.#servers.read(keys, batch, first, deadline?.signal);
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
    this.#check(replies.map((reply) => (typeof reply === 'number' ? undefined : unconfirmed(reply))));
  }

  async mergeSegments(segments: readonly SegmentWrite[]): Promise<SegmentOutcome[]> {
    const now = String(Date.now());
    const replies = await this.#run(
      { text: MERGE_SCRIPT, sha: MERGE_SHA },
      segments.map(({ key, segment, replaces }) => ({
        keys: [key],
        args: replaces === undefined ? [segment, now] : [segment, now, replaces ?? ''],
      })),
    );
    return replies.map((reply) => (reply === 1 ? 'stored' : reply === 2 ? 'changed' : 'older'));
  }

  async swap(swaps: readonly RecordSwap[]): Promise<SwapOutcome[]> {
    try {
      return await this.#swap(swaps);
    } catch (error) {
      if (!isSplit(error)) throw error;
      // A slot is on its way, and has the record here and its ids there: then each is asked for itself.
      return swapUnmarked(swaps, this, (free) => this.#swap(free.map((one) => ({ ...one, unless: [] }))));
    }
  }

  async #swap(swaps: readonly RecordSwap[]): Promise<SwapOutcome[]> {
    const replies = await this.#run(
      { text: SWAP_SCRIPT, sha: SWAP_SHA },
      swaps.map(({ key, before, after, unless = [] }) => {
        const keys = [key];
        const isWhole = isEntityKey(key);
        const read = before === null ? '' : comparedPart(key, before);
        const args = [read, after, isWhole ? '' : expiryText(after), isWhole ? '-1' : '7'];
        for (const set of unless) {
          keys.push(set.key);
          args.push(set.ids);
        }
        return { keys, args };
      }),
    );
    return replies.map((reply) => (reply === 1 ? 'stored' : reply === 3 ? 'marked' : 'changed'));
  }

  async mark(marks: readonly Marks[]): Promise<void> {
    await this.#run(
      { text: MARK_SCRIPT, sha: MARK_SHA },
      marks.map(({ key, ids, expires }) => ({ keys: [key], args: [String(Math.ceil(expires)), ids] })),
    );
  }

  async marked(sets: readonly MarkedIds[]): Promise<boolean[][]> {
    if (sets.length === 0) return [];
    const replies = await this.#servers.send(
      sets.map(({ key }) => key),
      (position) => sets[position]?.ids.length ?? 0,
      (pipeline, position) => pipeline.sendCommand(smismemberCommand(sets[position] as MarkedIds)),
    );
    this.#check(
      replies.map((reply) => {
        if (Array.isArray(reply)) return undefined;
        return reply instanceof Error ? reply : new Error('the server gave no list of answers');
      }),
    );
    return replies.map((reply) => (reply as readonly number[]).map((one) => one === 1));
  }

  /**
   * Runs a script once for each call; the script returns a number from 0 to 3. If a server does not know the script, its text is sent.
   * @throws StoreWriteError
   */
  async #run(script: Script, calls: readonly ScriptCall[]): Promise<unknown[]> {
    const replies = await this.#send(calls, 0, (pipeline, { keys, args }) => {
      pipeline.sendCommand(evalshaCommand(script.sha, keys, args));
    });
    const unknown = replies.flatMap((reply, i) => (isNoScript(reply) ? [i] : []));
    if (unknown.length > 0) {
      const missed = unknown.flatMap((position) => calls[position] ?? []);
      const again = await this.#send(missed, script.text.length, (pipeline, { keys, args }) => {
        pipeline.eval(script.text, keys.length, ...keys, ...args);
      });
      unknown.forEach((position, i) => (replies[position] = again[i]));
    }
    this.#check(
      replies.map((reply) => {
        if (reply === 1 || reply === 0 || reply === 2 || reply === 3) return undefined;
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
      calls.map(({ keys: [key = ''] }) => key),
      (position) => (calls[position]?.args ?? []).reduce((sum, { length }) => sum + length, overhead),
      (pipeline, position) => {
        const call = calls[position];
        if (call !== undefined) add(pipeline, call);
      },
    );
  }

  /** @throws StoreWriteError if any write failed. @param failures by position */
  #check(failures: readonly (Error | undefined)[]): void {
    const failure = failures.find((found) => found !== undefined);
    if (failure === undefined) return;
    const confirmed = failures.map((found) => found === undefined);
    const { code, message } = this.#servers.unavailable(failure);
    throw new StoreWriteError(message, confirmed, code as StoreFailure, { cause: failure });
  }

  async sampleKeys(start: string, most: number, signal: AbortSignal): Promise<string[]> {
    try {
      return await sampleKeys(this.#servers.connections(), start, most, signal);
    } catch (error) {
      throw this.#servers.unavailable(error);
    }
  }

  async scan(start: string, cursor: string | undefined, count: number): Promise<KeyPage> {
    try {
      return await this.#scan.page(start, cursor, count);
    } catch (error) {
      throw error instanceof CursorError ? error : this.#servers.unavailable(error);
    }
  }

  erase(): Promise<Erasure> {
    return Promise.resolve({ files: 'server', copies: [] });
  }

  async ping(): Promise<void> {
    await this.#servers.ping();
    await this.checkMemory();
  }

  close(): Promise<void> {
    this.#scan.close();
    this.#stopListening();
    this.#servers.close();
    return Promise.resolve();
  }
}

/** Whether keys of one command are on two servers of a cluster. */
function isSplit(error: unknown): boolean {
  return (
    error instanceof StoreWriteError &&
    error.cause instanceof Error &&
    error.cause.message.startsWith('TRYAGAIN')
  );
}

function isNoScript(reply: unknown): boolean {
  return reply instanceof Error && reply.message.startsWith('NOSCRIPT');
}

/** The expiry of a versioned record in milliseconds; '' if it never expires. */
function expiryText(record: Buffer): string {
  const expiry = expiryOf(record);
  return expiry === Infinity ? '' : String(Math.ceil(expiry));
}
