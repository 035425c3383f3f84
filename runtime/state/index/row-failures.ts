import { MillraceError } from '../../ground/api/errors.js';
import type { StoreWriteError } from '../store/store.js';

/** The error of a push or deletion whose rows are not all confirmed. Both can be sent again. */
export function writeFailure(
  error: StoreWriteError,
  count: number,
  done: 'stored' | 'deleted',
): MillraceError {
  const confirmed = error.confirmed.length === count ? error.confirmed : [];
  const again = 'It is safe to send them again.';
  return failureOf(error, count, confirmed, done, again);
}

/** The error of increments that are not all confirmed. */
export function incrementFailure(error: StoreWriteError, confirmed: readonly boolean[]): MillraceError {
  const again =
    'They may have been added, so sending them again can add them twice. Compare the stored rows first, or count events with a counter.';
  return failureOf(error, confirmed.length, confirmed, 'stored', again);
}

function failureOf(
  error: StoreWriteError,
  count: number,
  confirmed: readonly boolean[],
  done: 'stored' | 'deleted',
  again: string,
): MillraceError {
  const rows = confirmed.flatMap((isDone, i) => (isDone ? [i] : []));
  if (rows.length === 0) {
    const detail = `${count} rows are not confirmed as ${done}. ${again} ${error.message}`;
    return new MillraceError(error.code, detail, { cause: error });
  }
  const unconfirmed = confirmed.flatMap((isDone, i) => (isDone ? [] : [i]));
  return new MillraceError(
    'store_partial_write',
    `${rows.length} of ${count} rows are ${done}; the other ${unconfirmed.length} are not confirmed. ${again} ${error.message}`,
    { cause: error, extensions: { [`${done}_rows`]: rows, unconfirmed_rows: unconfirmed } },
  );
}
