import type { RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import type { HttpMetrics } from '../metrics/http-metrics.js';
import { requestIdOf } from './request-id.js';

/** What is known of a request on its way through the app. */
export interface RequestState {
  id: string;
  /** The route as it is mounted, never the path as it was sent; undefined while none has matched. */
  route: string | undefined;
  /** Aborted when the client is gone before its answer. */
  readonly gone: AbortSignal;
}

const states = new WeakMap<Response, RequestState>();

/** The state that `beginRequest` gave the request of this response. */
export function requestState(res: Response): RequestState {
  const state = states.get(res);
  if (state === undefined) throw new Error('beginRequest runs first');
  return state;
}

/** Names the request in its answer, and in whatever is logged of it from now on. */
export function setRequestId(res: Response, id: string): void {
  requestState(res).id = id;
  res.setHeader('X-Request-Id', id);
}

/** The status that the metrics give a request whose client left, after nginx's. */
const CLIENT_CLOSED_REQUEST = 499;

/** The first handler of every request: its id, its common headers, and what is counted when it ends. */
export function beginRequest(metrics: HttpMetrics, logger: Logger): RequestHandler {
  return (req, res, next) => {
    const started = performance.now();
    const leaving = new AbortController();
    const state: RequestState = {
      id: requestIdOf(req.headers['x-request-id']),
      route: undefined,
      gone: leaving.signal,
    };
    states.set(res, state);
    res.setHeader('X-Request-Id', state.id);
    res.setHeader('X-Content-Type-Options', 'nosniff');
    res.setHeader('Cache-Control', 'no-store');
    res.once('close', () => {
      const answered = res.writableFinished;
      if (!answered) leaving.abort();
      const status = answered ? res.statusCode : CLIENT_CLOSED_REQUEST;
      const ms = performance.now() - started;
      metrics.answered(state.route, status, ms / 1000);
      logger.debug({ request_id: state.id, route: state.route, status, ms }, 'answered');
    });
    next();
  };
}
