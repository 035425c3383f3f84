import type { RedisOptions } from 'ioredis';
import type { ConnectionLimits } from '../../settings/redis-limits.js';
import { sentinelConnector } from './sentinel-connector.js';
import type { SentinelMaster } from './sentinel-master.js';
import type { RedisAccess, Topology } from '../../settings/redis-target.js';

/**
 * Options of one connection. Nothing waits in a queue for a server that is not there and nothing is sent twice; the
 * time-outs of commands are our own (connection.ts), since ioredis's forget the command but not its place in the queue.
 */
export function nodeOptions(access: RedisAccess, limits: ConnectionLimits, purpose: string): RedisOptions {
  return {
    lazyConnect: true,
    connectionName: `millrace-${purpose}`,
    disableClientInfo: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    maxLoadingRetryTime: Math.min(200, limits.socketTimeout),
    connectTimeout: limits.connectTimeout,
    disconnectTimeout: Math.min(200, limits.connectTimeout),
    keepAlive: 10_000,
    db: access.database,
    ...(access.username === undefined ? {} : { username: access.username }),
    ...(access.password === undefined ? {} : { password: access.password }),
    ...(access.tls === undefined ? {} : { tls: access.tls }),
  };
}

/** Where a connection goes whose server the Sentinels name. */
export function sentinelOptions(
  { sentinels, master: name, username, password }: Extract<Topology, { kind: 'sentinel' }>,
  master: SentinelMaster,
  access: RedisAccess,
  limits: ConnectionLimits,
): RedisOptions {
  return {
    Connector: sentinelConnector(master),
    sentinels: [...sentinels],
    name,
    role: 'master',
    // Told of a failover at once, also while the old master only hangs.
    failoverDetector: true,
    updateSentinels: true,
    sentinelCommandTimeout: limits.connectTimeout,
    sentinelRetryStrategy: (attempt) => Math.min(50 * attempt, limits.longestPause),
    sentinelReconnectStrategy: (attempt) => Math.min(100 * attempt, 2 * limits.longestPause),
    ...(username === undefined ? {} : { sentinelUsername: username }),
    ...(password === undefined ? {} : { sentinelPassword: password }),
    ...(access.tls === undefined ? {} : { sentinelTLS: access.tls, enableTLSForSentinelMode: true }),
  };
}
