import { ConnectionFailed, Problem, type ProblemDocument } from './errors.js';

export interface CallOptions {
  /** Ends the call. The error is then the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** The longest time of the call in milliseconds, with all its tries and waits. */
  readonly timeout?: number | undefined;
  /** How often the request is sent again at most. */
  readonly retries?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface TransportOptions {
  readonly url: string;
  readonly timeout: number;
  readonly retries: number;
  readonly maxWait: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
}

export interface Sent {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
  /** A status that is an answer, although it is not a success. */
  readonly accepted?: number;
}

/** An answer whose body has arrived whole. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Statuses of a service that is overloaded, starting or draining. */
const TRIED_AGAIN: readonly number[] = [429, 503];
const FIRST_WAIT = 100;

/**
 * Sends a request until it has an answer, the tries are used up, or the time is over. Requests of Millrace may be
 * sent again: writes replace, and the service recognizes an event that it has already counted. Increments are the
 * exception, and their caller allows no retries.
 * @throws Problem, ConnectionFailed, the reason of the signal
 */
export async function send(
  { url, fetch: fetchOnce, ...defaults }: TransportOptions,
  { method, path, body, accepted }: Sent,
  options: CallOptions,
): Promise<Answer> {
  const { timeout = defaults.timeout, retries = defaults.retries, signal } = options;
  const end = Date.now() + timeout;
  const init: RequestInit = {
    method,
    headers: {
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...defaults.headers,
      ...options.headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
  for (let tried = 0; ; tried++) {
    signal?.throwIfAborted();
    const pause = Math.min(defaults.maxWait, FIRST_WAIT * 2 ** tried) * (0.5 + Math.random());
    const outcome = await tryOnce(fetchOnce, url + path, init, end - Date.now(), signal);
    let wait = pause;
    let failure: Problem | ConnectionFailed;
    if ('error' in outcome) {
      failure = new ConnectionFailed(`${method} ${path}: ${textOf(outcome.error)}`, { cause: outcome.error });
      if (outcome.isLate) throw failure;
    } else {
      if (outcome.isSuccess || outcome.status === accepted) return outcome;
      failure = problemOf(outcome);
      const asked = retryAfter(outcome.headers.get('Retry-After'));
      if (!TRIED_AGAIN.includes(outcome.status) || (asked ?? 0) > defaults.maxWait) throw failure;
      // Clients that were refused at once should not come back at once.
      if (asked !== undefined) wait = asked + Math.random() * FIRST_WAIT;
    }
    if (tried >= retries || Date.now() + wait >= end) throw failure;
    await sleep(wait, signal);
  }
}

type Outcome =
  (Answer & { readonly isSuccess: boolean }) | { readonly error: unknown; readonly isLate: boolean };

async function tryOnce(
  fetchOnce: typeof fetch,
  url: string,
  init: RequestInit,
  left: number,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  const abort = new AbortController();
  let isLate = false as boolean;
  const timer = setTimeout(() => {
    isLate = true;
    abort.abort();
  }, left);
  const stop = (): void => abort.abort();
  signal?.addEventListener('abort', stop);
  try {
    const response = await fetchOnce(url, { ...init, signal: abort.signal });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, isSuccess: response.ok };
  } catch (error) {
    signal?.throwIfAborted();
    return { error: isLate ? new Error('no answer in time') : error, isLate };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

function problemOf({ status, headers, text }: Answer): Problem {
  const requestId = headers.get('X-Request-Id');
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    // A proxy in between answered.
  }
  const isObject = typeof document === 'object' && document !== null;
  return new Problem(status, {
    ...(requestId === null ? {} : { request_id: requestId }),
    ...(isObject ? (document as ProblemDocument) : { detail: text.slice(0, 200) }),
  });
}

/** Milliseconds to wait: seconds or a date (RFC 9110). */
function retryAfter(text: string | null): number | undefined {
  if (text === null || text === '') return undefined;
  const seconds = Number(text);
  const ms = Number.isNaN(seconds) ? Date.parse(text) - Date.now() : seconds * 1000;
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/** The errors of `fetch` say little themselves; their cause says more. */
function textOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error
    ? `${message}: ${cause.message || (cause as { code?: string }).code}`
    : message;
}
