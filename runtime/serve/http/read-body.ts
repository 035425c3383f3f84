import type { Request, RequestHandler, Response } from 'express';
import { MillraceError } from '../../ground/api/errors.js';
import { beginUrgent } from '../../ground/core/background.js';
import { within } from '../../project/tracing/trace-span.js';
import type { BodyMemory } from './bodies/body-memory.js';
import { collectBody, type CollectedBody } from './bodies/collect-body.js';
import { requestState } from './request-state.js';

/** The body of a request, and its check. */
interface HeldBody extends CollectedBody {
  readonly check: BodyCheck | undefined;
}

/** A check of a parsed body that runs before the work of its route. It throws if the request is refused. */
export type BodyCheck = (body: unknown) => void | Promise<void>;

const bodies = new WeakMap<Request, HeldBody>();

/**
 * Reads a body of at most `limit` inflated bytes (gzip, deflate, br), for `withBody` to parse. It refuses a body that
 * is not declared as JSON before reading it. The memory is released when the request is over.
 * @param isUrgent whether background work is slowed down until the request is over
 * @param checkFor returns the check of a request's body, if it has one
 */
export function readBody(
  limit: number,
  memory: BodyMemory,
  isUrgent: boolean,
  checkFor: (res: Response) => BodyCheck | undefined = () => undefined,
): RequestHandler {
  return async (req, res, next) => {
    checkMediaType(req);
    const share = memory.share();
    const endUrgent = isUrgent ? beginUrgent() : undefined;
    res.once('close', () => {
      share.release();
      endUrgent?.();
    });
    const span = requestState(res).span?.start('receive', 'receive');
    const collecting = collectBody(req, limit, share);
    const traced = async (): Promise<CollectedBody> => {
      const body = await collecting;
      span?.set({ 'millrace.body_bytes': body.length });
      return body;
    };
    const { chunks, length } = await (span === undefined ? collecting : within(span, traced));
    bodies.set(req, { chunks, length, check: checkFor(res) });
    next();
  };
}

/** Returns the body that `readBody` read. It can be taken once. */
export function takeBody(req: Request): CollectedBody & Pick<HeldBody, 'check'> {
  const body = bodies.get(req) ?? { chunks: [], length: 0, check: undefined };
  bodies.delete(req);
  return body;
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
