import { MillraceError } from '../../api/errors.js';
import type { Deadline } from '../../core/deadline.js';

/** What reads need to know of the time that is left. */
export type ReadTime = Pick<Deadline, 'signal' | 'within'>;

/** Ends the reads of a request while there is still time to answer it without them. */
export class ReadDeadline implements ReadTime {
  readonly #request: Deadline;
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;

  /** @param ms from the start of the request */
  constructor(request: Deadline, ms: number) {
    this.#request = request;
    this.#timer = setTimeout(
      () => {
        // A busy process runs its timers before it reads its sockets: the reply may be there already.
        setImmediate(() => {
          this.#controller.abort(
            new MillraceError('store_unavailable', `the store did not answer within ${ms} ms`),
          );
        });
      },
      request.started + ms - performance.now(),
    );
    if (request.signal.aborted) this.#over();
    else request.signal.addEventListener('abort', this.#over, { once: true });
  }

  readonly #over = (): void => this.#controller.abort(this.#request.signal.reason);

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The promise's outcome, or the error of the deadline that is over first. */
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

  /** Call when nothing is read any more. */
  end(): void {
    clearTimeout(this.#timer);
    this.#request.signal.removeEventListener('abort', this.#over);
  }
}
