import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { exceeded } from '../core/deadline.js';
import type { Rate } from '../core/rate.js';
import type { Usage } from '../core/usage.js';
import type { HttpMetrics } from '../metrics/http-metrics.js';
import type { Admission, Admitted, RouteLoad } from './admission/admission.js';
import { requestIdOf } from './request-id.js';

/** The state of an admitted request in the app. */
export interface RequestState extends Admitted {
  id: string;
  /** The route as it is mounted, never the path that the client sent; undefined until a route matches. */
  route: string | undefined;
  /** The key that the request presents, if any. */
  readonly key: { readonly name: string; readonly rate?: Rate | undefined } | undefined;
  /** Aborted when the client disconnects or the time limit is over. */
  readonly gone: AbortSignal;
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

/** The status of a request whose client disconnected, in the metrics. nginx uses the same number. */
export const CLIENT_CLOSED_REQUEST = 499;

/** Counts requests, and answers requests that take too long. */
export interface RequestParts {
  readonly admission: Admission;
  readonly metrics: HttpMetrics;
  readonly logger: Logger;
  readonly usage: Usage | undefined;
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
): RequestState {
  const { admission, metrics, logger, usage } = parts;
  const leaving = new AbortController();
  const state: RequestState = {
    id: requestIdOf(req.headers['x-request-id']),
    route: undefined,
    key: undefined,
    gone: leaving.signal,
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
  const late = setTimeout(
    () => {
      if (res.headersSent) return;
      const error = exceeded(load.limitMs);
      leaving.abort(error);
      parts.fail(error, req, res);
    },
    arrived + load.limitMs - headAt,
  );
  usage?.begin();
  admission.enter(state);
  res.once('close', () => {
    clearTimeout(late);
    const answered = res.writableFinished;
    if (!answered) leaving.abort();
    const status = answered ? res.statusCode : CLIENT_CLOSED_REQUEST;
    admission.leave(state, answered && status < 300);
    usage?.end();
    const ms = performance.now() - arrived;
    metrics.answered(state.route, status, ms / 1000);
    logger.debug({ request_id: state.id, route: state.route, status, ms }, 'answered');
  });
  return state;
}
