import { recognise } from './brand.js';
import type { TraceContext } from './trace-context.js';

/** One request to another server, with its limits. */
export interface OutboundRequest {
  readonly method: 'GET' | 'POST';
  /** The path below the client's base URL, e.g. `/v2/health/ready`; a query, or nothing, for the base URL itself. */
  readonly path: string;
  readonly body?: string | Uint8Array;
  /** Of the body; by default `application/json`. */
  readonly contentType?: string;
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
