import type { Pool } from 'undici';
import {
  OutboundError,
  type OutboundAnswer,
  type OutboundCall,
  type OutboundClient,
  type OutboundFault,
  type OutboundGuard,
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
      const url = checkedUrl(base);
      checkHost(url, allowed, setting);
      const client = new PoolClient(url, options);
      const breaker = new CircuitBreaker(url.host);
      return {
        request: (request) =>
          traced(request, url, (within) =>
            observed(() => breaker.run(() => client.request(within)), within, caller, observer),
          ),
        close: () => client.close(),
      };
    },
    guard: (url): OutboundGuard => {
      checkHost(url, allowed, setting);
      const breaker = new CircuitBreaker(url.host);
      return {
        run: (call, work) =>
          traced(call, url, () =>
            observed(() => breaker.run(() => limited(call, url.host, work)), call, caller, observer),
          ),
      };
    },
  });
}

/** A request of HTTP has a method. */
type Call = OutboundCall & { readonly method?: string };

interface Answered {
  readonly status: number;
}

async function observed<T extends Answered>(
  ask: () => Promise<T>,
  call: Call,
  caller: Caller,
  observer: OutboundObserver,
): Promise<T> {
  const started = performance.now();
  let outcome: OutboundOutcome = 'given_up';
  try {
    const answer = await ask();
    outcome = `${Math.floor(answer.status / 100)}xx` as OutboundOutcome;
    return answer;
  } catch (error) {
    if (error instanceof OutboundError) outcome = error.fault;
    throw error;
  } finally {
    observer.sent(caller, outcome, (performance.now() - started) / 1000, call.isRetry === true);
  }
}

/** Waits for work until its time limit, or until the caller gives up. */
async function limited<T>(
  { signal: outer, timeoutMs }: OutboundCall,
  host: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  outer.throwIfAborted();
  const limit = new AbortController();
  const { signal } = limit;
  const stop = (): void => limit.abort(outer.reason);
  outer.addEventListener('abort', stop, { once: true });
  const stopTimer = afterSilence(timeoutMs, () =>
    limit.abort(new OutboundError('timeout', `${host} did not answer within ${timeoutMs} ms`)),
  );
  const stopped = new Promise<never>((_resolve, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
  );
  try {
    return await Promise.race([work(signal), stopped]);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw error;
  } finally {
    stopTimer();
    outer.removeEventListener('abort', stop);
  }
}

/**
 * Makes a call in a span of its own, if the trace is recorded. A server of HTTP gets it as its parent. The path is left out:
 * it may hold an id.
 */
async function traced<C extends Call, T extends Answered>(
  call: C,
  url: URL,
  send: (call: C) => Promise<T>,
): Promise<T> {
  const { trace: parent, method, isRetry } = call;
  if (!(parent instanceof TraceSpan && parent.isRecorded)) return send(call);
  const span = parent.start('call', method ?? 'query', {
    ...(method === undefined ? {} : { 'http.request.method': method }),
    'server.address': url.hostname,
    'server.port': Number(portOf(url)),
    ...(isRetry === true ? { 'http.request.resend_count': 1 } : {}),
  });
  try {
    const answer = await send({ ...call, trace: span });
    if (method !== undefined) span.set({ 'http.response.status_code': answer.status });
    if (answer.status >= 400) span.fail(String(answer.status));
    return answer;
  } catch (error) {
    span.fail(errorCodeOf(error));
    throw error;
  } finally {
    span.end();
  }
}

function checkedUrl(base: string): URL {
  if (!URL.canParse(base)) throw new Error(`\`${base}\` is not a URL, e.g. http://models:8080`);
  const url = new URL(base);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new Error(`the protocol ${url.protocol} is not supported; use http: or https:`);
  if (url.username !== '' || url.password !== '')
    throw new Error('a URL must not contain a user or password; send them in a header');
  if (url.search !== '' || url.hash !== '')
    throw new Error('a base URL must not contain a query or a fragment');
  return url;
}

function checkHost(url: URL, allowed: AllowedHosts, setting: string): void {
  if (allowed.allows(url)) return;
  throw new Error(
    `the host ${url.hostname}:${portOf(url)} is not allowed; allow it with the setting ${setting}, e.g. ${setting}=${url.hostname}:${portOf(url)}`,
  );
}

/** Loads undici, which takes as long as a tenth of a start, only for projects that send requests. */
async function openPool(...options: ConstructorParameters<typeof Pool>): Promise<Pool> {
  // A CommonJS package has no named exports in the bundle.
  const { default: undici } = await import('undici');
  return new undici.Pool(...options);
}

class PoolClient implements OutboundClient {
  readonly #pool: Promise<Pool>;
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
    this.#pool = openPool(base.origin, {
      connections,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connect: { timeout: CONNECT_MS },
    });
  }

  async request(request: OutboundRequest): Promise<OutboundAnswer> {
    return limited(request, this.#host, async (signal) => {
      try {
        return await this.#turns.take(signal, () => this.#send(request, signal));
      } catch (error) {
        throw this.#faultOf(error);
      }
    });
  }

  async close(): Promise<void> {
    await this.#turns.idle();
    await (await this.#pool).close();
  }

  async #send(
    { method, path, body, contentType, headers, maxBytes, trace }: OutboundRequest,
    signal: AbortSignal,
  ): Promise<OutboundAnswer> {
    const pool = await this.#pool;
    const answer = await pool.request({
      method,
      path: path.startsWith('/') ? this.#pathname.replace(/\/+$/, '') + path : this.#pathname + path,
      headers: this.#headersOf(
        body === undefined ? undefined : (contentType ?? 'application/json'),
        trace,
        headers,
      ),
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
      headers: answer.headers,
      body: Buffer.concat(parts, bytes),
    };
  }

  #headersOf(
    contentType: string | undefined,
    trace: TraceContext | undefined,
    more: OutboundRequest['headers'],
  ): Readonly<Record<string, string>> {
    if (contentType === undefined && trace === undefined && more === undefined) return this.#headers;
    const headers = { ...this.#headers, ...more };
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
    if (UNREACHABLE.has(code)) return new OutboundError('unreachable', why, { cause: error });
    return new OutboundError('closed', why, { cause: error });
  }
}

function joined(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join() : header;
}

/** Error codes of the system and of undici for a connection that could not be opened. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);
