import type { IncomingMessage, ServerResponse } from 'node:http';
import { MillraceError } from '../../../ground/api/errors.js';

const EXPOSED = [
  'X-Request-Id',
  'Millrace-Degraded',
  'Millrace-Experiment',
  'Millrace-Unknown-Fields',
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
  faultOf(req: IncomingMessage, res: ServerResponse): MillraceError | undefined {
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
    return new MillraceError(
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

  /** Answers a preflight request of an allowed origin. Returns false for any other request. */
  answersPreflight(req: IncomingMessage, res: ServerResponse): boolean {
    if (!this.isPreflight(req, res)) return false;
    res.setHeader('Access-Control-Allow-Methods', 'GET, HEAD, POST');
    res.setHeader('Access-Control-Allow-Headers', SENT);
    res.setHeader('Access-Control-Max-Age', PREFLIGHT_SECONDS);
    res.statusCode = 204;
    res.end();
    return true;
  }
}

/**
 * True if a page of another origin sent the request. Links to a page of the service, and images and scripts in other
 * pages, are GET requests without `Origin`; they change nothing, and the page cannot read the answer.
 */
function isForeign({ method, headers }: IncomingMessage): boolean {
  const { origin, host, 'sec-fetch-site': site } = headers;
  if (origin === undefined && (method === 'GET' || method === 'HEAD')) return false;
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  // A proxy may end TLS, so the scheme of the page can differ from that of this connection.
  return origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`;
}
