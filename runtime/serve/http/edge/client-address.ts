import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { AddressRanges } from '../../../ground/core/address-ranges.js';

const MAPPED = '::ffff:';
const PORT_OF_IPV4 = /^(\d+\.\d+\.\d+\.\d+):\d+$/;
const BRACKETED = /^\[([0-9a-fA-F:.]+)\](?::\d+)?$/;

/**
 * Returns the address of the client. It is the address of the connection, or, if that is a trusted proxy, the last
 * address in `X-Forwarded-For` that is not a trusted proxy. A client can write anything into the header, but only
 * before what the proxies append.
 */
export function clientAddress({ socket, headers }: IncomingMessage, proxies: AddressRanges): string {
  const peer = plain(socket.remoteAddress ?? '');
  if (proxies.isEmpty || !proxies.has(peer)) return peer;
  const forwarded = headers['x-forwarded-for'];
  if (forwarded === undefined) return peer;
  const hops = String(forwarded).split(',');
  let client = peer;
  for (let at = hops.length - 1; at >= 0; at--) {
    const address = addressOf((hops[at] as string).trim());
    if (address === undefined) break;
    client = address;
    if (!proxies.has(address)) break;
  }
  return client;
}

/** Returns the part of an address that identifies a client: all of an IPv4 address, or the /64 network of an IPv6 one. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('%', 1)[0]?.split('::') ?? [];
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const last = tail === '' ? [] : tail.split(':');
    // An IPv4 address at the end stands for two groups.
    const width = last.length + (last.at(-1)?.includes('.') === true ? 1 : 0);
    while (groups.length + width < 8) groups.push('0');
    groups.push(...last);
  }
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

function addressOf(hop: string): string | undefined {
  const [, address = hop] = PORT_OF_IPV4.exec(hop) ?? BRACKETED.exec(hop) ?? [];
  return isIP(address) === 0 ? undefined : plain(address);
}

/** Writes an IPv4 address that is mapped to IPv6 as IPv4. */
function plain(address: string): string {
  const mapped = address.toLowerCase().startsWith(MAPPED) ? address.slice(MAPPED.length) : '';
  return isIP(mapped) === 4 ? mapped : address;
}
