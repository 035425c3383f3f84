import { ReplyError } from 'ioredis';
import type { RecordBatch } from '../codec/record-batch.js';

/**
 * What is sent back:
 *   list    to MGET: one list of all values
 *   values  to one GET for each key: each value on its own, or an error in its place
 *   asked   to ASKING and GET for each key: a line before each value
 *   line    to PING: a line
 */
export type ReplyForm = 'list' | 'values' | 'asked' | 'line';

/** Where the values of a reply go. */
export interface ReplyPlaces {
  readonly batch: RecordBatch;
  /** Number of the first value, or what is added to each of `positions`. */
  readonly first: number;
  readonly count: number;
  /** Of the values, where they do not stand one after another. */
  readonly positions?: readonly number[];
  /** Takes the errors that stand in the place of values, by position. */
  readonly errors?: unknown[];
}

/** The reply to what was sent in one go, as far as it has come. Every part is checked: what does not belong is refused. */
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

  /** Takes a value, or null; false if none belongs here. */
  value(memory: Buffer | null, start: number, end: number): boolean {
    const places = this.#places;
    if (places === undefined || !this.#opened || this.isWhole) return false;
    const position = places.positions === undefined ? this.#filled : (places.positions[this.#filled] ?? 0);
    places.batch.put(places.first + position, memory, start, end);
    this.#next();
    return true;
  }

  /** Takes the head of a list; false if none belongs here, or one of another length. */
  list(length: number): boolean {
    if (this.form !== 'list' || this.#opened || length !== this.#places?.count) return false;
    this.#opened = true;
    return true;
  }

  /** Takes a line that is no error; false if none belongs here. */
  line(): boolean {
    if (this.#opened || this.isWhole) return false;
    if (this.form === 'line') this.#filled++;
    else if (this.form === 'asked') this.#opened = true;
    else return false;
    return true;
  }

  /** Takes an error; false if none belongs here. */
  error(message: string): boolean {
    if (this.form === 'values' || (this.form === 'asked' && this.#opened)) {
      const places = this.#places;
      const position = places?.positions?.[this.#filled] ?? this.#filled;
      if (places?.errors !== undefined) places.errors[position] = replyError(message);
      this.#next();
      return true;
    }
    // Half a list is no reply, and a refused ASKING is followed by the answer to GET, which says as much.
    if (this.form === 'asked') this.#opened = true;
    else if (this.#opened) return false;
    else {
      this.#filled = this.#places?.count ?? 1;
      this.#reject(replyError(message));
    }
    return true;
  }

  /** Whether all of it has come. */
  get isWhole(): boolean {
    return this.#filled >= (this.#places?.count ?? 1);
  }

  /** Tells who waits, once it is whole. */
  settle(): void {
    this.#resolve();
  }

  /** Tells who waits that the rest will never come. */
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
