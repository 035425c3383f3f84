import type { IncomingMessage, ServerResponse } from 'node:http';
import { challengeOf } from '../access/authorize.js';
import type { HeadError } from '../access/head-error.js';
import { prepareEarlyAnswer } from './early-answer.js';
import { problemDocument, RETRY_AFTER_SECONDS } from './problem.js';
import { requestIdOf } from './request-id.js';

/**
 * Answers a request from its head alone, before its body is read. This must cost far less than a request, because most
 * requests end here during an overload or an attack.
 */
export interface HeadRefusal {
  readonly status: number;
  /** @param isLast whether the connection must be closed after the answer */
  send(req: IncomingMessage, res: ServerResponse, isLast?: boolean): void;
}

const ID = 'request id';
/** Refusals by their error, so the document of a frequent one is written once. */
const refusals = new WeakMap<HeadError, HeadRefusal>();

/** Returns the refusal that answers with the problem document of an error. */
export function refusalWith(error: HeadError): HeadRefusal {
  let refusal = refusals.get(error);
  if (refusal === undefined) refusals.set(error, (refusal = prepare(error)));
  return refusal;
}

function prepare(error: HeadError): HeadRefusal {
  const { status } = error;
  // The document without the request id, which is inserted between the two parts.
  const [start = '', end = ''] = JSON.stringify(problemDocument(error, ID)).split(JSON.stringify(ID));
  const fixedLength = Buffer.byteLength(start + end);
  // Node writes Latin-1 faster. The document is usually ASCII, and the id always is.
  const encoding = fixedLength === start.length + end.length ? 'latin1' : 'utf8';
  const challenge = challengeOf(error);
  const own = [
    ...(status === 503 ? ['Retry-After', String(RETRY_AFTER_SECONDS)] : []),
    ...(error.allow === undefined ? [] : ['Allow', error.allow]),
    ...(challenge === undefined ? [] : ['WWW-Authenticate', challenge]),
  ];
  return {
    status,
    send(req, res, isLast = false) {
      const id = requestIdOf(req.headers['x-request-id']);
      const idText = JSON.stringify(id);
      const head = [
        'X-Request-Id',
        id,
        'X-Content-Type-Options',
        'nosniff',
        'Cache-Control',
        'no-store',
        ...own,
        'Content-Type',
        'application/problem+json',
        'Content-Length',
        String(fixedLength + idText.length),
      ];
      if (prepareEarlyAnswer(req, res) || isLast) head.push('Connection', 'close');
      res.writeHead(status, head);
      res.end(start + idText + end, encoding);
    },
  };
}
