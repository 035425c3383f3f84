import { MillraceError } from '../../api/errors.js';

/** Stops waiting when the signal aborts. A reply that arrives later is dropped. */
export async function within<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  if (signal.aborted) {
    promise.catch(() => undefined);
    throw deadlinePassed();
  }
  let abort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(deadlinePassed());
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function deadlinePassed(): MillraceError {
  return new MillraceError('store_unavailable', 'The store did not answer by the deadline of the request');
}
