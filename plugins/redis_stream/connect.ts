import { Redis, type RedisOptions } from 'ioredis';
import { OptionError, type ProjectFile } from 'millrace/api';

/** Where a stream is, for a sink and for a source. */
export interface StreamServer {
  readonly url: string;
  readonly username?: string;
  readonly password?: string;
  readonly ca?: ProjectFile;
  readonly cert?: ProjectFile;
  readonly key_file?: ProjectFile;
}

/** Makes a client that has not connected. Nothing waits or is sent twice in it, because the runtime tries again. */
export function clientOf(
  { url, username, password, ca, cert, key_file: key }: StreamServer,
  more: RedisOptions,
): Redis {
  const tls = {
    ...(ca === undefined ? {} : { ca: ca.content }),
    ...(cert === undefined ? {} : { cert: cert.content }),
    ...(key === undefined ? {} : { key: key.content }),
  };
  return new Redis(url, {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(Object.keys(tls).length === 0 ? {} : { tls }),
    lazyConnect: true,
    retryStrategy: () => null,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    ...more,
  });
}

/** The address without user and password. */
export function hostOf(url: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}

/** @throws OptionError, without the address, which may contain a password */
export function checkServer({ url, ca, cert, key_file: keyFile }: StreamServer): void {
  checkAddress(url);
  if ((cert === undefined) !== (keyFile === undefined))
    throw new OptionError(
      [cert === undefined ? 'key_file' : 'cert'],
      '`cert` and `key_file` need each other: a certificate and its private key',
    );
  const file = ca === undefined ? 'cert' : 'ca';
  if (!url.startsWith('rediss:') && (ca ?? cert) !== undefined)
    throw new OptionError([file], `\`${file}\` needs TLS`, 'write the address with rediss://');
}

function checkAddress(url: string): void {
  const wrong = (message: string, help?: string): OptionError => new OptionError(['url'], message, help);
  if (!URL.canParse(url)) throw wrong('`url`: expected redis://host[:port][/db], or rediss:// for TLS');
  const { protocol, hostname, pathname, search, hash } = new URL(url);
  if ((protocol !== 'redis:' && protocol !== 'rediss:') || hostname === '')
    throw wrong('`url`: expected redis://host[:port][/db], or rediss:// for TLS');
  if (!/^\/?\d{0,4}$/.test(pathname) || search + hash !== '')
    throw wrong('`url`: only the number of a database can follow the address', 'e.g. redis://streams:6379/1');
}
