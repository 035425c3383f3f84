import { ReplyError } from 'ioredis';
import type { RecordBatch } from '../codec/record-batch.js';

/**
 * The form of a reply:
 *   list    reply to MGET: one list of all values
 *   values  replies to one GET for each key: a value or an error for each
 *   asked   replies to ASKING and GET for each key: a line before each value
 *   line    reply to PING: a line
 */
export type ReplyForm = 'list' | 'values' | 'asked' | 'line';

/** The destination of the values of a reply. */
export interface ReplyPlaces {
  readonly batch: RecordBatch;
  /** Number of the first value, or the offset that is added to each of `positions`. */
  readonly first: number;
  readonly count: number;
  /** Positions of the values, if they are not consecutive. */
  readonly positions?: readonly number[];
  /** Receives the errors that replace values, by position. */
  readonly errors?: unknown[];
}

/** The part of the reply that has arrived, for commands that were sent together. Every part is checked. */
export class PendingReply {
  readonly form: ReplyForm;
  readonly promise: Promise<void>;
  readonly #places: ReplyPlaces | undefined;
  #resolve: () => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;
  #opened = false;
  #filled = 0;

  constructor(form: ReplyForm, places?: ReplyPlaces) {
    this.form = form;
    this.#places = places;
    this.#opened = form === 'values';
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Accepts a value or null; false if no value is expected here. */
  value(memory: Buffer | null, start: number, end: number): boolean {
    const places = this.#places;
    if (places === undefined || !this.#opened || this.isWhole) return false;
    const position = places.positions === undefined ? this.#filled : (places.positions[this.#filled] ?? 0);
    places.batch.put(places.first + position, memory, start, end);
    this.#next();
    return true;
  }

  /** Accepts the head of a list; false if no list of this length is expected here. */
  list(length: number): boolean {
    if (this.form !== 'list' || this.#opened || length !== this.#places?.count) return false;
    this.#opened = true;
    return true;
  }

  /** Accepts a line that is not an error; false if none is expected here. */
  line(): boolean {
    if (this.#opened || this.isWhole) return false;
    if (this.form === 'line') this.#filled++;
    else if (this.form === 'asked') this.#opened = true;
    else return false;
    return true;
  }

  /** Accepts an error; false if none is expected here. */
  error(message: string): boolean {
    if (this.form === 'values' || (this.form === 'asked' && this.#opened)) {
      const places = this.#places;
      const position = places?.positions?.[this.#filled] ?? this.#filled;
      if (places?.errors !== undefined) places.errors[position] = replyError(message);
      this.#next();
      return true;
    }
    // An error inside a list is invalid. After a refused ASKING, the reply to GET reports the same problem.
    if (this.form === 'asked') this.#opened = true;
    else if (this.#opened) return false;
    else {
      this.#filled = this.#places?.count ?? 1;
      this.#reject(replyError(message));
    }
    return true;
  }

  /** Whether the whole reply has arrived. */
  get isWhole(): boolean {
    return this.#filled >= (this.#places?.count ?? 1);
  }

  /** Resolves the promise; call when the reply is complete. */
  settle(): void {
    this.#resolve();
  }

  /** Rejects the promise: the rest will never arrive. */
  fail(error: Error): void {
    this.#reject(error);
  }

  #next(): void {
    this.#filled++;
    if (this.form === 'asked') this.#opened = false;
  }
}

function replyError(message: string): Error {
  return new (ReplyError as unknown as new (message: string) => Error)(message);
}
