import { resolve } from 'node:path';
import { bool, row, wholeNumber } from './setting-row.js';
import { DEFAULT_LIMITS } from './redis-limits.js';
import { parseAddresses, parseRedisUrl, type RedisSettings } from './redis-target.js';

const milliseconds = { expected: 'a number of milliseconds, 50 to 600000', parse: wholeNumber(50, 600_000) };
const anyText = (text: string): string => text;
const file = { expected: 'a file', parse: (text: string) => (text === '' ? '' : resolve(text)) };

/** Where Redis is, and how it is talked to: a part of the table in settings.ts. */
export const REDIS_SETTINGS = {
  redisUrl: row({
    env: 'REDIS_URL',
    value: 'URL',
    default: 'redis://127.0.0.1:6379',
    description: 'Address of Redis, `redis://[user:password@]host[:port][/db]`; `rediss://` for TLS.',
    expected: 'redis://host:port, or rediss://host:port for TLS',
    secret: true,
    parse: (text) => (parseRedisUrl(text) === undefined ? undefined : text),
  }),
  redisCluster: row({
    env: 'REDIS_CLUSTER',
    value: 'ADDRESSES',
    default: '',
    description: 'In the place of REDIS_URL: some nodes of a Redis Cluster, `host:port,host:port`.',
    expected: 'addresses, host:port,host:port',
    parse: addresses(6379),
  }),
  redisSentinels: row({
    env: 'REDIS_SENTINELS',
    value: 'ADDRESSES',
    default: '',
    description: 'In the place of REDIS_URL: the Sentinels that know the master, `host:port,host:port`.',
    expected: 'addresses, host:port,host:port',
    parse: addresses(26_379),
  }),
  redisSentinelMaster: row({
    env: 'REDIS_SENTINEL_MASTER',
    value: 'NAME',
    default: '',
    description: 'Name that the Sentinels give the master.',
    expected: 'a name',
    parse: (text) => (/^[\w.-]*$/.test(text) ? text : undefined),
  }),
  redisSentinelUsername: row({
    env: 'REDIS_SENTINEL_USERNAME',
    value: 'USER',
    default: '',
    description: 'User at the Sentinels, if they have any.',
    expected: 'a user',
    parse: anyText,
  }),
  redisSentinelPassword: row({
    env: 'REDIS_SENTINEL_PASSWORD',
    value: 'PASSWORD',
    default: '',
    description: 'Password at the Sentinels. Secret.',
    expected: 'a password',
    secret: true,
    parse: anyText,
  }),
  redisUsername: row({
    env: 'REDIS_USERNAME',
    value: 'USER',
    default: '',
    description: 'User at the Redis nodes, unless REDIS_URL has one.',
    expected: 'a user',
    parse: anyText,
  }),
  redisPassword: row({
    env: 'REDIS_PASSWORD',
    value: 'PASSWORD',
    default: '',
    description: 'Password at the Redis nodes, unless REDIS_URL has one. Secret.',
    expected: 'a password',
    secret: true,
    parse: anyText,
  }),
  redisDatabase: row({
    env: 'REDIS_DATABASE',
    value: 'NUMBER',
    default: '0',
    description: 'Number of the database, unless REDIS_URL has one; a cluster has 0 alone.',
    expected: 'a number, 0 to 9999',
    parse: wholeNumber(0, 9999),
  }),
  redisTls: row({
    env: 'REDIS_TLS',
    value: 'BOOL',
    default: 'false',
    description:
      'TLS to the nodes of a cluster, or to Sentinels and their master; `rediss://` does it for a URL.',
    expected: 'true or false',
    parse: bool,
  }),
  redisTlsCa: row({
    env: 'REDIS_TLS_CA',
    value: 'FILE',
    default: '',
    description: 'Certificates that sign those of the servers (PEM); by default the well-known ones.',
    ...file,
  }),
  redisTlsCert: row({
    env: 'REDIS_TLS_CERT',
    value: 'FILE',
    default: '',
    description: 'This client’s certificate (PEM), for servers that ask for one.',
    ...file,
  }),
  redisTlsKey: row({
    env: 'REDIS_TLS_KEY',
    value: 'FILE',
    default: '',
    description: 'Private key of REDIS_TLS_CERT (PEM).',
    ...file,
  }),
  redisTlsServername: row({
    env: 'REDIS_TLS_SERVERNAME',
    value: 'NAME',
    default: '',
    description: 'Name that the servers’ certificates carry, where it is not the host that is connected to.',
    expected: 'a host name',
    parse: (text) => (/^[\w.-]*$/.test(text) ? text : undefined),
  }),
  redisTlsVerify: row({
    env: 'REDIS_TLS_VERIFY',
    value: 'BOOL',
    default: 'true',
    description: '`false` takes any certificate, so that anyone on the way can read and change everything.',
    expected: 'true or false',
    parse: bool,
  }),
  redisWaitReplicas: row({
    env: 'REDIS_WAIT_REPLICAS',
    value: 'COUNT',
    default: '0',
    description: 'Replicas that must confirm a write before it is acknowledged (WAIT); 0 for none.',
    expected: 'a number, 0 to 16',
    parse: wholeNumber(0, 16),
  }),
  redisConnectMs: row({
    env: 'REDIS_CONNECT_MS',
    value: 'MS',
    default: String(DEFAULT_LIMITS.connectTimeout),
    description: 'How long a connection to Redis may take to stand, in milliseconds.',
    ...milliseconds,
  }),
  redisSocketMs: row({
    env: 'REDIS_SOCKET_MS',
    value: 'MS',
    default: String(DEFAULT_LIMITS.socketTimeout),
    description:
      'Silence of a Redis that owes a reply, after which the connection is given up, in milliseconds.',
    ...milliseconds,
  }),
  redisCommandMs: row({
    env: 'REDIS_COMMAND_MS',
    value: 'MS',
    default: String(DEFAULT_LIMITS.commandTimeout),
    description:
      'How long a read or write may take in all, in milliseconds; a ranking’s own limit is shorter.',
    ...milliseconds,
  }),
} as const;

type Values = {
  readonly [K in keyof typeof REDIS_SETTINGS]: NonNullable<ReturnType<(typeof REDIS_SETTINGS)[K]['parse']>>;
};

/** What the redis engine needs, of the settings. */
export function redisSettings(values: Values): RedisSettings {
  return {
    url: values.redisUrl,
    cluster: values.redisCluster,
    sentinels: values.redisSentinels,
    sentinelMaster: values.redisSentinelMaster,
    sentinelUsername: values.redisSentinelUsername,
    sentinelPassword: values.redisSentinelPassword,
    username: values.redisUsername,
    password: values.redisPassword,
    database: values.redisDatabase,
    tls: {
      on: values.redisTls,
      ca: values.redisTlsCa,
      cert: values.redisTlsCert,
      key: values.redisTlsKey,
      servername: values.redisTlsServername,
      verify: values.redisTlsVerify,
    },
    waitReplicas: values.redisWaitReplicas,
    limits: {
      connectTimeout: values.redisConnectMs,
      socketTimeout: values.redisSocketMs,
      commandTimeout: values.redisCommandMs,
    },
  };
}

function addresses(defaultPort: number): (text: string) => NonNullable<RedisSettings['cluster']> | undefined {
  return (text) => (text === '' ? [] : parseAddresses(text, defaultPort));
}
