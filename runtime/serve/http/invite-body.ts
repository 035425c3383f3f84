import type { RequestHandler } from 'express';
import { MillraceError } from '../../ground/api/errors.js';

const EXPECTS = /^100-continue$/i;

/**
 * Refuses a body that is too large by its head, and answers `Expect: 100-continue`. A refused request gets no 100
 * response.
 * @param limit in bytes
 */
export function inviteBody(limit: number): RequestHandler {
  return ({ headers }, res, next) => {
    const { expect, 'content-length': length, 'content-encoding': encoding } = headers;
    if (encoding === undefined && Number(length ?? 0) > limit)
      throw new MillraceError(
        'body_too_large',
        `the body is larger than ${limit} bytes, the limit of this route`,
      );
    if (expect !== undefined && EXPECTS.test(expect)) res.writeContinue();
    next();
  };
}
