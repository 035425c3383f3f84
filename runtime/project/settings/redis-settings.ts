import { resolve } from 'node:path';
import { nameByOrigin, type Origin } from './setting-origin.js';
import { bool, row, wholeNumber } from './setting-row.js';
import { DEFAULT_LIMITS } from './redis-limits.js';
import { parseAddresses, parseRedisUrl, passwordOfUrl, type RedisSettings } from './redis-target.js';

const milliseconds = { expected: 'a number of milliseconds, 50 to 600000', parse: wholeNumber(50, 600_000) };
const anyText = (text: string): string => text;
const file = {
  expected: 'a file',
  parse: (text: string, folder: string) => (text === '' ? '' : resolve(folder, text)),
};

/** The settings of the connection to Redis: a part of the table in settings.ts. */
export const REDIS_SETTINGS = {
  redisUrl: row({
    env: 'REDIS_URL',
    value: 'URL',
    default: 'redis://127.0.0.1:6379',
    description: 'Address of Redis, `redis://[user:password@]host[:port][/db]`; `rediss://` for TLS.',
    expected: 'redis://host:port, or rediss://host:port for TLS',
    secret: true,
    passwordIn: passwordOfUrl,
    parse: (text) => (parseRedisUrl(text) === undefined ? undefined : text),
  }),
  redisCluster: row({
    env: 'REDIS_CLUSTER',
    value: 'ADDRESSES',
    default: '',
    description: 'Some nodes of a Redis Cluster, `host:port,host:port`; set it instead of REDIS_URL.',
    expected: 'addresses, host:port,host:port',
    list: true,
    parse: addresses(6379),
  }),
  redisSentinels: row({
    env: 'REDIS_SENTINELS',
    value: 'ADDRESSES',
    default: '',
    description: 'Sentinels that monitor the master, `host:port,host:port`; set it instead of REDIS_URL.',
    expected: 'addresses, host:port,host:port',
    list: true,
    parse: addresses(26_379),
  }),
  redisSentinelMaster: row({
    env: 'REDIS_SENTINEL_MASTER',
    value: 'NAME',
    default: '',
    description: 'Name of the master in the configuration of the Sentinels.',
    expected: 'a name',
    parse: (text) => (/^[\w.-]*$/.test(text) ? text : undefined),
  }),
  redisSentinelUsername: row({
    env: 'REDIS_SENTINEL_USERNAME',
    value: 'USER',
    default: '',
    description: 'User name for the Sentinels, if they require one.',
    expected: 'a user',
    parse: anyText,
  }),
  redisSentinelPassword: row({
    env: 'REDIS_SENTINEL_PASSWORD',
    value: 'PASSWORD',
    default: '',
    description: 'Password for the Sentinels. Secret.',
    expected: 'a password',
    secret: true,
    parse: anyText,
  }),
  redisUsername: row({
    env: 'REDIS_USERNAME',
    value: 'USER',
    default: '',
    description: 'User name for the Redis nodes, if REDIS_URL has none.',
    expected: 'a user',
    parse: anyText,
  }),
  redisPassword: row({
    env: 'REDIS_PASSWORD',
    value: 'PASSWORD',
    default: '',
    description: 'Password for the Redis nodes, if REDIS_URL has none. Secret.',
    expected: 'a password',
    secret: true,
    parse: anyText,
  }),
  redisDatabase: row({
    env: 'REDIS_DATABASE',
    value: 'NUMBER',
    default: '0',
    description: 'Number of the database, if REDIS_URL has none; a cluster has only database 0.',
    expected: 'a number, 0 to 9999',
    parse: wholeNumber(0, 9999),
  }),
  redisTls: row({
    env: 'REDIS_TLS',
    value: 'BOOL',
    default: 'false',
    description:
      'Whether to use TLS to the nodes of a cluster, or to the Sentinels and the master. In REDIS_URL, `rediss://` has the same effect.',
    expected: 'true or false',
    parse: bool,
  }),
  redisTlsCa: row({
    env: 'REDIS_TLS_CA',
    value: 'FILE',
    default: '',
    description:
      'File with the CA certificates for the servers (PEM); by default the CAs that Node.js trusts.',
    ...file,
  }),
  redisTlsCert: row({
    env: 'REDIS_TLS_CERT',
    value: 'FILE',
    default: '',
    description: 'File with the client certificate (PEM), for servers that require one.',
    ...file,
  }),
  redisTlsKey: row({
    env: 'REDIS_TLS_KEY',
    value: 'FILE',
    default: '',
    description: 'File with the private key of REDIS_TLS_CERT (PEM).',
    ...file,
  }),
  redisTlsServername: row({
    env: 'REDIS_TLS_SERVERNAME',
    value: 'NAME',
    default: '',
    description: 'Name in the servers’ certificates, if it differs from the host in the address.',
    expected: 'a host name',
    parse: (text) => (/^[\w.-]*$/.test(text) ? text : undefined),
  }),
  redisTlsVerify: row({
    env: 'REDIS_TLS_VERIFY',
    value: 'BOOL',
    default: 'true',
    description:
      'Whether to check the servers’ certificates. With `false`, anyone on the network path can read and change the traffic.',
    expected: 'true or false',
    parse: bool,
  }),
  redisWaitReplicas: row({
    env: 'REDIS_WAIT_REPLICAS',
    value: 'COUNT',
    default: '0',
    description: 'Number of replicas that must confirm a write before it is acknowledged (WAIT); 0 for none.',
    expected: 'a number, 0 to 16',
    parse: wholeNumber(0, 16),
  }),
  redisConnectMs: row({
    env: 'REDIS_CONNECT_MS',
    value: 'MS',
    default: String(DEFAULT_LIMITS.connectTimeout),
    description: 'Timeout for connecting to Redis, in milliseconds.',
    ...milliseconds,
  }),
  redisSocketMs: row({
    env: 'REDIS_SOCKET_MS',
    value: 'MS',
    default: String(DEFAULT_LIMITS.socketTimeout),
    description:
      'Milliseconds without any data from Redis while a reply is due, after which the connection is closed.',
    ...milliseconds,
  }),
  redisCommandMs: row({
    env: 'REDIS_COMMAND_MS',
    value: 'MS',
    default: String(DEFAULT_LIMITS.commandTimeout),
    description:
      'Timeout of a read or write, in milliseconds. The deadline of a ranking usually ends its reads earlier.',
    ...milliseconds,
  }),
} as const;

type Values = {
  readonly [K in keyof typeof REDIS_SETTINGS]: NonNullable<ReturnType<(typeof REDIS_SETTINGS)[K]['parse']>>;
};

/** Selects the settings that the redis engine needs. Messages name them by their origins. */
export function redisSettings(
  values: Values & { readonly sources: { readonly origins: Readonly<Record<keyof Values, Origin>> } },
): RedisSettings {
  return {
    nameOf: (variable) => {
      const found = Object.entries(REDIS_SETTINGS).find(([, { env }]) => env === variable);
      const [name, setting] = found ?? [];
      return setting === undefined
        ? variable
        : nameByOrigin(setting, values.sources.origins[name as keyof Values]);
    },
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
