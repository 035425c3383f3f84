import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { ApiKey } from '../access/api-key.js';
import { MillraceError } from '../../ground/api/errors.js';
import { Deadline } from '../../ground/core/deadline.js';
import type { Usage } from '../../ground/core/usage.js';
import type { HttpMetrics } from '../metrics/http-metrics.js';
import type { Admission, Admitted, RouteLoad } from './admission/admission.js';
import type { Tracing } from '../../project/tracing/tracing.js';
import type { TraceSpan } from '../../project/tracing/trace-span.js';
import { requestIdOf } from './request-id.js';
import { endRequestSpan, methodOf } from './request-span.js';

/** The state of an admitted request in the app. */
export interface RequestState extends Admitted {
  id: string;
  /** The route as it is mounted, never the path that the client sent; undefined until a route matches. */
  route: string | undefined;
  /** The key of the request; undefined if its route or the service needs none. */
  readonly key: ApiKey | undefined;
  /** Over when the client disconnects or the time limit is over. */
  readonly deadline: Deadline;
  /** Undefined if the request is not traced. */
  readonly span: TraceSpan | undefined;
  /** Writes the body of an error for clients that expect another form; undefined for a problem document. */
  errorBody?: (error: MillraceError) => string;
}

const states = new WeakMap<ServerResponse, RequestState>();

/** Returns the state that `beginRequest` created for the request of this response. */
export function requestState(res: ServerResponse): RequestState {
  const state = states.get(res);
  if (state === undefined) throw new Error('beginRequest runs first');
  return state;
}

/** Sets the request id in the answer and in all later log lines. */
export function setRequestId(res: ServerResponse, id: string): void {
  requestState(res).id = id;
  res.setHeader('X-Request-Id', id);
}

/** The members of a log line about a request. */
export function logFields(res: ServerResponse): Readonly<Record<string, unknown>> {
  const { id, route, span } = requestState(res);
  return { request_id: id, route, ...span?.ids };
}

/** Starts the span of the answer, which ends when the client has read the answer or disconnects. */
export function startAnswer(res: ServerResponse): void {
  const span = requestState(res).span?.start('answer', 'answer');
  if (span !== undefined) endWithRequest(span, res);
}

/** Ends a span at the latest when its request ends. */
export function endWithRequest(span: TraceSpan, res: ServerResponse): void {
  // It comes before the listener that ends the span of the request.
  if (span.isRecorded) res.prependOnceListener('close', () => span.end());
}

/** The status of a request whose client disconnected, in the metrics. nginx uses the same number. */
export const CLIENT_CLOSED_REQUEST = 499;

/** Counts requests, and answers requests that take too long. */
export interface RequestParts {
  readonly admission: Admission;
  readonly metrics: HttpMetrics;
  readonly logger: Logger;
  readonly usage: Usage | undefined;
  readonly tracing: Tracing | undefined;
  /** Answers a request with an error, unless it is answered already. */
  readonly fail: (error: unknown, req: IncomingMessage, res: ServerResponse) => void;
}

/** Begins an admitted request: sets its id, its common headers and its time limit, and counts it when it ends. */
export function beginRequest(
  parts: RequestParts,
  req: IncomingMessage,
  res: ServerResponse,
  load: RouteLoad,
  arrived: number,
  headAt: number,
  key?: ApiKey,
): void {
  const { admission, metrics, logger, usage, tracing } = parts;
  const deadline = new Deadline(load.limitMs, { usage, started: arrived });
  const state: RequestState = {
    id: requestIdOf(req.headers['x-request-id']),
    route: undefined,
    key,
    deadline,
    span: load.class === 'health' ? undefined : tracing?.begin(methodOf(req), req.headers, arrived),
    load,
    arrived,
    headAt,
    begunAt: 0,
    get isOver() {
      return res.writableEnded || res.closed;
    },
  };
  states.set(res, state);
  res.setHeader('X-Request-Id', state.id);
  res.setHeader('X-Content-Type-Options', 'nosniff');
  res.setHeader('Cache-Control', 'no-store');
  deadline.whenOver((error) => {
    if (!res.closed && !res.headersSent) parts.fail(error, req, res);
  });
  usage?.begin();
  admission.enter(state);
  res.once('close', () => {
    deadline.end();
    const answered = res.writableFinished;
    if (!answered) deadline.abort(new MillraceError('deadline_exceeded', 'the client closed the connection'));
    const status = answered ? res.statusCode : CLIENT_CLOSED_REQUEST;
    admission.leave(state, answered && status < 300);
    usage?.end();
    const ms = performance.now() - arrived;
    metrics.answered(state.route, status, ms / 1000);
    if (key !== undefined) metrics.keys.used(key, load.class, status);
    if (state.span !== undefined) endRequestSpan(state.span, req, state, answered ? status : undefined);
    if (!logger.isLevelEnabled('debug')) return;
    const who = key === undefined ? {} : { key: key.name };
    logger.debug({ ...logFields(res), ...who, status, ms }, 'answered');
  });
}
