import type { RequestHandler } from 'express';
import { MillraceError } from '../api/errors.js';

const EXPECTS = /^100-continue$/i;

/** Answers `Expect: 100-continue`, unless the body is known to be too large. A request that is refused gets no 100. */
export function inviteBody(limit: number): RequestHandler {
  return ({ headers }, res, next) => {
    if (headers.expect === undefined || !EXPECTS.test(headers.expect)) {
      next();
      return;
    }
    if (Number(headers['content-length'] ?? 0) > limit)
      throw new MillraceError(
        'body_too_large',
        `the body is larger than ${limit} bytes, the limit of this route`,
      );
    res.writeContinue();
    next();
  };
}
