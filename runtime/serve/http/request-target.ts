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
 * Returns why a request is refused before the app sees it, although the parser accepts it. A request has one Host
 * header; only HTTP/1.0 allows none.
 */
export function faultOfHead({
  httpVersion,
  headers,
  rawHeaders,
}: IncomingMessage): MillraceError | undefined {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  if (hosts > 1) return fault(`expected one Host header, and there are ${hosts}`);
  if (hosts === 0 && httpVersion === '1.1') return fault('expected a Host header, and there is none');
  if (headers.host === undefined || parseHost(headers.host) !== undefined) return undefined;
  return fault('the Host header is malformed; expected a host name or an address, and an optional port');
}

function fault(detail: string): MillraceError {
  return new MillraceError('malformed_request', detail);
}
