import { MillraceError } from '../../ground/api/errors.js';
import type { ErrorCode } from '../../ground/api/error-codes.js';

/**
 * The errors that the head of a request shows. They are answered from the head alone. `npm run bench -- refusals` measures
 * them.
 */
export const HEAD_CODES = [
  'overloaded',
  'unknown_host',
  'foreign_origin',
  'key_required',
  'key_invalid',
  'key_expired',
  'key_revoked',
  'scope_missing',
  'key_not_allowed',
  'csrf_missing',
  'unknown_route',
  'method_not_allowed',
  'body_too_large',
  'unsupported_media_type',
] as const satisfies readonly ErrorCode[];

export type HeadCode = (typeof HEAD_CODES)[number];

/** An error that the head of a request shows. */
export class HeadError extends MillraceError {
  declare readonly code: HeadCode;

  /** @param allow the methods that the path supports, for the header Allow of `method_not_allowed` */
  constructor(
    code: HeadCode,
    detail: string,
    extensions: object,
    readonly allow: string | undefined,
  ) {
    super(code, detail, { extensions: { ...extensions } });
    // It is kept, and the frames of a stack would keep alive what they use, such as the first models.
    this.stack = `${this.name}: ${detail}`;
  }
}

/** The maximum number of errors that are kept. Clients choose parts of some texts, such as a host of up to 100 characters. */
const MOST_KEPT = 500;
const kept = new Map<string, HeadError>();

/**
 * Returns the error with a text. Frequent errors are created once, because a flood of refused requests must stay cheap.
 * Requests share it, so the text must determine `extensions` and `allow`.
 */
export function headError(code: HeadCode, detail: string, extensions = {}, allow?: string): HeadError {
  const name = `${code} ${detail}`;
  let error = kept.get(name);
  if (error !== undefined) return error;
  if (kept.size >= MOST_KEPT) kept.clear();
  error = new HeadError(code, detail, extensions, allow);
  kept.set(name, error);
  return error;
}
