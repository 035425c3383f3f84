import { recognise } from './brand.js';
import type { TraceContext } from './trace-context.js';

/** One request to another server, with its limits. */
export interface OutboundRequest {
  readonly method: 'GET' | 'HEAD' | 'POST';
  /** The path below the client's base URL, e.g. `/v2/health/ready`; a query, or nothing, for the base URL itself. */
  readonly path: string;
  readonly body?: string | Uint8Array;
  /** Of the body; by default `application/json`. */
  readonly contentType?: string;
  /** Besides those of the client; one of the same name replaces it. Names are in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Ends the request at once on abort. */
  readonly signal: AbortSignal;
  /** Time limit from the start to the last byte of the answer, in milliseconds. */
  readonly timeoutMs: number;
  /** Maximum size of the body of an answer, in bytes. */
  readonly maxBytes: number;
  /** Whether this request repeats one that failed; the metrics count retries separately. */
  readonly isRetry?: boolean;
  /** Pass `StepInput.trace`. The call is then a part of the request's trace, and the server gets `traceparent`. */
  readonly trace?: TraceContext | undefined;
}

export interface OutboundAnswer {
  readonly status: number;
  /** As sent, in lower case; '' if there is none. */
  readonly contentType: string;
  /** The header `Retry-After`, as sent; undefined if there is none. */
  readonly retryAfter?: string | undefined;
  /** All headers, by name in lower case. */
  readonly headers?: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

export interface OutboundClient {
  /**
   * Sends a request. Redirects are not followed: the answer has their status.
   * @throws OutboundError, or the reason of the signal
   */
  request(request: OutboundRequest): Promise<OutboundAnswer>;
  /** Waits for the requests in flight. */
  close(): Promise<void>;
}

export interface OutboundOptions {
  /** Maximum number of connections at a time; further requests wait. */
  readonly connections: number;
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Makes clients of the servers that the operator allows. */
export interface OutboundHttp {
  /**
   * @param base http or https, with an optional path that precedes the path of every request
   * @throws Error that says what is wrong with the address, or how to allow its host
   */
  open(base: string, options: OutboundOptions): OutboundClient;
  /**
   * Gives calls of another protocol the rules of requests: the server is one that the operator allows, a silent one is not
   * asked, and each call is counted and a part of the trace.
   * @param url with the host, and the port if it is not that of the protocol
   * @throws Error that says how to allow the host
   */
  guard(url: URL): OutboundGuard;
}

/** What calls of all protocols have. */
export type OutboundCall = Pick<OutboundRequest, 'signal' | 'timeoutMs' | 'isRetry' | 'trace'>;

export interface OutboundGuard {
  /**
   * @param work calls the server, until the signal aborts. An error of the server is an answer with the status 4xx or 5xx
   * @throws as `OutboundClient.request`, and what `work` throws
   */
  run<T extends { readonly status: number }>(
    call: OutboundCall,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T>;
}

/**
 * Why there is no answer. `unreachable`: no connection was made. `closed`: the connection was lost. `timeout`.
 * `too_large`: the answer is longer than allowed. `circuit_open`: nothing was sent, because the server has not
 * answered for a while.
 */
export type OutboundFault = 'unreachable' | 'closed' | 'timeout' | 'too_large' | 'circuit_open';

export class OutboundError extends Error {
  constructor(
    readonly fault: OutboundFault,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'OutboundError';
  }
}
recognise(OutboundError, 'OutboundError');
