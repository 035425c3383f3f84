import { recognise } from './brand.js';

/** What a request to another server may take. */
export interface OutboundRequest {
  readonly method: 'GET' | 'POST';
  /** Below the client's base URL, e.g. `/v2/health/ready`. */
  readonly path: string;
  readonly body?: string;
  /** Ends the request at once when it aborts. */
  readonly signal: AbortSignal;
  /** From the start to the last byte of the answer, milliseconds. */
  readonly timeoutMs: number;
  /** Longest body of an answer. */
  readonly maxBytes: number;
  /** Of one that is sent again after it failed; counted apart. */
  readonly isRetry?: boolean;
}

export interface OutboundAnswer {
  readonly status: number;
  /** As sent, in small letters, '' where there is none. */
  readonly contentType: string;
  readonly body: Buffer;
}

export interface OutboundClient {
  /**
   * Sends a request. Redirects are not followed: their status is the answer.
   * @throws OutboundError, or the signal's reason
   */
  request(request: OutboundRequest): Promise<OutboundAnswer>;
  /** Waits for requests in flight. */
  close(): Promise<void>;
}

export interface OutboundOptions {
  /** Most connections at a time; requests beyond them wait. */
  readonly connections: number;
  /** Sent with every request. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Makes clients of servers that the operator allows. */
export interface OutboundHttp {
  /**
   * @param base http or https, with an optional path that goes before that of every request
   * @throws Error that says what is wrong with the address, or how to allow its host
   */
  open(base: string, options: OutboundOptions): OutboundClient;
}

/**
 * Why there is no answer: `unreachable`, no connection was made; `closed`, it was lost; `timeout`; `too_large`, the answer
 * is longer than was allowed; `circuit_open`, nothing was sent, since the server has answered nothing for a while.
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
