import { recognise } from './brand.js';
import { ERROR_CODES, type ErrorCode } from './error-codes.js';

/** One fault of a body: its place (a JSON pointer, '' for the whole body), the fault, and the remedy. */
export interface Violation {
  readonly pointer: string;
  readonly code: string;
  readonly detail: string;
}

/**
 * An error that a user can act on. Its code is in the table of `error-codes.ts`. Over HTTP it is a problem document
 * (RFC 9457) with the status and title of that row.
 */
export class MillraceError extends Error {
  readonly code: ErrorCode;
  readonly violations: readonly Violation[];
  /** Further members of the problem document, e.g. `stored_ids`. */
  readonly extensions: Readonly<Record<string, unknown>>;

  constructor(
    code: ErrorCode,
    detail: string,
    more: {
      readonly violations?: readonly Violation[];
      readonly extensions?: Readonly<Record<string, unknown>>;
      readonly cause?: unknown;
    } = {},
  ) {
    super(detail, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = 'MillraceError';
    this.code = code;
    this.violations = more.violations ?? [];
    this.extensions = more.extensions ?? {};
  }

  get status(): number {
    return ERROR_CODES[this.code].status;
  }

  get title(): string {
    return ERROR_CODES[this.code].title;
  }
}
recognise(MillraceError, 'MillraceError');
