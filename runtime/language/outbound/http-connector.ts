import { errors, Pool } from 'undici';
import {
  OutboundError,
  type OutboundAnswer,
  type OutboundClient,
  type OutboundFault,
  type OutboundHttp,
  type OutboundOptions,
  type OutboundRequest,
} from '../../ground/api/http-client.js';
import type { TraceContext } from '../../ground/api/trace-context.js';
import { Turns } from '../../ground/sdk/turns.js';
import { portOf, type AllowedHosts } from '../../project/settings/allowed-hosts.js';
import { errorCodeOf, TraceSpan } from '../../project/tracing/trace-span.js';
import { CircuitBreaker } from './circuit-breaker.js';
import { afterSilence } from '../../ground/core/after-silence.js';

/** The time limit for opening a connection, and how long an idle connection is kept, in milliseconds. */
const CONNECT_MS = 2_000;
const KEEP_ALIVE_MS = 10_000;

/** The step that sends a request. */
export interface Caller {
  readonly pipeline: string;
  readonly step: string;
}

/**
 * The outcome of a request: the class of the answer's status, why there was no answer, or that the caller stopped
 * waiting.
 */
export type OutboundOutcome = '1xx' | '2xx' | '3xx' | '4xx' | '5xx' | OutboundFault | 'given_up';

/** Is called for every request to another server, once the request has ended. */
export interface OutboundObserver {
  sent(caller: Caller, outcome: OutboundOutcome, seconds: number, isRetry: boolean): void;
}

const NOBODY: OutboundObserver = { sent: () => undefined };

/** Creates clients for the hosts that a setting lists. Each client belongs to one step, or to one sink. */
export function httpConnector(
  allowed: AllowedHosts,
  observer: OutboundObserver = NOBODY,
  setting = 'MILLRACE_MODEL_HOSTS',
): (caller: Caller) => OutboundHttp {
  return (caller) => ({
    open: (base, options) => {
      const url = checkedUrl(base, allowed, setting);
      const client = new PoolClient(url, options);
      const breaker = new CircuitBreaker(url.host);
      const ask = (request: OutboundRequest): Promise<OutboundAnswer> =>
        breaker.run(() => client.request(request));
      return {
        request: (request) => {
          const { trace } = request;
          return trace instanceof TraceSpan && trace.isRecorded
            ? traced(request, trace, url, (within) => observed(ask, within, caller, observer))
            : observed(ask, request, caller, observer);
        },
        close: () => client.close(),
      };
    },
  });
}

async function observed(
  ask: OutboundClient['request'],
  request: OutboundRequest,
  caller: Caller,
  observer: OutboundObserver,
): Promise<OutboundAnswer> {
  const started = performance.now();
  let outcome: OutboundOutcome = 'given_up';
  try {
    const answer = await ask(request);
    outcome = `${Math.floor(answer.status / 100)}xx` as OutboundOutcome;
    return answer;
  } catch (error) {
    if (error instanceof OutboundError) outcome = error.fault;
    throw error;
  } finally {
    observer.sent(caller, outcome, (performance.now() - started) / 1000, request.isRetry === true);
  }
}

/** Sends a request in a span of its own, which the server gets as its parent. The path is left out: it may hold an id. */
async function traced(
  request: OutboundRequest,
  parent: TraceSpan,
  url: URL,
  send: (request: OutboundRequest) => Promise<OutboundAnswer>,
): Promise<OutboundAnswer> {
  const span = parent.start('call', request.method, {
    'http.request.method': request.method,
    'server.address': url.hostname,
    'server.port': Number(portOf(url)),
    ...(request.isRetry === true ? { 'http.request.resend_count': 1 } : {}),
  });
  try {
    const answer = await send({ ...request, trace: span });
    span.set({ 'http.response.status_code': answer.status });
    if (answer.status >= 400) span.fail(String(answer.status));
    return answer;
  } catch (error) {
    span.fail(errorCodeOf(error));
    throw error;
  } finally {
    span.end();
  }
}

function checkedUrl(base: string, allowed: AllowedHosts, setting: string): URL {
  if (!URL.canParse(base)) throw new Error(`\`${base}\` is not a URL, e.g. http://models:8080`);
  const url = new URL(base);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new Error(`the protocol ${url.protocol} is not supported; use http: or https:`);
  if (url.username !== '' || url.password !== '')
    throw new Error('a URL must not contain a user or password; send them in a header');
  if (url.search !== '' || url.hash !== '')
    throw new Error('a base URL must not contain a query or a fragment');
  if (allowed.allows(url)) return url;
  throw new Error(
    `the host ${url.hostname}:${portOf(url)} is not allowed; allow it with the setting ${setting}, e.g. ${setting}=${url.hostname}:${portOf(url)}`,
  );
}

class PoolClient implements OutboundClient {
  readonly #pool: Pool;
  readonly #turns: Turns;
  readonly #pathname: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #host: string;

  constructor(base: URL, { connections, headers }: OutboundOptions) {
    // Turns limit the requests, so none waits in undici's pool. The pool would still count a waiting request after it
    // was cancelled.
    this.#turns = new Turns(connections);
    this.#pathname = base.pathname;
    this.#headers = { accept: 'application/json', ...headers };
    this.#host = base.host;
    this.#pool = new Pool(base.origin, {
      connections,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connect: { timeout: CONNECT_MS },
    });
  }

  async request(request: OutboundRequest): Promise<OutboundAnswer> {
    const limit = new AbortController();
    const stop = (): void => limit.abort(request.signal.reason);
    request.signal.throwIfAborted();
    request.signal.addEventListener('abort', stop, { once: true });
    const { timeoutMs } = request;
    const stopTimer = afterSilence(timeoutMs, () =>
      limit.abort(new OutboundError('timeout', `${this.#host} did not answer within ${timeoutMs} ms`)),
    );
    try {
      return await this.#turns.take(limit.signal, () => this.#send(request, limit.signal));
    } catch (error) {
      if (limit.signal.aborted) throw limit.signal.reason;
      throw this.#faultOf(error);
    } finally {
      stopTimer();
      request.signal.removeEventListener('abort', stop);
    }
  }

  async close(): Promise<void> {
    await this.#turns.idle();
    await this.#pool.close();
  }

  async #send(
    { method, path, body, contentType, maxBytes, trace }: OutboundRequest,
    signal: AbortSignal,
  ): Promise<OutboundAnswer> {
    const answer = await this.#pool.request({
      method,
      path: path.startsWith('/') ? this.#pathname.replace(/\/+$/, '') + path : this.#pathname + path,
      headers: this.#headersOf(body === undefined ? undefined : (contentType ?? 'application/json'), trace),
      ...(body === undefined ? {} : { body }),
      signal,
      // Only the signal limits the time.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const parts: Buffer[] = [];
    let bytes = 0;
    // Leaving the loop destroys the body and closes a connection that is still sending.
    for await (const part of answer.body as AsyncIterable<Buffer>) {
      bytes += part.length;
      if (bytes > maxBytes)
        throw new OutboundError('too_large', `${this.#host} answered with more than ${maxBytes} bytes`);
      parts.push(part);
    }
    return {
      status: answer.statusCode,
      contentType: (joined(answer.headers['content-type']) ?? '').toLowerCase(),
      retryAfter: joined(answer.headers['retry-after']),
      body: Buffer.concat(parts, bytes),
    };
  }

  #headersOf(
    contentType: string | undefined,
    trace: TraceContext | undefined,
  ): Readonly<Record<string, string>> {
    if (contentType === undefined && trace === undefined) return this.#headers;
    const headers = { ...this.#headers };
    if (contentType !== undefined) headers['content-type'] = contentType;
    if (trace !== undefined) {
      headers['traceparent'] = trace.traceparent;
      if (trace.tracestate !== undefined) headers['tracestate'] = trace.tracestate;
    }
    return headers;
  }

  #faultOf(error: unknown): Error {
    if (error instanceof OutboundError) return error;
    const { code = '', message } = error as NodeJS.ErrnoException;
    const why = `${this.#host}: ${code === '' || message.includes(code) ? message : `${code} ${message}`}`;
    if (error instanceof errors.ConnectTimeoutError || UNREACHABLE.has(code))
      return new OutboundError('unreachable', why, { cause: error });
    return new OutboundError('closed', why, { cause: error });
  }
}

function joined(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join() : header;
}

/** System error codes for a connection that could not be opened. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
]);
