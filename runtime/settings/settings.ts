import { join, resolve } from 'node:path';
import { MillraceError } from '../api/errors.js';
import { NAME_PATTERN } from '../api/types.js';
import { nearest } from '../core/nearest.js';
import { LinkedFolders } from './linked-folders.js';
import { FEATURE_SETTINGS } from './feature-settings.js';
import { AllowedHosts } from './allowed-hosts.js';
import { REDIS_SETTINGS, redisSettings } from './redis-settings.js';
import { checkPrivacy, PRIVACY_SETTINGS } from './privacy-settings.js';
import { PROCESS_SETTINGS } from './process-settings.js';
import { RELOAD_SETTINGS } from './reload-settings.js';
import { RESIDENT_SETTINGS } from './resident-settings.js';
import { bool, oneOf, row, wholeNumber, type SettingRow } from './setting-row.js';
import { topologyOf } from './redis-target.js';
import { TRAFFIC_SETTINGS } from './traffic-settings.js';

export type { SettingRow } from './setting-row.js';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** All settings. docs/settings.md, the flags of `millrace` and the messages are built from this table. */
export const SETTINGS = {
  project: row({
    env: 'MILLRACE_PROJECT',
    flag: 'project',
    value: 'DIR',
    default: '.',
    description: 'Folder of the project, with `pipelines/` and `schemas/`.',
    expected: 'a folder',
    parse: (text) => resolve(text),
  }),
  store: row({
    env: 'MILLRACE_STORE',
    flag: 'store',
    value: 'ENGINE',
    default: 'redis',
    description:
      'Engine that stores entities and features: `redis`, or `embedded` (in this process and on disk).',
    expected: 'redis or embedded',
    parse: oneOf('redis', 'embedded'),
  }),
  ...REDIS_SETTINGS,
  dataDir: row({
    env: 'MILLRACE_DATA_DIR',
    flag: 'data-dir',
    value: 'DIR',
    default: '.millrace',
    description:
      'Folder of the embedded store. The default is in the project folder; a relative path starts at the working directory.',
    expected: 'a folder',
    parse: (text) => resolve(text),
  }),
  sync: row({
    env: 'MILLRACE_SYNC',
    value: 'BOOL',
    default: 'false',
    description:
      'Whether the embedded store waits for the disk on each write, so that acknowledged writes survive a power loss.',
    expected: 'true or false',
    parse: bool,
  }),
  prefix: row({
    env: 'MILLRACE_PREFIX',
    value: 'NAME',
    default: 'millrace',
    description: 'Prefix of every key in the store. Services that share one Redis need different prefixes.',
    expected: 'a name of lowercase letters, digits and _ that starts with a letter',
    parse: (text) => (NAME_PATTERN.test(text) ? text : undefined),
  }),
  port: row({
    env: 'PORT',
    flag: 'port',
    value: 'PORT',
    default: '5001',
    description: 'Port that the service listens on; 0 for any free port.',
    expected: 'a port number, 0 to 65535',
    parse: wholeNumber(0, 65_535),
  }),
  host: row({
    env: 'HOST',
    flag: 'host',
    value: 'HOST',
    default: '127.0.0.1',
    description: 'Address that the service listens on; `0.0.0.0` accepts connections from other machines.',
    expected: 'an address or host name of this machine',
    parse: (text) => (/^[\w.:%-]+$/.test(text) ? text : undefined),
  }),
  logLevel: row({
    env: 'LOG_LEVEL',
    flag: 'log-level',
    value: 'LEVEL',
    default: 'info',
    description: `Lowest log level that is written: ${LOG_LEVELS.map((l) => `\`${l}\``).join(', ')}.`,
    expected: `one of ${LOG_LEVELS.join(', ')}`,
    parse: oneOf(...LOG_LEVELS),
  }),
  rankingBytes: row({
    env: 'MILLRACE_MAX_RANKING_BYTES',
    value: 'BYTES',
    default: '2097152',
    description: 'Maximum size of the body of a ranking request, decompressed, in bytes.',
    expected: 'a number of bytes, 1024 to 268435456',
    parse: wholeNumber(1024, 268_435_456),
  }),
  uploadBytes: row({
    env: 'MILLRACE_MAX_UPLOAD_BYTES',
    value: 'BYTES',
    default: '12582912',
    description: 'Maximum size of the body of an upload or a push, decompressed, in bytes.',
    expected: 'a number of bytes, 1024 to 268435456',
    parse: wholeNumber(1024, 268_435_456),
  }),
  bodyMemory: row({
    env: 'MILLRACE_BODY_MEMORY',
    value: 'BYTES',
    default: '134217728',
    description:
      'Maximum memory of the bodies of all requests in flight, decompressed, in bytes. A request whose body does not fit is answered with 503. Cannot be less than the maximum size of one body.',
    expected: 'a number of bytes, 1048576 to 4294967296',
    dividedByWorkers: true,
    parse: wholeNumber(1_048_576, 4_294_967_296),
  }),
  onlineMs: row({
    env: 'MILLRACE_ONLINE_FEATURES_MS',
    value: 'MS',
    default: '1000',
    description: 'Time limit of a `get-online-features` request, in milliseconds.',
    expected: 'a number of milliseconds, 1 to 60000',
    parse: wholeNumber(1, 60_000),
  }),
  ...TRAFFIC_SETTINGS,
  ...FEATURE_SETTINGS,
  linkedFolders: row({
    env: 'MILLRACE_LINKED_FOLDERS',
    value: 'DIRS',
    default: '',
    description:
      'Folders outside the project that symbolic links of model files and plugins may point to, e.g. `/var/cache/dvc,/mnt/mlruns`. By default none.',
    expected: 'paths of folders, separated by commas',
    parse: (text) => LinkedFolders.parse(text),
  }),
  ...RESIDENT_SETTINGS,
  ...RELOAD_SETTINGS,
  modelHosts: row({
    env: 'MILLRACE_MODEL_HOSTS',
    value: 'HOSTS',
    default: '',
    description:
      'Hosts where pipelines may call remote models, e.g. `models:8080,triton`. A host without a port allows all of its ports. By default none.',
    expected: 'host names or addresses, each with an optional port, separated by commas',
    parse: (text) => AllowedHosts.parse(text),
  }),
  ...PRIVACY_SETTINGS,
  ...PROCESS_SETTINGS,
} as const;

export type SettingName = keyof typeof SETTINGS;
export type Settings = {
  readonly [K in SettingName]: NonNullable<ReturnType<(typeof SETTINGS)[K]['parse']>>;
};
/** The flags as the user wrote them, by setting. */
export type SettingFlags = { readonly [K in SettingName]?: string | undefined };

/** Names of settings that only one command uses. */
export const STREAM_URL = 'MILLRACE_STREAM_URL';

/** Finds environment variables that are not settings but have a similar name. */
export function misspeltSettings(
  env: Readonly<Record<string, string | undefined>>,
): readonly { readonly name: string; readonly near: string }[] {
  const settings = [...Object.values(SETTINGS).map((setting) => setting.env), STREAM_URL];
  return ['MILLRACE_', 'REDIS_'].flatMap((prefix) => {
    // Only the part after the prefix is compared, because Kubernetes defines a MILLRACE_PORT of its own.
    const namesOf = (list: readonly string[]): string[] =>
      list.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
    const known = namesOf(settings);
    return namesOf(Object.keys(env)).flatMap((name) => {
      const near = known.includes(name) ? undefined : nearest(name, known);
      return near === undefined ? [] : [{ name: prefix + name, near: prefix + near }];
    });
  });
}

/**
 * Reads the settings. An environment variable with an empty value counts as not set.
 * @throws MillraceError invalid_setting, with the flag or variable, the value and what was expected
 */
export function loadSettings(
  env: Readonly<Record<string, string | undefined>>,
  flags: SettingFlags = {},
): Settings {
  const names = Object.keys(SETTINGS) as SettingName[];
  const values = Object.fromEntries(names.map((name) => [name, read(name, env, flags)])) as Settings;
  const dataDirGiven = flags.dataDir !== undefined || Boolean(env[SETTINGS.dataDir.env]);
  const dataDir = dataDirGiven ? values.dataDir : join(values.project, SETTINGS.dataDir.default);
  if (values.store === 'redis') checkRedis(values, env);
  checkBodies(values);
  checkPrivacy(values);
  return Object.freeze({ ...values, dataDir });
}

/** @throws MillraceError invalid_setting if settings contradict each other */
function checkRedis(values: Settings, env: Readonly<Record<string, string | undefined>>): void {
  const several = [SETTINGS.redisCluster.env, SETTINGS.redisSentinels.env].find((name) => env[name]);
  if (env[SETTINGS.redisUrl.env] && several !== undefined) {
    throw new MillraceError(
      'invalid_setting',
      `REDIS_URL and ${several} are both set; set the one that fits your Redis`,
    );
  }
  topologyOf(redisSettings(values));
}

/** @throws MillraceError invalid_setting if the memory for bodies is smaller than the largest body */
function checkBodies(values: Settings): void {
  for (const name of ['rankingBytes', 'uploadBytes'] as const) {
    if (values.bodyMemory >= values[name]) continue;
    throw new MillraceError(
      'invalid_setting',
      `${SETTINGS.bodyMemory.env} is ${values.bodyMemory}; expected at least ${SETTINGS[name].env}, which is ${values[name]}`,
    );
  }
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
  const value = text === '' && setting.default !== '' ? undefined : setting.parse(text);
  if (value === undefined) {
    const source = flag === undefined ? setting.env : `--${setting.flag ?? name}`;
    const shown = setting.secret ? 'has an invalid value' : `is ${JSON.stringify(text)}`;
    throw new MillraceError('invalid_setting', `${source} ${shown}; expected ${setting.expected}`);
  }
  return value as Settings[K];
}
