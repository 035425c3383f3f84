import { SentinelConnector, type Redis, type RedisOptions, type SentinelConnectionOptions } from 'ioredis';
import { guardParser } from './guard-parser.js';
import { UnknownMasterError } from './failure.js';
import type { MasterAddress } from '../../../project/settings/redis-address.js';
import type { SentinelMaster } from './sentinel-master.js';

/** Private methods of ioredis's connector that are replaced here. */
interface SentinelClients {
  connectToSentinel(sentinel: unknown, options?: unknown): Redis;
  resolve(sentinel: unknown): Promise<MasterAddress | null>;
}

/**
 * ioredis's connector with three differences. It asks all Sentinels, because the first to answer may not know of a failover
 * yet. It reports a master that no Sentinel knows. And it handles the errors of the clients that wait for failover messages,
 * which ioredis would print to stderr; these clients reconnect by themselves.
 */
export function sentinelConnector(master: SentinelMaster): NonNullable<RedisOptions['Connector']> {
  return class extends SentinelConnector {
    /** @param options the options of the `Redis` client that it connects */
    constructor(options: unknown) {
      super(options as SentinelConnectionOptions);
      const clients = this as unknown as SentinelClients;
      const connect = clients.connectToSentinel.bind(this);
      clients.connectToSentinel = (sentinel, more) => {
        const client = connect(sentinel, more).on('error', () => undefined);
        guardParser(client);
        return client;
      };
      const resolve = clients.resolve.bind(this);
      clients.resolve = async (sentinel) => {
        const told = await resolve(sentinel);
        if (told === null) throw new UnknownMasterError(master.name);
        return (await master.find()) ?? told;
      };
    }
  };
}
