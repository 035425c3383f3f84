import express from 'express';
import type { Request, RequestHandler } from 'express';
import { MillraceError } from '../api/errors.js';

/**
 * Reads a body of at most `limit` bytes, counted once inflated (gzip, deflate, br), so that `withBody` can parse it.
 * Refuses what is not declared to be JSON before reading it.
 */
export function readBody(limit: number): RequestHandler {
  const raw: RequestHandler = express.raw({ type: () => true, limit });
  return (req, res, next) => {
    checkMediaType(req);
    void raw(req, res, (error?: unknown) => {
      if (error === undefined) next();
      else next(bodyError(error, limit));
    });
  };
}

const JSON_TYPE = /^application\/(?:json|[\w!#$&^.+-]+\+json)$/i;
const CHARSET = /^charset\s*=\s*"?([^"]*)"?$/i;

function checkMediaType({ headers }: Request): void {
  const given = headers['content-type'];
  if (given === 'application/json') return;
  if (given === undefined) {
    const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
    if (hasBody) throw unsupported('the request has a body but no Content-Type');
    return;
  }
  const [type = '', ...parameters] = given.split(';').map((part) => part.trim());
  if (!JSON_TYPE.test(type)) throw unsupported('this Content-Type is not JSON');
  for (const parameter of parameters) {
    const charset = CHARSET.exec(parameter)?.[1];
    if (charset !== undefined && !/^utf-?8$/i.test(charset)) throw unsupported('this charset is not UTF-8');
  }
}

function unsupported(found: string): MillraceError {
  return new MillraceError('unsupported_media_type', `${found}; expected application/json, in UTF-8`);
}

/** What the body reader's errors mean to a client; they carry a `type`, those of zlib a `code`. */
function bodyError(error: unknown, limit: number): unknown {
  if (!(error instanceof Error)) return error;
  const { type, code } = error as { type?: unknown; code?: unknown };
  switch (type) {
    case 'entity.too.large':
      return new MillraceError(
        'body_too_large',
        `the body is larger than ${limit} bytes, the limit of this route; what is compressed counts inflated`,
      );
    case 'encoding.unsupported':
      return new MillraceError(
        'unsupported_media_type',
        'this Content-Encoding is not known; expected gzip, deflate, br or none',
      );
    case 'request.size.invalid':
      return new MillraceError('malformed_json', 'the body is not as long as its Content-Length says');
    case 'request.aborted':
      return new MillraceError('malformed_json', 'the body was cut off');
    default:
      return isZlibCode(code)
        ? new MillraceError('malformed_json', 'the body is not what its Content-Encoding says')
        : error;
  }
}

function isZlibCode(code: unknown): boolean {
  return typeof code === 'string' && /^(?:Z_|ERR_BROTLI|ERR_ZLIB|ERR__ERROR_FORMAT|ERR_PADDING)/.test(code);
}
