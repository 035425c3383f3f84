import type { ErrorCode } from '../../../ground/api/error-codes.js';
import { MillraceError } from '../../../ground/api/errors.js';
import type { Diagnostic } from './diagnostics.js';

/** Files with errors. `diagnostics` contains the errors and the warnings. */
export class DiagnosticsError extends MillraceError {
  /** @param what the subject of the message, e.g. `the project` */
  constructor(
    code: ErrorCode,
    what: string,
    readonly diagnostics: readonly Diagnostic[],
  ) {
    const errors = diagnostics.filter(({ severity }) => severity === 'error');
    const [first] = errors;
    const count = `${what} has ${errors.length} ${errors.length === 1 ? 'error' : 'errors'}`;
    super(code, first === undefined ? count : `${count}; the first: ${placeOf(first)}: ${first.message}`);
  }
}

function placeOf({ at }: Diagnostic): string {
  const { line, column } = at.file.position(at.start);
  return `${at.file.path}:${line}:${column}`;
}
