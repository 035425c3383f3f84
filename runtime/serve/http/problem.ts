import { filledFrom } from './route-path.js';
import type { ErrorRequestHandler, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import { challengeOf } from '../access/authorize.js';
import { MillraceError, type Violation } from '../../ground/api/errors.js';
import { nearest } from '../../ground/core/nearest.js';
import { describeError } from '../../ground/core/describe-error.js';
import { noteFailed } from './edge/audit.js';
import { RefusalLog } from './refusal-log.js';
import { failRequestSpan } from './request-span.js';
import { logFields, requestState } from './request-state.js';
import { sendJson, sendText } from './respond.js';

/** The maximum number of violations in an answer. `violation_count` counts all of them. */
export const MOST_VIOLATIONS = 50;
/** The maximum length of the pointer or the detail of a violation. Both contain names from the body. */
const LONGEST_TEXT = 500;
export const RETRY_AFTER_SECONDS = 1;

/** Answers an error with a problem document (RFC 9457), and logs the error unless the client caused it. */
export function answerProblem(logger: Logger): ErrorRequestHandler {
  const refusals = new RefusalLog(logger);
  // Express recognizes an error handler by its four parameters.
  // eslint-disable-next-line @typescript-eslint/no-unused-vars
  return (error: unknown, _req, res, _next) => {
    // The time limit already answered this request, and its handler ended later.
    if (res.writableEnded) return;
    const problem = asMillraceError(error);
    const { id, span, errorBody } = requestState(res);
    if (span !== undefined) failRequestSpan(span, problem);
    noteFailed(res, problem);
    log(logger, refusals, res, problem);
    if (res.headersSent) {
      res.destroy(); // It is too late for a problem document. The client sees that the answer is cut off.
      return;
    }
    if (problem.status === 503) res.setHeader('Retry-After', RETRY_AFTER_SECONDS);
    const challenge = challengeOf(problem);
    if (challenge !== undefined) res.setHeader('WWW-Authenticate', challenge);
    if (errorBody !== undefined && problem.code !== 'internal') {
      sendText(res, problem.status, 'application/json', errorBody(problem));
      return;
    }
    const body = problemDocument(problem, id, span?.isRecorded === true ? span.traceId : undefined);
    sendJson(res, problem.status, body, 'application/problem+json');
  };
}

/** Answers requests to unknown paths, and suggests the nearest route. */
export function refuseRoute(routes: readonly string[]): RequestHandler {
  // A service with a second listener has its reference there.
  const reference = routes.includes('/redoc') ? '; see GET /redoc, or GET /openapi.json' : '';
  return (req, _res, next) => {
    const guess = nearest(
      req.path,
      routes.map((path) => filledFrom(path, req.path)),
    );
    const help = guess === undefined ? reference : `; did you mean ${guess}?`;
    next(new MillraceError('unknown_route', `nothing answers ${req.method} at this path${help}`));
  };
}

/** Answers OPTIONS, and the methods that a route does not support. */
export function refuseMethod(allowed: readonly string[]): RequestHandler {
  const allow = [...allowed, 'OPTIONS'].join(', ');
  return (req, res) => {
    res.setHeader('Allow', allow);
    if (req.method !== 'OPTIONS') {
      throw new MillraceError('method_not_allowed', `expected ${allow}, found ${req.method}`);
    }
    res.statusCode = 204;
    res.end();
  };
}

/**
 * Builds the problem document. Extensions come last and cannot replace its own members.
 * @param traceId undefined if no trace of the request is recorded
 */
export function problemDocument(
  error: MillraceError,
  requestId: string,
  traceId?: string,
): Record<string, unknown> {
  const { violations } = error;
  const { violation_count: count = violations.length, ...extensions } = error.extensions;
  const members = {
    type: `urn:millrace:problem:${error.code}`,
    title: error.title,
    status: error.status,
    detail: error.code === 'internal' ? 'something unexpected happened; it is logged' : error.message,
    code: error.code,
    request_id: requestId,
    ...(traceId === undefined ? {} : { trace_id: traceId }),
    ...(violations.length === 0
      ? {}
      : { violation_count: count, errors: violations.slice(0, MOST_VIOLATIONS).map(shorten) }),
  };
  return { ...members, ...extensions, ...members };
}

function shorten({ pointer, code, detail }: Violation): Violation {
  return { pointer: cut(pointer), code, detail: cut(detail) };
}

function cut(text: string): string {
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text;
}

function asMillraceError(error: unknown): MillraceError {
  if (error instanceof MillraceError) return error;
  // Express could not decode a parameter of the path.
  if (error instanceof URIError)
    return new MillraceError(
      'unknown_route',
      'nothing answers at this path: it has a % that is no escape such as %20',
    );
  return new MillraceError('internal', 'unexpected', { cause: error });
}

function log(logger: Logger, refusals: RefusalLog, res: Response, error: MillraceError): void {
  if (error.status < 500 || res.closed) return;
  // A stack trace contains no information about the store, and would flood the log.
  if (error.status === 503)
    refusals.refused(error.code, () => ({ ...logFields(res), error: describeError(error, false) }));
  else logger.error({ ...logFields(res), code: error.code, error: describeError(error) }, 'request failed');
}
