import type { IncomingMessage, ServerResponse } from 'node:http';
import { MillraceError } from '../api/errors.js';
import { prepareEarlyAnswer } from './early-answer.js';
import { problemDocument, RETRY_AFTER_SECONDS } from './problem.js';
import { requestIdOf } from './request-id.js';

const ERROR = new MillraceError('overloaded', 'more requests arrive than the service can answer in time');
const ID = 'request id';
/** The document without the request id, which is inserted between the two parts. */
const [START = '', END = ''] = JSON.stringify(problemDocument(ERROR, ID)).split(JSON.stringify(ID));
const FIXED_LENGTH = Buffer.byteLength(START + END);

/**
 * Answers a request with `overloaded`, from its head alone. This must cost far less than the request itself, because
 * most requests end here during an overload.
 */
export function refuseOverload(req: IncomingMessage, res: ServerResponse, isLast = false): void {
  const id = requestIdOf(req.headers['x-request-id']);
  const idText = JSON.stringify(id);
  const head = [
    'X-Request-Id',
    id,
    'X-Content-Type-Options',
    'nosniff',
    'Cache-Control',
    'no-store',
    'Retry-After',
    String(RETRY_AFTER_SECONDS),
    'Content-Type',
    'application/problem+json',
    'Content-Length',
    String(FIXED_LENGTH + idText.length),
  ];
  if (prepareEarlyAnswer(req, res) || isLast) head.push('Connection', 'close');
  res.writeHead(ERROR.status, head);
  res.end(START + idText + END);
}
