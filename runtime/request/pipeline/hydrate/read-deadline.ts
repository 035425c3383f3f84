import { MillraceError } from '../../../ground/api/errors.js';
import type { Deadline } from '../../../ground/core/deadline.js';

/** The deadline of reads. */
export type ReadTime = Pick<Deadline, 'signal' | 'within' | 'left'>;

/** Aborts the reads of a request early, so that time is left to answer without them. */
export class ReadDeadline implements ReadTime {
  readonly #request: Deadline;
  readonly #end: number;
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #leaveRequest: () => void;

  /** @param ms from the start of the request */
  constructor(request: Deadline, ms: number) {
    this.#request = request;
    this.#end = request.started + ms;
    this.#timer = setTimeout(
      () => {
        // A busy process runs timers before it reads sockets, so the reply may already be in the socket.
        setImmediate(() => {
          this.#controller.abort(
            new MillraceError('store_unavailable', `the store did not answer within ${ms} ms`),
          );
        });
      },
      request.started + ms - performance.now(),
    );
    this.#leaveRequest = request.whenOver((error) => this.#controller.abort(error));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get left(): number {
    return Math.max(0, Math.min(this.#request.left, this.#end - performance.now()));
  }

  /** Returns the outcome of the promise, or rejects with the error of the deadline that expires first. */
  async within<T>(work: Promise<T>): Promise<T> {
    const { signal } = this;
    let stop = (): void => undefined;
    const over = new Promise<never>((_resolve, reject) => {
      stop = () => reject(signal.reason as Error);
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop, { once: true });
    });
    over.catch(() => undefined);
    try {
      return await this.#request.within(Promise.race([work, over]));
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  /** Call it after the last read. */
  end(): void {
    clearTimeout(this.#timer);
    this.#leaveRequest();
  }
}
