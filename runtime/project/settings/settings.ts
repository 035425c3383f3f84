import { basename, join, resolve } from 'node:path';
import { MillraceError } from '../../ground/api/errors.js';
import { NAME_PATTERN } from '../../ground/api/types.js';
import { LinkedFolders } from './linked-folders.js';
import { FEATURE_SETTINGS } from './feature-settings.js';
import { ACCESS_SETTINGS } from './access-settings.js';
import { BODY_SETTINGS } from './body-settings.js';
import { EDGE_SETTINGS } from './edge-settings.js';
import { EXPLORE_SETTINGS } from './explore-settings.js';
import { LEDGER_SETTINGS } from './ledger-settings.js';
import { OUTBOUND_SETTINGS } from './outbound-settings.js';
import { REDIS_SETTINGS, redisSettings } from './redis-settings.js';
import { PRIVACY_SETTINGS } from './privacy-settings.js';
import { PROCESS_SETTINGS } from './process-settings.js';
import { RELOAD_SETTINGS } from './reload-settings.js';
import { RESIDENT_SETTINGS } from './resident-settings.js';
import { nameByOrigin, type Origin, type ProjectFile } from './setting-origin.js';
import { bool, keyOf, oneOf, oneOfOrName, row, wholeNumber, type SettingRow } from './setting-row.js';
import { STORE_ENGINES, traitsOf } from './store-engines.js';
import { topologyOf } from './redis-target.js';
import { TRACE_SETTINGS } from './trace-settings.js';
import { TRAFFIC_SETTINGS } from './traffic-settings.js';

export type { SettingRow } from './setting-row.js';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/**
 * All settings. docs/reference/settings.md, the flags of `millrace`, the keys of millrace.yaml with their JSON Schema, and the
 * messages are built from this table.
 */
export const SETTINGS = {
  project: row({
    env: 'MILLRACE_PROJECT',
    flag: 'project',
    value: 'DIR',
    default: '.',
    description: 'Folder of the project, with `pipelines/`, `schemas/` and perhaps `millrace.yaml`.',
    expected: 'a folder',
    inFile: false,
    parse: (text, folder) => resolve(folder, text),
  }),
  store: row({
    env: 'MILLRACE_STORE',
    flag: 'store',
    value: 'ENGINE',
    default: 'redis',
    description:
      'Engine that stores entities and features: `redis`, or `embedded` (in this process and on disk). A package of plugins can bring others.',
    expected: 'redis, embedded, or the name of an engine of a package',
    parse: oneOfOrName(...STORE_ENGINES),
  }),
  ...REDIS_SETTINGS,
  dataDir: row({
    env: 'MILLRACE_DATA_DIR',
    flag: 'data-dir',
    value: 'DIR',
    default: '.millrace',
    description:
      'Folder of the embedded store. The default is in the project folder; a relative path of a flag or variable starts at the working directory.',
    expected: 'a folder',
    parse: (text, folder) => resolve(folder, text),
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
  requireData: row({
    env: 'MILLRACE_REQUIRE_DATA',
    value: 'BOOL',
    default: 'false',
    description:
      'Whether `/readyz` answers 503 after the store lost all entities and features (the warning `store_emptied`), until data is there again. A store that was empty from the start is ready.',
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
    description:
      'Address that the service listens on; `0.0.0.0` accepts connections from other machines, and then `MILLRACE_KEYS` or `MILLRACE_AUTH` must be set.',
    expected: 'an address or host name of this machine',
    parse: (text) => (/^[\w.:%-]+$/.test(text) ? text : undefined),
  }),
  ...ACCESS_SETTINGS,
  logLevel: row({
    env: 'LOG_LEVEL',
    flag: 'log-level',
    value: 'LEVEL',
    default: 'info',
    description: `Lowest log level that is written: ${LOG_LEVELS.map((l) => `\`${l}\``).join(', ')}.`,
    expected: `one of ${LOG_LEVELS.join(', ')}`,
    parse: oneOf(...LOG_LEVELS),
  }),
  logFormat: row({
    env: 'LOG_FORMAT',
    value: 'FORMAT',
    default: 'auto',
    description:
      'How log lines are written: `json`, `text` (for people), or `auto` (`text` if stdout is a terminal, `json` elsewhere).',
    expected: 'auto, json or text',
    parse: oneOf('auto', 'json', 'text'),
  }),
  ...BODY_SETTINGS,
  onlineMs: row({
    env: 'MILLRACE_ONLINE_FEATURES_MS',
    value: 'MS',
    default: '1000',
    description: 'Time limit of a `get-online-features` request, in milliseconds.',
    expected: 'a number of milliseconds, 1 to 60000',
    parse: wholeNumber(1, 60_000),
  }),
  ...TRAFFIC_SETTINGS,
  ...EDGE_SETTINGS,
  ...FEATURE_SETTINGS,
  linkedFolders: row({
    env: 'MILLRACE_LINKED_FOLDERS',
    value: 'DIRS',
    default: '',
    description:
      'Folders outside the project that symbolic links of model files and plugins may point to, e.g. `/var/cache/dvc,/mnt/mlruns`. By default none.',
    expected: 'paths of folders, separated by commas',
    list: true,
    parse: (text, folder) => LinkedFolders.parse(text, folder),
  }),
  ...RESIDENT_SETTINGS,
  ...RELOAD_SETTINGS,
  ...OUTBOUND_SETTINGS,
  ...LEDGER_SETTINGS,
  ...EXPLORE_SETTINGS,
  ...PRIVACY_SETTINGS,
  ...PROCESS_SETTINGS,
  ...TRACE_SETTINGS,
} as const;

export type SettingName = keyof typeof SETTINGS;

/** The settings that millrace.yaml can have, by their keys. */
export const FILE_SETTINGS: ReadonlyMap<string, SettingRow<unknown>> = new Map(
  Object.values<SettingRow<unknown>>(SETTINGS)
    .filter(({ inFile }) => inFile !== false)
    .map((setting) => [keyOf(setting), setting]),
);
type SettingValues = {
  readonly [K in SettingName]: NonNullable<ReturnType<(typeof SETTINGS)[K]['parse']>>;
};
export type Settings = SettingValues & {
  /** Where the values come from. */
  readonly sources: SettingSources;
};
/** The flags as the user wrote them, by setting. */
export type SettingFlags = { readonly [K in SettingName]?: string | undefined };

export interface SettingSources {
  /** The name of the project: from millrace.yaml, or else the name of the project's folder. */
  readonly projectName: string;
  readonly origins: Readonly<Record<SettingName, Origin>>;
  /** The values as an environment variable would have them. */
  readonly texts: Readonly<Record<SettingName, string>>;
  /** millrace.yaml, if it was read. */
  readonly file: ProjectFile | undefined;
}

/** Names of settings that only one command uses. */
export const PYTHON = 'MILLRACE_PYTHON';
/** The key that commands send to a service. It has no flag, because other users can see the flags of a process. */
export const CLIENT_KEY = 'MILLRACE_KEY';

type Environment = Readonly<Record<string, string | undefined>>;

/** Finds the folder of the project, which may hold millrace.yaml. @throws MillraceError invalid_setting */
export function projectFolder(env: Environment, flags: SettingFlags): string {
  return read('project', env, flags, undefined).value;
}

/**
 * Reads the settings: flags override the environment, and the environment overrides millrace.yaml. An environment
 * variable with an empty value counts as not set.
 * @throws MillraceError invalid_setting, with the flag, the variable or the line, and what was expected
 */
export function loadSettings(env: Environment, flags: SettingFlags = {}, file?: ProjectFile): Settings {
  const settings = readEach(env, flags, file);
  if (traitsOf(settings.store).isRedis) checkRedis(settings);
  checkBodies(settings);
  checkPorts(settings);
  checkPrivacy(settings);
  return settings;
}

/** Like `loadSettings`, but does not check whether settings contradict each other. */
export function readEach(env: Environment, flags: SettingFlags, file?: ProjectFile): Settings {
  const names = Object.keys(SETTINGS) as SettingName[];
  const found = names.map((name) => [name, read(name, env, flags, file)] as const);
  const values = Object.fromEntries(found.map(([name, { value }]) => [name, value])) as SettingValues;
  const each = <T>(part: (one: FoundSetting) => T): Record<SettingName, T> =>
    Object.fromEntries(found.map(([name, one]) => [name, part(one)])) as Record<SettingName, T>;
  const origins = each(({ origin }) => origin);
  const texts = each(({ text }) => text);
  const { project } = values;
  const dataDir =
    origins.dataDir.kind === 'default' ? join(project, SETTINGS.dataDir.default) : values.dataDir;
  const ledgerDir =
    origins.ledgerDir.kind === 'default' ? join(dataDir, SETTINGS.ledgerDir.default) : values.ledgerDir;
  const sources = Object.freeze({ projectName: file?.name ?? basename(project), origins, texts, file });
  return Object.freeze({ ...values, dataDir, ledgerDir, sources });
}

/** How messages name a setting, by its origin. */
export function nameOf(name: SettingName, { sources }: Pick<Settings, 'sources'>): string {
  return nameByOrigin(SETTINGS[name], sources.origins[name]);
}

/** @throws MillraceError invalid_setting if settings contradict each other */
function checkRedis(settings: Settings): void {
  const isSet = (name: SettingName): boolean => settings.sources.origins[name].kind !== 'default';
  const several = (['redisCluster', 'redisSentinels'] as const).find(
    (name) => isSet(name) && settings[name].length > 0,
  );
  if (isSet('redisUrl') && several !== undefined) {
    throw new MillraceError(
      'invalid_setting',
      `${nameOf('redisUrl', settings)} and ${nameOf(several, settings)} are both set; set the one that fits your Redis`,
    );
  }
  topologyOf(redisSettings(settings));
}

/** @throws MillraceError invalid_setting if the memory for bodies is smaller than the largest body */
function checkBodies(settings: Settings): void {
  for (const name of ['rankingBytes', 'uploadBytes'] as const) {
    if (settings.bodyMemory >= settings[name]) continue;
    throw new MillraceError(
      'invalid_setting',
      `${nameOf('bodyMemory', settings)} is ${settings.bodyMemory}; expected at least ${nameOf(name, settings)}, which is ${settings[name]}`,
    );
  }
}

/** @throws MillraceError invalid_setting if both listeners have the same port */
function checkPorts(settings: Settings): void {
  const { port, adminPort } = settings;
  if (adminPort === 0 || adminPort !== port) return;
  throw new MillraceError(
    'invalid_setting',
    `${nameOf('adminPort', settings)} and ${nameOf('port', settings)} are both ${port}; the two listeners need different ports`,
  );
}

/** @throws MillraceError invalid_setting if ids are to be hashed without a salt */
function checkPrivacy(settings: Settings): void {
  if (settings.hashIds.size === 0 || settings.idSalt !== '') return;
  throw new MillraceError(
    'invalid_setting',
    `${nameOf('hashIds', settings)} is set, but ${nameOf('idSalt', settings)} is not; set it to a secret text, e.g. the output of \`openssl rand -hex 16\``,
  );
}

function read<K extends SettingName>(
  name: K,
  env: Environment,
  flags: SettingFlags,
  file: ProjectFile | undefined,
): FoundSetting & { readonly value: Settings[K] } {
  const setting: SettingRow<unknown> = SETTINGS[name];
  const { text, origin, folder } = find(setting, flags[name], env, file);
  const value = text === '' && setting.default !== '' ? undefined : setting.parse(text, folder);
  if (value === undefined) {
    const shown = setting.secret ? 'has an invalid value' : `is ${JSON.stringify(text)}`;
    throw new MillraceError(
      'invalid_setting',
      `${nameByOrigin(setting, origin)} ${shown}; expected ${setting.expected}`,
    );
  }
  return { value: value as Settings[K], text, origin, folder };
}

interface FoundSetting {
  readonly text: string;
  readonly origin: Origin;
  /** The folder where a relative path starts. */
  readonly folder: string;
}

function find(
  setting: SettingRow<unknown>,
  flag: string | undefined,
  env: Environment,
  file: ProjectFile | undefined,
): FoundSetting {
  const here = '.';
  if (flag !== undefined) return { text: flag, origin: { kind: 'flag' }, folder: here };
  const variable = env[setting.env];
  if (variable !== undefined && variable !== '')
    return { text: variable, origin: { kind: 'environment' }, folder: here };
  const inFile = file?.settings.get(keyOf(setting));
  if (file !== undefined && inFile !== undefined)
    return { text: inFile.text, origin: { kind: 'file', line: inFile.line }, folder: file.folder };
  return { text: setting.default, origin: { kind: 'default' }, folder: here };
}
