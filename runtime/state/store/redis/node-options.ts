import type { RedisOptions } from 'ioredis';
import type { ConnectionLimits } from '../../../project/settings/redis-limits.js';
import { sentinelConnector } from './sentinel-connector.js';
import type { SentinelMaster } from './sentinel-master.js';
import type { RedisAccess, Topology } from '../../../project/settings/redis-target.js';

/**
 * Options of one connection. The offline queue and automatic resending are off. The time-outs of commands are in
 * connection.ts, because ioredis's `commandTimeout` rejects a command but leaves it in the queue.
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

/** Options of a connection to the master that the Sentinels name. */
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
    // Detects a failover at once, even if the old master hangs.
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
