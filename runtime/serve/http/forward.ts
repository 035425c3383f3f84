import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { Pool } from 'undici';
import { MillraceError } from '../../ground/api/errors.js';
import { SIGN_IN_HEADERS } from '../access/proxy-sign-in.js';
import type { Exchange } from './exchange.js';
import { wholeBody } from './handle-body.js';

/** Headers that belong to one connection (RFC 9110, 7.6.1), in either direction. */
const HOP_BY_HOP: readonly string[] = [
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'te'],
  ...['trailer', 'transfer-encoding', 'upgrade', 'expect'],
];
/** The body is whole and inflated by now. */
const OF_BODY: readonly string[] = ['content-length', 'content-encoding'];
/**
 * What this process checked itself: the service would see the origin of this page as a foreign one. This process writes the
 * address of the client.
 */
const OF_BROWSER: readonly string[] = [
  ...['host', 'origin', 'referer', 'sec-fetch-site', 'sec-fetch-mode', 'sec-fetch-dest', 'sec-fetch-user'],
  ...['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-request-id'],
];
const NOT_SENT: ReadonlySet<string> = new Set([...HOP_BY_HOP, ...OF_BROWSER, ...OF_BODY, ...SIGN_IN_HEADERS]);
const NOT_RETURNED: ReadonlySet<string> = new Set([...HOP_BY_HOP, 'date', 'x-request-id']);
const CONNECT_MS = 5000;

export interface ForwarderParts {
  /** The address of the service. It may have a path. */
  readonly url: URL;
  /** Sent for requests that have neither a key nor a session of their own. */
  readonly key: string | undefined;
  /** The address of a client. */
  readonly addressOf: (req: Exchange['req']) => string;
}

/** Passes requests on to a service, and its answers back. */
export class Forwarder {
  readonly #pool: Pool;
  readonly #base: string;

  constructor(private readonly parts: ForwarderParts) {
    const { origin, pathname } = parts.url;
    this.#pool = new Pool(origin, { connect: { timeout: CONNECT_MS } });
    this.#base = pathname.replace(/\/+$/, '');
  }

  /** Answers a request, whose body is read, with the answer of the service. @throws MillraceError service_unreachable */
  async pass(exchange: Exchange): Promise<void> {
    const { req, res, id, deadline } = exchange;
    const [answer, bytes] = await this.#pool
      .request({
        path: this.#base + (req.url ?? '/'),
        method: req.method === 'POST' || req.method === 'HEAD' ? req.method : 'GET',
        headers: { ...this.#headersOf(req), 'x-request-id': id },
        body: req.method === 'POST' ? wholeBody(exchange) : null,
        signal: deadline.signal,
      })
      .then(async (found) => [found, Buffer.from(await found.body.arrayBuffer())] as const)
      .catch((error: unknown) => {
        throw exchange.isOver ? error : this.#unreachable(error);
      });
    res.statusCode = answer.statusCode;
    returnHeaders(res, answer.headers, req.headers.origin?.startsWith('https:') === true);
    res.end(bytes);
  }

  /**
   * Asks who sends requests.
   * @returns the name, or undefined if the service asks for a key
   * @throws MillraceError service_unreachable; key_invalid if it refuses this key
   */
  async whoAmI(key: string | undefined): Promise<string | undefined> {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    const { origin } = this.parts.url;
    const answer = await this.#pool
      .request({ path: `${this.#base}/api/v1/session`, method: 'GET', headers })
      .then(
        async ({ statusCode, body }) => ({ statusCode, text: await body.text() }),
        (error: unknown) => {
          throw this.#unreachable(error);
        },
      );
    if (answer.statusCode === 401 && key === undefined) return undefined;
    if (answer.statusCode === 401 || answer.statusCode === 403)
      throw new MillraceError('key_invalid', `the service at ${origin} refuses the key of MILLRACE_KEY`);
    const name = nameIn(answer.text);
    if (answer.statusCode !== 200 || name === undefined)
      throw new MillraceError(
        'service_unreachable',
        `${origin}${this.#base}/api/v1/session answered ${answer.statusCode}, as no Millrace does; check the address`,
      );
    return name;
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }

  #headersOf(req: Exchange['req']): Record<string, string | string[]> {
    const sent = Object.entries(req.headers).flatMap(([name, value]) =>
      value === undefined || NOT_SENT.has(name) ? [] : [[name, value] as const],
    );
    const { authorization, cookie } = req.headers;
    const { key, addressOf } = this.parts;
    const isOwn = authorization !== undefined || cookie?.includes('millrace_session=') === true;
    return {
      ...Object.fromEntries(sent),
      ...(isOwn || key === undefined ? {} : { authorization: `Bearer ${key}` }),
      'x-forwarded-for': addressOf(req),
    };
  }

  #unreachable(error: unknown): MillraceError {
    const why = error instanceof Error ? error.message : String(error);
    return new MillraceError(
      'service_unreachable',
      `the service at ${this.parts.url.origin} did not answer: ${why}`,
      {
        cause: error,
      },
    );
  }
}

/** @param isSecure whether the browser reached this process over HTTPS: a cookie is then for HTTPS alone */
function returnHeaders(res: ServerResponse, headers: IncomingHttpHeaders, isSecure: boolean): void {
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || NOT_RETURNED.has(name)) continue;
    if (name !== 'set-cookie') res.setHeader(name, value);
    else
      res.setHeader(
        name,
        [value].flat().map((one) => (isSecure && !/; *secure/i.test(one) ? `${one}; Secure` : one)),
      );
  }
}

function nameIn(text: string): string | undefined {
  try {
    const { name } = JSON.parse(text) as { readonly name?: unknown };
    return typeof name === 'string' ? name : undefined;
  } catch {
    return undefined;
  }
}
