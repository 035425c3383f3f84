import { RecordBatch } from '../../../state/store/codec/record-batch.js';
import type { ReadReport } from '../../../state/index/feature-source.js';
import type { Store } from '../../../state/store/store.js';
import type { ReadTime } from './read-deadline.js';

/** The minimum number of keys that are sent ahead of deferred keys. */
const WORTH_SPLITTING = 256;

/** Reads of features outside the store. */
export interface OutsideReads {
  roundTrips: number;
  keysRead: number;
  /** Those of readers; undefined if there are none. */
  reads?: ReadReport[];
}

/** The records that one request reads: each key once, across all round trips. */
export class BatchRead {
  readonly #store: Store;
  readonly deadline: ReadTime;
  #known: Map<string, number> | undefined;
  #pending: string[] = [];
  #remembersAll = false;
  /** The read of the next round trip, if it was already sent and has to be awaited. */
  #first: Promise<void> | undefined;
  #isFirstSent = false;
  #rest: Promise<void>[] = [];
  roundTrips = 0;
  /** Reads of features outside the store, in parallel to the round trips. */
  readonly outside: OutsideReads = { roundTrips: 0, keysRead: 0 };
  /** By entity type: ids that were looked up and are not in the index. */
  readonly missing = new Map<string, number>();
  /** The records, by the numbers that `ask` returned. */
  readonly records = new RecordBatch();

  constructor(store: Store, deadline: ReadTime) {
    this.#store = store;
    this.deadline = deadline;
  }

  get keysRead(): number {
    return this.records.length;
  }

  /** Adds a key to the next round trip; returns its number in `records`. */
  ask(key: string): number {
    const all = (this.#known ??= new Map<string, number>());
    const known = all.get(key);
    if (known !== undefined) return known;
    const number = this.#add(key);
    all.set(key, number);
    return number;
  }

  /** Like `ask`, for a key that no other read of the request asks for. */
  askDistinct(key: string): number {
    return this.#remembersAll ? this.ask(key) : this.#add(key);
  }

  /** Remembers the following keys, because another plan of the request may ask for them again. */
  rememberAll(): void {
    this.#remembersAll = true;
  }

  #add(key: string): number {
    return this.records.length + this.#pending.push(key) - 1;
  }

  /**
   * Defers all following keys until `rest`. If there are many earlier keys, they are sent immediately. The store then
   * reads them while the deferred keys are built, and the deferred values arrive while the first values are used.
   */
  defer(): void {
    if (this.#pending.length < WORTH_SPLITTING) return;
    this.#first = this.#send();
    this.#isFirstSent = true;
  }

  /** Reads the keys added since the last round trip, except deferred ones; undefined if there is nothing to wait for. */
  roundTrip(): Promise<void> | undefined {
    const [first, isFirstSent] = [this.#first, this.#isFirstSent];
    this.#first = undefined;
    this.#isFirstSent = false;
    if (!isFirstSent && this.#pending.length === 0) return undefined;
    this.roundTrips++;
    if (!isFirstSent) return this.#send();
    const rest = this.#pending.length > 0 ? this.#send() : undefined;
    if (rest !== undefined) this.#rest.push(rest);
    return first;
  }

  /** Resolves when all keys deferred so far have arrived; undefined if there are none. */
  rest(): Promise<unknown> | undefined {
    if (this.#rest.length === 0) return undefined;
    const rest = Promise.all(this.#rest);
    this.#rest = [];
    rest.catch(() => undefined);
    return rest;
  }

  #send(): Promise<void> | undefined {
    const keys = this.#pending;
    this.#pending = [];
    const first = this.records.extend(keys.length);
    const sent = this.#store.readInto(keys, this.records, first, this.deadline);
    if (sent === undefined) return undefined;
    const reading = this.deadline.within(sent);
    reading.catch(() => undefined); // the awaiting caller gets the error, but an early failure may prevent the await
    return reading;
  }
}
