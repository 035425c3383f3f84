import { join, resolve } from 'node:path';
import { MillraceError } from './api/errors.js';
import { NAME_PATTERN } from './api/types.js';

/** One setting of the process. A flag wins over the environment, the environment over the default. */
export interface SettingRow<T> {
  readonly env: string;
  /** Without the dashes; a setting without one comes from the environment alone. */
  readonly flag?: string;
  /** What stands for the value in usage lines. */
  readonly value: string;
  /** As a user would write it. */
  readonly default: string;
  readonly description: string;
  /** What a right value looks like, for messages: "expected …". */
  readonly expected: string;
  /** True where the value may hold a password: messages leave it out. */
  readonly secret?: boolean;
  /** The setting's value, or undefined where the text is not what is expected. */
  parse(text: string): T | undefined;
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

function row<T>(setting: SettingRow<T>): SettingRow<T> {
  return setting;
}

/** Every setting there is: docs/settings.md, the flags of `millrace` and the messages come from this table. */
export const SETTINGS = {
  project: row({
    env: 'MILLRACE_PROJECT',
    flag: 'project',
    value: 'DIR',
    default: '.',
    description: 'Folder that holds `pipelines/` and `schemas/`.',
    expected: 'a folder',
    parse: (text) => resolve(text),
  }),
  store: row({
    env: 'MILLRACE_STORE',
    flag: 'store',
    value: 'ENGINE',
    default: 'redis',
    description:
      'Engine that keeps entities and features: `redis`, or `embedded` (in this process, on disk).',
    expected: 'redis or embedded',
    parse: oneOf('redis', 'embedded'),
  }),
  redisUrl: row({
    env: 'REDIS_URL',
    value: 'URL',
    default: 'redis://127.0.0.1:6379',
    description: 'Address of Redis, `redis://[user:password@]host[:port][/db]`; `rediss://` for TLS.',
    expected: 'redis://host:port, or rediss://host:port for TLS',
    secret: true,
    parse: redisUrl,
  }),
  dataDir: row({
    env: 'MILLRACE_DATA_DIR',
    flag: 'data-dir',
    value: 'DIR',
    default: '.millrace',
    description:
      'Folder of the embedded store. The default lies in the project; a path given is taken as it is.',
    expected: 'a folder',
    parse: (text) => resolve(text),
  }),
  sync: row({
    env: 'MILLRACE_SYNC',
    value: 'BOOL',
    default: 'false',
    description:
      'Whether the embedded store waits for the disk at each write, so as to survive a power loss.',
    expected: 'true or false',
    parse: bool,
  }),
  prefix: row({
    env: 'MILLRACE_PREFIX',
    value: 'NAME',
    default: 'millrace',
    description: 'First part of every key in the store, so that several services can share one Redis.',
    expected: 'a name of small letters, digits and _, a letter first',
    parse: (text) => (NAME_PATTERN.test(text) ? text : undefined),
  }),
  port: row({
    env: 'PORT',
    flag: 'port',
    value: 'PORT',
    default: '5001',
    description: 'Port that the service listens on; 0 for any free one.',
    expected: 'a port number, 0 to 65535',
    parse: wholeNumber(0, 65_535),
  }),
  host: row({
    env: 'HOST',
    flag: 'host',
    value: 'HOST',
    default: '127.0.0.1',
    description: 'Address that the service listens on; `0.0.0.0` to be reached from other machines.',
    expected: 'an address or host name of this machine',
    parse: (text) => (/^[\w.:%-]+$/.test(text) ? text : undefined),
  }),
  logLevel: row({
    env: 'LOG_LEVEL',
    flag: 'log-level',
    value: 'LEVEL',
    default: 'info',
    description: `Least severe log line that is written: ${LOG_LEVELS.map((l) => `\`${l}\``).join(', ')}.`,
    expected: `one of ${LOG_LEVELS.join(', ')}`,
    parse: oneOf(...LOG_LEVELS),
  }),
  rankingBytes: row({
    env: 'MILLRACE_MAX_RANKING_BYTES',
    value: 'BYTES',
    default: '2097152',
    description: 'Largest body of a ranking request, inflated.',
    expected: 'a number of bytes, 1024 to 268435456',
    parse: wholeNumber(1024, 268_435_456),
  }),
  uploadBytes: row({
    env: 'MILLRACE_MAX_UPLOAD_BYTES',
    value: 'BYTES',
    default: '12582912',
    description: 'Largest body of an upload or a push, inflated.',
    expected: 'a number of bytes, 1024 to 268435456',
    parse: wholeNumber(1024, 268_435_456),
  }),
  drainMs: row({
    env: 'MILLRACE_DRAIN_MS',
    value: 'MS',
    default: '10000',
    description: 'How long a stopping service waits for requests in flight, in milliseconds.',
    expected: 'a number of milliseconds, 0 to 600000',
    parse: wholeNumber(0, 600_000),
  }),
} as const;

export type SettingName = keyof typeof SETTINGS;
export type Settings = {
  readonly [K in SettingName]: NonNullable<ReturnType<(typeof SETTINGS)[K]['parse']>>;
};
/** Flags as they were written, by setting. */
export type SettingFlags = { readonly [K in SettingName]?: string | undefined };

/**
 * Reads the settings. An environment variable that is set to the empty text counts as not set.
 * @throws MillraceError invalid_setting, naming the flag or variable, the value and what was expected.
 */
export function loadSettings(
  env: Readonly<Record<string, string | undefined>>,
  flags: SettingFlags = {},
): Settings {
  const project = read('project', env, flags);
  const dataDirGiven = flags.dataDir !== undefined || Boolean(env[SETTINGS.dataDir.env]);
  return Object.freeze({
    project,
    store: read('store', env, flags),
    redisUrl: read('redisUrl', env, flags),
    dataDir: dataDirGiven ? read('dataDir', env, flags) : join(project, SETTINGS.dataDir.default),
    sync: read('sync', env, flags),
    prefix: read('prefix', env, flags),
    port: read('port', env, flags),
    host: read('host', env, flags),
    logLevel: read('logLevel', env, flags),
    rankingBytes: read('rankingBytes', env, flags),
    uploadBytes: read('uploadBytes', env, flags),
    drainMs: read('drainMs', env, flags),
  });
}

function read<K extends SettingName>(
  name: K,
  env: Readonly<Record<string, string | undefined>>,
  flags: SettingFlags,
): Settings[K] {
  const setting: SettingRow<unknown> = SETTINGS[name];
  const flag = flags[name];
  const fromEnv = env[setting.env];
  const text = flag ?? (fromEnv === undefined || fromEnv === '' ? setting.default : fromEnv);
  const value = text === '' ? undefined : setting.parse(text);
  if (value === undefined) {
    const source = flag === undefined ? setting.env : `--${setting.flag ?? name}`;
    const shown = setting.secret ? 'has a value that cannot be read' : `is ${JSON.stringify(text)}`;
    throw new MillraceError('invalid_setting', `${source} ${shown}; expected ${setting.expected}`);
  }
  return value as Settings[K];
}

function oneOf<const T extends string>(...values: readonly T[]): (text: string) => T | undefined {
  return (text) => values.find((value) => value === text);
}

function wholeNumber(least: number, most: number): (text: string) => number | undefined {
  return (text) => {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : NaN;
    return value >= least && value <= most ? value : undefined;
  };
}

function bool(text: string): boolean | undefined {
  return text === 'true' || text === '1' ? true : text === 'false' || text === '0' ? false : undefined;
}

function redisUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, hostname } = new URL(text);
  return (protocol === 'redis:' || protocol === 'rediss:') && hostname !== '' ? text : undefined;
}
