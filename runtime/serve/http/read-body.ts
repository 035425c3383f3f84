import type { IncomingMessage } from 'node:http';
import { beginUrgent } from '../../ground/core/background.js';
import { headError, type HeadError } from '../access/head-error.js';
import { within } from '../../project/tracing/trace-span.js';
import { BodyShare, type BodyMemory } from './bodies/body-memory.js';
import { collectBody, type CollectedBody } from './bodies/collect-body.js';
import type { Exchange } from './exchange.js';

/**
 * Reads a body of at most `limit` inflated bytes (gzip, deflate, br), for `withBody` to parse. Its memory is released when
 * the request is over. Until then, a ranking slows background work down.
 */
export async function readBody(exchange: Exchange, limit: number, memory: BodyMemory): Promise<void> {
  const { req, res, load } = exchange;
  const { expect } = req.headers;
  if (expect !== undefined && EXPECTS.test(expect)) res.writeContinue();
  const share = new BodyShare(memory);
  const endUrgent = load.class === 'ranking' ? beginUrgent() : undefined;
  res.once('close', () => {
    share.release();
    endUrgent?.();
  });
  const span = exchange.span?.start('receive', 'receive');
  const collecting = collectBody(req, limit, share);
  const traced = async (): Promise<CollectedBody> => {
    const body = await collecting;
    span?.set({ 'millrace.body_bytes': body.length });
    return body;
  };
  exchange.body = await (span === undefined ? collecting : within(span, traced));
}

const JSON_TYPE = /^application\/(?:json|[\w!#$&^.+-]+\+json)$/i;
const LINES_TYPE = /^application\/(?:[\w!#$&^.+-]+\+)?x-ndjson$/i;
const CHARSET = /^charset\s*=\s*"?([^"]*)"?$/i;

const EXPECTS = /^100-continue$/i;

/**
 * Returns what refuses a body by its head: it is too large, or not declared as JSON. A request that it refuses gets no
 * 100 response.
 */
export function faultOfBody(limit: number, isLines = false): (req: IncomingMessage) => HeadError | undefined {
  const tooLarge = headError(
    'body_too_large',
    `the body is larger than ${limit} bytes, the limit of this route`,
  );
  return ({ headers }) => {
    const { 'content-length': length, 'content-encoding': encoding } = headers;
    if (encoding === undefined && Number(length ?? 0) > limit) return tooLarge;
    const found = faultOfType(headers, isLines);
    return found === undefined
      ? undefined
      : headError('unsupported_media_type', `${found}; expected application/json, in UTF-8`);
  };
}

function faultOfType(headers: IncomingMessage['headers'], isLines: boolean): string | undefined {
  const given = headers['content-type'];
  if (given === 'application/json') return undefined;
  if (given === undefined) {
    const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
    return hasBody ? 'the request has a body but no Content-Type' : undefined;
  }
  const [type = '', ...parameters] = given.split(';').map((part) => part.trim());
  if (!JSON_TYPE.test(type) && !(isLines && LINES_TYPE.test(type))) return 'this Content-Type is not JSON';
  const charsets = parameters.flatMap((parameter) => CHARSET.exec(parameter)?.[1] ?? []);
  return charsets.every((charset) => /^utf-?8$/i.test(charset)) ? undefined : 'this charset is not UTF-8';
}
