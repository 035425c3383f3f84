import { RecordBatch } from '../store/record-batch.js';
import type { Store } from '../store/store.js';
import type { Deadline } from './deadline.js';

/** Fewer keys than this are not worth a command of their own. */
const WORTH_SPLITTING = 256;

/** The records that one request has read: each key once, over all its round trips. */
export class BatchRead {
  readonly #store: Store;
  readonly deadline: Deadline;
  readonly #known = new Map<string, number>();
  #pending: string[] = [];
  /** How many of the pending keys are waited for first. */
  #urgent = 0;
  #rest: Promise<void>[] = [];
  roundTrips = 0;
  /** Reads of features that are kept outside the store, beside the round trips. */
  readonly outside = { roundTrips: 0, keysRead: 0 };
  /** What was read, by the numbers that `ask` gave. */
  readonly records = new RecordBatch();

  constructor(store: Store, deadline: Deadline) {
    this.#store = store;
    this.deadline = deadline;
  }

  get keysRead(): number {
    return this.records.length;
  }

  /** Asks for a key with the next round trip; returns the number under which `records` has it. */
  ask(key: string): number {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const number = this.askDistinct(key);
    this.#known.set(key, number);
    return number;
  }

  /** The same for a key that nothing else of the request asks for. */
  askDistinct(key: string): number {
    return this.records.length + this.#pending.push(key) - 1;
  }

  /** Says that what is asked for from here on is not needed before `rest`. */
  defer(): void {
    this.#urgent = this.#pending.length;
  }

  /**
   * Reads what was asked for since the last round trip; none if that is nothing. What was deferred is asked for in the
   * same trip, and comes while others work with what came first.
   */
  async roundTrip(): Promise<void> {
    const keys = this.#pending;
    const urgent = this.#urgent;
    this.#pending = [];
    this.#urgent = 0;
    if (keys.length === 0) return;
    this.roundTrips++;
    if (urgent < WORTH_SPLITTING || keys.length - urgent < WORTH_SPLITTING) {
      await this.#read(keys);
      return;
    }
    const first = this.#read(keys.slice(0, urgent));
    const rest = this.#read(keys.slice(urgent));
    rest.catch(() => undefined); // `rest` tells of it
    this.#rest.push(rest);
    await first;
  }

  /** Waits for all that was deferred. */
  async rest(): Promise<void> {
    const rest = this.#rest;
    this.#rest = [];
    for (const reading of rest) await reading;
  }

  #read(keys: readonly string[]): Promise<void> {
    const { signal } = this.deadline;
    const first = this.records.extend(keys.length);
    return this.deadline.within(this.#store.readInto(keys, this.records, first, signal));
  }
}
