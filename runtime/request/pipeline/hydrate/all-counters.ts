import { counterKey } from '../../../state/store/keys.js';
import type { BatchRead } from './batch-read.js';
import type { ResidentSession } from './resident-session.js';

/**
 * The record of the counters of all entities together, in one request: what this process keeps of it, or else what the round
 * trip reads.
 */
export class AllCounters {
  /** Holds the record from `start` to `end`; null if the store has none. */
  memory: Buffer | null = null;
  start = 0;
  end = 0;
  readonly #batch: BatchRead;
  readonly #session: ResidentSession | undefined;
  readonly #now: number;
  /** Its number among the records of the request; -1 if it need not be read. */
  readonly #number: number;

  /** Adds its key to the round trip, unless this process has it. */
  constructor(prefix: string, batch: BatchRead, session: ResidentSession | undefined, now: number) {
    this.#batch = batch;
    this.#session = session;
    this.#now = now;
    const held = session?.allCounters(now);
    this.#number = held === undefined ? batch.ask(counterKey(prefix, [], [])) : -1;
    this.memory = held ?? null;
    this.end = held?.length ?? 0;
  }

  /** Call it after the round trip. */
  arrive(): void {
    const number = this.#number;
    if (number < 0) return;
    // What another request kept meanwhile may be older. The next request sees that, and counts must not decrease.
    const held = this.#session?.allCounters(this.#now);
    if (held !== undefined) {
      this.memory = held;
      this.end = held?.length ?? 0;
      return;
    }
    const { records } = this.#batch;
    this.memory = records.memory[number] ?? null;
    this.start = records.starts[number] ?? 0;
    this.end = records.ends[number] ?? 0;
    this.#session?.keepAllCounters(records.record(number), this.#now);
  }
}
