import { setTimeout as pause } from 'node:timers/promises';
import { MillraceError } from '../../../../ground/api/errors.js';
import type { RecordBatch } from '../../codec/record-batch.js';
import type { StoreRecord } from '../../store.js';
import { probeKey } from '../../keys.js';
import { batchesOf } from '../batches.js';
import type { RedisConnection } from '../connection.js';
import { checkServer } from '../check-server.js';
import { within } from '../deadline.js';
import { isHopeless, isReply, reasonFor, remedyFor, unavailable, UncoveredError } from '../failure.js';
import type { ConnectionLimits } from '../../../../project/settings/redis-limits.js';
import { addressText, type RedisMasters } from '../masters.js';
import type { MasterAddress } from '../../../../project/settings/redis-address.js';
import { sendPipeline, type Confirmation } from '../pipeline.js';
import { unconfirmed } from '../reply-reader.js';
import type { AddCommand, RedisServers } from '../servers.js';
import type { RedisAccess } from '../../../../project/settings/redis-target.js';
import type { ClusterNode } from './cluster-node.js';
import { keySlot } from './key-slot.js';
import { redirectOf } from './redirect.js';
import { SlotMap } from './slot-map.js';

/** Most redirections of a key within one read or write. */
const MOST_REDIRECTS = 6;
/**
 * Two redirections find every key whose owner is agreed on. Then the nodes tell each other who owns the slot, and until they
 * have, each may name the other: milliseconds before the third redirection, and twice as many before each later one.
 */
const UNDECIDED_MS = 20;
/** Maximum number of probe keys that are tried to find a key of a node. */
const MOST_PROBES = 4096;

/** The commands of some positions that go to one node. */
interface Leg {
  readonly node: ClusterNode;
  readonly asking: boolean;
  readonly positions: number[];
}

/** What to send: one command for each position of `keys`. */
interface Work {
  readonly lane: 'reads' | 'writes';
  readonly keys: readonly string[];
  /** Sends the commands of a leg, and puts each reply or error at its position. Never rejects. */
  readonly send: (leg: Leg, replies: unknown[]) => Promise<void>;
}

/** The masters of a Redis Cluster. Each key goes to the master of its slot; commands to all masters run in parallel. */
export class ClusterServers implements RedisServers {
  readonly masters: RedisMasters;
  readonly #map: SlotMap;
  readonly #limits: ConnectionLimits;
  readonly #confirmation: Confirmation;
  readonly #name: string;
  readonly #prefix: string;
  #closed = false;

  constructor(
    start: readonly MasterAddress[],
    access: RedisAccess,
    limits: ConnectionLimits,
    replicas: number,
    prefix: string,
  ) {
    this.#prefix = prefix;
    this.#map = new SlotMap(start, access, limits);
    this.#limits = limits;
    this.#confirmation = { replicas, within: limits.waitWithin };
    this.#name = `the cluster at ${start.map(addressText).join(', ')}`;
    this.masters = this.#map.masters;
  }

  async open(): Promise<void> {
    const until = Date.now() + this.#limits.openWithin;
    for (;;) {
      await this.#map.refresh();
      const nodes = [...this.#map.nodes];
      const left = Math.max(1, Math.min(200, until - Date.now()));
      const ready = await Promise.all(
        nodes.flatMap(({ reads, writes }) => [reads.becomesReady(left), writes.becomesReady(left)]),
      );
      if (nodes.length > 0 && ready.every(Boolean) && this.#map.unowned() === 0) break;
      if (Date.now() >= until || isHopeless(this.#map.lastError)) {
        const error = this.#cannotOpen(nodes);
        this.close();
        throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    this.#map.tend();
  }

  async read(
    keys: readonly string[],
    batch: RecordBatch,
    first: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const send: Work['send'] = async ({ node, asking, positions }, errors) => {
      try {
        await node.reads.gets(keys, positions, asking, batch, first, errors, signal);
      } catch (error) {
        for (const position of positions) errors[position] = error;
      }
    };
    const errors = await within(this.#run({ lane: 'reads', keys, send }), signal);
    for (const error of errors) if (error instanceof Error) throw this.unavailable(error);
  }

  /**
   * Stores the first record before the others are sent, because readers of the others need it. It may be on another node.
   */
  async set(records: readonly StoreRecord[]): Promise<(Error | undefined)[]> {
    const [lead] = await this.#set(records.slice(0, 1));
    if (lead !== undefined) return records.map(() => lead);
    return [undefined, ...(await this.#set(records.slice(1)))];
  }

  async #set(records: readonly StoreRecord[]): Promise<(Error | undefined)[]> {
    const replies = await this.send(
      records.map(({ key }) => key),
      (position) => records[position]?.value.length ?? 0,
      (pipeline, position) => {
        const record = records[position];
        if (record !== undefined) pipeline.set(record.key, record.value);
      },
    );
    return replies.map(unconfirmed);
  }

  send(keys: readonly string[], sizeAt: (position: number) => number, add: AddCommand): Promise<unknown[]> {
    return this.#run({
      lane: 'writes',
      keys,
      send: async ({ node, asking, positions }, replies) => {
        const batches = batchesOf(positions, sizeAt);
        const confirmation = this.#confirmation;
        const outcomes = await Promise.all(
          batches.map((batch) => sendPipeline(node.writes, { ...batch, add, asking, confirmation })),
        );
        batches.forEach((batch, b) => {
          batch.positions.forEach((position, i) => (replies[position] = outcomes[b]?.[i]));
        });
      },
    });
  }

  async ping(): Promise<void> {
    if (this.#closed) throw this.unavailable(new Error('the store is closed'));
    const missing = this.#map.unowned();
    if (missing > 0) throw this.unavailable(new UncoveredError(missing));
    await Promise.all(
      [...this.#map.nodes].map(async (node) => {
        const key = this.#probeOf(node);
        // A node without slots receives no commands.
        if (key !== undefined) await checkServer(node.reads, node.writes, key);
      }),
    );
  }

  connections(): readonly RedisConnection[] {
    return [...this.#map.nodes].map(({ writes }) => writes);
  }

  /** A probe key in the slots of a node; undefined if the node has few or no slots. */
  #probeOf(node: ClusterNode): string | undefined {
    for (let number = 0; number < MOST_PROBES; number++) {
      const key = probeKey(this.#prefix, number);
      if (this.#map.owner(keySlot(key)) === node) return key;
    }
    return undefined;
  }

  unavailable(error: unknown): MillraceError {
    return unavailable(this.#name, error);
  }

  close(): void {
    this.#closed = true;
    this.#map.close();
  }

  /** By position: the reply or an Error. */
  async #run(work: Work): Promise<unknown[]> {
    const replies = new Array<unknown>(work.keys.length);
    if (this.#closed) return replies.fill(this.unavailable(new Error('the store is closed')));
    let legs = this.#legs(work.keys, replies);
    for (let round = 0; legs.length > 0; round++) {
      await Promise.all(legs.map((leg) => this.#send(leg, work, replies, round)));
      legs = round < MOST_REDIRECTS ? this.#redirected(legs, replies) : [];
      if (round > 1 && legs.length > 0) await pause(UNDECIDED_MS * 2 ** (round - 2));
    }
    return replies;
  }

  /** Groups the commands into legs by the current slot map. */
  #legs(keys: readonly string[], replies: unknown[]): Leg[] {
    const legs = new Map<ClusterNode, Leg>();
    for (let position = 0; position < keys.length; position++) {
      const node = this.#map.owner(keySlot(keys[position] ?? ''));
      const leg = node === undefined ? undefined : legs.get(node);
      if (leg !== undefined) leg.positions.push(position);
      else if (node !== undefined) legs.set(node, { node, asking: false, positions: [position] });
      else replies[position] = new UncoveredError(this.#map.unowned());
    }
    return [...legs.values()];
  }

  async #send(leg: Leg, { lane, send }: Work, replies: unknown[], round: number): Promise<void> {
    const { node, positions } = leg;
    const connection = node[lane];
    // A node that a redirection has just named gets time to connect. Other nodes fail at once if they are down.
    if (round > 0 && !connection.ready) await connection.becomesReady(this.#limits.connectTimeout);
    await send(leg, replies);
    for (const position of positions) {
      const reply = replies[position];
      if (reply instanceof Error) replies[position] = this.#placed(reply, node);
    }
  }

  /** Adds the node to the error. If the node is down or has left the cluster, the map is read again. */
  #placed(error: Error, node: ClusterNode): Error {
    if (redirectOf(error, node.address) !== undefined) return error;
    if (isReply(error) && !/^(CLUSTERDOWN|READONLY|MASTERDOWN|LOADING)/.test(error.message)) return error;
    this.#map.doubt();
    return isReply(error) ? error : unavailable(node.name, error);
  }

  /** The next legs of the redirected keys, in their order. */
  #redirected(legs: readonly Leg[], replies: readonly unknown[]): Leg[] {
    const next = new Map<string, Leg>();
    for (const { node: from, positions } of legs) {
      for (const position of positions) {
        const redirect = redirectOf(replies[position], from.address);
        if (redirect === undefined) continue;
        const { slot, to, asking } = redirect;
        const node = this.#map.learn(slot, to, !asking);
        const way = `${node.name} ${asking ? 'ask' : ''}`;
        const leg = next.get(way) ?? { node, asking, positions: [] };
        next.set(way, leg);
        leg.positions.push(position);
      }
    }
    return [...next.values()];
  }

  #cannotOpen(nodes: readonly ClusterNode[]): MillraceError {
    const cause = this.#map.lastError;
    const down = nodes.find((node) => !node.ready);
    const missing = this.#map.unowned();
    const reason =
      cause !== undefined || nodes.length === 0
        ? reasonFor(cause)
        : down !== undefined
          ? `its master ${down.name} is not ready`
          : new UncoveredError(missing).message;
    const remedy = /cluster support disabled/.test(reason)
      ? 'Set REDIS_URL instead of REDIS_CLUSTER'
      : remedyFor(reason).replace('REDIS_URL', 'REDIS_CLUSTER');
    return new MillraceError(
      'store_unavailable',
      `Redis: ${this.#name} cannot be used: ${reason}. ${remedy}`,
      {
        cause,
      },
    );
  }
}
