import type { IncomingMessage, ServerResponse } from 'node:http';
import { headError, type HeadError } from '../../access/head-error.js';

const EXPOSED = [
  'X-Request-Id',
  'Millrace-Degraded',
  'Millrace-Preview',
  'Millrace-Experiment',
  'Millrace-Front',
  'Millrace-Unknown-Fields',
  'Millrace-Coerced',
  'X-Millrace-Skipped-Steps',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
].join(', ');
const SENT = ['Authorization', 'Content-Type', 'X-Request-Id', 'X-Millrace-Run-Id', 'X-Wyvern-Run-Id'].join(
  ', ',
);
/** How long a browser remembers the answer to a preflight request, in seconds. */
const PREFLIGHT_SECONDS = '600';

/**
 * Refuses requests that web pages of other origins send (cross-site request forgery), unless their origin is allowed.
 * Browsers add `Origin` and `Sec-Fetch-Site`, and a page cannot change them. Other clients send neither.
 */
export class OriginRule {
  /** @param origins the allowed origins */
  constructor(private readonly origins: ReadonlySet<string>) {}

  /**
   * Adds the CORS headers to the answer, and returns why the request is refused. Credentials such as cookies are never
   * allowed; a page sends its key in the header `Authorization`.
   */
  faultOf(req: IncomingMessage, res: ServerResponse): HeadError | undefined {
    const { origin } = req.headers;
    if (this.origins.size > 0) {
      res.setHeader('Vary', 'Origin');
      if (origin !== undefined && this.origins.has(origin)) {
        res.setHeader('Access-Control-Allow-Origin', origin);
        res.setHeader('Access-Control-Expose-Headers', EXPOSED);
        return undefined;
      }
    }
    if (!isForeign(req)) return undefined;
    const shown = origin === undefined ? 'another origin' : `the origin ${origin.slice(0, 200)}`;
    return headError(
      'foreign_origin',
      `a web page of ${shown} sent this request; allow it with MILLRACE_CORS_ORIGINS`,
    );
  }

  /** True for a preflight request of an allowed origin. Call `faultOf` first. */
  isPreflight({ method, headers }: IncomingMessage, res: ServerResponse): boolean {
    return (
      method === 'OPTIONS' &&
      headers['access-control-request-method'] !== undefined &&
      res.hasHeader('Access-Control-Allow-Origin')
    );
  }

  /** Answers a preflight request of an allowed origin. */
  answerPreflight(res: ServerResponse): void {
    res.setHeader('Access-Control-Allow-Methods', 'GET, HEAD, POST');
    res.setHeader('Access-Control-Allow-Headers', SENT);
    res.setHeader('Access-Control-Max-Age', PREFLIGHT_SECONDS);
    res.statusCode = 204;
    res.end();
  }
}

/**
 * True if a page of another origin sent the request. A link to a page of the service is a GET request without `Origin`, which
 * is no fault. An image or a script in such a page is, too, but its `Sec-Fetch-Mode` tells: it would run a ranking.
 */
function isForeign({ method, headers }: IncomingMessage): boolean {
  const { origin, host, 'sec-fetch-site': site, 'sec-fetch-mode': mode = 'navigate' } = headers;
  const isLink = origin === undefined && mode === 'navigate' && (method === 'GET' || method === 'HEAD');
  if (isLink) return false;
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  // A proxy may end TLS, so the scheme of the page can differ from that of this connection.
  return origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`;
}
