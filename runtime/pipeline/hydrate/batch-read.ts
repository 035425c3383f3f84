import { RecordBatch } from '../../store/codec/record-batch.js';
import type { Store } from '../../store/store.js';
import type { ReadTime } from './read-deadline.js';

/** Fewer keys than this are not sent for before the others. */
const WORTH_SPLITTING = 256;

/** The records that one request has read: each key once, over all its round trips. */
export class BatchRead {
  readonly #store: Store;
  readonly deadline: ReadTime;
  readonly #known = new Map<string, number>();
  #pending: string[] = [];
  /** Of the round trip that is being prepared: what is sent for already. */
  #first: Promise<void> | undefined;
  #rest: Promise<void>[] = [];
  roundTrips = 0;
  /** Reads of features that are kept outside the store, beside the round trips. */
  readonly outside = { roundTrips: 0, keysRead: 0 };
  /** By entity type: ids that were looked up and are not in the index. */
  readonly missing = new Map<string, number>();
  /** What was read, by the numbers that `ask` gave. */
  readonly records = new RecordBatch();

  constructor(store: Store, deadline: ReadTime) {
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

  /**
   * Says that what is asked for from here on is not needed before `rest`. What was asked for before is sent for at once,
   * if it is much: the store then works while the other keys are made, and they come while its values are used.
   */
  defer(): void {
    if (this.#pending.length >= WORTH_SPLITTING) this.#first = this.#send();
  }

  /** Reads what was asked for since the last round trip, but for what was deferred; none if nothing was asked for. */
  async roundTrip(): Promise<void> {
    const first = this.#first;
    this.#first = undefined;
    if (first === undefined && this.#pending.length === 0) return;
    this.roundTrips++;
    if (first === undefined) await this.#send();
    else {
      if (this.#pending.length > 0) this.#rest.push(this.#send());
      await first;
    }
  }

  /** When all that was deferred until now is there. */
  rest(): Promise<unknown> {
    const rest = Promise.all(this.#rest);
    this.#rest = [];
    rest.catch(() => undefined);
    return rest;
  }

  #send(): Promise<void> {
    const { signal } = this.deadline;
    const keys = this.#pending;
    this.#pending = [];
    const first = this.records.extend(keys.length);
    const reading = this.deadline.within(this.#store.readInto(keys, this.records, first, signal));
    reading.catch(() => undefined); // who awaits it is told; others may not come to that
    return reading;
  }
}
