import type { IncomingMessage } from 'node:http';
import { MillraceError } from '../../ground/api/errors.js';
import { parseHost } from '../../ground/core/host-name.js';

const ABSOLUTE = /^https?:\/\/([^/?#]*)([^#]*)/i;

/**
 * Changes the absolute form of a request target (`GET http://host/path`) to the usual form, so that all code sees the
 * same path. The host of the target replaces the Host header (RFC 9112, 3.2.2).
 */
export function useOriginForm(req: IncomingMessage): void {
  const { url = '/' } = req;
  if (url.startsWith('/')) return;
  const [, host, path = ''] = ABSOLUTE.exec(url) ?? [];
  if (host === undefined) return;
  req.url = path.startsWith('/') ? path : `/${path}`;
  req.headers.host = host;
}

/**
 * Headers that a request may have once. Node would use one of two (the last transfer coding, otherwise the first), and a proxy
 * before the service may have checked the other. Node joins the other headers that the service reads, and its parser refuses
 * a second length.
 */
export const ONCE: readonly string[] = ['host', 'authorization', 'content-type', 'transfer-encoding'];
/** By the length of the name, so that other headers cost one lookup. */
const byLength = new Map(ONCE.map((name, i) => [name.length, { name, bit: 1 << i }]));
const HOST_BIT = 1 << ONCE.indexOf('host');

/**
 * Returns why a request is refused before the app sees it, although the parser accepts it. A request has one Host
 * header; only HTTP/1.0 allows none. Its target is a path; `OPTIONS *` asks about the server.
 */
export function faultOfHead({
  url = '',
  httpVersion,
  headers,
  rawHeaders,
}: IncomingMessage): MillraceError | undefined {
  if ((!url.startsWith('/') && url !== '*') || url.includes('#'))
    return fault('the target is malformed; expected a path, or a whole http address, without a fragment');
  let seen = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    const known = byLength.get(name.length);
    if (known === undefined || name.toLowerCase() !== known.name) continue;
    if ((seen & known.bit) !== 0) return fault(`expected one ${known.name} header, and there are several`);
    seen |= known.bit;
  }
  if ((seen & HOST_BIT) === 0 && httpVersion === '1.1')
    return fault('expected a host header, and there is none');
  if (headers.host === undefined || parseHost(headers.host) !== undefined) return undefined;
  return fault('the host header is malformed; expected a host name or an address, and an optional port');
}

function fault(detail: string): MillraceError {
  return new MillraceError('malformed_request', detail);
}
