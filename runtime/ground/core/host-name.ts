import { isIP } from 'node:net';
import { cached } from './bounded-cache.js';

/** The host of a Host header, without the port. */
export interface HostName {
  /** In lower case, without a trailing dot; an IPv6 address in brackets and in its shortest form. */
  readonly name: string;
  readonly isAddress: boolean;
}

/** `uri-host [ ":" port ]` of RFC 9110, 7.2. */
const HOST = /^(?:(\[[0-9a-f:.]+\])|([\w.~!$&'()*+,;=%-]+))(?::\d{0,5})?$/i;
const MALFORMED = { name: '', isAddress: false };
const MOST_CACHED = 1000;

const parse = cached((text): HostName => {
  const [, address, name = ''] = HOST.exec(text) ?? [];
  if (address !== undefined) {
    const url = `http://${address}`;
    return URL.canParse(url) ? { name: new URL(url).hostname, isAddress: true } : MALFORMED;
  }
  const lower = name.toLowerCase();
  const bare = lower.endsWith('.') ? lower.slice(0, -1) : lower;
  return bare === '' ? MALFORMED : { name: bare, isAddress: isIP(bare) === 4 };
}, MOST_CACHED);

/** Parses `host` or `host:port`, as in a Host header. Returns undefined if the text has another form. */
export function parseHost(text: string): HostName | undefined {
  const host = parse(text);
  return host === MALFORMED ? undefined : host;
}

const LOOPBACK = new Set(['localhost', '::1', '[::1]']);

/** True for names and addresses that only programs on this machine reach. */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^::ffff:/i, '');
  return LOOPBACK.has(host) || (isIP(address) === 4 && address.startsWith('127.'));
}
