import { MillraceError } from '../../ground/api/errors.js';
import { StoreWriteError } from './store.js';

/**
 * The error of a request whose write is not confirmed: it may be stored or not, so the answer says that it is safe to send it
 * again. Any other error is returned as it is.
 * @param what begins the message, e.g. `The feedback`
 * @param safe why it is safe, with a comma before it
 */
export function unconfirmed(what: string, error: unknown, safe = ''): unknown {
  if (!(error instanceof StoreWriteError)) return error;
  const detail = `${what} is not confirmed; it is safe to send it again${safe}. ${error.message}`;
  return new MillraceError(error.code, detail, { cause: error });
}
