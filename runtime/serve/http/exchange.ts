import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { ApiKey } from '../access/api-key.js';
import type { MillraceError } from '../../ground/api/errors.js';
import { ClientLeft, Deadline } from '../../ground/core/deadline.js';
import type { Usage } from '../../ground/core/usage.js';
import type { HttpMetrics } from '../metrics/http-metrics.js';
import type { Admission, Admitted, RouteLoad } from './admission/admission.js';
import type { CollectedBody } from './bodies/collect-body.js';
import type { Tracing } from '../../project/tracing/tracing.js';
import type { TraceSpan } from '../../project/tracing/trace-span.js';
import { requestIdOf } from './request-id.js';
import { endRequestSpan, methodOf } from './request-span.js';

/** What is known of an admitted request by its head. */
export interface Head {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly load: RouteLoad;
  /** The estimated time of arrival, by `performance.now()`. */
  readonly arrived: number;
  /** The time when the head was read. */
  readonly headAt: number;
  /** The key of the request; undefined if its route or the service needs none. */
  readonly key: ApiKey | undefined;
}

/** Counts requests, and answers requests that take too long. */
export interface ExchangeParts {
  readonly admission: Admission;
  readonly metrics: HttpMetrics;
  readonly logger: Logger;
  readonly usage?: Usage | undefined;
  readonly tracing?: Tracing | undefined;
  /** Answers a request with an error, unless it is answered already. */
  readonly fail: (error: unknown, exchange: Exchange) => void;
}

/** What a request wrote. It has names of the project and numbers, and never a value that the client sent. */
export interface Written {
  readonly entity_type?: string;
  readonly view?: string;
  readonly list?: string;
  readonly code?: string;
  readonly counts?: Readonly<Record<string, number>>;
}

/** A check of a parsed body that runs before the work of its route. It throws if the request is refused. */
export type BodyCheck = (body: unknown) => void | Promise<void>;

/** The status of a request whose client disconnected, in the metrics. nginx uses the same number. */
export const CLIENT_CLOSED_REQUEST = 499;

/**
 * An admitted request and its answer. Its creation sets the id and the common headers of the answer and starts the time
 * limit. When the response is closed, the request is counted and its resources are released.
 */
export class Exchange implements Head, Admitted {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly load: RouteLoad;
  readonly arrived: number;
  readonly headAt: number;
  /** A request that opens a session gets the key by its body. */
  key: ApiKey | undefined;
  /** Over when the client disconnects or the time limit is over. */
  readonly deadline: Deadline;
  /** Undefined if the request is not traced. */
  readonly span: TraceSpan | undefined;
  id: string;
  /** The path of the route in the list, never the path that the client sent; undefined until a route matches. */
  route: string | undefined = undefined;
  /** The parameters of the path, decoded. */
  params: Readonly<Record<string, string>> | undefined = undefined;
  begunAt = 0;
  /** The body, until it is parsed. */
  body: CollectedBody | undefined = undefined;
  checkBody: BodyCheck | undefined = undefined;
  /** What a write did, for its audit line. */
  written: Written | undefined = undefined;
  /** Writes the body of an error for clients that expect another form; undefined for a problem document. */
  errorBody: ((error: MillraceError) => string) | undefined = undefined;

  constructor(parts: ExchangeParts, head: Head) {
    const { req, res, load, arrived } = head;
    const { admission, usage } = parts;
    this.req = req;
    this.res = res;
    this.load = load;
    this.arrived = arrived;
    this.headAt = head.headAt;
    this.key = head.key;
    this.id = requestIdOf(req.headers['x-request-id']);
    this.deadline = new Deadline(load.limitMs, { usage, started: arrived });
    this.span =
      load.class === 'health' ? undefined : parts.tracing?.begin(methodOf(req), req.headers, arrived);
    res.setHeader('X-Request-Id', this.id);
    res.setHeader('X-Content-Type-Options', 'nosniff');
    res.setHeader('Cache-Control', 'no-store');
    this.deadline.whenOver((error) => {
      if (!res.closed && !res.headersSent) parts.fail(error, this);
    });
    usage?.begin();
    admission.enter(this);
    res.once('close', () => this.#end(parts));
  }

  /** True if the request is answered, or its client has disconnected. */
  get isOver(): boolean {
    return this.res.writableEnded || this.res.closed;
  }

  /** The members of a log line about the request. */
  get logFields(): Readonly<Record<string, unknown>> {
    return { request_id: this.id, route: this.route, ...this.span?.ids };
  }

  /** Sets the request id in the answer and in all later log lines. */
  setId(id: string): void {
    this.id = id;
    this.res.setHeader('X-Request-Id', id);
  }

  /** Starts the span of the answer, which ends when the client has read the answer or disconnects. */
  startAnswer(): void {
    const span = this.span?.start('answer', 'answer');
    if (span !== undefined) this.endWith(span);
  }

  /** Ends a span at the latest when the request ends. */
  endWith(span: TraceSpan): void {
    // It comes before the listener that ends the span of the request.
    if (span.isRecorded) this.res.prependOnceListener('close', () => span.end());
  }

  #end({ admission, metrics, logger, usage }: ExchangeParts): void {
    const { req, res, load, key, deadline, span } = this;
    deadline.end();
    const answered = res.writableFinished;
    if (!answered) deadline.abort(new ClientLeft());
    const status = answered ? res.statusCode : CLIENT_CLOSED_REQUEST;
    admission.leave(this, answered && status < 300);
    usage?.end();
    const ms = performance.now() - this.arrived;
    metrics.answered(this.route, status, ms / 1000);
    if (key !== undefined) metrics.keys.used(key, load.class, status);
    if (span !== undefined) endRequestSpan(span, req, this, answered ? status : undefined);
    if (!logger.isLevelEnabled('debug')) return;
    const who = key === undefined ? {} : { key: key.name };
    logger.debug({ ...this.logFields, ...who, status, ms }, 'answered');
  }
}
