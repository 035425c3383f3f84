import { MillraceError } from '../../../ground/api/errors.js';

/** Stops waiting when the signal aborts. A reply that arrives later is dropped. */
export async function within<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  if (signal.aborted) {
    promise.catch(() => undefined);
    throw reasonOf(signal);
  }
  let abort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(reasonOf(signal));
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** The error of an aborted signal. It is not `store_unavailable`, because the store may not be the cause. */
function reasonOf({ reason }: AbortSignal): MillraceError {
  if (reason instanceof MillraceError) return reason;
  return new MillraceError(
    'deadline_exceeded',
    'the deadline of the request passed before the store answered',
  );
}
