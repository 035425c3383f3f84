import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { challengeOf } from '../access/authorize.js';
import { headError, HeadError } from '../access/head-error.js';
import { MillraceError, type Violation } from '../../ground/api/errors.js';
import { nearest, nearestOf } from '../../ground/core/nearest.js';
import { describeError } from '../../ground/core/describe-error.js';
import { sendBrowserPage, wantsPage, type Link } from './browser-page.js';
import { noteFailed } from './edge/audit.js';
import { RefusalLog } from './refusal-log.js';
import { filledFrom, parametersIn } from './route-path.js';
import { failRequestSpan } from './request-span.js';
import type { Exchange } from './exchange.js';
import { sendJson, sendText } from './respond.js';

/** The maximum number of violations in an answer. `violation_count` counts all of them. */
export const MOST_VIOLATIONS = 50;
/** The maximum length of the pointer or the detail of a violation. Both contain names from the body. */
const LONGEST_TEXT = 500;
export const RETRY_AFTER_SECONDS = 1;

/**
 * Answers an error with a problem document (RFC 9457), and logs the error unless the client caused it.
 * @param links where the page leads that a browser gets instead
 */
export function answerProblem(
  logger: Logger,
  links: readonly Link[] = [],
): (error: unknown, exchange: Exchange) => void {
  const refusals = new RefusalLog(logger);
  const answer = (problem: MillraceError, exchange: Exchange): void => {
    const { req, res, id, span, errorBody } = exchange;
    if (span !== undefined) failRequestSpan(span, problem);
    noteFailed(exchange, problem);
    log(logger, refusals, exchange, problem);
    if (res.headersSent) {
      res.destroy(); // It is too late for a problem document. The client sees that the answer is cut off.
      return;
    }
    if (problem.status === 503) res.setHeader('Retry-After', RETRY_AFTER_SECONDS);
    if (problem instanceof HeadError && problem.allow !== undefined) res.setHeader('Allow', problem.allow);
    const challenge = challengeOf(problem);
    if (challenge !== undefined) res.setHeader('WWW-Authenticate', challenge);
    if (errorBody !== undefined && problem.code !== 'internal') {
      sendText(res, problem.status, 'application/json', errorBody(problem));
      return;
    }
    const body = problemDocument(problem, id, span?.isRecorded === true ? span.traceId : undefined);
    if (wantsPage(req))
      sendBrowserPage(res, problem.status, problem.title, [String(body.detail), `Request ${id}`], links);
    else sendJson(res, problem.status, body, 'application/problem+json');
  };
  return (error, exchange) => {
    const { res } = exchange;
    // The time limit already answered this request, and its handler ended later.
    if (res.writableEnded) return;
    try {
      answer(asMillraceError(error), exchange);
    } catch (failure) {
      logger.error({ error: describeError(failure) }, 'a request could not be answered');
      res.destroy();
    }
  };
}

/** Returns what refuses requests to unknown paths, and suggests the nearest route. */
export function unknownRoute(routes: readonly string[]): (req: IncomingMessage, path: string) => HeadError {
  // A service with a second listener has its reference there.
  const reference = routes.includes('/redoc') ? '; see GET /redoc, or GET /openapi.json' : '';
  const hasParameters = routes.some((route) => parametersIn(route).length > 0);
  const filled = (path: string): string[] => routes.map((route) => filledFrom(route, path));
  const guessOf = hasParameters ? (path: string) => nearest(path, filled(path)) : nearestOf(routes);
  return ({ method }, path) => {
    const guess = guessOf(path);
    const help = guess === undefined ? reference : `; did you mean ${guess}?`;
    return headError('unknown_route', `nothing answers ${method} at this path${help}`);
  };
}

/** Returns the refusal of a method. */
export function wrongMethod({ method }: IncomingMessage, allowed: readonly string[]): HeadError {
  const allow = allowText(allowed);
  return headError('method_not_allowed', `expected ${allow}, found ${method}`, {}, allow);
}

/** Answers OPTIONS. */
export function answerMethods(res: ServerResponse, allowed: readonly string[]): void {
  res.setHeader('Allow', allowText(allowed));
  res.statusCode = 204;
  res.end();
}

function allowText(allowed: readonly string[]): string {
  return [...allowed, 'OPTIONS'].join(', ');
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
  return error instanceof MillraceError
    ? error
    : new MillraceError('internal', 'unexpected', { cause: error });
}

function log(logger: Logger, refusals: RefusalLog, exchange: Exchange, error: MillraceError): void {
  if (error.status < 500 || exchange.res.closed) return;
  // A stack trace contains no information about the store, and would flood the log.
  if (error.status === 503)
    refusals.refused(error.code, () => ({ ...exchange.logFields, error: describeError(error, false) }));
  else
    logger.error({ ...exchange.logFields, code: error.code, error: describeError(error) }, 'request failed');
}
