import { randomUUID } from 'node:crypto';
import { idText } from '../../ground/core/ids.js';

/** Printable ASCII without a space at either end. A header carries such text unchanged. */
const SAFE = /^[!-~](?:[ -~]{0,126}[!-~])?$/;

/** True if a value can be sent in the header `X-Request-Id`: 1 to 128 characters of printable ASCII. */
export function isSafeRequestId(value: unknown): value is string {
  return typeof value === 'string' && SAFE.test(value);
}

/** Returns the id in the client's header, or generates one. */
export function requestIdOf(header: string | string[] | undefined): string {
  return isSafeRequestId(header) ? header : randomUUID();
}

/**
 * Returns the id of a ranking. This is the body's `request_id`, or a generated id if a header cannot carry that value,
 * or `otherwise` if the body has none.
 */
export function rankingRequestId(body: unknown, otherwise: string): string {
  if (typeof body !== 'object' || body === null || !Object.hasOwn(body, 'request_id')) return otherwise;
  const { request_id: given } = body as { request_id: unknown };
  if (given === null || given === undefined) return otherwise;
  const id = idText(given);
  return isSafeRequestId(id) ? id : randomUUID();
}
