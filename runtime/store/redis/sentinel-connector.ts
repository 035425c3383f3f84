import { SentinelConnector, type Redis, type RedisOptions, type SentinelConnectionOptions } from 'ioredis';
import { UnknownMasterError } from './failure.js';
import type { MasterAddress } from '../../settings/redis-address.js';
import type { SentinelMaster } from './sentinel-master.js';

/** What ioredis's connector asks Sentinels with; its types keep that to themselves. */
interface SentinelClients {
  connectToSentinel(sentinel: unknown, options?: unknown): Redis;
  resolve(sentinel: unknown): Promise<MasterAddress | null>;
}

/**
 * A connector that goes to the master as ioredis's own does, but for three things. ioredis believes the first Sentinel that
 * answers, who may not have heard of a failover yet; here the others are asked too. It does not say of a master that no Sentinel knows that it is unknown. And its clients that wait for news
 * of a failover have nobody who listens to their errors, which it then prints to stderr; they connect anew by
 * themselves, so that nothing is to be done about an error.
 */
export function sentinelConnector(master: SentinelMaster): NonNullable<RedisOptions['Connector']> {
  return class extends SentinelConnector {
    /** @param options those of the `Redis` that it connects */
    constructor(options: unknown) {
      super(options as SentinelConnectionOptions);
      const clients = this as unknown as SentinelClients;
      const connect = clients.connectToSentinel.bind(this);
      clients.connectToSentinel = (sentinel, more) => connect(sentinel, more).on('error', () => undefined);
      const resolve = clients.resolve.bind(this);
      clients.resolve = async (sentinel) => {
        const told = await resolve(sentinel);
        if (told === null) throw new UnknownMasterError(master.name);
        return (await master.find()) ?? told;
      };
    }
  };
}
