import { RedisConnection } from '../connection.js';
import type { ConnectionLimits } from '../../../../project/settings/redis-limits.js';
import { addressText } from '../masters.js';
import type { MasterAddress } from '../../../../project/settings/redis-address.js';
import { ReadConnection } from '../read-connection.js';
import type { RedisAccess } from '../../../../project/settings/redis-target.js';

/** A master of the cluster, with one connection for reads and one for writes. */
export class ClusterNode {
  readonly reads: ReadConnection;
  readonly writes: RedisConnection;
  /** `host:port`. */
  readonly name: string;
  /** Until when the node is kept if the map does not name it, in epoch milliseconds. */
  keepUntil = 0;

  constructor(
    readonly address: MasterAddress,
    access: RedisAccess,
    limits: ConnectionLimits,
  ) {
    this.name = addressText(address);
    const target = { place: address, access, limits };
    this.reads = new ReadConnection({ ...target, purpose: 'read' });
    this.writes = new RedisConnection({ ...target, purpose: 'write' });
  }

  get ready(): boolean {
    return this.reads.ready && this.writes.ready;
  }

  start(): void {
    this.reads.start();
    this.writes.start();
  }

  close(): void {
    this.reads.close();
    this.writes.close();
  }
}
