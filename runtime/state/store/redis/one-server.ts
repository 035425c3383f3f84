import type { MillraceError } from '../../../ground/api/errors.js';
import type { RecordBatch } from '../codec/record-batch.js';
import type { StoreRecord } from '../store.js';
import { allPositions, batchesOf } from './batches.js';
import { probeKey } from '../keys.js';
import { checkServer } from './check-server.js';
import { RedisConnection } from './connection.js';
import { within } from './deadline.js';
import type { ConnectionLimits } from '../../../project/settings/redis-limits.js';
import { MasterList } from './master-list.js';
import { addressText, type RedisMasters } from './masters.js';
import { sendPipeline, type Confirmation } from './pipeline.js';
import { unconfirmed } from './reply-reader.js';
import { ReadConnection } from './read-connection.js';
import type { AddCommand, RedisServers } from './servers.js';
import type { RedisAccess, Topology } from '../../../project/settings/redis-target.js';
import { msetCommand } from './write-commands.js';

/** One Redis server: a fixed address, or the master that the Sentinels name. */
export class OneServer implements RedisServers {
  readonly masters: RedisMasters;
  readonly #reads: ReadConnection;
  readonly #writes: RedisConnection;
  readonly #confirmation: Confirmation;
  readonly #list: MasterList;
  readonly #prefix: string;

  constructor(
    topology: Exclude<Topology, { kind: 'cluster' }>,
    access: RedisAccess,
    limits: ConnectionLimits,
    replicas: number,
    prefix: string,
  ) {
    this.#prefix = prefix;
    const place = topology.kind === 'single' ? topology.node : topology;
    const target = { place, access, limits };
    // Reads and writes use separate connections, so that a large upload does not delay a ranking.
    this.#reads = new ReadConnection({ ...target, purpose: 'read' });
    this.#writes = new RedisConnection({ ...target, purpose: 'write' });
    this.#confirmation = { replicas, within: limits.waitWithin };
    this.#list = new MasterList(access, limits);
    this.masters = this.#list;
    if (topology.kind === 'single') this.#list.set([topology.node]);
    else this.#followMaster();
  }

  async open(): Promise<void> {
    try {
      await Promise.all([this.#reads.open(), this.#writes.open()]);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  async read(
    keys: readonly string[],
    batch: RecordBatch,
    first: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    try {
      await within(this.#reads.mget(keys, batch, first, signal), signal);
    } catch (error) {
      throw this.#reads.unavailable(error);
    }
  }

  async set(records: readonly StoreRecord[]): Promise<(Error | undefined)[]> {
    const batches = batchesOf(
      allPositions(records.length),
      (position) => records[position]?.value.length ?? 0,
    );
    const outcomes = await Promise.all(
      batches.map(async ({ positions, bytes }) => {
        const [reply] = await sendPipeline(this.#writes, {
          positions: [0],
          bytes,
          add: (pipeline) => pipeline.sendCommand(msetCommand(records, positions)),
          confirmation: this.#confirmation,
        });
        return reply;
      }),
    );
    return batches.flatMap(({ positions }, i) => {
      const failure = unconfirmed(outcomes[i]);
      return positions.map(() => failure);
    });
  }

  async send(
    keys: readonly string[],
    sizeAt: (position: number) => number,
    add: AddCommand,
  ): Promise<unknown[]> {
    const replies = await Promise.all(
      batchesOf(allPositions(keys.length), sizeAt).map(({ positions, bytes }) =>
        sendPipeline(this.#writes, { positions, bytes, add, confirmation: this.#confirmation }),
      ),
    );
    return replies.flat();
  }

  async ping(): Promise<void> {
    await checkServer(this.#reads, this.#writes, probeKey(this.#prefix, 0));
  }

  connections(): readonly RedisConnection[] {
    return [this.#writes];
  }

  unavailable(error: unknown): MillraceError {
    return this.#writes.unavailable(error);
  }

  close(): void {
    this.#reads.close();
    this.#writes.close();
  }

  /**
   * Keeps both connections on one master. A failover may leave a connection to the old master open, and a ranking would then
   * miss recent writes to the new one. The master list follows the read connection, because invalidations must cover all
   * reads. It is set before the handshake, and therefore before any read.
   */
  #followMaster(): void {
    this.#reads.redis.on('connect', () => {
      const address = this.#reads.remote;
      if (address !== undefined) this.#list.set([address]);
    });
    for (const [one, other] of [
      [this.#reads, this.#writes],
      [this.#writes, this.#reads],
    ] as const) {
      // Wait until it is ready: until then, the server may hang or may no longer be the master.
      one.onReady(() => {
        if (!other.ready) return;
        const [here, there] = [one.remote, other.remote];
        if (here === undefined || there === undefined) return;
        if (addressText(here) !== addressText(there)) other.renew();
      });
    }
  }
}
