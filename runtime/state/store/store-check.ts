import type { ErrorCode } from '../../ground/api/error-codes.js';
import { MillraceError } from '../../ground/api/errors.js';
import { afterSilence } from '../../ground/core/after-silence.js';
import type { Store } from './store.js';

/** The time limit of a check for the store's reply, in milliseconds. */
const PING_MS = 1000;

export interface StoreState {
  readonly status: 'OK' | 'FAILED';
  readonly code?: ErrorCode;
  readonly reason?: string;
}

/** Checks whether a store answers and accepts writes, for /readyz and /metrics. */
export class StoreCheck {
  readonly #store: Pick<Store, 'ping'>;
  #running: Promise<StoreState> | undefined;

  constructor(store: Pick<Store, 'ping'>) {
    this.#store = store;
  }

  /** Concurrent calls share one result, so that probes do not pile up on a store that hangs. Never rejects. */
  run(): Promise<StoreState> {
    return (this.#running ??= this.#ping().finally(() => {
      this.#running = undefined;
    }));
  }

  #ping(): Promise<StoreState> {
    let stop = (): void => undefined;
    const late = new Promise<StoreState>((resolve) => {
      stop = afterSilence(PING_MS, () => {
        const reason = `the store did not answer within ${PING_MS} ms`;
        resolve({ status: 'FAILED', code: 'store_unavailable', reason });
      });
    });
    const pinged = this.#store.ping().then(
      (): StoreState => ({ status: 'OK' }),
      (error: unknown): StoreState =>
        error instanceof MillraceError
          ? { status: 'FAILED', code: error.code, reason: error.message }
          : { status: 'FAILED', code: 'store_unavailable', reason: 'the ping failed' },
    );
    return Promise.race([pinged, late]).finally(() => stop());
  }
}
