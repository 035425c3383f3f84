import type { Store } from '../store/store.js';
import type { Deadline } from './deadline.js';

/** The records that one request has read: each key once, over all its round trips. */
export class BatchRead {
  readonly #store: Store;
  readonly deadline: Deadline;
  readonly #known = new Map<string, number>();
  readonly #records: (Buffer | null)[] = [];
  #pending: string[] = [];
  roundTrips = 0;
  /** Reads of features that are kept outside the store, beside the round trips. */
  readonly outside = { roundTrips: 0, keysRead: 0 };

  constructor(store: Store, deadline: Deadline) {
    this.#store = store;
    this.deadline = deadline;
  }

  get keysRead(): number {
    return this.#records.length;
  }

  /** Asks for a key with the next round trip; returns the number under which `record` has it. */
  ask(key: string): number {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const number = this.#records.length + this.#pending.length;
    this.#known.set(key, number);
    this.#pending.push(key);
    return number;
  }

  /** The same for a key that nothing else of the request asks for. */
  askDistinct(key: string): number {
    this.#pending.push(key);
    return this.#records.length + this.#pending.length - 1;
  }

  /** Reads what was asked for since the last round trip; none if that is nothing. */
  async roundTrip(): Promise<void> {
    const keys = this.#pending;
    if (keys.length === 0) return;
    this.#pending = [];
    this.roundTrips++;
    const records = await this.deadline.within(this.#store.read(keys, this.deadline.signal));
    for (const record of records) this.#records.push(record);
  }

  /** A record that was read; null where the store has none. */
  record(number: number): Buffer | null {
    return this.#records[number] ?? null;
  }
}
