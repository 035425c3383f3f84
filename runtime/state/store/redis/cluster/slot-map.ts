import { Redis } from 'ioredis';
import type { ConnectionLimits } from '../../../../project/settings/redis-limits.js';
import { guardParser } from '../guard-parser.js';
import { MasterList } from '../master-list.js';
import { addressText } from '../masters.js';
import type { MasterAddress } from '../../../../project/settings/redis-address.js';
import { nodeOptions } from '../node-options.js';
import type { RedisAccess } from '../../../../project/settings/redis-target.js';
import { ClusterNode } from './cluster-node.js';
import { SLOTS } from './key-slot.js';
import { readSlotRanges, type SlotRange } from './slot-ranges.js';

/** Intervals at which the map is read while it may be stale, and while it seems correct, in milliseconds. */
const TEND = 200;
const TEND_CALM = 5000;
/** How long a node stays known if only a redirection named it, in milliseconds. */
const KEEP_NAMED = 10_000;

/**
 * The master of each slot, and the connections to all masters. It is read from any node by CLUSTER SLOTS, repeatedly while a
 * master is unreachable, and updated by redirections.
 */
export class SlotMap {
  readonly masters: MasterList;
  readonly #start: readonly MasterAddress[];
  readonly #access: RedisAccess;
  readonly #limits: ConnectionLimits;
  readonly #owners = new Array<ClusterNode | undefined>(SLOTS).fill(undefined);
  readonly #nodes = new Map<string, ClusterNode>();
  #refreshing: Promise<void> | undefined;
  #refreshed = -Infinity;
  #doubtful = true;
  #tending: NodeJS.Timeout | undefined;
  #lastError: Error | undefined;
  #closed = false;

  constructor(start: readonly MasterAddress[], access: RedisAccess, limits: ConnectionLimits) {
    this.#start = start;
    this.#access = access;
    this.#limits = limits;
    this.masters = new MasterList(access, limits);
  }

  get nodes(): Iterable<ClusterNode> {
    return this.#nodes.values();
  }

  /** The error of the last read of the map, if it failed. */
  get lastError(): Error | undefined {
    return this.#lastError;
  }

  owner(slot: number): ClusterNode | undefined {
    return this.#owners[slot];
  }

  /** Number of slots without a master. */
  unowned(): number {
    return this.#owners.reduce((count, owner) => (owner === undefined ? count + 1 : count), 0);
  }

  /** Marks the map as possibly stale, so that it is read again soon. */
  doubt(): void {
    this.#doubtful = true;
  }

  /** Applies a redirection at once; the whole map is read soon. */
  learn(slot: number, address: MasterAddress, forGood: boolean): ClusterNode {
    const node = this.#node(address);
    node.keepUntil = Date.now() + KEEP_NAMED;
    if (forGood) this.#owners[slot] = node;
    this.#doubtful = true;
    this.#announce();
    return node;
  }

  /** Keeps the map up to date until `close`. */
  tend(): void {
    this.#tending ??= setInterval(() => {
      const wrong = this.#doubtful || [...this.#nodes.values()].some((node) => !node.ready);
      if (wrong || Date.now() - this.#refreshed > TEND_CALM) void this.refresh();
    }, TEND).unref();
  }

  /** Reads the map from the first node that answers; keeps the old map if none does. Never rejects. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => (this.#refreshing = undefined));
    return this.#refreshing;
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#tending);
    for (const node of this.#nodes.values()) node.close();
  }

  async #refresh(): Promise<void> {
    for (const node of shuffled([...this.#nodes.values()].filter(({ writes }) => writes.ready))) {
      try {
        const reply: unknown = await node.writes.run(1, 0, (redis) => redis.cluster('SLOTS'));
        this.#adopt(readSlotRanges(reply, node.address));
        return;
      } catch (error) {
        this.#lastError = error as Error;
      }
    }
    for (const address of this.#start) {
      if (this.#closed) return;
      try {
        this.#adopt(await this.#ask(address));
        return;
      } catch (error) {
        this.#lastError = error as Error;
      }
    }
  }

  /** Reads the map on a temporary connection. */
  async #ask(address: MasterAddress): Promise<SlotRange[]> {
    const redis = new Redis({
      ...nodeOptions(this.#access, this.#limits, 'slots'),
      host: address.host,
      port: address.port,
      enableReadyCheck: false,
      commandTimeout: this.#limits.socketTimeout,
      retryStrategy: () => null,
    });
    guardParser(redis);
    let failure: Error | undefined;
    redis.on('error', (error: Error) => (failure = error));
    try {
      await redis.connect();
      const reply: unknown = await redis.cluster('SLOTS');
      return readSlotRanges(reply, address);
    } catch (error) {
      throw failure ?? error;
    } finally {
      redis.disconnect();
    }
  }

  #adopt(ranges: readonly SlotRange[]): void {
    if (this.#closed) return;
    this.#refreshed = Date.now();
    this.#doubtful = false;
    this.#lastError = undefined;
    this.#owners.fill(undefined);
    const named = new Set<ClusterNode>();
    for (const { first, last, master } of ranges) {
      const node = this.#node(master);
      named.add(node);
      this.#owners.fill(node, first, last + 1);
    }
    for (const [name, node] of this.#nodes) {
      if (named.has(node) || node.keepUntil > Date.now()) continue;
      this.#nodes.delete(name);
      // Replies in flight can still arrive. The connections of a dead node fail long before this time.
      setTimeout(() => node.close(), this.#limits.commandTimeout).unref();
    }
    this.#announce();
  }

  #node(address: MasterAddress): ClusterNode {
    const name = addressText(address);
    const known = this.#nodes.get(name);
    if (known !== undefined) return known;
    const node = new ClusterNode(address, this.#access, this.#limits);
    this.#nodes.set(name, node);
    node.start();
    for (const { redis } of [node.reads, node.writes]) redis.on('close', () => this.doubt());
    return node;
  }

  #announce(): void {
    this.masters.set([...this.#nodes.values()].map(({ address }) => address));
  }
}

/** Shuffles the nodes, so that a node with a stale map is not always asked first. */
function shuffled<T>(items: T[]): T[] {
  for (let i = items.length - 1; i > 0; i--) {
    const other = Math.floor(Math.random() * (i + 1));
    [items[i], items[other]] = [items[other] as T, items[i] as T];
  }
  return items;
}
