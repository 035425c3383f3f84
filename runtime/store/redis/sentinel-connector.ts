import { SentinelConnector, type Redis, type SentinelConnectionOptions } from 'ioredis';

/** What of ioredis's connector makes the clients that talk to Sentinels; its types keep that to themselves. */
interface SentinelClients {
  connectToSentinel(address: unknown, options?: unknown): Redis;
}

/**
 * Finds the master by Sentinels as ioredis does. Its clients that wait for news of a failover have nobody who listens to
 * their errors there, and ioredis prints such errors to stderr; they connect anew by themselves, so that nothing is to be
 * done about an error.
 */
export class QuietSentinelConnector extends SentinelConnector {
  /** @param options those of the `Redis` that it connects */
  constructor(options: unknown) {
    super(options as SentinelConnectionOptions);
    const clients = this as unknown as SentinelClients;
    const connect = clients.connectToSentinel.bind(this);
    clients.connectToSentinel = (address, more) => connect(address, more).on('error', () => undefined);
  }
}
