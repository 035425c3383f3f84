import { MillraceError } from '../api/errors.js';
import { OutboundError } from '../api/http-client.js';

/** Why a retriever or a reader gave no answer. */
export interface Loss {
  readonly outcome: 'late' | 'failed';
  readonly reason: string;
}

/** @param timeoutMs the time that the call had */
export function lossOf(error: unknown, timeoutMs: number): Loss {
  const isLate =
    (error instanceof MillraceError && error.code === 'deadline_exceeded') ||
    (error instanceof OutboundError && error.fault === 'timeout');
  if (isLate) return { outcome: 'late', reason: `it did not answer within ${timeoutMs} ms` };
  return { outcome: 'failed', reason: error instanceof Error ? error.message : String(error) };
}
