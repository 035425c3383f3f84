import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { ERROR_CODES, type ErrorCode } from '../../ground/api/error-codes.js';
import { MillraceError, type Violation } from '../../ground/api/errors.js';
import type { JsonObject } from '../../ground/api/types.js';
import { CSRF_HEADER } from '../access/csrf.js';
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
/** What says who sends a request. */
const OF_SENDER: ReadonlySet<string> = new Set(['authorization', 'cookie', CSRF_HEADER, 'x-forwarded-for']);
const CONNECT_MS = 5000;
/** The statuses of a service that has no time, or of a key that asks too often. */
const BUSY: ReadonlySet<number> = new Set([429, 503]);
const MOST_TRIES = 5;

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
   * Calls the service as the sender of a request, also after the request.
   * @returns a function that throws MillraceError as the service answers, or service_unreachable
   */
  callsOf(req: Exchange['req']): <T>(path: string, body?: JsonObject) => Promise<T> {
    const own = Object.entries(this.#headersOf(req)).filter(([name]) => OF_SENDER.has(name));
    const headers = { ...Object.fromEntries(own), 'content-type': 'application/json' };
    return async <T>(path: string, body?: JsonObject): Promise<T> => {
      for (let tries = 1; ; tries++) {
        const found = await this.#pool
          .request({
            ...{ path: this.#base + path, method: body === undefined ? 'GET' : 'POST', headers },
            body: body === undefined ? null : JSON.stringify(body),
          })
          .then(async (answer) => ({ status: answer.statusCode, json: await answer.body.json() }))
          .catch((error: unknown) => {
            throw this.#unreachable(error);
          });
        if (found.status === 200) return found.json as T;
        // Rankings come first: a service that is busy refuses explanations for a moment.
        if (!BUSY.has(found.status) || tries === MOST_TRIES) throw problemIn(found.json);
        await pause(tries * 500);
      }
    };
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

/** The problem document of the service, as an error. */
function problemIn(answer: unknown): MillraceError {
  const { code, detail, errors } = (answer ?? {}) as {
    readonly code?: unknown;
    readonly detail?: unknown;
    readonly errors?: readonly Violation[];
  };
  const known = typeof code === 'string' && Object.hasOwn(ERROR_CODES, code);
  return new MillraceError(known ? (code as ErrorCode) : 'service_unreachable', String(detail), {
    violations: Array.isArray(errors) ? errors : [],
  });
}
