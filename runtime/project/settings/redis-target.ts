import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { MillraceError } from '../../ground/api/errors.js';
import type { RedisObserver } from './redis-observer.js';
import type { ConnectionLimits } from './redis-limits.js';
import type { MasterAddress } from './redis-address.js';

/** The settings of the connection to Redis: one of `url`, `cluster` and `sentinels`. */
export interface RedisSettings {
  /** `redis://[user:password@]host[:port][/db]`, or `rediss://` for TLS. */
  readonly url?: string;
  /** Some nodes of a cluster. The client learns the other nodes from them. */
  readonly cluster?: readonly MasterAddress[];
  readonly sentinels?: readonly MasterAddress[];
  /** Name of the master that the Sentinels monitor. */
  readonly sentinelMaster?: string;
  readonly sentinelUsername?: string;
  readonly sentinelPassword?: string;
  /** For the Redis nodes, unless the URL contains them. */
  readonly username?: string;
  readonly password?: string;
  /** The number of the database. The default is the URL's database, or 0. */
  readonly database?: number;
  readonly tls?: TlsSettings;
  /** Number of replicas that must confirm a write before it is acknowledged; 0 for none. */
  readonly waitReplicas?: number;
  /** Called once per server and rejected command, with the consequence. By default nothing is called. */
  readonly warn?: (message: string) => void;
  readonly observer?: RedisObserver;
  /** The prefix of the keys that the engine itself uses. */
  readonly prefix?: string;
  readonly limits?: Partial<ConnectionLimits>;
  /** How messages name a setting, by its environment variable. By default, by that variable. */
  readonly nameOf?: (variable: string) => string;
}

/** PEM files, and the check of the server's certificate. */
export interface TlsSettings {
  /** Uses TLS also without `rediss://`. */
  readonly on?: boolean;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** The host name that the certificate must contain. The default is the host of the connection. */
  readonly servername?: string;
  /** False accepts any certificate. */
  readonly verify?: boolean;
}

export type Topology =
  | { readonly kind: 'single'; readonly node: MasterAddress }
  | { readonly kind: 'cluster'; readonly nodes: readonly MasterAddress[] }
  | {
      readonly kind: 'sentinel';
      readonly sentinels: readonly MasterAddress[];
      readonly master: string;
      readonly username: string | undefined;
      readonly password: string | undefined;
    };

/** The settings that every connection to a Redis node needs. */
export interface RedisAccess {
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly database: number;
  readonly tls: ConnectionOptions | undefined;
  /** See `RedisSettings.warn`. */
  readonly warn?: (message: string) => void;
  readonly observer?: RedisObserver;
}

const REDIS_PORT = 6379;

/**
 * Determines the servers from the settings.
 * @throws MillraceError invalid_setting if settings contradict each other
 */
export function topologyOf(settings: RedisSettings): Topology {
  const { cluster = [], sentinels = [], sentinelMaster = '' } = settings;
  if (cluster.length > 0 && sentinels.length > 0) {
    throw wrong(settings, 'REDIS_CLUSTER and REDIS_SENTINELS are both set; set the one that fits your Redis');
  }
  if (sentinels.length === 0) {
    if (sentinelMaster !== '')
      throw wrong(settings, 'REDIS_SENTINEL_MASTER needs REDIS_SENTINELS, the addresses of the Sentinels');
    if (given(settings.sentinelPassword) || given(settings.sentinelUsername)) {
      throw wrong(settings, 'REDIS_SENTINEL_USERNAME and REDIS_SENTINEL_PASSWORD need REDIS_SENTINELS');
    }
  } else if (sentinelMaster === '') {
    throw wrong(
      settings,
      'REDIS_SENTINELS needs REDIS_SENTINEL_MASTER, the name of the master in the configuration of the Sentinels',
    );
  }
  checkAccess(settings);
  if (sentinels.length > 0) {
    return {
      kind: 'sentinel',
      sentinels,
      master: sentinelMaster,
      username: settings.sentinelUsername || undefined,
      password: settings.sentinelPassword || undefined,
    };
  }
  if (cluster.length > 0) return { kind: 'cluster', nodes: cluster };
  const { host, port } = urlOf(settings);
  return { kind: 'single', node: { host, port } };
}

function checkAccess(settings: RedisSettings): void {
  const { tls = {}, cluster = [], sentinels = [] } = settings;
  if (((tls.cert ?? '') === '') !== ((tls.key ?? '') === '')) {
    throw wrong(
      settings,
      'REDIS_TLS_CERT and REDIS_TLS_KEY need each other: a certificate and its private key',
    );
  }
  const single = cluster.length === 0 && sentinels.length === 0;
  const url = single ? urlOf(settings) : undefined;
  const secure = tls.on === true || url?.tls === true;
  if (!secure && (given(tls.ca) || given(tls.cert) || given(tls.servername) || tls.verify === false)) {
    throw wrong(
      settings,
      'REDIS_TLS_CA and the other TLS settings need TLS: REDIS_URL=rediss://… or REDIS_TLS=true',
    );
  }
  if (given(settings.username) && !given(settings.password)) {
    throw wrong(settings, 'REDIS_USERNAME needs REDIS_PASSWORD');
  }
  if (url !== undefined && (given(url.username) || given(url.password)) && given(settings.password)) {
    throw wrong(
      settings,
      'REDIS_URL already has a user or password; remove REDIS_USERNAME and REDIS_PASSWORD',
    );
  }
  if (url?.database !== undefined && (settings.database ?? 0) !== 0) {
    throw wrong(settings, 'REDIS_URL already has a database; remove REDIS_DATABASE');
  }
  if (cluster.length > 0 && (settings.database ?? 0) !== 0) {
    throw wrong(settings, 'a Redis Cluster has only database 0; remove REDIS_DATABASE');
  }
}

/**
 * Reads the user, password, database and TLS settings of the nodes, including the PEM files.
 * @throws MillraceError invalid_setting if a file cannot be read
 */
export function accessOf(settings: RedisSettings): RedisAccess {
  const single = (settings.cluster ?? []).length === 0 && (settings.sentinels ?? []).length === 0;
  const url = single ? urlOf(settings) : undefined;
  const { tls = {} } = settings;
  return {
    username: url?.username || settings.username || undefined,
    password: url?.password || settings.password || undefined,
    database: url?.database ?? settings.database ?? 0,
    tls: tls.on === true || url?.tls === true ? tlsOf(settings, tls) : undefined,
    ...(settings.warn === undefined ? {} : { warn: settings.warn }),
    ...(settings.observer === undefined ? {} : { observer: settings.observer }),
  };
}

function tlsOf(
  settings: RedisSettings,
  { ca, cert, key, servername, verify = true }: TlsSettings,
): ConnectionOptions {
  const pem = (variable: string, path: string): Buffer => readPem(settings, variable, path);
  return {
    ...(given(ca) ? { ca: pem('REDIS_TLS_CA', ca) } : {}),
    ...(given(cert) ? { cert: pem('REDIS_TLS_CERT', cert) } : {}),
    ...(given(key) ? { key: pem('REDIS_TLS_KEY', key) } : {}),
    ...(given(servername) ? { servername } : {}),
    rejectUnauthorized: verify,
  };
}

function readPem(settings: RedisSettings, variable: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    const { nameOf = String } = settings;
    throw new MillraceError(
      'invalid_setting',
      `${nameOf(variable)}: the file ${path} cannot be read (${code})`,
      {
        cause: error,
      },
    );
  }
}

interface UrlParts extends MasterAddress {
  readonly username: string;
  readonly password: string;
  readonly database: number | undefined;
  readonly tls: boolean;
}

function urlOf(settings: RedisSettings): UrlParts {
  const { url = `redis://127.0.0.1:${REDIS_PORT}` } = settings;
  const parts = parseRedisUrl(url);
  if (parts === undefined)
    throw wrong(settings, 'REDIS_URL is not a valid address; expected redis://host:port[/database]');
  return parts;
}

/** Splits a `redis://` or `rediss://` address into its parts. Returns undefined for any other text. */
export function parseRedisUrl(text: string): UrlParts | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(text);
  if ((protocol !== 'redis:' && protocol !== 'rediss:') || hostname === '' || search + hash !== '')
    return undefined;
  if (!/^\/?\d{0,4}$/.test(pathname)) return undefined;
  const database = pathname.slice(1);
  try {
    return {
      host: hostname.replace(/^\[(.*)\]$/, '$1'),
      port: port === '' ? REDIS_PORT : Number(port),
      username: decodeURIComponent(username),
      password: decodeURIComponent(password),
      database: database === '' ? undefined : Number(database),
      tls: protocol === 'rediss:',
    };
  } catch {
    return undefined; // The text has a % that starts no escape sequence.
  }
}

/** Finds the password in a text that is meant as an address with `user:password@`. Returns '' if there is none. */
export function passwordOfUrl(text: string): string {
  const [, access = ''] = /^(?:[a-z]*:\/\/)?(.*)@/is.exec(text) ?? [];
  const colon = access.indexOf(':');
  return colon === -1 ? '' : access.slice(colon + 1);
}

/** Parses `host[:port],host[:port]…`, with IPv6 in brackets. Returns undefined for any other text. */
export function parseAddresses(text: string, defaultPort: number): MasterAddress[] | undefined {
  const addresses: MasterAddress[] = [];
  for (const one of text.split(',').map((part) => part.trim())) {
    const match = /^(?:\[([0-9a-fA-F:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/.exec(one);
    const port = match?.[3] === undefined ? defaultPort : Number(match[3]);
    if (match === null || port < 1 || port > 65_535) return undefined;
    addresses.push({ host: match[1] ?? match[2] ?? '', port });
  }
  return addresses;
}

function given(text: string | undefined): text is string {
  return text !== undefined && text !== '';
}

/** @param detail names settings by their environment variables */
function wrong({ nameOf = String }: RedisSettings, detail: string): MillraceError {
  // A name before `=` is advice.
  const message = detail.replace(/\bREDIS_[A-Z_]+\b(?!=)/g, (variable) => nameOf(variable));
  return new MillraceError('invalid_setting', message);
}
