/**
 * A record that this process keeps as the store has it. It is valid for a lease, as rows of `LeasedCounters` are, because writes
 * of other processes are not reported.
 */
export class LeasedRecord {
  readonly key: string;
  readonly #lease: number;
  #record: Buffer | null = null;
  #validUntil = -Infinity;

  /** @param lease milliseconds */
  constructor(key: string, lease: number) {
    this.key = key;
    this.#lease = lease;
  }

  /** Null if the store has no such record; undefined if it must be read. @param now epoch milliseconds */
  at(now: number): Buffer | null | undefined {
    return now <= this.#validUntil ? this.#record : undefined;
  }

  /** Keeps a copy of what a request read. Call it if `at` returns undefined. @param now of the request */
  keep(record: Buffer | null, now: number): void {
    this.#record = record === null ? null : Buffer.from(record);
    this.#validUntil = now + this.#lease;
  }

  /** Call it after this process wrote the record. */
  drop(): void {
    this.#record = null;
    this.#validUntil = -Infinity;
  }
}
